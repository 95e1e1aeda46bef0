/* SPDX-License-Identifier: Apache-2.0 */
#include "gate.h"

void gate_init(struct gate *gate, unsigned most)
{
    *gate = (struct gate){.most = most > 0 ? most : 1};
    pthread_mutex_init(&gate->lock, NULL);
    pthread_cond_init(&gate->changed, NULL);
}

void gate_destroy(struct gate *gate)
{
    pthread_cond_destroy(&gate->changed);
    pthread_mutex_destroy(&gate->lock);
}

void gate_enter(struct gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    while (gate->closed || gate->active >= gate->most)
        pthread_cond_wait(&gate->changed, &gate->lock);
    gate->active++;
    pthread_mutex_unlock(&gate->lock);
}

void gate_leave(struct gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    bool full = gate->active >= gate->most;
    gate->active--;
    if (full || (gate->closed && gate->active == 0))
        pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->lock);
}

void gate_close(struct gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    while (gate->closed)
        pthread_cond_wait(&gate->changed, &gate->lock);
    gate->closed = true; /* nobody enters any more: those inside cannot keep us out for ever */
    while (gate->active > 0)
        pthread_cond_wait(&gate->changed, &gate->lock);
    pthread_mutex_unlock(&gate->lock);
}

void gate_open(struct gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    gate->closed = false;
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->lock);
}
