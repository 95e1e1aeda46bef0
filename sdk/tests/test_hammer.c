/* SPDX-License-Identifier: Apache-2.0 */
/* Many threads on one engine: each with transfers and registrations of its own, for a bounded number of
 * rounds. */
#include "engine_test.h"
#include "hand.h"

#include <sched.h>

#define THREADS 4

/* One thread's part. Threads use no assertions of cmocka: the first thing that is wrong is told by its line.
 */
struct part {
    kvs_engine *e;
    unsigned number, rounds;
    uint64_t seed;
    int line, rc;
    atomic_uint *dones; /* done functions that ran */
    unsigned posts;     /* accepted, of transfers with a done function that were not abandoned */
    pthread_t thread;
    unsigned char in[64], out[64];
};

#define must(call, want)                                                                                     \
    do {                                                                                                     \
        int rc_ = (call);                                                                                    \
        if (rc_ != (want)) {                                                                                 \
            p->line = __LINE__;                                                                              \
            p->rc = rc_;                                                                                     \
            return p;                                                                                        \
        }                                                                                                    \
    } while (0)

static void run_parts(kvs_engine *e, unsigned rounds, void *(*fn)(void *), unsigned *posts)
{
    struct part p[THREADS];
    static atomic_uint dones;
    atomic_store(&dones, 0);
    for (unsigned i = 0; i < THREADS; i++) {
        p[i] = (struct part){.e = e, .number = i, .rounds = rounds, .seed = i + 1, .dones = &dones};
        assert_int_equal(pthread_create(&p[i].thread, NULL, fn, &p[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(p[i].thread, NULL), 0);
    *posts = 0;
    for (unsigned i = 0; i < THREADS; i++) {
        if (p[i].line) {
            print_error("%s:%d: thread %u got %s\n", __FILE__, p[i].line, i, kvs_status_name(p[i].rc));
            fail();
        }
        *posts += p[i].posts;
    }
    assert_true(atomic_load(&dones) >= *posts);
}

/* A registration for each side, all of one dev_id, with keys of their own. */
static void *round_trips(void *arg)
{
    struct part *p = arg;
    for (unsigned i = 0; i < p->rounds; i++) {
        char key[32];
        kvs_mem *remote, *in, *out;
        struct kvs_desc d = {.len = sizeof p->in, .dev_id = 0, .meta_info = key};
        d.meta_len = (uint64_t)snprintf(key, sizeof key, "thread %u, key %u", p->number, i % 50);
        must(kvs_mem_register(p->e, KVS_MEM_DRAM, &d, &remote, NULL), KVS_OK);
        struct kvs_desc l = {.addr = (uint64_t)(uintptr_t)p->in, .len = sizeof p->in, .dev_id = p->number};
        must(kvs_mem_register(p->e, KVS_MEM_DRAM, &l, &in, NULL), KVS_OK);
        l.addr = (uint64_t)(uintptr_t)p->out;
        must(kvs_mem_register(p->e, KVS_MEM_DRAM, &l, &out, NULL), KVS_OK);
        memset(p->in, (int)(p->number * 64 + i % 64), sizeof p->in);
        memset(p->out, 0, sizeof p->out);
        struct kvs_desc at = {.mem = remote, .len = sizeof p->in};
        struct kvs_desc from = {.mem = in, .addr = (uint64_t)(uintptr_t)p->in, .len = sizeof p->in};
        struct kvs_desc to = {.mem = out, .addr = (uint64_t)(uintptr_t)p->out, .len = sizeof p->out};
        struct kvs_dlist there = {&at, 1, 0, KVS_MEM_DRAM}, src = {&from, 1, 0, KVS_MEM_DRAM},
                         dst = {&to, 1, 0, KVS_MEM_DRAM};
        struct kvs_xfer_req req = {.size = sizeof req, .op = KVS_WRITE, .local = &src, .remote = &there};
        kvs_xfer *w, *r;
        must(kvs_xfer_prep(p->e, &req, &w, NULL), KVS_OK);
        req.op = KVS_READ;
        req.local = &dst;
        must(kvs_xfer_prep(p->e, &req, &r, NULL), KVS_OK);
        must(kvs_mem_deregister(p->e, remote, NULL), KVS_OK); /* the keys are the transfers' by now */
        must(kvs_mem_deregister(p->e, in, NULL), KVS_BUSY);
        int rc = kvs_xfer_post(w);
        while (rc == KVS_IN_PROG && i % 2)
            rc = kvs_xfer_check(w);
        must(rc == KVS_IN_PROG ? kvs_xfer_wait(w, LONG) : rc, KVS_OK);
        rc = kvs_xfer_post(r);
        must(rc == KVS_IN_PROG ? kvs_xfer_wait(r, LONG) : rc, KVS_OK);
        must(memcmp(p->in, p->out, sizeof p->in), 0);
        must(kvs_xfer_release(w, 0), KVS_OK);
        must(kvs_xfer_release(r, 0), KVS_OK);
        must(kvs_mem_deregister(p->e, in, NULL), KVS_OK);
        must(kvs_mem_deregister(p->e, out, NULL), KVS_OK);
    }
    return p;
}

/* KVS-REQ-135 KVS-REQ-550 KVS-REQ-552 KVS-REQ-060 KVS-REQ-056 KVS-REQ-057 */
static void test_round_trips(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "");
    unsigned posts;
    run_parts(f.e, ROUNDS(2000), round_trips, &posts);
    assert_int_equal(counts_of(&f).puts, THREADS * ROUNDS(2000));
    close_mock(&f);
    assert_int_equal(counts_of(&f).registers, counts_of(&f).deregisters);
}

static void count_done(kvs_xfer *x, int status, void *arg)
{
    (void)x;
    (void)status;
    atomic_fetch_add((atomic_uint *)arg, 1);
}

struct flight {
    kvs_xfer *x; /* NULL: none is prepared */
    bool done;   /* it has a done function */
};

/* One thing that may be done to a prepared transfer, whatever it does. NULL: all is well. */
static void *act(struct part *p, struct flight *f, uint32_t what)
{
    int rc;
    switch (what) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
        rc = kvs_xfer_post(f->x);
        if (rc != KVS_BUSY && rc != KVS_OK && rc != KVS_CANCELED)
            must(rc, KVS_IN_PROG);
        p->posts += f->done && rc == KVS_IN_PROG;
        break;
    case 5:
    case 6:
        must(kvs_xfer_cancel(f->x), KVS_OK);
        break;
    case 7:
    case 8:
        rc = kvs_xfer_release(f->x, what == 7 ? 0 : KVS_MS(1));
        if (rc != KVS_BUSY) {
            must(rc, KVS_OK);
            f->x = NULL;
        }
        break;
    case 9:
        if (f->done && kvs_xfer_check(f->x) == KVS_IN_PROG)
            p->posts--; /* its function may not run */
        kvs_xfer_abandon(f->x);
        f->x = NULL;
        break;
    case 10:
    case 11:
        rc = kvs_xfer_wait(f->x, what == 10 ? LONG : KVS_MS(1));
        must(rc == KVS_OK || rc == KVS_CANCELED || rc == KVS_NOT_POSTED || (what == 11 && rc == KVS_IN_PROG),
             1);
        break;
    default:
        rc = kvs_xfer_check(f->x);
        must(rc == KVS_OK || rc == KVS_CANCELED || rc == KVS_NOT_POSTED || rc == KVS_IN_PROG, 1);
    }
    return NULL;
}

/* Up to eight transfers at once, each posted, cancelled, checked, waited for, released and given up at
 * random. */
static void *at_random(void *arg)
{
    struct part *p = arg;
    struct flight flights[8] = {{NULL, false}};
    static unsigned char shared[8 * 16]; /* read by all, written by none */
    for (unsigned i = 0; i < p->rounds; i++) {
        uint32_t k = next_random(&p->seed) % 8, what = next_random(&p->seed) % 16;
        struct flight *f = &flights[k];
        if (!f->x) {
            f->done = next_random(&p->seed) % 2;
            must(prep_rc(p->e, KVS_WRITE, 1 + k, shared, 16, f->done ? count_done : NULL, p->dones, &f->x,
                         NULL),
                 KVS_OK);
        }
        if (act(p, f, what) != NULL)
            return p;
    }
    for (int k = 0; k < 8; k++)
        if (flights[k].x)
            must(kvs_xfer_release(flights[k].x, LONG), KVS_OK);
    return p;
}

/* While the store completes on its own, and with submits that are not taken at once. KVS-REQ-135 KVS-REQ-200
 * KVS-REQ-256 KVS-REQ-278 KVS-REQ-282 KVS-REQ-150 */
static void stress(void **state, const char *more)
{
    struct fixture f;
    open_mock(&f, *state, more);
    uint64_t violations = kvs_engine_violations(f.e);
    unsigned posts;
    for (int i = 0; i < 5; i++) {
        kvs_mock_set_fault(f.store, KVS_MOCK_SUBMIT, 50, i % 2 ? 20 : 0, KVS_AGAIN);
        run_parts(f.e, ROUNDS(2000), at_random, &posts);
    }
    assert_int_equal(kvs_engine_violations(f.e), violations);
    close_mock(&f);
}

static void test_at_once(void **state)
{
    stress(state, "");
}

static void test_with_latency(void **state)
{
    stress(state, "latency=100us");
}

/* The same where no cancel helps. */
static void test_with_latency_no_cancel(void **state)
{
    stress(state, "latency=50us&cancel=none");
}

struct holder {
    const struct fixture *f;
    atomic_bool stop;
    pthread_t thread;
};

static void *let_go_now_and_then(void *arg)
{
    struct holder *h = arg;
    for (unsigned i = 0; !atomic_load(&h->stop); i++) {
        kvs_mock_let_go(h->f->store, i % 5 + 1);
        pause_briefly();
    }
    return NULL;
}

/* Ios that are held until a thread lets them go, with a second completion for many of them. KVS-REQ-164
 */
static void test_held(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "hold=yes");
    struct holder h = {.f = &f};
    assert_int_equal(pthread_create(&h.thread, NULL, let_go_now_and_then, &h), 0);
    unsigned posts;
    run_parts(f.e, ROUNDS(2000), at_random, &posts);
    expect_rc(kvs_engine_close(f.e, LONG, NULL), KVS_OK);
    atomic_store(&h.stop, true);
    assert_int_equal(pthread_join(h.thread, NULL), 0);
    assert_int_equal(counts_of(&f).preps, counts_of(&f).unpreps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        EACH_MODEL(test_round_trips),  EACH_MODEL(test_at_once),
        EACH_MODEL(test_with_latency), EACH_ASYNC_MODEL(test_with_latency_no_cancel),
        EACH_MODEL(test_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
