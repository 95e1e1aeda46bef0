/* SPDX-License-Identifier: Apache-2.0 */
/* What one caller does in an engine keeps nobody else beyond their own time. */
#include "engine_test.h"
#include "hand.h"
#include "owner.h"
#include "toy.h"

#include <semaphore.h>

static struct kvs_backend polled, serial;
static const struct kvs_host *host;
static atomic_uint lists, polls;
static atomic_int poll_answer;
static atomic_bool let_list;
static atomic_bool submit_ends;
static atomic_bool submit_lingers; /* until well after the batch's grace, of less than 1 ms */
static atomic_bool ended_late;     /* submit_ends: after the batch's time */

/* ---- A backend that polls, in vain: its batches end when they are cancelled, inside cancel. ---- */

static int load(const struct kvs_host *from)
{
    host = from;
    return KVS_OK;
}

static int open_it(void *eng, void *ctx, struct kvs_limits *limits)
{
    (void)eng;
    (void)ctx;
    (void)limits;
    return KVS_OK;
}

static int submit(void *eng, struct kvs_batch *batch)
{
    (void)eng;
    if (atomic_load(&submit_ends))
        host->complete_rest(batch, KVS_OK);
    atomic_store(&ended_late, batch->deadline_ns > 0 && host->now_ns() >= batch->deadline_ns);
    while (atomic_load(&submit_lingers) && host->now_ns() < batch->deadline_ns + KVS_MS(20))
        pause_briefly();
    return KVS_OK;
}

static void cancel(void *eng, struct kvs_batch *batch)
{
    (void)eng;
    host->complete_rest(batch, KVS_CANCELED);
}

static int poll_in_vain(void *eng, int max)
{
    (void)eng;
    (void)max;
    atomic_fetch_add(&polls, 1);
    return atomic_load(&poll_answer);
}

static int no_fd(void *eng)
{
    (void)eng;
    return -1;
}

static int list(void *eng, const void *prefix, size_t len,
                int (*each)(void *arg, const void *key, size_t len, uint64_t size), void *arg,
                uint64_t deadline)
{
    (void)eng;
    (void)prefix;
    (void)len;
    (void)deadline;
    atomic_fetch_add(&lists, 1);
    int rc = each(arg, "key", 3, 1);
    eventually(atomic_load(&let_list));
    return rc;
}

static int setup(void **state)
{
    (void)state;
    kvs_set_log(no_log, NULL, -1);
    atomic_store(&lists, 0);
    atomic_store(&poll_answer, 0);
    atomic_store(&let_list, false);
    atomic_store(&submit_ends, false);
    atomic_store(&submit_lingers, false);
    assert_int_equal(kvs_backend_register(&polled, NULL), KVS_OK);
    assert_int_equal(kvs_backend_register(&serial, NULL), KVS_OK);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    kvs_set_log(NULL, NULL, -1);
    return 0;
}

struct waiter {
    kvs_xfer *x;
    pthread_t thread;
    int rc;
};

static void *wait_main(void *arg)
{
    struct waiter *w = arg;
    w->rc = kvs_xfer_wait(w->x, KVS_FOREVER); /* who is not woken waits on, though it has ended */
    return NULL;
}

static void linger(kvs_xfer *x, int status, void *arg)
{
    (void)x;
    (void)status;
    (void)arg;
    for (int i = 0; i < 200; i++) /* who was woken by the last completion sleeps again: or nothing is shown */
        pause_briefly();
}

/* Who sleeps behind the poll owner is woken by the end of its transfer, also one that no poll brings about,
 * and when the done function has returned. KVS-REQ-176 KVS-REQ-307 */
