/* SPDX-License-Identifier: Apache-2.0 */
/* A backend's list of further schemes and what they set: "rediss?tls=yes&port=6380 valkey". */
#ifndef KVS_SRC_SCHEMES_H
#define KVS_SRC_SCHEMES_H

#include <stdbool.h>
#include <stddef.h>

struct kvs_scheme {
    const char *name;
    size_t name_len;
    const char *sets; /* "tls=yes&port=6380"; not percent-encoded */
    size_t sets_len;
};

struct kvs_setting {
    const char *name;
    size_t name_len;
    const char *value;
    size_t value_len;
};

/* The next entry; *at starts as the list, which may be NULL. */
bool kvs_scheme_next(const char **at, struct kvs_scheme *scheme);
bool kvs_scheme_find(const char *list, const char *name, size_t len, struct kvs_scheme *scheme);
/* The next setting of an entry; *at starts as 0. An item without '=' has value NULL. */
bool kvs_setting_next(const struct kvs_scheme *scheme, size_t *at, struct kvs_setting *setting);

#endif
