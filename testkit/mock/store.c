/* SPDX-License-Identifier: Apache-2.0 */
/* The list of stores, and each store's table: chained hashing over values that are counted and never change.
 */
#include "store.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BUCKETS 64u

/* One value. Whoever holds a reference may read it without a lock: that is why a reader sees whole values
 * only. */
struct mock_value {
    atomic_uint refs;
    size_t size;
    unsigned char bytes[];
};

struct mock_entry {
    struct mock_entry *next;
    uint64_t hash;
    struct mock_value *value;
    size_t key_len;
    unsigned char key[];
};

/* Global, since engines of one process share stores by name. Stores are never taken out of the list. */
static pthread_mutex_t stores_lock = PTHREAD_MUTEX_INITIALIZER; /* guards the two below */
static struct mock_store *stores;
static unsigned generation = 1;

/* A child must not meet its parent's stores: their locks may have been held by threads that it does not have.
 */
static void after_fork_in_child(void)
{
    pthread_mutex_init(&stores_lock, NULL);
    generation++;
}

int mock_stores_setup(void)
{
    return pthread_atfork(NULL, NULL, after_fork_in_child) == 0 ? KVS_OK : KVS_NO_MEMORY;
}

static struct mock_store *store_new(const char *name)
{
    struct mock_store *store = calloc(1, sizeof(*store));
    if (store == NULL)
        return NULL;
    store->name = strdup(name);
    if (store->name == NULL) {
        free(store);
        return NULL;
    }
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&store->changed, &attr);
    pthread_condattr_destroy(&attr);
    pthread_mutex_init(&store->table_lock, NULL);
    pthread_mutex_init(&store->lock, NULL);
    TAILQ_INIT(&store->held);
    LIST_INIT(&store->engines);
    return store;
}

struct mock_store *mock_store_get(const char *name)
{
    if (name == NULL)
        name = "default";
    pthread_mutex_lock(&stores_lock);
    struct mock_store *store = stores;
    while (store != NULL && (store->generation != generation || strcmp(store->name, name) != 0))
        store = store->next;
    if (store == NULL) {
        store = store_new(name);
        if (store != NULL) {
            store->generation = generation;
            store->next = stores;
            stores = store;
        }
    }
    pthread_mutex_unlock(&stores_lock);
    return store;
}

static uint64_t hash_of(const void *key, size_t len)
{
    const unsigned char *at = key;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return hash ^ (hash >> 32);
}

static void value_unref(struct mock_value *value)
{
    if (value != NULL && atomic_fetch_sub_explicit(&value->refs, 1, memory_order_acq_rel) == 1)
        free(value);
}

/* The link that leads to the key's entry, or to the end of its chain; NULL without buckets. table_lock is
 * held. */
static struct mock_entry **find(struct mock_store *store, uint64_t hash, const void *key, size_t len)
{
    if (store->nbuckets == 0)
        return NULL;
    struct mock_entry **link = &store->buckets[hash & (store->nbuckets - 1)];
    while (*link != NULL &&
           ((*link)->hash != hash || (*link)->key_len != len || memcmp((*link)->key, key, len) != 0))
        link = &(*link)->next;
    return link;
}

/* Makes room for one more; where there is no memory for that, long chains do. table_lock is held. */
static void grow(struct mock_store *store)
{
    if (store->nentries < store->nbuckets)
        return;
    size_t n = store->nbuckets == 0 ? FIRST_BUCKETS : store->nbuckets * 2;
    struct mock_entry **buckets = calloc(n, sizeof(struct mock_entry *));
    if (buckets == NULL)
        return;
    for (size_t i = 0; i < store->nbuckets; i++) {
        while (store->buckets[i] != NULL) {
            struct mock_entry *entry = store->buckets[i];
            store->buckets[i] = entry->next;
            entry->next = buckets[entry->hash & (n - 1)];
            buckets[entry->hash & (n - 1)] = entry;
        }
    }
    free(store->buckets);
    store->buckets = buckets;
    store->nbuckets = n;
}

/* A reference to the key's value, or NULL. */
static struct mock_value *value_of(struct mock_store *store, const struct kvs_io *io)
{
    uint64_t hash = hash_of(io->key, io->key_len);
    struct mock_value *value = NULL;
    pthread_mutex_lock(&store->table_lock);
    struct mock_entry **link = find(store, hash, io->key, io->key_len);
    if (link != NULL && *link != NULL) {
        value = (*link)->value;
        atomic_fetch_add_explicit(&value->refs, 1, memory_order_relaxed);
    }
    pthread_mutex_unlock(&store->table_lock);
    return value;
}

static struct mock_value *value_new(const struct kvs_io *io)
{
    struct mock_value *value = malloc(sizeof(*value) + io->len);
    if (value == NULL)
        return NULL;
    atomic_init(&value->refs, 1);
    value->size = io->len;
    size_t done = 0;
    for (uint32_t i = 0; i < io->iovcnt; i++) {
        if (io->iov[i].iov_len != 0)
            memcpy(value->bytes + done, io->iov[i].iov_base, io->iov[i].iov_len);
        done += io->iov[i].iov_len;
    }
    return value;
}

static struct mock_entry *entry_new(const struct kvs_io *io, uint64_t hash)
{
    struct mock_entry *entry = malloc(sizeof(*entry) + io->key_len);
    if (entry == NULL)
        return NULL;
    *entry = (struct mock_entry){.hash = hash, .key_len = io->key_len};
    memcpy(entry->key, io->key, io->key_len);
    return entry;
}

