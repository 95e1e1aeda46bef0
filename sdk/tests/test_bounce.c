/* SPDX-License-Identifier: Apache-2.0 */
/* bounce=yes: values go through buffers of the SDK. */
#include "engine_test.h"
#include "hand.h"
#include "toy.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

static unsigned char memory[8 * 16];

static bool all_are(const unsigned char *p, int byte, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] != byte)
            return false;
    return true;
}

static unsigned char *buffer_of(const struct kvs_batch *batch, uint32_t i)
{
    return kvs_batch_io(batch, i)->iov[0].iov_base;
}

static kvs_mem *register_it(kvs_engine *e, void *p, size_t len)
{
    struct kvs_error err = {0, ""};
    struct kvs_desc d = {.addr = (uint64_t)(uintptr_t)p, .len = len, .dev_id = 1};
    kvs_mem *mem = NULL;
    expect_status(kvs_mem_register(e, KVS_MEM_DRAM, &d, &mem, &err), KVS_OK, &err);
    return mem;
}

/* One descriptor in registered memory, key "k0". */
static kvs_xfer *prep_registered(kvs_engine *e, uint32_t op, void *p, size_t len, kvs_mem *mem)
{
    struct kvs_error err = {0, ""};
    struct kvs_desc d = {.mem = mem, .addr = (uint64_t)(uintptr_t)p, .len = len};
    struct kvs_dlist local = {&d, 1, 0, KVS_MEM_DRAM};
    struct kvs_key key = {"k0", 2};
    struct kvs_xfer_req req = {.size = sizeof req, .op = op, .local = &local, .keys = &key, .nkeys = 1};
    kvs_xfer *x = NULL;
    expect_status(kvs_xfer_prep(e, &req, &x, &err), KVS_OK, &err);
    return x;
}

/* Everything works as without. KVS-REQ-277 KVS-REQ-360 */
static void test_round_trip(void **state)
{
    struct fixture f;
    open_mock(&f, *state, "bounce=yes");
    unsigned char to[8 * 16];
    for (size_t i = 0; i < sizeof memory; i++)
        memory[i] = (unsigned char)(i + 1);
    kvs_xfer *w = prep(f.e, KVS_WRITE, 8, memory, 16), *r = prep(f.e, KVS_READ, 8, to, 16);
    for (int round = 0; round < 3; round++) {
        memory[17] = (unsigned char)round; /* posted again, it has what is there now */
        memset(to, 0, sizeof to);
        expect_rc(run_it(w), KVS_OK);
        expect_rc(run_it(r), KVS_OK);
        assert_memory_equal(to, memory, sizeof to);
        assert_int_equal(bytes_of(r, 7), 16);
    }
    release(w);
    release(r);

    kvs_mem *mem = register_it(f.e, to, sizeof to);
    r = prep_registered(f.e, KVS_READ, to + 16, 16, mem);
    memset(to, 0, sizeof to);
    expect_rc(run_it(r), KVS_OK);
    assert_true(all_are(to, 0, 16) && memcmp(to + 16, memory, 16) == 0 && all_are(to + 32, 0, 96));
    release(r);
    assert_int_equal(kvs_mem_deregister(f.e, mem, NULL), KVS_OK);

    struct kvs_desc d = {.addr = (uint64_t)(uintptr_t)to, .len = 5};
    struct kvs_dlist local = {&d, 1, 0, KVS_MEM_DRAM};
    struct kvs_key key = {"k1", 2};
    uint64_t offset = 3;
    struct kvs_xfer_req req = {
        .size = sizeof req, .op = KVS_READ, .local = &local, .keys = &key, .nkeys = 1, .offsets = &offset};
    memset(to, 0, sizeof to);
    assert_int_equal(kvs_xfer_prep(f.e, &req, &r, NULL), KVS_OK);
    expect_rc(run_it(r), KVS_OK);
    assert_true(memcmp(to, memory + 16 + 3, 5) == 0 && all_are(to + 5, 0, sizeof to - 5));
    release(r);

    w = prep(f.e, KVS_WRITE, 2, NULL, 0); /* values of no bytes, at no address */
    expect_rc(run_it(w), KVS_OK);
    release(w);
    uint64_t size = 1;
    assert_int_equal(kvs_query(f.e, "k0", 2, &size, NULL), KVS_OK);
    assert_int_equal(size, 0);
    r = prep(f.e, KVS_READ, 2, NULL, 0);
    expect_rc(run_it(r), KVS_OK);
    release(r);
    close_mock(&f);
}

