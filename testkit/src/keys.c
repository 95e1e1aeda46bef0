/* SPDX-License-Identifier: Apache-2.0 */
#include "kit.h"
#include <stdio.h>
#include <stdlib.h>

const char *kit_prefix(const struct kit *k)
{
    return k->cfg->prefix;
}

size_t kit_prefix_len(const struct kit *k)
{
    return strlen(k->cfg->prefix);
}

bool kit_has_prefix(const struct kit *k)
{
    return k->user_prefix_len > 0;
}

size_t kit_max_key(const struct kit *k, bool *limited)
{
    size_t max = kit_limits(k)->max_key;
    *limited = max > 0 && max - k->user_prefix_len < KIT_KEY_MAX;
    return *limited ? max - k->user_prefix_len : KIT_KEY_MAX;
}

/* Keys over the limit are never in the store, and cannot be named to remove them. */
static bool storable(const struct kit *k, size_t len)
{
    bool limited;
    size_t max = kit_max_key(k, &limited);
    return len > 0 && (!limited || len <= max);
}

struct kit_key kit_key_raw(struct kit *k, const void *bytes, size_t len)
{
    struct kit_stored *s = malloc(sizeof(*s) + len + 1);
    KIT_CHECK(s, "no memory for a key of %zu bytes", len);
    s->len = len;
    if (len > 0)
        memcpy(s->data, bytes, len);
    pthread_mutex_lock(&k->lock);
    s->next = k->keys;
    k->keys = s;
    pthread_mutex_unlock(&k->lock);
    /* What is under the run's prefix can be found by list after a crash; the rest only by name. */
    bool listed = kit_has(k, KVS_CAP_LIST) && len >= kit_prefix_len(k) &&
                  memcmp(s->data, kit_prefix(k), kit_prefix_len(k)) == 0;
    if (storable(k, len) && !listed && kit_has(k, KVS_CAP_REMOVE))
        report_key(s->data, len);
    return (struct kit_key){len, s->data};
}

struct kit_key kit_key_bytes(struct kit *k, const void *bytes, size_t len)
{
    uint8_t buf[KIT_KEY_MAX + 1];
    size_t prefix = kit_prefix_len(k);
    KIT_CHECK(prefix + len <= sizeof(buf), "a key of %zu bytes is more than the kit makes", prefix + len);
    memcpy(buf, kit_prefix(k), prefix);
    if (len > 0)
        memcpy(buf + prefix, bytes, len);
    return kit_key_raw(k, buf, prefix + len);
}

struct kit_key kit_key(struct kit *k, const char *fmt, ...)
{
    char name[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(name, sizeof(name), fmt, ap);
    va_end(ap);
    return kit_key_bytes(k, name, strlen(name));
}

struct kit_key kit_key_of_len(struct kit *k, size_t len, char fill)
{
    uint8_t buf[KIT_KEY_MAX + 1];
    size_t prefix = kit_prefix_len(k);
    KIT_CHECK(len >= prefix && len <= sizeof(buf), "a key of %zu bytes is more or less than the kit makes",
              len);
    memcpy(buf, kit_prefix(k), prefix);
    memset(buf + prefix, fill, len - prefix);
    return kit_key_raw(k, buf, len);
}

/* Removes what the case may have stored; the store must do that, or the case has failed. */
static void remove_all(struct kit *k)
{
    struct kvs_error err = {0};
    kvs_engine *e;
    size_t n = 0;
    for (struct kit_stored *s = k->keys; s; s = s->next)
        n++;
    struct kit_key *keys = calloc(n + 1, sizeof(*keys));
    KIT_CHECK(keys, "no memory for %zu keys", n);
    n = 0;
    for (struct kit_stored *s = k->keys; s; s = s->next)
        if (storable(k, s->len))
            keys[n++] = (struct kit_key){s->len, s->data};
    int rc = kit_engine_open(k->cfg, k->target, NULL, NULL, &e, &err);
    KIT_CHECK(rc == KVS_OK, "cleaning up: the target cannot be opened again: %s", err.text);
    rc = sweep_keys(e, keys, n, kit_wait_ns(k), &err);
    if (rc == KVS_IN_PROG)
        kit_hang_at(KIT_HERE, "cleaning up: REMOVE of the case's keys does not end");
    KIT_CHECK(rc == KVS_OK, "cleaning up: REMOVE of the case's keys failed: %s", err.text);
    kit_close(k, e);
    free(keys);
}

void kit_keys_end(struct kit *k)
{
    /* A helper's keys are the case's to remove. */
    if (k->keys && !k->cfg->role && kit_has(k, KVS_CAP_REMOVE))
        remove_all(k);
    while (k->keys) {
        struct kit_stored *s = k->keys;
        k->keys = s->next;
        free(s);
    }
}
