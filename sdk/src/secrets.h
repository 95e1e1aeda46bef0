/* SPDX-License-Identifier: Apache-2.0 */
/* Values that are never shown. */
#ifndef KVS_SRC_SECRETS_H
#define KVS_SRC_SECRETS_H

#include <kvslot/kvslot.h>

/* Reads what "@FILE" or "@fd:N" stands for: at most 64 KiB, no NUL, less one newline at the end. *value is to
 * be given to kvs_secret_free. The error names the parameter and the file, never what is in it. KVS-REQ-511
 */
int kvs_secret_read(const char *param, const char *source, char **value, struct kvs_error *err);
/* Wipes and frees; NULL is fine. */
void kvs_secret_free(char *value);

#endif
