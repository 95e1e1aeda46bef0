/* SPDX-License-Identifier: Apache-2.0 */
/* Carries a script out on the run's target, through the public API, and asserts after each step what the
 * model allows. */
#ifndef KVSLOT_MODEL_EXECUTE_H
#define KVSLOT_MODEL_EXECUTE_H

#include "case.h"
#include "script.h"

/** Runs all steps, each transfer in at most so much time. Keys are those of model_keys. A failure ends the
 * process as every assertion does. */
void model_execute(struct kit *k, const struct script *s, uint64_t wait_ns);
/** Makes the keys of a script, under the kit's prefix or, where `prefix` is not NULL, under that one; keys
 * has SCRIPT_KEYS places. How many. */
size_t model_keys(struct kit *k, const struct script *s, const char *prefix, struct kit_key *keys);

#endif
