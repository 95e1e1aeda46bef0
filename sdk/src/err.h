/* SPDX-License-Identifier: Apache-2.0 */
/* Filling the caller's struct kvs_error. */
#ifndef KVS_SRC_ERR_H
#define KVS_SRC_ERR_H

#include <kvslot/kvslot.h>
#include <stdarg.h>

/* Sets status and text (cut at a whole UTF-8 character where too long) and answers `status`; err may be NULL.
 */
int kvs_err_set(struct kvs_error *err, int status, const char *fmt, ...) KVS_PRINTF(3, 4);
int kvs_err_vset(struct kvs_error *err, int status, const char *fmt, va_list args) KVS_PRINTF(3, 0);

/* Renders bytes (a key, a value from outside) for a message: printable ASCII as it is, others as \xNN, cut
 * with "..." to fit buf. Answers buf. */
const char *kvs_show_bytes(char *buf, size_t size, const void *data, size_t len);
/* Is `status` one of KVS_STATUS_MAP. */
int kvs_status_known(int status);
/* What a backend's function answered in place of KVS_OK, as a caller may see it: KVS_BACKEND for a number
 * that is no error, and for those that are not for callers. KVS-REQ-013 */
int kvs_status_error(int rc);
/* Why it answered that: its own text, else rc in words. Answers that text or buf. */
const char *kvs_err_why(char *buf, size_t size, const struct kvs_error *own, int rc);

#endif
