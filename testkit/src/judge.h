/* SPDX-License-Identifier: Apache-2.0 */
/* How the process of a case ended. */
#ifndef KVSLOT_TESTKIT_JUDGE_H
#define KVSLOT_TESTKIT_JUDGE_H

#include "child.h"

/** The outcome (enum kvs_conform_outcome) of a child that is over, and why, to be freed; NULL: no memory. */
uint32_t judge_child(const struct child *c, char **reason);

#endif
