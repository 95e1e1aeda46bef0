/* SPDX-License-Identifier: Apache-2.0 */
/* The log sink: one for the process. */
#ifndef KVS_SRC_LOG_H
#define KVS_SRC_LOG_H

#include <kvslot/kvslot.h>
#include <stdarg.h>
#include <stdbool.h>

/* Given out whatever the level, as KVS_LOG_TRACE: what an engine with trace=1 was asked to show. */
#define KVS_LOG_ASKED (-100)

/* Would a line of this level be given out; one atomic load. */
bool kvs_log_on(int level);
/* kvs_log(), for who has a list of arguments already. */
void kvs_vlog(int level, const char *who, const char *fmt, va_list args) KVS_PRINTF(3, 0);

#endif
