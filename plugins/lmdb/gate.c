/* SPDX-License-Identifier: Apache-2.0 */
#include "gate.h"

#define CLOSED (UINT32_C(1) << 31) /* someone is alone, or waits to be */
#define WAITED (UINT32_C(1) << 30) /* whoever leaves has to wake those that wait */
#define INSIDE (WAITED - 1)

void gate_init(struct gate *gate, unsigned most)
{
    atomic_init(&gate->state, 0);
    gate->most = most > 0 ? most : 1;
    pthread_mutex_init(&gate->lock, NULL);
    pthread_cond_init(&gate->changed, NULL);
}

void gate_destroy(struct gate *gate)
{
    pthread_cond_destroy(&gate->changed);
    pthread_mutex_destroy(&gate->lock);
}

/* One try on what *state was; *state is what it is now. */
static bool enter_from(struct gate *gate, uint32_t *state)
{
    while (!(*state & CLOSED) && (*state & INSIDE) < gate->most) {
        if (atomic_compare_exchange_weak_explicit(&gate->state, state, *state + 1, memory_order_acquire,
                                                  memory_order_relaxed))
            return true;
    }
    return false;
}

bool gate_try_enter(struct gate *gate)
{
    uint32_t state = atomic_load_explicit(&gate->state, memory_order_relaxed);
    return enter_from(gate, &state);
}

/* Sleeps if the state is still this one. Because the flag is set on that very state, whoever changes it next
 * sees the flag, and then needs the lock, which is given up only in the sleep. */
static void sleep_on(struct gate *gate, uint32_t state)
{
    if (atomic_compare_exchange_strong_explicit(&gate->state, &state, state | WAITED, memory_order_relaxed,
                                                memory_order_relaxed))
        pthread_cond_wait(&gate->changed, &gate->lock);
}

void gate_enter(struct gate *gate)
{
    if (gate_try_enter(gate))
        return;
    pthread_mutex_lock(&gate->lock);
    for (;;) {
        uint32_t state = atomic_load_explicit(&gate->state, memory_order_relaxed);
        if (enter_from(gate, &state))
            break;
        sleep_on(gate, state);
    }
    pthread_mutex_unlock(&gate->lock);
}

void gate_leave(struct gate *gate)
{
    uint32_t was = atomic_fetch_sub_explicit(&gate->state, 1, memory_order_release);
    if (!(was & WAITED))
        return;
    pthread_mutex_lock(&gate->lock);
    atomic_fetch_and_explicit(&gate->state, ~WAITED,
                              memory_order_relaxed); /* who still has to wait sets it again */
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->lock);
}

void gate_close(struct gate *gate)
{
    uint32_t state;
    pthread_mutex_lock(&gate->lock);
    for (;;) {
        state = atomic_load_explicit(&gate->state, memory_order_relaxed);
        if (state & CLOSED) /* one at a time */
            sleep_on(gate, state);
        else if (atomic_compare_exchange_strong_explicit(&gate->state, &state, state | CLOSED,
                                                         memory_order_relaxed, memory_order_relaxed))
            break; /* nobody enters any more: those inside cannot keep us out for ever */
    }
    for (;;) {
        state = atomic_load_explicit(&gate->state, memory_order_acquire);
        if ((state & INSIDE) == 0)
            break;
        sleep_on(gate, state);
    }
    pthread_mutex_unlock(&gate->lock);
}

void gate_open(struct gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    atomic_fetch_and_explicit(&gate->state, ~(CLOSED | WAITED), memory_order_release);
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->lock);
}
