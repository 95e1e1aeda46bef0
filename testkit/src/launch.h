/* SPDX-License-Identifier: Apache-2.0 */
/* Starting the process of a case. */
#ifndef KVSLOT_TESTKIT_LAUNCH_H
#define KVSLOT_TESTKIT_LAUNCH_H

#include "child.h"

/** Makes the pipes and starts `program case_id`; sets pid and the three descriptors. */
int launch_case(struct child *c, const char *program, const char *case_id, struct kvs_error *err);
/** The path of the case program, to be freed. `given` NULL: it is looked for beside the library and the
 * program. */
int launch_find_program(const char *given, char **program, struct kvs_error *err);

#endif
