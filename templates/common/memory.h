/* SPDX-License-Identifier: Apache-2.0 */
/* A store in memory, in place of your client library: it has what such a library has, calls with errors of
 * its own. All engines of the process share it. You delete this file once nothing calls it any more. */
#ifndef MEMORY_H
#define MEMORY_H

#include <pthread.h>
#include <search.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum memory_error { MEMORY_OK = 0, MEMORY_ABSENT = 17, MEMORY_NO_ROOM = 23 };

struct memory_entry {
    const void *key;
    size_t key_len, len;
    unsigned char bytes[]; /* the key, then the value */
};

static pthread_mutex_t memory_lock = PTHREAD_MUTEX_INITIALIZER; /* guards the tree and its entries */
static void *memory_tree;

static int memory_compare(const void *a, const void *b)
{
    const struct memory_entry *x = a, *y = b;
    int order = memcmp(x->key, y->key, x->key_len < y->key_len ? x->key_len : y->key_len);

    return order ? order : (x->key_len > y->key_len) - (x->key_len < y->key_len);
}

/* With the lock held. */
static struct memory_entry *memory_find(const void *key, size_t key_len)
{
    struct memory_entry wanted = {key, key_len, 0};
    void *node = tfind(&wanted, &memory_tree, memory_compare);

    return node ? *(struct memory_entry **)node : NULL;
}

/* Stores a value, whole: a reader sees the old one or the new one. */
static int memory_put(const void *key, size_t key_len, const void *data, size_t len)
{
    struct memory_entry *fresh = malloc(sizeof *fresh + key_len + len);

    if (!fresh)
        return MEMORY_NO_ROOM;
    *fresh = (struct memory_entry){fresh->bytes, key_len, len};
    memcpy(fresh->bytes, key, key_len);
    if (len > 0)
        memcpy(fresh->bytes + key_len, data, len);
    pthread_mutex_lock(&memory_lock);
    struct memory_entry **node = tsearch(fresh, &memory_tree, memory_compare);
    struct memory_entry *old = node && *node != fresh ? *node : NULL;
    if (node)
        *node = fresh;
    pthread_mutex_unlock(&memory_lock);
    free(node ? old : fresh);
    return node ? MEMORY_OK : MEMORY_NO_ROOM;
}

/* Tells a value's size, and copies it where that is exactly len and there is somewhere to copy it to. */
static int memory_get(const void *key, size_t key_len, void *data, size_t len, uint64_t *size)
{
    pthread_mutex_lock(&memory_lock);
    const struct memory_entry *entry = memory_find(key, key_len);
    if (entry) {
        *size = entry->len;
        if (data && len > 0 && entry->len == len)
            memcpy(data, entry->bytes + entry->key_len, len);
    }
    pthread_mutex_unlock(&memory_lock);
    return entry ? MEMORY_OK : MEMORY_ABSENT;
}

static int memory_remove(const void *key, size_t key_len)
{
    pthread_mutex_lock(&memory_lock);
    struct memory_entry *entry = memory_find(key, key_len);
    if (entry)
        tdelete(entry, &memory_tree, memory_compare);
    pthread_mutex_unlock(&memory_lock);
    free(entry);
    return entry ? MEMORY_OK : MEMORY_ABSENT;
}

struct memory_walk {
    const void *prefix;
    size_t len;
    int (*each)(void *arg, const void *key, size_t len, uint64_t size);
    void *arg;
    uint64_t (*now)(void);
    uint64_t deadline; /* 0: none */
    int late;          /* the answer after it */
    int answer;
};

static void memory_visit(const void *node, VISIT visit, void *closure)
{
    const struct memory_entry *entry = *(const struct memory_entry *const *)node;
    struct memory_walk *walk = closure;

    if ((visit != postorder && visit != leaf) || walk->answer != 0 || entry->key_len < walk->len ||
        (walk->len > 0 && memcmp(entry->key, walk->prefix, walk->len) != 0))
        return;
    walk->answer = walk->each(walk->arg, entry->key, entry->key_len, entry->len);
    if (walk->answer == 0 && walk->deadline != 0 && walk->now() > walk->deadline)
        walk->answer = walk->late;
}

/* Calls each() for the keys that begin with prefix, in order, until it answers other than 0. After the
 * deadline on the clock now() (0: none) it answers `late`. */
static int memory_list(const void *prefix, size_t len,
                       int (*each)(void *arg, const void *key, size_t len, uint64_t size), void *arg,
                       uint64_t (*now)(void), uint64_t deadline, int late)
{
    struct memory_walk walk = {prefix, len, each, arg, now, deadline, late, 0};

    pthread_mutex_lock(&memory_lock);
    twalk_r(memory_tree, memory_visit, &walk);
    pthread_mutex_unlock(&memory_lock);
    return walk.answer;
}

#endif
