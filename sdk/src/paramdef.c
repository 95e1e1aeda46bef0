/* SPDX-License-Identifier: Apache-2.0 */
#include "paramdef.h"
#include "err.h"

#include <string.h>

bool kvs_claim_next(const char **at, struct kvs_claim *claim)
{
    if (!*at)
        return false;
    const char *word = *at + strspn(*at, " ");
    size_t len = strcspn(word, " ");
    if (len == 0)
        return false;
    *at = word + len;
    const char *colon = memchr(word, ':', len);
    claim->variant = colon ? word : NULL;
    claim->variant_len = colon ? (size_t)(colon - word) : 0;
    const char *part = colon ? colon + 1 : word;
    size_t part_len = (size_t)(word + len - part);
    claim->part = -1;
    for (int i = 0; i < KVS_PART_COUNT; i++)
        if (strlen(kvs_part_names[i]) == part_len && memcmp(kvs_part_names[i], part, part_len) == 0)
            claim->part = i;
    return true;
}

int kvs_param_check(const struct kvs_param *param, const char *text, int64_t number, struct kvs_error *err)
{
    char shown[100];
    /* Batches carry it in milliseconds. */
    if (strcmp(param->name, "ttl") == 0 && number % 1000000 != 0)
        return kvs_err_set(err, KVS_INVALID_PARAM, "parameter 'ttl' is '%s'; it must be whole milliseconds",
                           kvs_show_bytes(shown, sizeof shown, text, strlen(text)));
    return KVS_OK;
}
