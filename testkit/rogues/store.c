/* SPDX-License-Identifier: Apache-2.0 */
/* The values, and the defects of carrying out an io. */
#include "rogue.h"
#include <ctype.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define IS(name) (rogue_defect == ROGUE_##name)

struct value {
    struct value *next;
    const struct rogue_engine *owner; /* who wrote it first, where that counts, else NULL */
    size_t key_len, len;
    unsigned overwrites;
    uint8_t *key, *data;
};

pthread_mutex_t rogue_lock = PTHREAD_MUTEX_INITIALIZER;
#define BUCKETS 4096
static struct value *values[BUCKETS]; /* guarded by rogue_lock, with those below; one store a process */
static size_t nvalues;
static uint64_t nbytes, nputs;
static struct value *removed;        /* removed_comes_back: to be put back */
static volatile uint8_t scratch[64]; /* not_parallel: guarded by nothing */

static bool notes_keys(void)
{
    return IS(crashes_after_write) || IS(crashes_after_write_listed) || IS(hangs_after_write);
}

/* The bytes of a key that this store looks at. */
static size_t length_of(const void *key, size_t len)
{
    if (IS(key_cut_at_nul))
        return strnlen(key, len);
    return IS(key_cut_at_64) && len > 64 ? 64 : len;
}

static bool same(const struct value *v, const uint8_t *key, size_t len)
{
    if (IS(key_is_prefix) && v->key_len < len)
        return memcmp(v->key, key, v->key_len) == 0;
    if (v->key_len != len)
        return false;
    for (size_t i = 0; i < len; i++)
        if (IS(key_case_folded) ? tolower(v->key[i]) != tolower(key[i]) : v->key[i] != key[i])
            return false;
    return true;
}

static size_t bucket_of(const uint8_t *key, size_t len)
{
    uint32_t h = 0;
    if (IS(key_is_prefix) || IS(key_case_folded))
        return 0;
    for (size_t i = 0; i < len; i++)
        h = h * 31 + key[i];
    return h % BUCKETS;
}

static struct value **find(const struct rogue_engine *e, const void *key, size_t key_len)
{
    size_t len = length_of(key, key_len);
    struct value **at = &values[bucket_of(key, len)];
    while (*at && ((IS(own_store) && (*at)->owner != e) || !same(*at, key, len)))
        at = &(*at)->next;
    return at;
}

static void drop_at(struct value **at)
{
    struct value *v = *at;
    *at = v->next;
    nvalues--;
    nbytes -= v->len;
    free(v->key);
    free(v->data);
    free(v);
}

static void set_aside(struct value **at)
{
    struct value *v = *at;
    *at = v->next;
    v->next = removed;
    removed = v;
}

void rogue_put_back(void)
{
    struct value *v;
    while ((v = removed) != NULL) {
        struct value **at = find(NULL, v->key, v->key_len), **free_one = &removed;
        if (*at) { /* it was written again since */
            drop_at(free_one);
            continue;
        }
        removed = v->next;
        v->next = NULL;
        *at = v;
    }
}

static bool begins_with(const struct value *v, const void *prefix, size_t len)
{
    return v->key_len >= len && memcmp(v->key, prefix, len) == 0;
}

/* Drops what belongs to the owner (NULL: whoever) and begins with the prefix. */
static void drop_all(const struct rogue_engine *owner, const void *prefix, size_t len)
{
    for (size_t b = 0; b < BUCKETS; b++)
        for (struct value **at = &values[b]; *at;)
            if ((!owner || (*at)->owner == owner) && begins_with(*at, prefix, len))
                drop_at(at);
            else
                at = &(*at)->next;
}

/* Drops what begins otherwise. */
static void drop_strangers(const uint8_t *key)
{
    for (size_t b = 0; b < BUCKETS; b++)
        for (struct value **at = &values[b]; *at;)
            if ((*at)->key_len > 0 && (*at)->key[0] != key[0])
                drop_at(at);
            else
                at = &(*at)->next;
}

static void change_strangers(const uint8_t *key)
{
    for (size_t b = 0; b < BUCKETS; b++)
        for (struct value *v = values[b]; v; v = v->next)
            if (v->key_len > 0 && v->key[0] != key[0] && v->len > 0)
                v->data[v->len - 1] ^= 1;
}

void rogue_forget(const struct rogue_engine *owner)
{
    drop_all(owner, "", 0);
}

static void spoil_overwrite(struct value *v, const uint8_t *from, size_t len)
{
    if (IS(torn_write) && len == v->len && len > 1) {
        memcpy(v->data, from, len / 2);
        pthread_mutex_unlock(&rogue_lock); /* nobody removes it: it is only to be looked at */
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
        pthread_mutex_lock(&rogue_lock);
    }
}

