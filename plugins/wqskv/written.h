/* SPDX-License-Identifier: Apache-2.0 */
/* What an engine has written, which is all that a query can be answered from. */
#ifndef KVS_WQSKV_WRITTEN_H
#define KVS_WQSKV_WRITTEN_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

struct written_key;
TAILQ_HEAD(written_queue, written_key);

struct written {
    pthread_mutex_t lock; /* guards all below; a leaf: nothing is called with it held */
    struct written_key **buckets;
    size_t nbuckets, count, max;
    struct written_queue oldest; /* the first is forgotten first */
};

/* Remembers up to max keys; false: no memory. */
bool written_init(struct written *written, size_t max);
void written_end(struct written *written);
/* What there is no memory for is not remembered. */
void written_add(struct written *written, const void *key, size_t key_len, uint64_t size);
bool written_find(struct written *written, const void *key, size_t key_len, uint64_t *size);

#endif
