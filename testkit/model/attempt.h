/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a script in a process of its own, so that a crash or a hang costs that process only. */
#ifndef KVSLOT_MODEL_ATTEMPT_H
#define KVSLOT_MODEL_ATTEMPT_H

#include "kit.h"
#include "script.h"

struct attempt {
    uint32_t outcome; /* enum kvs_conform_outcome */
    bool begun;       /* false: the process could not open the target, or there was none */
    char *reason;     /* a sentence; or NULL */
    char *output;     /* what the process printed; or NULL */
};

/** How long things may take. */
struct attempt_limits {
    uint64_t all_ns; /* the process */
    uint64_t one_ns; /* one transfer */
};

/** Runs the script under a prefix that no attempt before had. The case's process has
 * no engine open meanwhile: not every store is open to two. The case's row has attempt_helper. */
void attempt_run(struct kit *k, const struct script *s, struct attempt_limits limits, struct attempt *a);
void attempt_free(struct attempt *a);
/** What the process does; its role is made by attempt_run. */
void attempt_helper(struct kit *k, const char *role);

#endif