static void woken_behind_the_owner(void **state)
{
    (void)state;
    for (int deferred = 0; deferred < 2; deferred++) {
        kvs_engine *e = open_engine("polled:?timeout=0");
        struct waiter owner = {.x = prep(e, KVS_REMOVE, 1, NULL, 0)}, behind;
        struct kvs_key key = {"k", 1};
        struct kvs_xfer_req req = {.size = sizeof req,
                                   .op = KVS_REMOVE,
                                   .keys = &key,
                                   .nkeys = 1,
                                   .done = linger,
                                   .flags = deferred ? KVS_XFER_DEFERRED : 0};
        assert_int_equal(kvs_xfer_prep(e, &req, &behind.x, NULL), KVS_OK);
        post(owner.x);
        post(behind.x);
        assert_int_equal(pthread_create(&owner.thread, NULL, wait_main, &owner), 0);
        eventually(owned_by(e, owner.thread));
        assert_int_equal(pthread_create(&behind.thread, NULL, wait_main, &behind), 0);
        eventually(behind_owner(e) == 1);
        expect_rc(kvs_xfer_cancel(behind.x), KVS_OK);
        assert_int_equal(pthread_join(behind.thread, NULL), 0);
        expect_rc(behind.rc, KVS_CANCELED);
        expect_rc(kvs_xfer_cancel(owner.x), KVS_OK);
        assert_int_equal(pthread_join(owner.thread, NULL), 0);
        expect_rc(owner.rc, KVS_CANCELED);
        release(owner.x);
        release(behind.x);
        assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
    }
}

/* A submit that is inside beyond timeout and grace, but has ended its ios, keeps nobody from the engine, and
 * its transfer is not held. KVS-REQ-265 KVS-REQ-269 */