/* The backend is shown no memory of the caller's, nor what it knows of it. KVS-REQ-277 KVS-REQ-294 */
static void test_write(void **state)
{
    (void)state;
    hand_reset();
    kvs_engine *e = open_engine("hand:?bounce=yes");
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *source = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(source != MAP_FAILED);
    kvs_xfer *x = prep(e, KVS_WRITE, 3, source, 16);
    for (int round = 1; round <= 3; round++) {
        memset(source, round, page);
        assert_int_equal(mprotect(source, page, PROT_READ), 0);
        post(x);
        struct kvs_batch *batch = hand_batch(0);
        hand.taken = 0;
        assert_int_equal(mprotect(source, page, PROT_READ | PROT_WRITE), 0);
        memset(source, 99, page); /* what is changed after post is not written */
        for (uint32_t i = 0; i < 3; i++) {
            unsigned char *p = buffer_of(batch, i);
            assert_true(p + 16 <= source || p >= source + page);
            assert_true(all_are(p, round, 16));
            assert_null(kvs_batch_io(batch, i)->mem_priv);
        }
        hand.host->complete_rest(batch, KVS_OK);
        expect_rc(kvs_xfer_check(x), KVS_OK);
    }
    release(x);
    assert_int_equal(munmap(source, page), 0);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

/* A READ that fails leaves the memory as it was, whatever the backend did to its buffer. KVS-REQ-295
 * KVS-REQ-427 */
static void test_read_atomic(void **state)
{
    static const int fails[] = {KVS_NOT_FOUND, KVS_MISMATCH, KVS_IO, KVS_CANCELED};
    (void)state;
    hand_reset();
    struct kvs_limits l = {.size = sizeof l};
    kvs_engine *e = open_engine("hand");
    assert_int_equal(kvs_engine_limits(e, &l), KVS_OK);
    assert_true(l.caps_none & KVS_CAP_READ_ATOMIC);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
    e = open_engine("hand:?bounce=yes");
    l.size = sizeof l;
    assert_int_equal(kvs_engine_limits(e, &l), KVS_OK);
    assert_false((l.caps_none | l.caps_native) & KVS_CAP_READ_ATOMIC);

    kvs_xfer *x = prep(e, KVS_READ, 3, memory, 16);
    memset(memory, 7, sizeof memory);
    for (size_t i = 0; i <= sizeof fails / sizeof fails[0]; i++) {
        int status = i < sizeof fails / sizeof fails[0] ? fails[i] : KVS_OK;
        post(x);
        struct kvs_batch *batch = hand_batch(0);
        hand.taken = 0;
        memset(buffer_of(batch, 0), 66, 16);
        memset(buffer_of(batch, 1), 67, 16);
        memset(buffer_of(batch, 2), 68, 16);
        assert_true(all_are(memory, 7, sizeof memory));
        if (status == KVS_OK)
            kvs_batch_io(batch, 1)->actual = 15; /* of another length, which the SDK finds out */
        hand_end(batch, 0, status);
        hand_end(batch, 1, status);
        hand_end(batch, 2, status);
        if (status != KVS_OK)
            assert_true(all_are(memory, 7, sizeof memory));
        expect_rc(kvs_xfer_check(x), status == KVS_OK ? KVS_MISMATCH : status);
    }
    assert_true(all_are(memory, 66, 16) && all_are(memory + 16, 7, 16) && all_are(memory + 32, 68, 16));
    release(x);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

static int count_held(void *arg, const struct kvs_held *held)
{
    (void)held;
    ++*(unsigned *)arg;
    return 0;
}

/* The buffers are held, and the caller's memory is not. KVS-REQ-277 KVS-REQ-273 KVS-REQ-295 KVS-REQ-296
 * KVS-REQ-297 */
static void test_held(void **state)
{
    (void)state;
    hand_reset();
    kvs_set_log(no_log, NULL, -1);
    kvs_engine *e = open_engine("hand-stiff:?bounce=yes&timeout=20ms&cancel_grace=1ms");
    unsigned char *p = malloc(16);
    assert_non_null(p);
    kvs_mem *mem = register_it(e, p, 16), *other = register_it(e, memory, 16);
    kvs_xfer *x = prep_registered(e, KVS_READ, p, 16, mem);
    kvs_xfer *idle = prep_registered(e, KVS_READ, memory, 16, other);
    post_short(x);
    expect_rc(wait_end(x), KVS_TIMEOUT);
    struct kvs_stats s = {.size = sizeof s};
    assert_int_equal(kvs_engine_stats(e, &s), KVS_OK);
    assert_int_equal(s.held_transfers, 1);
    assert_int_equal(s.held_bytes, 0);
    unsigned listed = 0;
    assert_int_equal(kvs_engine_held(e, count_held, &listed), KVS_OK);
    assert_int_equal(listed, 0);
    expect_rc(kvs_xfer_release(x, 0), KVS_BUSY);
    struct kvs_error err = {0, ""};
    kvs_mem *both[] = {mem, other};
    expect_status(kvs_mem_deregister_list(e, both, 2, &err), KVS_BUSY, &err);
    expect_text(err.text, "registration 1"); /* all or none */

    hand.host->complete_rest(hand_batch(0), KVS_OK); /* late; it counts its registration as before */
    assert_int_equal(bytes_of(x, 0), 0);
    expect_status(kvs_mem_deregister(e, mem, &err), KVS_BUSY, &err);
    post_short(x);
    expect_rc(wait_end(x), KVS_TIMEOUT);
    expect_status(kvs_mem_deregister(e, mem, &err), KVS_OK, &err);
    free(p);
    memset(buffer_of(hand_batch(1), 0), 66, 16);
    hand.host->complete_rest(hand_batch(1), KVS_OK); /* under a sanitizer: touches nothing that is freed */
    expect_rc(status_of(x, 0), KVS_TIMEOUT);
    expect_rc(kvs_xfer_post(x), KVS_NOT_ALLOWED);
    expect_rc(kvs_xfer_check(x), KVS_TIMEOUT);
    assert_int_equal(hand_taken(), 2);
    release(x);
    release(idle);
    expect_status(kvs_mem_deregister(e, other, &err), KVS_OK, &err);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
    kvs_set_log(NULL, NULL, -1);
}

/* Nor that of an abandoned one. KVS-REQ-277 KVS-REQ-295 KVS-REQ-296 */
static void test_abandoned(void **state)
{
    (void)state;
    hand_reset();
    kvs_engine *e = open_engine("hand:?bounce=yes");
    for (uint32_t op = KVS_READ; op <= KVS_WRITE; op++) {
        unsigned char *p = calloc(1, 16);
        assert_non_null(p);
        kvs_mem *mem = register_it(e, p, 16);
        kvs_xfer *x = prep_registered(e, op, p, 16, mem);
        post(x);
        expect_rc(kvs_mem_deregister(e, mem, NULL), KVS_BUSY);
        kvs_xfer_abandon(x);
        expect_rc(kvs_mem_deregister(e, mem, NULL), KVS_OK);
        free(p);
        hand.host->complete_rest(hand_batch(op), KVS_OK);
    }
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

static atomic_uint shown;

static void look_at_priv(void *eng, void *worker, const struct kvs_batch *batch, struct kvs_io *io)
{
    (void)eng;
    (void)worker;
    (void)batch;
    atomic_fetch_add(&shown, io->mem_priv ? 100 : 1);
}

/* A registration's private space belongs to memory that the backend does not see. KVS-REQ-277 */
static void test_no_mem_priv(void **state)
{
    static struct kvs_backend private;
    (void)state;
    toy_reset();
    private = toy_table("toy-private");
    private.mem_priv = 16;
    assert_int_equal(kvs_backend_register(&private, NULL), KVS_OK);
    toy.before = look_at_priv;
    for (int bounce = 0; bounce < 2; bounce++) {
        atomic_store(&shown, 0);
        kvs_engine *e = open_engine(bounce ? "toy-private:?bounce=yes" : "toy-private");
        kvs_mem *mem = register_it(e, memory, 16);
        kvs_xfer *x = prep_registered(e, KVS_WRITE, memory, 16, mem);
        expect_rc(run_it(x), KVS_OK);
        assert_int_equal(atomic_load(&shown), bounce ? 1 : 100);
        release(x);
        assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
    }
    toy_reset();
}

/* What cannot work is refused. KVS-REQ-298 */
static void test_refused(void **state)
{
    static struct kvs_backend needs, devices;
    (void)state;
    toy_reset();
    needs = toy_table("toy-needs");
    needs.flags |= KVS_F_NEEDS_REGISTRATION;
    assert_int_equal(kvs_backend_register(&needs, NULL), KVS_OK);
    struct kvs_error err = {0, ""};
    kvs_engine *e = NULL;
    expect_status(kvs_engine_open("toy-needs:?bounce=yes", NULL, 0, &e, &err), KVS_NOT_SUPPORTED, &err);
    expect_text(err.text, "bounce");
    assert_null(e);
    devices = toy_table("toy-devices");
    devices.local_mems = KVS_MEM_MASK(KVS_MEM_DRAM) | KVS_MEM_MASK(KVS_MEM_VRAM);
    assert_int_equal(kvs_backend_register(&devices, NULL), KVS_OK);
    e = open_engine("toy-devices:?bounce=yes");
    struct kvs_desc d[] = {{.addr = 4096, .len = SIZE_MAX / 2}, {.addr = 4096, .len = SIZE_MAX / 2}};
    struct kvs_dlist local = {d, 1, 0, KVS_MEM_VRAM};
    struct kvs_key keys[] = {{"a", 1}, {"b", 1}};
    struct kvs_xfer_req req = {.size = sizeof req, .op = KVS_READ, .local = &local, .keys = keys, .nkeys = 1};
    kvs_xfer *x = NULL;
    expect_status(kvs_xfer_prep(e, &req, &x, &err), KVS_NOT_SUPPORTED, &err);
    expect_text(err.text, "memory type 1");
    local = (struct kvs_dlist){d, 2, 0, KVS_MEM_DRAM};
    req.nkeys = 2;
    expect_status(kvs_xfer_prep(e, &req, &x, &err), KVS_NO_MEMORY, &err);
    assert_null(x);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

/* ---- A copy to the caller's memory that takes as long as the test says: it stops at a page that is not
 * there, until `go`. ---- */

static unsigned char *gate;
static size_t gate_len;
static atomic_bool at_gate, go, returned;

static void on_fault(int sig, siginfo_t *info, void *context)
{
    (void)context;
    unsigned char *p = info->si_addr;
    if (p < gate || p >= gate + gate_len) {
        signal(sig, SIG_DFL);
        return;
    }
    atomic_store(&at_gate, true);
    while (!atomic_load(&go))
        pause_briefly();
    mprotect(gate, gate_len, PROT_READ | PROT_WRITE);
}

static void shut_gate(void)
{
    atomic_store(&at_gate, false);
    atomic_store(&go, false);
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    assert_int_equal(sigaction(SIGSEGV, &action, NULL), 0); /* cmocka puts its own back after each test */
    assert_int_equal(mprotect(gate, gate_len, PROT_NONE), 0);
}

static void *end_first(void *arg)
{
    hand_end(arg, 0, KVS_OK);
    return NULL;
}

static void *abandon_main(void *arg)
{
    kvs_xfer_abandon(arg);
    atomic_store(&returned, true);
    return NULL;
}

/* A READ of two, its first value on the way to the caller: the thread that copies it. */
static pthread_t copy_first(struct kvs_batch *batch)
{
    pthread_t t;
    memset(buffer_of(batch, 0), 66, 16);
    memset(buffer_of(batch, 1), 67, 16);
    assert_int_equal(pthread_create(&t, NULL, end_first, batch), 0);
    return t;
}

/* A transfer does not end held in the middle of a copy, and then nothing is copied. KVS-REQ-277 KVS-REQ-295
 */
static void test_copy_at_the_held_end(void **state)
{
    (void)state;
    kvs_engine *e = open_engine("hand-stiff:?bounce=yes&timeout=200ms&cancel_grace=1ms");
    kvs_xfer *x = prep(e, KVS_READ, 2, gate, 16);
    for (uint32_t i = 0, copied = 0; copied == 0; i++) { /* again where the machine was too busy */
        assert_true(i < HAND_MAX);
        shut_gate();
        post_short(x);
        struct kvs_batch *batch = hand_batch(i);
        pthread_t t = copy_first(batch);
        eventually(atomic_load(&at_gate) || kvs_xfer_check(x) == KVS_TIMEOUT);
        copied = atomic_load(&at_gate);
        while (copied && now_ns() < batch->deadline_ns + KVS_MS(30))
            pause_briefly();
        if (copied)
            expect_rc(kvs_xfer_check(x), KVS_IN_PROG);
        atomic_store(&go, true);
        assert_int_equal(pthread_join(t, NULL), 0);
        expect_rc(wait_end(x), KVS_TIMEOUT);
        if (copied) {
            expect_rc(status_of(x, 0), KVS_OK);
            assert_true(all_are(gate, 66, 16));
        }
        assert_int_equal(mprotect(gate, gate_len, PROT_READ), 0);
        hand_end(batch, 1, KVS_OK); /* late: a copy would be seen as a crash */
    }
    release(x);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

/* Nor does abandon come back in the middle of one. KVS-REQ-277 KVS-REQ-295 */
static void test_copy_at_abandon(void **state)
{
    (void)state;
    kvs_engine *e = open_engine("hand:?bounce=yes");
    kvs_xfer *x = prep(e, KVS_READ, 2, gate, 16);
    shut_gate();
    post(x);
    struct kvs_batch *batch = hand_batch(0);
    pthread_t copier = copy_first(batch), leaver;
    eventually(atomic_load(&at_gate));
    atomic_store(&returned, false);
    assert_int_equal(pthread_create(&leaver, NULL, abandon_main, x), 0);
    eventually(atomic_load(&hand.cancels) == 1);
    for (int i = 0; i < 100; i++)
        pause_briefly();
    assert_false(atomic_load(&returned));
    atomic_store(&go, true);
    assert_int_equal(pthread_join(leaver, NULL), 0);
    assert_int_equal(mprotect(gate, gate_len, PROT_NONE), 0); /* the caller's memory may go now */
    assert_int_equal(pthread_join(copier, NULL), 0);
    hand_end(batch, 1, KVS_OK);
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
}

static int setup_gate(void **state)
{
    (void)state;
    hand_reset();
    kvs_set_log(no_log, NULL, -1);
    gate_len = (size_t)sysconf(_SC_PAGESIZE);
    gate = mmap(NULL, gate_len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return gate == MAP_FAILED;
}

static int teardown_gate(void **state)
{
    (void)state;
    kvs_set_log(NULL, NULL, -1);
    return munmap(gate, gate_len);
}

/* Memory that is freed as soon as its READ is abandoned, at any moment of it: a sanitizer tells. KVS-REQ-295
 */
static void test_free_after_abandon(void **state)
{
    struct fixture f;
    uint64_t seed = 1;
    open_mock(&f, *state, "bounce=yes");
    kvs_xfer *w = prep(f.e, KVS_WRITE, 4, memory, 16);
    expect_rc(run_it(w), KVS_OK);
    release(w);
    for (int i = 0; i < ROUNDS(2000); i++) {
        unsigned char *p = malloc(64);
        assert_non_null(p);
        kvs_xfer *x = prep(f.e, KVS_READ, 4, p, 16);
        post(x);
        for (uint32_t spin = next_random(&seed) % 2000; spin > 0; spin--)
            atomic_signal_fence(memory_order_seq_cst);
        if (next_random(&seed) % 4 == 0)
            (void)kvs_xfer_check(x);
        kvs_xfer_abandon(x);
        memset(p, 0x5a, 64);
        bool same = all_are(p, 0x5a, 64);
        free(p);
        if (!same)
            fail_msg("round %d", i);
    }
    close_mock(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        EACH_MODEL(test_round_trip),
        cmocka_unit_test(test_write),
        cmocka_unit_test(test_read_atomic),
        cmocka_unit_test(test_held),
        cmocka_unit_test(test_abandoned),
        cmocka_unit_test(test_no_mem_priv),
        cmocka_unit_test(test_refused),
        cmocka_unit_test_setup_teardown(test_copy_at_the_held_end, setup_gate, teardown_gate),
        cmocka_unit_test_setup_teardown(test_copy_at_abandon, setup_gate, teardown_gate),
        EACH_MODEL(test_free_after_abandon),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
