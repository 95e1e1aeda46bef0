/* SPDX-License-Identifier: Apache-2.0 */
/* The shim alone, against another kv_interface.h and another library than the emulator's. */
#include "../shim.h"
#include "other/library.h"
#include "util.h"

#include <stdalign.h>

static const int cpus[] = {20, 21};
static const struct wqskv_options least = {.poolid = 5,
                                           .thread_num = 6,
                                           .event = true,
                                           .conf = "/etc/w",
                                           .node_id = 7,
                                           .bvar_port = 8,
                                           .cpus = cpus,
                                           .ncpus = 2,
                                           .mem_size = 9};

static void test_options(void **state)
{
    (void)state;
    struct wqskv_options all = least;
    assert_int_equal(wqskv_shim_init(&least), 0);
    assert_int_equal(seen.poolid, 5);
    assert_int_equal(seen.thread_num, 6);
    assert_int_equal(seen.thread_mode, 11);
    assert_string_equal(seen.conf, "/etc/w");
    assert_int_equal(seen.nid, 7);
    assert_int_equal(seen.bvar, 8);
    assert_int_equal(seen.ncpus, 2);
    assert_int_equal(seen.cpus[0], 20);
    assert_int_equal(seen.cpus[1], 21);
    assert_int_equal(seen.mem_size, 9);
    /* What the file does not say is the library's own default. */
    assert_int_equal(seen.objsz, 88);
    assert_int_equal(seen.objnum, 77);
    assert_int_equal(seen.round_robin, 1);
    assert_int_equal(seen.debug_log, 0);
    all.event = false;
    all.ncpus = 0;
    all.cpus = NULL;
    all.has_objsz = all.has_objnum = all.has_round_robin = all.debug_log = true;
    all.objsz = 10;
    all.objnum = 11;
    assert_int_equal(wqskv_shim_init(&all), 0);
    assert_int_equal(seen.thread_mode, 22);
    assert_int_equal(seen.ncpus, 0);
    assert_int_equal(seen.objsz, 10);
    assert_int_equal(seen.objnum, 11);
    assert_int_equal(seen.round_robin, 0);
    assert_int_equal(seen.debug_log, 1);
    answer = -3;
    assert_int_equal(wqskv_shim_init(&all), -3);
    answer = 0;
}

static void nobody(int rc, void *arg)
{
    (void)rc;
    (void)arg;
}

/* Key and pieces of memory are the request's own, at one place from make to unmake, over any number of posts.
 */
static void test_by_reference(void **state)
{
    (void)state;
    alignas(16) unsigned char space[WQSKV_SHIM_SPACE];
    char key[] = "a key that is longer \0than a short string is";
    char a[3], b[5];
    struct iovec iov[2] = {{a, sizeof(a)}, {b, sizeof(b)}};
    size_t len = sizeof(key) - 1;
    assert_true(wqskv_shim_make(space, key, len, 2));
    memset(key, 'x', len); /* it was copied */
    assert_int_equal(wqskv_shim_put(space, iov, 2, nobody, a), 0);
    struct call first = last_put;
    assert_int_equal(first.key_len, len);
    assert_memory_equal(first.key, "a key that is longer \0than a short string is", len);
    assert_int_equal(first.niov, 2);
    assert_ptr_not_equal(first.iov, iov);
    assert_ptr_equal(first.iov[0].iov_base, a);
    assert_int_equal(first.iov[1].iov_len, 5);
    assert_ptr_equal(first.cb, nobody);
    assert_ptr_equal(first.arg, a);
    assert_int_equal(wqskv_shim_get(space, iov, 2, 8, nobody, b), 0);
    assert_int_equal(last_get.len, 8);
    assert_ptr_equal(last_get.key, first.key);
    assert_ptr_equal(last_get.iov, first.iov);
    assert_ptr_equal(last_get.arg, b);
    assert_int_equal(wqskv_shim_put(space, NULL, 0, nobody, a), 0); /* a value of no bytes */
    assert_int_equal(last_put.niov, 0);
    answer = -9;
    assert_int_equal(wqskv_shim_put(space, iov, 1, nobody, a), -9);
    answer = 0;
    wqskv_shim_unmake(space);
}

/* No exception gets into C. */
static void test_throws(void **state)
{
    (void)state;
    alignas(16) unsigned char space[WQSKV_SHIM_SPACE];
    char byte;
    struct iovec iov = {&byte, 1};
    assert_true(wqskv_shim_make(space, "k", 1, 1));
    throws = 1;
    assert_int_equal(wqskv_shim_init(&least), WQSKV_SHIM_THREW);
    assert_int_equal(wqskv_shim_put(space, &iov, 1, nobody, NULL), WQSKV_SHIM_THREW);
    assert_int_equal(wqskv_shim_get(space, &iov, 1, 1, nobody, NULL), WQSKV_SHIM_THREW);
    throws = 0;
    wqskv_shim_unmake(space);
    assert_false(wqskv_shim_make(space, "k", 1, SIZE_MAX)); /* more pieces than there can be */
}

static void test_no_emulator(void **state)
{
    (void)state;
    bool shared = true;
    assert_false(wqskv_shim_emulated(&shared));
    assert_false(shared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_by_reference),
        cmocka_unit_test(test_throws),
        cmocka_unit_test(test_no_emulator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
