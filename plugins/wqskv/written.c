/* SPDX-License-Identifier: Apache-2.0 */
#include "written.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_BUCKETS 64 /* a power of 2, as all later numbers */

struct written_key {
    TAILQ_ENTRY(written_key) link;
    struct written_key *next; /* in its bucket */
    uint64_t hash, size;
    size_t len;
    unsigned char key[];
};

static uint64_t hash_of(const void *key, size_t len)
{
    const unsigned char *at = key;
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ at[i]) * UINT64_C(1099511628211);
    return hash ^ hash >> 32;
}

bool written_init(struct written *written, size_t max)
{
    TAILQ_INIT(&written->oldest);
    written->max = max;
    written->count = 0;
    written->nbuckets = FIRST_BUCKETS;
    written->buckets = calloc(FIRST_BUCKETS, sizeof(struct written_key *));
    if (written->buckets == NULL)
        return false;
    pthread_mutex_init(&written->lock, NULL);
    return true;
}

void written_end(struct written *written)
{
    struct written_key *key;
    while ((key = TAILQ_FIRST(&written->oldest)) != NULL) {
        TAILQ_REMOVE(&written->oldest, key, link);
        free(key);
    }
    free(written->buckets);
    pthread_mutex_destroy(&written->lock);
}

/* The place where a key hangs, or would. */
static struct written_key **find(const struct written *written, uint64_t hash, const void *key, size_t len)
{
    struct written_key **at = &written->buckets[hash & (written->nbuckets - 1)];
    while (*at != NULL && ((*at)->hash != hash || (*at)->len != len || memcmp((*at)->key, key, len) != 0))
        at = &(*at)->next;
    return at;
}

/* Without memory for more buckets the chains get longer. */
static void grow(struct written *written)
{
    size_t n = written->nbuckets * 2;
    struct written_key **buckets = calloc(n, sizeof(*buckets)), *key;
    if (buckets == NULL)
        return;
    TAILQ_FOREACH(key, &written->oldest, link)
    {
        key->next = buckets[key->hash & (n - 1)];
        buckets[key->hash & (n - 1)] = key;
    }
    free(written->buckets);
    written->buckets = buckets;
    written->nbuckets = n;
}

static void forget_oldest(struct written *written)
{
    struct written_key *key = TAILQ_FIRST(&written->oldest);
    *find(written, key->hash, key->key, key->len) = key->next;
    TAILQ_REMOVE(&written->oldest, key, link);
    written->count--;
    free(key);
}

void written_add(struct written *written, const void *key, size_t key_len, uint64_t size)
{
    struct written_key *fresh = written->max > 0 ? malloc(sizeof(*fresh) + key_len) : NULL;
    if (fresh == NULL)
        return;
    fresh->hash = hash_of(key, key_len);
    fresh->size = size;
    fresh->len = key_len;
    memcpy(fresh->key, key, key_len);
    pthread_mutex_lock(&written->lock);
    struct written_key **at = find(written, fresh->hash, key, key_len);
    if (*at != NULL) { /* it was evicted, and written again */
        (*at)->size = size;
        pthread_mutex_unlock(&written->lock);
        free(fresh);
        return;
    }
    fresh->next = NULL;
    *at = fresh;
    TAILQ_INSERT_TAIL(&written->oldest, fresh, link);
    written->count++;
    if (written->count > written->max)
        forget_oldest(written);
    else if (written->count > written->nbuckets)
        grow(written);
    pthread_mutex_unlock(&written->lock);
}

bool written_find(struct written *written, const void *key, size_t key_len, uint64_t *size)
{
    uint64_t hash = hash_of(key, key_len);
    pthread_mutex_lock(&written->lock);
    const struct written_key *found = *find(written, hash, key, key_len);
    if (found != NULL)
        *size = found->size;
    pthread_mutex_unlock(&written->lock);
    return found != NULL;
}
