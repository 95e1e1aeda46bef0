/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of LMDB's and of the system as statuses, and sentences about them. */
#ifndef KVS_LMDB_STATUS_H
#define KVS_LMDB_STATUS_H

#include <kvslot/types.h>
#include <stdbool.h>

/* One sentence about what went wrong. */
struct env_text {
    char text[448];
};
void env_say(struct env_text *out, const char *fmt, ...) KVS_PRINTF(2, 3);

/* The status that stands for a number of LMDB's or an errno. */
int env_status(int rc);
/* Why, in words; of what a parameter can change it is named. */
const char *env_reason(int rc);
/* Whether a commit that answered this has stored nothing for certain. */
bool env_certain(int rc);

#endif
