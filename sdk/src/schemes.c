/* SPDX-License-Identifier: Apache-2.0 */
#include "schemes.h"

#include <string.h>

bool kvs_scheme_next(const char **at, struct kvs_scheme *scheme)
{
    if (!*at)
        return false;
    const char *start = *at + strspn(*at, " ");
    size_t len = strcspn(start, " ");
    if (len == 0)
        return false;
    const char *mark = memchr(start, '?', len);
    scheme->name = start;
    scheme->name_len = mark ? (size_t)(mark - start) : len;
    scheme->sets = mark ? mark + 1 : start + len;
    scheme->sets_len = (size_t)(start + len - scheme->sets);
    *at = start + len;
    return true;
}

bool kvs_scheme_find(const char *list, const char *name, size_t len, struct kvs_scheme *scheme)
{
    for (const char *at = list; kvs_scheme_next(&at, scheme);)
        if (scheme->name_len == len && memcmp(scheme->name, name, len) == 0)
            return true;
    return false;
}

bool kvs_setting_next(const struct kvs_scheme *scheme, size_t *at, struct kvs_setting *setting)
{
    if (*at >= scheme->sets_len)
        return false;
    const char *start = scheme->sets + *at;
    const char *end = memchr(start, '&', scheme->sets_len - *at);
    if (!end)
        end = scheme->sets + scheme->sets_len;
    *at = (size_t)(end - scheme->sets) + 1;
    const char *equals = memchr(start, '=', (size_t)(end - start));
    setting->name = start;
    setting->name_len = (size_t)((equals ? equals : end) - start);
    setting->value = equals ? equals + 1 : NULL;
    setting->value_len = equals ? (size_t)(end - equals) - 1 : 0;
    return true;
}
