/* SPDX-License-Identifier: Apache-2.0 */
/* Filling a struct kvs_error. */
#ifndef KVSLOT_TESTKIT_SAY_H
#define KVSLOT_TESTKIT_SAY_H

#include <kvslot/kvslot.h>

/** Sets err (may be NULL) and answers status. */
int say(struct kvs_error *err, int status, const char *fmt, ...) KVS_PRINTF(3, 4);

#endif
