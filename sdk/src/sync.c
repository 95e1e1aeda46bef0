/* SPDX-License-Identifier: Apache-2.0 */
#include "sync.h"

#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* Process-wide: a bucket must outlive every object that was ever waited for. Zero is their start. */
#define PARK_BUCKETS 64
static struct kvs_park buckets[PARK_BUCKETS] __attribute__((aligned(64)));

struct kvs_park *kvs_park_of(const void *address)
{
    uint64_t h = (uint64_t)(uintptr_t)address >> 4;
    h *= UINT64_C(0x9e3779b97f4a7c15);
    return &buckets[h >> 58];
}

void kvs_park_wait(struct kvs_park *p, uint32_t ticket, uint64_t until)
{
    struct timespec t, *limit = NULL;
    if (until != KVS_NEVER) {
        t = kvs_timespec(until);
        limit = &t;
    }
    /* BITSET takes a point in time instead of a span, so a spurious return does not make the wait longer. */
    syscall(SYS_futex, &p->ticket, FUTEX_WAIT_BITSET_PRIVATE, ticket, limit, NULL, FUTEX_BITSET_MATCH_ANY);
}

void kvs_park_wake(struct kvs_park *p)
{
    kvs_a32_add(&p->ticket, 1);
    syscall(SYS_futex, &p->ticket, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

int kvs_thread_start(kvs_thread *t, void *(*fn)(void *), void *arg, const char *name)
{
    /* The program's signals are for its own threads; but a fault has to reach its handler wherever it
     * happens. */
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    sigset_t masked, before;
    sigfillset(&masked);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        sigdelset(&masked, faults[i]);
    pthread_sigmask(SIG_SETMASK, &masked, &before);
    int rc = pthread_create(t, NULL, fn, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc == 0)
        pthread_setname_np(*t, name);
    return rc;
}

void kvs_thread_join(kvs_thread t)
{
    pthread_join(t, NULL);
}

int kvs_event_open(void)
{
    return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
}

void kvs_event_close(int fd)
{
    close(fd);
}

void kvs_event_set(int fd)
{
    uint64_t one = 1;
    ssize_t n = write(fd, &one, sizeof one); /* fails only when it is readable already */
    (void)n;
}

void kvs_event_clear(int fd)
{
    uint64_t told;
    ssize_t n = read(fd, &told, sizeof told);
    (void)n;
}

int kvs_fds_wait(struct pollfd *fds, uint32_t n, uint64_t ns)
{
    struct timespec t = kvs_timespec(ns);
    return ppoll(fds, n, &t, NULL);
}

int kvs_timer_open(void)
{
    return timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
}

void kvs_timer_set(int fd, uint64_t at)
{
    struct itimerspec when = {.it_value = kvs_timespec(at)};
    if (at == KVS_NEVER)
        when.it_value = (struct timespec){0, 0};
    timerfd_settime(fd, TFD_TIMER_ABSTIME, &when, NULL);
}

int kvs_fds_open(void)
{
    return epoll_create1(EPOLL_CLOEXEC);
}

bool kvs_fds_add(int set, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    return epoll_ctl(set, EPOLL_CTL_ADD, fd, &event) == 0 || errno == EEXIST;
}

void kvs_fds_remove(int set, int fd)
{
    epoll_ctl(set, EPOLL_CTL_DEL, fd, NULL); /* it has left by itself where it was closed */
}
