/* SPDX-License-Identifier: Apache-2.0 */
/* Locks and condition variables. */
#include "scheduler.h"

#define MUTEX 0x4c4f434bu
#define COND  0x434f4e44u

static void check_magic(const void *p, size_t n, const uint32_t *magic, uint32_t expected)
{
    explore_touch(p, n);
    if (*magic != expected)
        explore_fail("use of a lock or condition that is none");
}

int explore_mutex_init(struct explore_mutex *m)
{
    *m = (struct explore_mutex){MUTEX, -1};
    return 0;
}

void explore_mutex_destroy(struct explore_mutex *m)
{
    check_magic(m, sizeof *m, &m->magic, MUTEX);
    if (m->owner >= 0)
        explore_fail("a lock that is held was destroyed");
    m->magic = 0;
}

bool explore_mutex_trylock(struct explore_mutex *m)
{
    check_magic(m, sizeof *m, &m->magic, MUTEX);
    bool mine = m->owner < 0;
    if (mine)
        m->owner = explore_self();
    explore_point(mine ? "trylock" : "trylock (failed)", m, mine);
    return mine;
}

/* Takes it, waiting for it as long as it takes, without a choice afterwards. */
static void lock(struct explore_mutex *m)
{
    check_magic(m, sizeof *m, &m->magic, MUTEX);
    if (m->owner == explore_self() && explore_running())
        explore_fail("deadlock: a lock is taken twice");
    while (m->owner >= 0) {
        explore_wait_lock(m);
        check_magic(m, sizeof *m, &m->magic, MUTEX);
    }
    m->owner = explore_self();
}

void explore_mutex_lock(struct explore_mutex *m)
{
    lock(m);
    explore_point("lock", m, true);
}

static void unlock(struct explore_mutex *m)
{
    check_magic(m, sizeof *m, &m->magic, MUTEX);
    if (m->owner != explore_self())
        explore_fail("a lock is given back by one who has not got it");
    m->owner = -1;
}

void explore_mutex_unlock(struct explore_mutex *m)
{
    unlock(m);
    explore_point("unlock", m, true);
}

int explore_cond_init(struct explore_cond *c)
{
    c->magic = COND;
    return 0;
}

void explore_cond_destroy(struct explore_cond *c)
{
    check_magic(c, sizeof *c, &c->magic, COND);
    if (explore_sleepers(c))
        explore_fail("a condition was destroyed with a thread that waits for it");
    c->magic = 0;
}

void explore_cond_signal(struct explore_cond *c, bool all)
{
    check_magic(c, sizeof *c, &c->magic, COND);
    explore_rouse(c, all);
    explore_point(all ? "broadcast" : "signal", c, true);
}

void explore_cond_wait(struct explore_cond *c, struct explore_mutex *m, uint64_t until)
{
    check_magic(c, sizeof *c, &c->magic, COND);
    unlock(m);
    explore_note(m);
    explore_sleep("cond wait", c, until);
    lock(m);
    explore_note(m);
}
