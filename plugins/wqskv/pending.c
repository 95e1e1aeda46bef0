/* SPDX-License-Identifier: Apache-2.0 */
#include "pending.h"

#define BUCKETS 1024 /* a power of 2 */

/* Global, since a callback says no more than its token. */
static struct bucket {
    pthread_mutex_t lock; /* guards first, and the chain behind it */
    struct pending *first;
} buckets[BUCKETS];

void pending_setup(void)
{
    for (size_t i = 0; i < BUCKETS; i++)
        pthread_mutex_init(&buckets[i].lock, NULL);
}

/* Tokens of one batch differ in few bits, wherever these are. */
static struct bucket *bucket_of(uint64_t token)
{
    return &buckets[(token * UINT64_C(0x9e3779b97f4a7c15)) >> 54];
}

void pending_add(struct pending *pending)
{
    struct bucket *bucket = bucket_of(pending->token);
    pthread_mutex_lock(&bucket->lock);
    pending->next = bucket->first;
    bucket->first = pending;
    pthread_mutex_unlock(&bucket->lock);
}

void pending_end(uint64_t token, bool success)
{
    struct bucket *bucket = bucket_of(token);
    pthread_mutex_lock(&bucket->lock);
    struct pending **at = &bucket->first;
    while (*at != NULL && (*at)->token != token)
        at = &(*at)->next;
    struct pending *found = *at;
    if (found != NULL) {
        *at = found->next;
        /* With the lock held: a second callback for this token has to wait for it, before it could complete
         * the io and let key and engine go. */
        if (success)
            written_add(found->written, found->key, found->key_len, found->size);
    }
    pthread_mutex_unlock(&bucket->lock);
}
