/* SPDX-License-Identifier: Apache-2.0 */
/* Filling the caller's struct kvs_error. */
#ifndef KVS_CONNECTOR_SAY_H
#define KVS_CONNECTOR_SAY_H

#include <kvslot/kvslot.h>

/* Sets status and text, and answers `status`; err may be NULL. */
int kvs_say(struct kvs_error *err, int status, const char *fmt, ...) KVS_PRINTF(3, 4);
int kvs_say_memory(struct kvs_error *err);
/* Puts bytes between quotes, so that no byte of them can be taken for anything else; cut with "..." to fit
 * buf, which has room for 8 bytes at least. Answers buf. */
const char *kvs_say_quoted(char *buf, size_t size, const char *text, size_t len);

#endif
