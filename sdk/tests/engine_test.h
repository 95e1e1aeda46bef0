/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the transfer engine share: engines over the mock, batches, and waits that end. */
#ifndef KVS_TESTS_ENGINE_TEST_H
#define KVS_TESTS_ENGINE_TEST_H

#include "expect.h"

#include <errno.h>
#include <kvslot/mock.h>
#include <stdbool.h>
#include <time.h>

/* Longest time that anything here is waited for: less than the test program's own limit. */
#define LONG KVS_SEC(40)

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
/* Its runtime starts no threads in a forked child. */
#if defined(__SANITIZE_THREAD__)
#define THREAD_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define THREAD_SANITIZED 1
#endif
#endif
/* How often a race is tried. */
#if defined(KVS_TESTS_WRAPPED)
#define ROUNDS(n) ((n) / 50)
#elif defined(SANITIZED)
#define ROUNDS(n) ((n) / 10)
#else
#define ROUNDS(n) (n)
#endif

static char model_blocking[] __attribute__((unused)) = "blocking";
static char model_inline[] __attribute__((unused)) = "inline";
static char model_thread[] __attribute__((unused)) = "thread";
static char model_poll[] __attribute__((unused)) = "poll";

/* One test for each model of the mock; *state is the model. */
#define EACH_ASYNC_MODEL(test)                                                                               \
    {#test " (inline)", test, NULL, NULL, model_inline},                                                     \
        {#test " (thread)", test, NULL, NULL, model_thread},                                                 \
    {                                                                                                        \
#test " (poll)", test, NULL, NULL, model_poll                                                        \
    }
#define EACH_MODEL(test) {#test " (blocking)", test, NULL, NULL, model_blocking}, EACH_ASYNC_MODEL(test)

static inline bool is_model(void *const *state, const char *model)
{
    return strcmp(*(char *const *)state, model) == 0;
}

static inline uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Lets others run between two looks at what nobody signals. */
static inline void pause_briefly(void)
{
    struct timespec t = {0, 20000};
    nanosleep(&t, NULL);
}

/* The condition becomes true; the program fails where it does not. */
#define eventually(condition)                                                                                \
    do {                                                                                                     \
        uint64_t until_ = now_ns() + LONG;                                                                   \
        while (!(condition)) {                                                                               \
            if (now_ns() > until_) {                                                                         \
                print_error("%s:%d: never came true: %s\n", __FILE__, __LINE__, #condition);                 \
                _fail(__FILE__, __LINE__);                                                                   \
            }                                                                                                \
            pause_briefly();                                                                                 \
        }                                                                                                    \
    } while (0)

static inline void expect_rc_at(int rc, int want, const char *what, const char *file, int line)
{
    if (rc == want)
        return;
    print_error("%s:%d: %s is %s, wanted %s\n", file, line, what, kvs_status_name(rc), kvs_status_name(want));
    _fail(file, line);
}
#define expect_rc(call, want) expect_rc_at((call), (want), #call, __FILE__, __LINE__)

/* ---- Engines over the mock, each test with a store of its own ---- */

struct fixture {
    char store[24];
    kvs_engine *e;
};

static inline kvs_engine *open_engine(const char *target)
{
    kvs_engine *e = NULL;
    struct kvs_error err = {0, ""};
    expect_status(kvs_engine_open(target, NULL, 0, &e, &err), KVS_OK, &err);
    assert_non_null(e);
    return e;
}

/* One more engine of the fixture's store. `more`: further parameters, "hold=yes&timeout=0", or "". */
static inline kvs_engine *open_same(const struct fixture *f, const char *model, const char *more)
{
    char target[160];
    snprintf(target, sizeof target, "mock:%s?model=%s&%s%stimeout=35s", f->store, model, more,
             more[0] ? "&" : "");
    if (strstr(more, "timeout="))
        target[strlen(target) - strlen("&timeout=35s")] = '\0';
    return open_engine(target);
}

static inline void open_mock(struct fixture *f, const char *model, const char *more)
{
    static unsigned stores; /* tests run one after the other */
    assert_int_equal(kvs_mock_register(NULL), KVS_OK);
    snprintf(f->store, sizeof f->store, "s%u", ++stores);
    f->e = open_same(f, model, more);
}

/* Nothing is left in the engine, and the backend broke no rule. */
static inline void expect_closed(const struct fixture *f)
{
    struct kvs_mock_counts c = {.size = sizeof c};
    assert_int_equal(kvs_mock_get_counts(f->store, &c), KVS_OK);
    assert_int_equal(c.engines, 0);
    assert_int_equal(c.preps, c.unpreps);
    assert_int_equal(c.worker_opens, c.worker_closes);
}

static inline void close_mock(struct fixture *f)
{
    struct kvs_error err = {0, ""};
    expect_status(kvs_engine_close(f->e, LONG, &err), KVS_OK, &err);
    expect_closed(f);
}

static inline struct kvs_mock_counts counts_of(const struct fixture *f)
{
    struct kvs_mock_counts c = {.size = sizeof c};
    assert_int_equal(kvs_mock_get_counts(f->store, &c), KVS_OK);
    return c;
}

/* ---- Batches: keys "k0", "k1", ... ---- */

#define MAX_BATCH 64

/* n descriptors of `each` bytes one behind the other in mem; mem is not looked at for QUERY and REMOVE. */
static inline int prep_flags(kvs_engine *e, uint32_t op, uint32_t n, void *mem, size_t each, uint32_t flags,
                             kvs_done_fn done, void *arg, kvs_xfer **x, struct kvs_error *err)
{
    char names[MAX_BATCH][8];
    struct kvs_key keys[MAX_BATCH];
    struct kvs_desc descs[MAX_BATCH];
    assert_true(n <= MAX_BATCH);
    for (uint32_t i = 0; i < n; i++) {
        keys[i].data = names[i];
        keys[i].len = (size_t)snprintf(names[i], sizeof names[i], "k%u", i);
        descs[i] = (struct kvs_desc){.addr = (uint64_t)(uintptr_t)mem + i * each, .len = each};
    }
    struct kvs_dlist local = {descs, n, 0, KVS_MEM_DRAM};
    struct kvs_xfer_req req = {.size = sizeof req,
                               .op = op,
                               .flags = flags,
                               .local = op < KVS_QUERY ? &local : NULL,
                               .keys = keys,
                               .nkeys = n,
                               .done = done,
                               .arg = arg};
    return kvs_xfer_prep(e, &req, x, err);
}

static inline int prep_rc(kvs_engine *e, uint32_t op, uint32_t n, void *mem, size_t each, kvs_done_fn done,
                          void *arg, kvs_xfer **x, struct kvs_error *err)
{
    return prep_flags(e, op, n, mem, each, 0, done, arg, x, err);
}

static inline kvs_xfer *prep_done(kvs_engine *e, uint32_t op, uint32_t n, void *mem, size_t each,
                                  kvs_done_fn done, void *arg)
{
    kvs_xfer *x = NULL;
    struct kvs_error err = {0, ""};
    expect_status(prep_rc(e, op, n, mem, each, done, arg, &x, &err), KVS_OK, &err);
    assert_non_null(x);
    return x;
}

static inline kvs_xfer *prep(kvs_engine *e, uint32_t op, uint32_t n, void *mem, size_t each)
{
    return prep_done(e, op, n, mem, each, NULL, NULL);
}

/* Accepted; it may have ended already. */
static inline void post(kvs_xfer *x)
{
    int rc = kvs_xfer_post(x);
    if (rc != KVS_OK)
        expect_rc(rc, KVS_IN_PROG);
}

/* Its end, within LONG. */
static inline int wait_end(kvs_xfer *x)
{
    int rc = kvs_xfer_wait(x, LONG);
    assert_int_not_equal(rc, KVS_IN_PROG);
    return rc;
}

static inline int run_it(kvs_xfer *x)
{
    int rc = kvs_xfer_post(x);
    return rc == KVS_IN_PROG ? wait_end(x) : rc;
}

static inline void release(kvs_xfer *x)
{
    expect_rc(kvs_xfer_release(x, 0), KVS_OK);
}

static inline int status_of(kvs_xfer *x, size_t index)
{
    int status = 99;
    assert_int_equal(kvs_xfer_result(x, index, &status, NULL, NULL), KVS_OK);
    return status;
}

static inline const char *text_of(kvs_xfer *x, size_t index)
{
    const char *text = NULL;
    assert_int_equal(kvs_xfer_result(x, index, NULL, NULL, &text), KVS_OK);
    assert_non_null(text);
    return text;
}

static inline uint64_t bytes_of(kvs_xfer *x, size_t index)
{
    uint64_t bytes = 0;
    assert_int_equal(kvs_xfer_result(x, index, NULL, &bytes, NULL), KVS_OK);
    return bytes;
}

/* How many descriptors are still open; makes progress. */
static inline uint32_t open_ios(kvs_xfer *x)
{
    uint32_t n = 0;
    (void)kvs_xfer_check(x);
    for (size_t i = 0; i < kvs_xfer_count(x); i++)
        n += status_of(x, i) == KVS_IN_PROG;
    return n;
}

static inline void wait_held(const struct fixture *f, size_t n)
{
    expect_rc(kvs_mock_wait_held(f->store, n, LONG), KVS_OK);
}

static inline void let_go(const struct fixture *f, size_t n)
{
    assert_int_equal(kvs_mock_let_go(f->store, n), n);
}

/* Posts x on an engine with a short timeout: on a busy machine its time may be up before post is back. */
static inline void post_short(kvs_xfer *x)
{
    int rc = kvs_xfer_post(x);
    if (rc != KVS_TIMEOUT)
        expect_rc(rc, KVS_IN_PROG);
}

/* Lets go whatever is held. With a short timeout a worker may bring one more io after that, long after the
 * transfer has ended: who waits for the last of them lets go in each turn. */
static inline void let_go_all(const struct fixture *f)
{
    (void)kvs_mock_let_go(f->store, SIZE_MAX);
}

/*
 * Posts x, on an engine with a short timeout, until all n ios are at the store before its time is up: on a
 * busy machine workers may be too late, and what they had not taken is not held. Answers how often it was
 * posted.
 */
static inline unsigned post_held(const struct fixture *f, kvs_xfer *x, size_t n)
{
    uint64_t until = now_ns() + LONG;
    for (unsigned posts = 1;; posts++) {
        int rc;
        assert_true(posts < 100 || now_ns() < until);
        eventually((let_go_all(f), rc = kvs_xfer_post(x)) != KVS_BUSY);
        if (rc == KVS_TIMEOUT) /* before post has returned */
            continue;
        expect_rc(rc, KVS_IN_PROG);
        do
            rc = kvs_mock_wait_held(f->store, n, KVS_MS(1));
        while (rc != KVS_OK && kvs_xfer_check(x) == KVS_IN_PROG);
        if (rc == KVS_OK)
            return posts;
    }
}

/* Closes an engine at whose store there may be more than is held by now. */
static inline void close_held(struct fixture *f)
{
    eventually((let_go_all(f), kvs_engine_close(f->e, 0, NULL)) == KVS_OK);
    expect_closed(f);
}

/* ---- What the SDK logs ---- */

/* Nothing of it reaches standard error: a test breaks rules on purpose. */
static inline void no_log(void *arg, int level, const char *text)
{
    (void)arg;
    (void)level;
    (void)text;
}

#endif