int mock_store_write(struct mock_store *store, struct kvs_io *io)
{
    uint64_t hash = hash_of(io->key, io->key_len);
    struct mock_value *value = value_new(io);
    struct mock_entry *entry =
        entry_new(io, hash); /* not needed where the key is there; allocated outside the lock */
    if (value == NULL || entry == NULL) {
        free(value);
        free(entry);
        return KVS_NO_MEMORY;
    }
    struct mock_value *old = NULL;
    pthread_mutex_lock(&store->table_lock);
    grow(store);
    struct mock_entry **link = find(store, hash, io->key, io->key_len);
    if (link == NULL) {
        pthread_mutex_unlock(&store->table_lock);
        free(value);
        free(entry);
        return KVS_NO_MEMORY;
    }
    if (*link != NULL) {
        old = (*link)->value;
        (*link)->value = value;
    } else {
        entry->value = value;
        *link = entry;
        store->nentries++;
        entry = NULL;
    }
    pthread_mutex_unlock(&store->table_lock);
    value_unref(old);
    free(entry);
    return KVS_OK;
}

static void copy_out(const struct kvs_io *io, const unsigned char *bytes)
{
    for (uint32_t i = 0; i < io->iovcnt; i++) {
        if (io->iov[i].iov_len != 0)
            memcpy(io->iov[i].iov_base, bytes, io->iov[i].iov_len);
        bytes += io->iov[i].iov_len;
    }
}

int mock_store_read(struct mock_store *store, struct kvs_io *io)
{
    struct mock_value *value = value_of(store, io);
    if (value == NULL)
        return KVS_NOT_FOUND;
    uint64_t offset = 0;
    io->actual = value->size;
    if (io->flags & KVS_IO_RANGED) {
        offset = io->offset < value->size ? io->offset : value->size;
        uint64_t left = value->size - offset;
        io->actual = left < io->len ? left : io->len;
    }
    if (io->actual == io->len) /* else it is a mismatch, and the buffer stays as it was */
        copy_out(io, value->bytes + offset);
    value_unref(value);
    return KVS_OK;
}

int mock_store_query(struct mock_store *store, struct kvs_io *io)
{
    struct mock_value *value = value_of(store, io);
    if (value == NULL)
        return KVS_NOT_FOUND;
    io->actual = value->size;
    value_unref(value);
    return KVS_OK;
}

int mock_store_remove(struct mock_store *store, struct kvs_io *io)
{
    uint64_t hash = hash_of(io->key, io->key_len);
    pthread_mutex_lock(&store->table_lock);
    struct mock_entry **link = find(store, hash, io->key, io->key_len);
    struct mock_entry *entry = link != NULL ? *link : NULL;
    if (entry != NULL) {
        *link = entry->next;
        store->nentries--;
    }
    pthread_mutex_unlock(&store->table_lock);
    if (entry == NULL)
        return KVS_NOT_FOUND;
    value_unref(entry->value);
    free(entry);
    return KVS_OK;
}

void mock_store_clear(struct mock_store *store)
{
    pthread_mutex_lock(&store->table_lock);
    struct mock_entry **buckets = store->buckets;
    size_t n = store->nbuckets;
    store->buckets = NULL;
    store->nbuckets = 0;
    store->nentries = 0;
    pthread_mutex_unlock(&store->table_lock);
    for (size_t i = 0; i < n; i++) {
        while (buckets[i] != NULL) {
            struct mock_entry *entry = buckets[i];
            buckets[i] = entry->next;
            value_unref(entry->value);
            free(entry);
        }
    }
    free(buckets);
}

/* Copies of the keys that start with prefix, in one chain of entries without values; false: no memory. */
static bool collect(struct mock_store *store, const void *prefix, size_t len, struct mock_entry **out)
{
    bool ok = true;
    pthread_mutex_lock(&store->table_lock);
    for (size_t i = 0; i < store->nbuckets && ok; i++) {
        for (struct mock_entry *at = store->buckets[i]; at != NULL && ok; at = at->next) {
            if (at->key_len < len || (len != 0 && memcmp(at->key, prefix, len) != 0))
                continue;
            struct mock_entry *copy = malloc(sizeof(*copy) + at->key_len);
            ok = copy != NULL;
            if (ok) {
                memcpy(copy, at, sizeof(*copy) + at->key_len);
                copy->hash = at->value->size; /* the copy needs no hash, but the size */
                copy->next = *out;
                *out = copy;
            }
        }
    }
    pthread_mutex_unlock(&store->table_lock);
    return ok;
}

int mock_store_list(struct mock_store *store, const void *prefix, size_t len,
                    int (*each)(void *arg, const void *key, size_t len, uint64_t size), void *arg,
                    uint64_t deadline_ns, uint64_t (*now_ns)(void))
{
    struct mock_entry *found = NULL;
    int answer = collect(store, prefix, len, &found) ? KVS_OK : KVS_NO_MEMORY;
    while (found != NULL) {
        struct mock_entry *entry = found;
        found = entry->next;
        if (answer == KVS_OK && deadline_ns != 0 && now_ns() >= deadline_ns)
            answer = KVS_TIMEOUT;
        if (answer == KVS_OK)
            answer = each(arg, entry->key, entry->key_len, entry->hash);
        free(entry);
    }
    return answer;
}

bool mock_store_fault(struct mock_store *store, enum kvs_mock_point point, int *status)
{
    struct mock_fault *fault = &store->faults[point];
    if (fault->count == 0)
        return false;
    if (fault->after != 0) {
        fault->after--;
        return false;
    }
    if (fault->count != UINT64_MAX)
        fault->count--;
    *status = fault->status;
    return true;
}
