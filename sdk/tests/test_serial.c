/* SPDX-License-Identifier: Apache-2.0 */
/* A serial engine has one caller at a time inside, whatever is called; a parallel one has not. */
#include "engines.h"
#include "toy.h"

#include <errno.h>
#include <semaphore.h>
#include <time.h>

#define THREADS 8
#define ROUNDS  60

static struct kvs_backend serial, parallel, polled, narrowed;

static int setup(void **state)
{
    (void)state;
    toy_reset();
    return 0;
}

/* ---- One that polls: its submit keeps ios, and its poll ends them. ---- */

static struct kvs_io *queue[THREADS * 8]; /* guarded by toy.lock, as the next */
static uint32_t queued;

static int polled_submit(void *eng, struct kvs_batch *batch)
{
    (void)eng;
    toy_enter();
    pthread_mutex_lock(&toy.lock);
    for (uint32_t i = 0; i < batch->count; i++)
        queue[queued++] = kvs_batch_io(batch, i);
    pthread_mutex_unlock(&toy.lock);
    toy_leave();
    return KVS_OK;
}

static int polled_poll(void *eng, int max)
{
    (void)eng;
    struct kvs_io *ready[THREADS * 8];
    uint32_t n = 0;
    toy_enter();
    pthread_mutex_lock(&toy.lock);
    while (queued > 0 && n < (uint32_t)max)
        ready[n++] = queue[--queued];
    pthread_mutex_unlock(&toy.lock);
    for (uint32_t i = 0; i < n; i++) {
        ready[i]->actual = ready[i]->len;
        toy.host->complete(ready[i], KVS_OK);
    }
    toy_leave();
    return (int)n;
}

static int polled_fd(void *eng)
{
    (void)eng;
    return -1;
}

/* ---- All functions from many threads ---- */

struct thread {
    pthread_t id;
    kvs_engine *e;
    bool lists; /* the backend has list */
    uint64_t number;
    const char *failed;
};

static int count_keys(void *arg, const void *key, size_t len, uint64_t size)
{
    (void)key;
    (void)len;
    (void)size;
    ++*(unsigned *)arg;
    return 0;
}

#define NEED(condition)                                                                                      \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            t->failed = #condition;                                                                          \
            return NULL;                                                                                     \
        }                                                                                                    \
    } while (0)

static void *all_calls(void *arg)
{
    struct thread *t = arg;
    char value[8] = "value";
    char key[8];
    for (int i = 0; i < ROUNDS; i++) {
        unsigned n = 0;
        struct kvs_desc d = {.dev_id = t->number};
        kvs_mem *m;
        snprintf(key, sizeof key, "t%u", (unsigned)t->number);
        NEED(kvs_put(t->e, key, strlen(key), value, sizeof value, NULL) == KVS_OK);
        NEED(kvs_get(t->e, key, strlen(key), value, sizeof value, NULL) == KVS_OK);
        NEED(kvs_mem_register(t->e, KVS_MEM_DRAM, &d, &m, NULL) == KVS_OK);
        if (t->lists) {
            NEED(kvs_query(t->e, key, strlen(key), NULL, NULL) == KVS_OK);
            NEED(kvs_list(t->e, "t", 1, count_keys, &n, NULL) == KVS_OK && n > 0);
            NEED(kvs_remove(t->e, key, strlen(key), NULL) == KVS_OK);
        }
        NEED(kvs_mem_deregister(t->e, m, NULL) == KVS_OK);
        NEED(kvs_engine_progress(t->e) == KVS_OK);
    }
    return NULL;
}

static void run_threads(kvs_engine *e, bool lists)
{
    struct thread t[THREADS];
    for (uint64_t i = 0; i < THREADS; i++) {
        t[i] = (struct thread){.e = e, .number = i, .lists = lists};
        assert_int_equal(pthread_create(&t[i].id, NULL, all_calls, &t[i]), 0);
    }
    for (uint64_t i = 0; i < THREADS; i++) {
        pthread_join(t[i].id, NULL);
        if (t[i].failed)
            fail_msg("thread %u: not so: %s", (unsigned)i, t[i].failed);
    }
}

/* KVS-REQ-433: also where more threads were asked for */
static void blocking(void **state)
{
    (void)state;
    kvs_engine *e = toy_open(&serial, WITH({"threads", "8"}));
    run_threads(e, true);
    close_engine(e);
    assert_int_equal(atomic_load(&toy.most), 1);
}

/* KVS-REQ-303 KVS-REQ-304: poll never runs beside submit */
static void polling(void **state)
{
    (void)state;
    kvs_engine *e = toy_open(&polled, NULL);
    run_threads(e, false);
    close_engine(e);
    assert_int_equal(atomic_load(&toy.most), 1);
}

static void make_serial(struct kvs_limits *l)
{
    l->thread_model = KVS_THREADS_SERIAL;
}

/* KVS-REQ-431: the same for one that has become serial in open */
static void made_serial(void **state)
{
    (void)state;
    toy.narrow = make_serial;
    kvs_engine *e = toy_open(&narrowed, NULL);
    run_threads(e, true);
    close_engine(e);
    assert_int_equal(atomic_load(&toy.most), 1);
}

static sem_t here, other;
static atomic_int arrivals;
static atomic_uint alone;

/* Whoever comes first waits for the second, inside the backend. */
static void meet(void *eng, void *worker, const struct kvs_batch *batch, struct kvs_io *io)
{
    (void)eng;
    (void)worker;
    (void)batch;
    (void)io;
    bool first = atomic_fetch_add(&arrivals, 1) == 0;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 30;
    sem_post(first ? &here : &other);
    while (sem_timedwait(first ? &other : &here, &until) != 0)
        if (errno != EINTR) {
            atomic_fetch_add(&alone, 1);
            return;
        }
}

/* KVS-REQ-434: the same look shows that a parallel engine lets two in */
static void in_parallel(void **state)
{
    (void)state;
    sem_init(&here, 0, 0);
    sem_init(&other, 0, 0);
    toy.before = meet;
    kvs_engine *e = toy_open(&parallel, WITH({"threads", "2"}));
    char buf[2] = {0};
    struct ask a;
    ask_for(&a, KVS_WRITE, 2, buf, 1);
    assert_int_equal(run_ask(e, &a), KVS_OK);
    assert_int_equal(atomic_load(&alone), 0);
    assert_int_equal(atomic_load(&toy.most), 2);
    close_engine(e);
    sem_destroy(&here);
    sem_destroy(&other);
}

int main(void)
{
    serial = toy_table("serial");
    serial.thread_model = KVS_THREADS_SERIAL;
    parallel = toy_table("parallel");
    narrowed = toy_table("narrowed");
    polled = toy_table("polled");
    polled.thread_model = KVS_THREADS_SERIAL;
    polled.put = polled.get = polled.query = polled.remove = NULL;
    polled.submit = polled_submit;
    polled.poll = polled_poll;
    polled.poll_fd = polled_fd;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(blocking, setup),
        cmocka_unit_test_setup(polling, setup),
        cmocka_unit_test_setup(made_serial, setup),
        cmocka_unit_test_setup(in_parallel, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
