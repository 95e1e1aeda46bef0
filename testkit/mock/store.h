/* SPDX-License-Identifier: Apache-2.0 */
/* The mock's stores: keys and values in memory, and what tests set and count in them. */
#ifndef KVS_MOCK_STORE_H
#define KVS_MOCK_STORE_H

#include <kvslot/backend.h>
#include <kvslot/mock.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/queue.h>

struct mock_engine;
struct mock_io;
struct mock_entry;
TAILQ_HEAD(mock_queue, mock_io);

struct mock_fault {
    uint64_t after, count;
    int status;
};

struct mock_store {
    struct mock_store *next; /* set once, before the store is in the list */
    unsigned generation;     /* set once: of which process it is */
    char *name;              /* set once */

    pthread_mutex_t table_lock;  /* guards the three below; taken last, nothing is called while it is held */
    struct mock_entry **buckets; /* nbuckets of them, a power of 2; NULL while nbuckets is 0 */
    size_t nbuckets, nentries;

    pthread_mutex_t
        lock; /* guards all below, and the queues of the store's engines; never held while completing */
    pthread_cond_t changed; /* `held` has grown, or an io of a blocking engine was let go */
    struct mock_queue held;
    struct mock_fault faults[KVS_MOCK_POINTS];
    struct kvs_mock_counts counts;
    LIST_HEAD(, mock_engine) engines;
    struct kvs_io *last_io; /* that ended last; only an address, the io may be gone */
    uint64_t last_token;
};

/* Prepares the list of stores for fork(); once a process. KVS_OK or KVS_NO_MEMORY. */
int mock_stores_setup(void);
/* The store of that name, made if need be; NULL where there is no memory. It stays for the life of the
 * process. */
struct mock_store *mock_store_get(const char *name);

/* One key. READ and QUERY set io->actual. All answer a status. */
int mock_store_write(struct mock_store *store, struct kvs_io *io);
int mock_store_read(struct mock_store *store, struct kvs_io *io);
int mock_store_query(struct mock_store *store, struct kvs_io *io);
int mock_store_remove(struct mock_store *store, struct kvs_io *io);
/* As the backend's list; `past(arg)` says that it must end now. */
int mock_store_list(struct mock_store *store, const void *prefix, size_t len,
                    int (*each)(void *arg, const void *key, size_t len, uint64_t size), void *arg,
                    uint64_t deadline_ns, uint64_t (*now_ns)(void));
/* Forgets all values. */
void mock_store_clear(struct mock_store *store);

/* Passes a point; store->lock is held. True: there is a fault, *status is it. */
bool mock_store_fault(struct mock_store *store, enum kvs_mock_point point, int *status);

#endif
