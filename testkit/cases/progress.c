/* SPDX-License-Identifier: Apache-2.0 */
/* Who makes progress, and that nobody is kept waiting by it. */
#include "case.h"
#include <kvslot/backend.h>
#include <poll.h>
#include <sys/resource.h>

#define BATCHES 20
#define TRIES   200

/* Sleeps on the descriptor until the transfer has ended, and makes progress only when it is readable. */
static void sleep_until_end(struct kit *k, kvs_engine *e, struct pollfd *fd, kvs_xfer *x)
{
    uint64_t end = kit_now() + kit_wait_ns(k);
    int status = KVS_IN_PROG;
    /* Looking at a descriptor's status makes no progress. */
    while (kvs_xfer_result(x, 0, &status, NULL, NULL) == KVS_OK && status == KVS_IN_PROG) {
        if (kit_now() > end)
            kit_hang_at(KIT_HERE, "a caller that sleeps on the engine's descriptor never sees the end");
        if (poll(fd, 1, 50) > 0)
            KIT_STATUS(kvs_engine_progress(e), KVS_OK);
    }
}

static void progress_descriptor(struct kit *k)
{
    kvs_engine *e = kit_open(k);
    struct pollfd fd = {.fd = -1, .events = POLLIN};
    size_t len = kit_value_size(k, 5000);
    KIT_STATUS(kvs_engine_fd(e, &fd.fd), KVS_OK);
    for (size_t i = 0; i < BATCHES; i++) {
        /* What is left to look at is looked at first, so that only the backend can wake this thread. */
        for (int quiet = 0; quiet < 1000 && poll(&fd, 1, 0) > 0; quiet++)
            KIT_STATUS(kvs_engine_progress(e), KVS_OK);
        struct kit_item item = {kit_key(k, "d%zu", i), kit_value(k, len, i).data, len};
        kvs_xfer *x = kit_prep(k, e, KVS_WRITE, &item, 1);
        kit_post(x);
        sleep_until_end(k, e, &fd, x);
        KIT_STATUS(kit_wait(k, x), KVS_OK);
        kit_release(x);
    }
}

/* How often this thread has slept. */
static long sleeps(void)
{
    struct rusage usage;
    KIT_CHECK(getrusage(RUSAGE_THREAD, &usage) == 0, "getrusage failed");
    return usage.ru_nvcsw;
}

/* Does the machine let a thread run on that has no reason to sleep: under some tools every call may sleep. */
static void needs_quiet_calls(struct kit *k, kvs_engine *e)
{
    struct kvs_limits l = {.size = sizeof(l)};
    int quiet = 0;
    for (int i = 0; i < TRIES; i++) {
        long before = sleeps();
        KIT_STATUS(kvs_engine_limits(e, &l), KVS_OK);
        quiet += sleeps() == before;
    }
    if (quiet < TRIES / 2)
        kit_not_supported(k, "here threads sleep in calls that have no reason to");
}

static bool is_async(kvs_engine *e)
{
    struct kvs_limits l = {.size = sizeof(l)};
    const struct kvs_backend *b = kvs_engine_backend(e);
    KIT_STATUS(kvs_engine_limits(e, &l), KVS_OK);
    return b->submit && !(l.flags & (KVS_F_USE_BLOCKING | KVS_F_SUBMIT_BLOCKS));
}

static void progress_post_returns(struct kit *k)
{
    kvs_engine *e = kit_open(k);
    size_t len = kit_value_size(k, 1000);
    struct kit_key key = kit_key(k, "posted");
    struct kit_buf to = kit_buf(k, len, KIT_AT_END);
    struct kit_item item = {key, to.data, len};
    if (!is_async(e))
        kit_not_supported(k, "the engine's posts go to workers of the SDK");
    needs_quiet_calls(k, e);
    kit_put(k, e, key, kit_value(k, len, 1).data, len);
    kvs_xfer *x = kit_prep(k, e, KVS_READ, &item, 1);
    int quiet = 0;
    for (int i = 0; i < TRIES; i++) {
        long before = sleeps();
        kit_post(x);
        quiet += sleeps() == before;
        KIT_STATUS(kit_wait(k, x), KVS_OK);
    }
    kit_release(x);
    KIT_CHECK(quiet > 0, "each of %d posts has put its thread to sleep: submit waits", TRIES);
}

static void progress_poll_returns(struct kit *k)
{
    kvs_engine *e = kit_open(k);
    struct kvs_limits l = {.size = sizeof(l)};
    KIT_STATUS(kvs_engine_limits(e, &l), KVS_OK);
    if (!is_async(e) || !kvs_engine_backend(e)->poll || (l.flags & KVS_F_NO_POLL))
        kit_not_supported(k, "the engine has no poll");
    needs_quiet_calls(k, e);
    int quiet = 0;
    for (int i = 0; i < TRIES; i++) {
        long before = sleeps();
        KIT_STATUS(kvs_engine_progress(e), KVS_OK);
        quiet += sleeps() == before;
    }
    KIT_CHECK(quiet > 0, "each of %d calls for progress has put its thread to sleep: poll waits", TRIES);
}

static const struct kit_case cases[] = {
    {.id = "progress.descriptor",
     .title = "A caller that only sleeps on the engine's descriptor sees every end",
     .explain = "Posts writes one by one, sleeps on the descriptor of kvs_engine_fd and makes progress "
                "when it is readable, and only then. A caller that is never woken means that the backend's "
                "poll_fd is not readable when poll has something to do.",
     .requirements = "KVS-REQ-313 KVS-REQ-318 KVS-REQ-321",
     .fn = progress_descriptor},
    {.id = "progress.post_returns",
     .title = "submit does not wait",
     .explain = "Posts a READ 200 times and looks whether the thread slept meanwhile. That it slept each "
                "time means that submit waits for the store, or for a lock that is held while the store "
                "works.",
     .requirements = "KVS-REQ-109 KVS-REQ-108",
     .profile = KVS_CONFORM_EXTENDED,
     .tags = "timing",
     .fn = progress_post_returns},
    {.id = "progress.poll_returns",
     .title = "poll does not wait",
     .explain = "Makes progress 200 times with nothing to do, and looks whether the thread slept meanwhile. "
                "That it slept each time means that poll waits.",
     .requirements = "KVS-REQ-312",
     .profile = KVS_CONFORM_EXTENDED,
     .tags = "timing",
     .fn = progress_poll_returns},
};
KIT_TOPIC(topic_progress, cases);
