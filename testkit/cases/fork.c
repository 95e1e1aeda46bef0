/* SPDX-License-Identifier: Apache-2.0 */
/* Forked children. The child must not assert: it only counts what is wrong, and the parent reports. */
#include "case.h"
#include "hang.h"
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Exit code of the child, or the number of a signal with 128 added; the child is killed when it does not end.
 */
static int await_child(struct kit *k, pid_t pid)
{
    uint64_t end = kit_now() + kit_wait_ns(k);
    int status;
    while (waitpid(pid, &status, WNOHANG) == 0) {
        if (kit_now() > end) {
            kill(pid, SIGKILL);
            waitpid(pid, &status, 0);
            kit_hang_at(KIT_HERE, "the forked child does not end");
        }
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* AddressSanitizer's allocator (gcc 12) has locks that a fork does not take first; a child forked while
 * another thread was inside one never gets it. There the case forks once all others sleep, elsewhere at any
 * moment. */
static pid_t fork_child(struct kit *k)
{
    fflush(NULL);
#ifdef __SANITIZE_ADDRESS__
    uint64_t end = kit_now() + kit_wait_ns(k);
    for (int looks = 0; looks < 2 && kit_now() < end; looks = hang_others_sleep() ? looks + 1 : 0)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
#endif
    pid_t pid = fork();
    KIT_CHECK(pid >= 0, "fork failed");
    (void)k;
    return pid;
}

static int wrong(const char *call, int got, int want)
{
    if (got == want)
        return 0;
    fprintf(stderr, "in the child: %s is %s, not %s\n", call, kvs_status_name(got), kvs_status_name(want));
    return 1;
}
#define WRONG(call, want) wrong(#call, (call), (want))

static void fork_refused(struct kit *k)
{
    kvs_engine *e = kit_open(k);
    struct kit_key key = kit_key(k, "parent");
    struct kit_buf v = kit_value(k, kit_value_size(k, 100), 1), to = kit_buf(k, v.len, KIT_AT_END);
    struct kit_item item = {key, to.data, to.len};
    kit_put(k, e, key, v.data, v.len);
    kvs_xfer *x = kit_prep(k, e, KVS_READ, &item, 1);
    pid_t pid = fork_child(k);
    if (pid == 0) {
        int n = WRONG(kvs_get(e, key.data, key.len, to.data, to.len, NULL), KVS_NOT_ALLOWED);
        n += WRONG(kvs_put(e, key.data, key.len, v.data, v.len, NULL), KVS_NOT_ALLOWED);
        n += WRONG(kvs_xfer_post(x), KVS_NOT_ALLOWED);
        n += WRONG(kvs_xfer_check(x), KVS_NOT_ALLOWED);
        n += WRONG(kvs_engine_progress(e), KVS_NOT_ALLOWED);
        n += WRONG(kvs_xfer_release(x, 0), KVS_OK);
        n += WRONG(kvs_engine_close(e, 0, NULL), KVS_OK);
        fflush(NULL);
        _exit(n);
    }
    KIT_EQ(await_child(k, pid), 0);
    kit_ends(k, x, KVS_OK);
    KIT_BYTES(to.data, v.data, v.len);
    kit_release(x);
}

static void fork_opens(struct kit *k)
{
#ifdef __SANITIZE_THREAD__
    kit_not_supported(k, "ThreadSanitizer allows no threads in a forked child");
#else
    kvs_engine *e = kit_open(k);
    struct kit_key one = kit_key(k, "parent"), two = kit_key(k, "child");
    struct kit_buf v = kit_value(k, kit_value_size(k, 5000), 1);
    kit_put(k, e, one, v.data, v.len);
    pid_t pid = fork_child(k);
    if (pid == 0) {
        struct kvs_error err = {0};
        kvs_engine *own = NULL;
        bool once = kit_limits(k)->flags & KVS_F_ONCE_PER_PROCESS;
        int rc = kit_open_with(k, NULL, NULL, &own, &err);
        int n = wrong("kvs_engine_open", rc, once ? KVS_NOT_ALLOWED : KVS_OK);
        if (rc == KVS_OK) {
            n += WRONG(kvs_put(own, two.data, two.len, v.data, v.len, &err), KVS_OK);
            n += WRONG(kvs_get(own, two.data, two.len, v.data, v.len, &err), KVS_OK);
        }
        if (rc == KVS_OK)
            n += WRONG(kvs_engine_close(own, kit_wait_ns(k), &err), KVS_OK);
        if (n > 0)
            fprintf(stderr, "in the child: %s\n", err.text);
        fflush(NULL);
        _exit(n);
    }
    KIT_EQ(await_child(k, pid), 0);
    kit_expect(k, e, one, v.data, v.len);
    kit_put(k, e, kit_key(k, "after"), v.data, v.len);
    if (kit_has(k, KVS_CAP_SHARED) && !(kit_limits(k)->flags & KVS_F_ONCE_PER_PROCESS))
        kit_expect(k, e, two, v.data, v.len);
#endif
}

static const struct kit_case cases[] = {
    {.id = "fork.refused",
     .title = "A forked child cannot use the parent's handles",
     .explain = "Forks with an engine and a transfer open. In the child every call is NOT_ALLOWED, and "
                "release and close only free; the parent then goes on as if nothing had been.",
     .requirements = "KVS-REQ-450 KVS-REQ-458",
     .fn = fork_refused},
    {.id = "fork.opens",
     .title = "A forked child can open an engine of its own",
     .explain = "Forks with an engine open; the child opens the target afresh, writes, reads and closes, "
                "and the parent's engine still works. A failure means that the backend shares connections "
                "or locks over fork. A backend that allows one configuration a process refuses the child as "
                "NOT_ALLOWED.",
     .requirements = "KVS-REQ-457 KVS-REQ-454 KVS-REQ-455 KVS-REQ-456 KVS-REQ-459 KVS-REQ-460",
     .profile = KVS_CONFORM_EXTENDED,
     .fn = fork_opens},
};
KIT_TOPIC(topic_fork, cases);
