/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the transactions of a process apart from the moments at which the map is moved: LMDB itself does not.
 */
#ifndef KVS_LMDB_GATE_H
#define KVS_LMDB_GATE_H

#include <pthread.h>
#include <stdbool.h>

struct gate {
    pthread_mutex_t lock;   /* guards the three below */
    pthread_cond_t changed; /* active fell to where someone may wait for it, or closed is over */
    unsigned active;        /* transactions that are inside */
    bool closed;            /* someone is alone, or waits to be */
    unsigned most;          /* set once: how many may be inside */
};

void gate_init(struct gate *gate, unsigned most);
void gate_destroy(struct gate *gate);

/* Around each transaction; the thread must not be inside already. */
void gate_enter(struct gate *gate);
void gate_leave(struct gate *gate);

/* Waits until nobody is inside, and keeps everybody out until gate_open. */
void gate_close(struct gate *gate);
void gate_open(struct gate *gate);

#endif
