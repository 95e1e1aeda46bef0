/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a script that fails as short and as plain as it gets while it still fails. */
#ifndef KVSLOT_MODEL_SHRINK_H
#define KVSLOT_MODEL_SHRINK_H

#include "script.h"

enum shrink_answer {
    SHRINK_PASSES,
    SHRINK_FAILS,
    SHRINK_STOP, /* no more tries: what there is stays */
};

struct shrink {
    /* Runs a script. */
    enum shrink_answer (*try)(void *arg, const struct script *s);
    void *arg;
    size_t attempts; /* left */
    bool over;
};

/* *s has failed; it is made smaller as long as tries and memory allow. What is left has failed, too. */
void shrink_script(struct shrink *how, struct script *s);

/* Used by shrink_script: the smaller script takes the place of the other if it fails, else it is given back.
 * True if it does. */
bool shrink_take(struct shrink *how, struct script *s, struct script *smaller);
/* plain.c: the same steps with fewer and smaller parts. True if anything has changed. */
bool shrink_parts(struct shrink *how, struct script *s);

#endif