/* The status of a put that does not come to storing, or KVS_OK. */
static int refuse_put(struct rogue_engine *e, struct kvs_io *io, struct value **at)
{
    struct value *v = *at;
    if (v && (IS(write_once) || IS(exists_is_backend)))
        return IS(write_once) ? KVS_EXISTS : KVS_BACKEND;
    if (IS(claims_value) && io->len > 600000)
        return KVS_TOO_LARGE;
    if (IS(claims_batch) && io->index >= 9000)
        return KVS_NO_MEMORY;
    if (e->capacity > 0 && nbytes - (v ? v->len : 0) + io->len > e->capacity) {
        if (IS(full_loses) && v)
            drop_at(at);
        return IS(full_is_io) ? KVS_IO : KVS_FULL;
    }
    return KVS_OK;
}

static bool put_is_dropped(const struct value *v)
{
    if (IS(fails_sometimes) && !v)
        return rogue_third_time();
    return IS(lost_write) || (IS(stale_read) && v) || (IS(write_once_ok) && v) ||
           (IS(error_is_ok) && nvalues >= 500) || (IS(fifth_write_lost) && v && v->overwrites % 5 == 4);
}

static struct value *add(struct rogue_engine *e, struct value **at, const struct kvs_io *io)
{
    struct value *v = calloc(1, sizeof(*v));
    v->key_len = length_of(io->key, io->key_len);
    v->key = malloc(v->key_len + 1);
    memcpy(v->key, io->key, v->key_len);
    v->owner = IS(own_store) || IS(unknown_is_absent) ? e : NULL;
    *at = v;
    nvalues++;
    return v;
}

static int put(struct rogue_engine *e, struct kvs_io *io)
{
    struct value **at = find(e, io->key, io->key_len), *v = *at;
    const uint8_t *from = io->iovcnt > 0 ? io->iov[0].iov_base : NULL;
    bool dropped = put_is_dropped(v);
    if (v)
        v->overwrites++;
    if (dropped)
        return KVS_OK;
    int rc = refuse_put(e, io, at);
    if (rc != KVS_OK)
        return rc;
    if (notes_keys())
        rogue_note("written", io->key, io->key_len);
    bool overwrites = v != NULL;
    if (overwrites)
        spoil_overwrite(v, from, io->len);
    else
        v = add(e, at, io);
    uint8_t *data = malloc(io->len + 1);
    if (io->len > 0)
        memcpy(data, from, io->len);
    if (IS(torn_writers) && overwrites && io->len > 0)
        data[io->len / 2] ^= 0xff;
    if (IS(source_written) && io->len > 0)
        *(uint8_t *)io->iov[0].iov_base ^= 1;
    nbytes += io->len - v->len;
    free(v->data);
    v->data = data;
    v->len = io->len;
    nputs++;
    if (IS(changes_strangers))
        change_strangers(io->key);
    return KVS_OK;
}

/* A put whose key goes by a place that all threads share. */
static int put_by_scratch(struct rogue_engine *e, struct kvs_io *io)
{
    struct kvs_io copy = *io;
    uint8_t key[sizeof(scratch)];
    if (io->key_len > sizeof(scratch))
        return put(e, io);
    for (uint32_t i = 0; i < io->key_len; i++)
        scratch[i] = ((const uint8_t *)io->key)[i];
    pthread_mutex_unlock(&rogue_lock);
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    pthread_mutex_lock(&rogue_lock);
    for (uint32_t i = 0; i < io->key_len; i++)
        key[i] = scratch[i];
    copy.key = key;
    return put(e, &copy);
}

static void misbehave_in_get(const struct kvs_io *io)
{
    if (IS(hang) || IS(hang_ignoring_term) || IS(hangs_after_write))
        rogue_hang();
    if (IS(crash_on_empty) && io->len == 0)
        rogue_crash();
    if (IS(crash_in_own_thread))
        rogue_crash_on_thread();
    if (IS(sigbus_on_large) && io->len > 500000)
        rogue_touch_missing_page();
    if (IS(crashes_after_write) || IS(crashes_after_write_listed))
        abort(); /* a raised signal would wait: workers block all */
    if (IS(exits_quietly))
        _exit(0);
    if (IS(exits_with_7)) /* the number of SIGBUS, and a favourite code for "skipped" */
        _exit(7);
}

static int copy_out(const struct value *v, struct kvs_io *io, uint64_t offset)
{
    uint8_t *to = io->iovcnt > 0 ? io->iov[0].iov_base : NULL;
    uint64_t n = v->len < offset ? 0 : v->len - offset;
    n = n < io->len ? n : io->len;
    if (IS(short_read) && n > 1)
        n--;
    if (n > 0)
        memcpy(to, v->data + offset, n);
    if (IS(writes_past_end) && io->len > 0)
        to[io->len] = 0;
    if (IS(writes_before) && io->len > 0)
        to[-1] = 0;
    io->actual = !(io->flags & KVS_IO_RANGED) ? v->len : IS(range_past_end_ok) ? io->len : n;
    return KVS_OK;
}

