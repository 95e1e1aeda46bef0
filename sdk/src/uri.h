/* SPDX-License-Identifier: Apache-2.0 */
/* Targets: scheme[+variant]:[//[user[:password]@]host[:port]/]path[?name=value&...], or a name alone.
 * KVS-REQ-519 */
#ifndef KVS_SRC_URI_H
#define KVS_SRC_URI_H

#include <kvslot/kvslot.h>
#include <stdbool.h>

enum kvs_uri_part {
    KVS_PART_USER,
    KVS_PART_PASSWORD,
    KVS_PART_HOST,
    KVS_PART_PORT,
    KVS_PART_PATH,
    KVS_PART_COUNT,
};

struct kvs_uri_pair {
    const char *name;
    const char *value;
};

/* A target taken apart and decoded. An empty user, host or path is one that is not there (NULL). */
struct kvs_uri {
    const char *scheme;
    const char *variant; /* NULL: none */
    const char *parts[KVS_PART_COUNT];
    struct kvs_uri_pair *query;
    size_t nquery;
    char *text; /* where all of these point into; may hold secrets */
    size_t size;
};

/* "user", "password", ... */
extern const char *const kvs_part_names[KVS_PART_COUNT];

/* Where there is no authority ("//"), all up to '?' is path. Behind an authority the path starts after its
 * slash (redis://host/0: "0"), but where the authority is empty it starts with it (redis+unix:///tmp/s:
 * "/tmp/s"). */
int kvs_uri_parse(const char *target, struct kvs_uri *uri, struct kvs_error *err);
/* Wipes and frees; fine for a zeroed one. */
void kvs_uri_free(struct kvs_uri *uri);

/* The target for a message: without user, password and query. Answers buf. KVS-REQ-516 */
const char *kvs_target_show(char *buf, size_t size, const char *target);

/* Length of a name ([a-z][a-z0-9_-]*) at the start of text; 0: none. */
size_t kvs_name_span(const char *text);

#endif
