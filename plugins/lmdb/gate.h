/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the transactions of a process apart from the moments at which the map is moved: LMDB itself does not.
 * To enter and to leave is one atomic operation each, as long as nobody has to wait. */
#ifndef KVS_LMDB_GATE_H
#define KVS_LMDB_GATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct gate {
    _Atomic uint32_t state; /* how many are inside, and two flags: closed, and someone waits */
    uint32_t most;          /* set once: how many may be inside */
    pthread_mutex_t lock;   /* held by those that begin or end to wait, and by those that wake them */
    pthread_cond_t changed; /* with the lock: state has become one that someone waits for */
};

void gate_init(struct gate *gate, unsigned most);
void gate_destroy(struct gate *gate);

/* Around each transaction; the thread must not be inside already. */
void gate_enter(struct gate *gate);
/* Enters if that needs no waiting. */
bool gate_try_enter(struct gate *gate);
void gate_leave(struct gate *gate);

/* Waits until nobody is inside, and keeps everybody out until gate_open. */
void gate_close(struct gate *gate);
void gate_open(struct gate *gate);

#endif