static void submit_outlasts_the_grace(void **state)
{
    (void)state;
    atomic_store(&submit_ends, true);
    atomic_store(&submit_lingers, true);
    kvs_engine *e = open_engine("polled:?timeout=500ms&cancel_grace=100us");
    kvs_xfer *x = prep(e, KVS_REMOVE, 1, NULL, 0);
    int posts = 0;
    do { /* again where the machine was too busy */
        assert_true(++posts < 50);
        (void)run_it(x);
    } while (atomic_load(&ended_late));
    expect_rc(kvs_xfer_check(x), KVS_OK);
    release(x);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

/* ---- A list takes long, in a serial engine ---- */

static int each_nothing(void *arg, const void *key, size_t len, uint64_t size)
{
    (void)arg;
    (void)key;
    (void)len;
    (void)size;
    return 0;
}

/* An error of poll, whichever number it has, is no reason to call it at once again. KVS-REQ-301 */
static void poll_fails(void **state)
{
    (void)state;
    char value[16] = "";
    kvs_engine *e = open_engine(polled.name);
    kvs_xfer *x = prep(e, KVS_WRITE, 1, value, sizeof value);
    atomic_store(&poll_answer, INT32_MIN);
    expect_rc(kvs_xfer_post(x), KVS_IN_PROG);
    uint64_t start = now_ns();
    unsigned before = atomic_load(&polls);
    expect_rc(kvs_xfer_wait(x, KVS_MS(50)), KVS_IN_PROG);
    unsigned made = atomic_load(&polls) - before;
    /* A poll owner that has no descriptor sleeps for 1 ms between two. */
    assert_in_range(made, 1, 20 + 2 * (now_ns() - start) / KVS_MS(1));
    kvs_xfer_cancel(x);
    expect_rc(wait_end(x), KVS_CANCELED);
    release(x);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

static void *list_main(void *arg)
{
    kvs_engine *e = arg;
    return kvs_list(e, NULL, 0, each_nothing, NULL, NULL) == KVS_OK ? e : NULL;
}

static void expect_listed(pthread_t t)
{
    void *listed;
    assert_int_equal(pthread_join(t, &listed), 0);
    assert_non_null(listed);
}

/* A thread inside list, for whose end the backend's cancel waits: before the time of `x` is up. */
static pthread_t list_beside(kvs_engine *e, kvs_xfer *x)
{
    pthread_t t;
    for (unsigned i = 1;; i++) { /* again where the machine was too busy */
        assert_true(i < 50);
        atomic_store(&let_list, false);
        post_short(x);
        assert_int_equal(pthread_create(&t, NULL, list_main, e), 0);
        eventually(atomic_load(&lists) == i);
        if (status_of(x, 0) == KVS_IN_PROG)
            return t;
        atomic_store(&let_list, true);
        expect_listed(t);
        (void)wait_end(x);
    }
}

/* Neither a post, a wait nor a time limit waits for the list. KVS-REQ-108 KVS-REQ-266 KVS-REQ-300 KVS-REQ-433
 */
static void list_in_serial(void **state)
{
    (void)state;
    kvs_engine *e = open_engine("serial:?timeout=1s&cancel_grace=1h");
    kvs_xfer *early = prep(e, KVS_REMOVE, 1, NULL, 0), *late = prep(e, KVS_REMOVE, 1, NULL, 0);
    pthread_t t = list_beside(e, early);
    post_short(late);
    expect_rc(kvs_xfer_wait(early, KVS_MS(1)), KVS_IN_PROG);
    expect_rc(kvs_engine_progress(e), KVS_OK);
    expect_rc(kvs_xfer_cancel(early), KVS_OK);
    expect_rc(wait_end(late), KVS_TIMEOUT); /* the backend did not have it yet */
    expect_rc(kvs_xfer_release(early, 0), KVS_BUSY);
    atomic_store(&let_list, true);
    expect_rc(wait_end(early), KVS_TIMEOUT); /* cancel, which ends it, could not be called before */
    expect_listed(t);
    atomic_store(&submit_ends, true);
    for (int i = 0, rc = KVS_TIMEOUT; rc == KVS_TIMEOUT && i < 50;
         i++) { /* the machine may be busy for a second */
        eventually((rc = kvs_xfer_post(late)) != KVS_BUSY);
        rc = wait_end(late);
    }
    expect_rc(kvs_xfer_check(late), KVS_OK);
    release(early);
    release(late);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

/* ---- What `each` of a list does in another engine ---- */

static atomic_uint dones;

static void count_done(kvs_xfer *x, int status, void *arg)
{
    (void)x;
    (void)status;
    (void)arg;
    atomic_fetch_add(&dones, 1);
}

static int each_in_another(void *arg, const void *key, size_t len, uint64_t size)
{
    kvs_engine *other = arg;
    (void)size;
    assert_memory_equal(key, "key", len);
    kvs_xfer *x = prep_done(other, KVS_REMOVE, 1, NULL, 0, count_done, NULL);
    post(x);
    expect_rc(kvs_xfer_wait(x, LONG), KVS_OK);
    assert_int_equal(atomic_load(&dones), 1);
    kvs_xfer_abandon(x);
    struct kvs_error err = {0, ""};
    assert_int_not_equal(kvs_engine_open("toy-refuses", NULL, 0, &other, &err), KVS_OK);
    expect_text(err.text, "the toy does not open");
    return 0;
}

/* Done functions of the other engine run there, and are waited for. KVS-REQ-200 KVS-REQ-202 */
static void other_engine_in_each(void **state)
{
    static struct kvs_backend refuses;
    (void)state;
    toy_reset();
    refuses = toy_table("toy-refuses");
    toy.open_rc = KVS_IO;
    assert_int_equal(kvs_backend_register(&refuses, NULL), KVS_OK);
    atomic_store(&dones, 0);
    atomic_store(&submit_ends, true);
    atomic_store(&let_list, true);
    kvs_engine *e = open_engine("serial"), *other = open_engine("polled");
    assert_int_equal(kvs_list(e, NULL, 0, each_in_another, other, NULL), KVS_OK);
    assert_int_equal(kvs_engine_close(other, LONG, NULL), KVS_OK);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

int main(void)
{
    polled = (struct kvs_backend){KVS_BACKEND_STAMP,
                                  .name = "polled",
                                  .version = "1",
                                  .thread_model = KVS_THREADS_PARALLEL,
                                  .caps_native = KVS_CAP_REMOVE | KVS_CAP_CANCEL,
                                  .load = load,
                                  .open = open_it,
                                  .submit = submit,
                                  .cancel = cancel,
                                  .poll = poll_in_vain,
                                  .poll_fd = no_fd,
                                  .list = list};
    serial = polled;
    serial.name = "serial";
    serial.thread_model = KVS_THREADS_SERIAL;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(woken_behind_the_owner, setup, teardown),
        cmocka_unit_test_setup_teardown(submit_outlasts_the_grace, setup, teardown),
        cmocka_unit_test_setup_teardown(poll_fails, setup, teardown),
        cmocka_unit_test_setup_teardown(list_in_serial, setup, teardown),
        cmocka_unit_test_setup_teardown(other_engine_in_each, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