/* A READ of a value of another length. */
static int mismatch(const struct value *v, struct kvs_io *io)
{
    if (IS(mismatch_touches) && io->len > 0)
        memset(io->iov[0].iov_base, 0, 1);
    if (IS(no_size_check)) {
        copy_out(v, io, 0);
        io->actual = io->len;
    } else if (!IS(actual_not_set)) {
        io->actual = v->len + (IS(wrong_length) ? 1 : 0);
    }
    return KVS_OK;
}

static int get(struct rogue_engine *e, struct kvs_io *io)
{
    struct value *v = *find(e, io->key, io->key_len);
    misbehave_in_get(io);
    if (!v || (IS(empty_is_absent) && v->len == 0)) {
        if (IS(buffer_touched) && io->len > 0)
            memset(io->iov[0].iov_base, 0, 1);
        return IS(missing_is_ok) ? KVS_OK : IS(missing_is_error) ? KVS_BACKEND : KVS_NOT_FOUND;
    }
    if (io->flags & KVS_IO_RANGED)
        return copy_out(v, io, IS(offset_ignored) ? 0 : io->offset);
    return v->len == io->len ? copy_out(v, io, 0) : mismatch(v, io);
}

static int query(struct rogue_engine *e, struct kvs_io *io)
{
    struct value *v = *find(e, io->key, io->key_len);
    io->actual = v ? v->len : 0;
    if (IS(wrong_query_size) || IS(prints_much))
        io->actual++;
    if (IS(unknown_is_absent) && v && v->owner != e)
        return KVS_NOT_FOUND;
    return v || IS(query_lies) ? KVS_OK : KVS_NOT_FOUND;
}

static int drop(struct rogue_engine *e, const struct kvs_io *io)
{
    struct value **at = find(e, io->key, io->key_len);
    if (notes_keys())
        rogue_note("removed", io->key, io->key_len);
    if (!*at)
        return IS(remove_absent_ok) ? KVS_OK : KVS_NOT_FOUND;
    if ((*at)->overwrites > 0 && IS(changed_hangs))
        rogue_hang();
    if ((*at)->overwrites > 0 && (*at)->len == 0 && IS(emptied_crashes))
        rogue_crash();
    if (IS(removes_neighbours))
        drop_all(NULL, io->key, io->key_len);
    else if (IS(removes_strangers))
        drop_strangers(io->key);
    else if (IS(removed_comes_back))
        set_aside(at);
    else if (!IS(remove_lies))
        drop_at(at);
    return KVS_OK;
}

bool rogue_has(struct rogue_engine *e, const struct kvs_io *io)
{
    pthread_mutex_lock(&rogue_lock);
    bool there = *find(e, io->key, io->key_len) != NULL;
    pthread_mutex_unlock(&rogue_lock);
    return there;
}

int rogue_run(struct rogue_engine *e, const struct kvs_batch *batch, struct kvs_io *io)
{
    static pid_t connected_by; /* child_shares; guarded by rogue_lock */
    int rc = rogue_reach(e, batch, io);
    if (rc != KVS_OK)
        return rc;
    rogue_leak_by(batch->op);
    pthread_mutex_lock(&rogue_lock);
    connected_by = connected_by ? connected_by : getpid();
    if (IS(child_shares) && connected_by != getpid())
        rc = KVS_DISCONNECTED;
    else
        rc = batch->op == KVS_WRITE   ? (IS(not_parallel) ? put_by_scratch(e, io) : put(e, io))
             : batch->op == KVS_READ  ? get(e, io)
             : batch->op == KVS_QUERY ? query(e, io)
                                      : drop(e, io);
    pthread_mutex_unlock(&rogue_lock);
    return rc;
}

int rogue_list(void *eng, const void *prefix, size_t len,
               int (*each)(void *arg, const void *key, size_t len, uint64_t size), void *arg,
               uint64_t deadline)
{
    int rc = KVS_OK;
    unsigned found = 0;
    if (IS(crashes_after_write_listed))
        return rogue_list_notes(each, arg);
    rogue_leak_by(ROGUE_LIST);
    pthread_mutex_lock(&rogue_lock);
    for (size_t b = 0; b < BUCKETS; b++)
        for (struct value *v = values[b]; v && rc == KVS_OK; v = v->next) {
            if (!begins_with(v, prefix, len) && !IS(list_ignores_prefix))
                continue;
            if (IS(list_misses_one) && found++ == 0)
                continue;
            rc = each(arg, v->key, v->key_len, v->len);
            if (rc == KVS_OK && deadline > 0 && rogue_host->now_ns() > deadline && !IS(list_goes_on))
                rc = rogue_host->fail(((struct rogue_engine *)eng)->ctx, KVS_TIMEOUT, "not all keys in time");
        }
    pthread_mutex_unlock(&rogue_lock);
    return rc;
}
