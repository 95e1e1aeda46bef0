/* SPDX-License-Identifier: Apache-2.0 */
/* What the model lets a store answer. A value's bytes are its number here. */
#include "model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LEN  10
#define TORN 999 /* bytes that are no value's */

static const struct model_rules rules = {.overwrite = true, .size_check = true, .query_size = true};
static struct model m;
static char why[600];

static int setup(void **state)
{
    (void)state;
    return model_init(&m, 2, &rules) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    model_free(&m);
    return 0;
}

static bool is(void *arg, unsigned value, uint64_t len)
{
    (void)len;
    return *(unsigned *)arg == value;
}

static struct model_io begin(uint32_t op, unsigned value)
{
    return (struct model_io){.op = op, .value = value, .len = LEN};
}

#define BEGIN(io, op, value)                                                                                 \
    struct model_io io = begin(op, value);                                                                   \
    model_begin(&m, &(io))

/* Ends with that status; a READ with those bytes. */
static bool end(struct model_io *io, int status, unsigned bytes)
{
    struct model_result r = {.status = status, .bytes = io->len, .is = is, .arg = &bytes};
    return model_end(&m, io, &r, why, sizeof(why));
}

static bool whole(uint32_t op, unsigned value, int status)
{
    BEGIN(io, op, value);
    return end(&io, status, value);
}

static bool reads(unsigned value)
{
    return whole(KVS_READ, value, KVS_OK);
}

static bool is_absent(void)
{
    return whole(KVS_READ, 0, KVS_NOT_FOUND);
}

static void put(unsigned value)
{
    assert_true(whole(KVS_WRITE, value, KVS_OK));
}

/* KVS-REQ-361 KVS-REQ-374 KVS-REQ-375 */
static void test_one_after_the_other(void **state)
{
    (void)state;
    assert_true(is_absent());
    assert_true(whole(KVS_REMOVE, 0, KVS_NOT_FOUND));
    assert_false(reads(1));
    put(1);
    assert_true(reads(1));
    assert_false(is_absent());
    put(2);
    assert_true(reads(2));
    assert_false(reads(1));
    assert_non_null(strstr(why, "but k1 can only have the value v3 (10 bytes)"));
    assert_false(reads(TORN));
    assert_true(whole(KVS_REMOVE, 0, KVS_OK));
    assert_false(reads(2));
    assert_true(is_absent());
}

/* KVS-REQ-370 KVS-REQ-371 KVS-REQ-350 */
static void test_query_and_lengths(void **state)
{
    (void)state;
    assert_true(whole(KVS_QUERY, 0, KVS_NOT_FOUND));
    assert_true(whole(KVS_QUERY, 0, KVS_UNKNOWN));
    assert_false(whole(KVS_QUERY, 0, KVS_OK));
    put(1);
    assert_true(whole(KVS_QUERY, 0, KVS_OK));
    assert_false(whole(KVS_QUERY, 0, KVS_NOT_FOUND));
    assert_false(whole(KVS_QUERY, 0, KVS_UNKNOWN));
    assert_false(whole(KVS_READ, 0, KVS_MISMATCH));
    struct model_io longer = {.op = KVS_READ, .len = LEN + 1};
    model_begin(&m, &longer);
    assert_true(end(&longer, KVS_MISMATCH, 0));
    model_begin(&m, &longer);
    assert_false(end(&longer, KVS_OK, 1));
    m.rules.size_check = false; /* then nobody knows what such a READ gives */
    model_begin(&m, &longer);
    assert_true(end(&longer, KVS_OK, TORN));
    struct model_io query = {.op = KVS_QUERY, .len = LEN + 1};
    model_begin(&m, &query);
    assert_false(end(&query, KVS_OK, 0));
    query.len = UINT64_MAX;
    model_begin(&m, &query);
    assert_false(end(&query, KVS_OK, 0));
    m.rules.query_size = false;
    model_begin(&m, &query);
    assert_true(end(&query, KVS_OK, 0));
    assert_int_equal(model_length(&m, 0), LEN);
    assert_int_equal(model_length(&m, 1), 1);
}

/* KVS-REQ-364 */
static void test_a_failed_write_leaves_old_or_new(void **state)
{
    (void)state;
    put(1);
    assert_false(whole(KVS_WRITE, 9, KVS_IO)); /* nothing makes it fail */
    assert_non_null(strstr(why, "nothing makes it fail"));
    m.rules.errors = true;
    assert_true(whole(KVS_WRITE, 2, KVS_TIMEOUT));
    assert_true(reads(1));
    assert_true(reads(2));
    assert_false(reads(TORN));
    assert_false(is_absent());
    put(3);
    assert_true(reads(3));
    assert_false(reads(1));
    assert_true(reads(2)); /* it may still take effect later */
    assert_true(whole(KVS_REMOVE, 0, KVS_BACKEND));
    assert_true(is_absent());
}

/* KVS-REQ-364 */
static void test_only_what_was_canceled_is_canceled(void **state)
{
    (void)state;
    put(1);
    BEGIN(quiet, KVS_WRITE, 2);
    assert_false(end(&quiet, KVS_CANCELED, 0));
    BEGIN(canceled, KVS_WRITE, 3);
    canceled.canceled = true;
    assert_true(end(&canceled, KVS_CANCELED, 0));
    assert_true(reads(1));
    assert_true(reads(3));
    BEGIN(other, KVS_WRITE, 4);
    other.canceled = true;
    assert_false(end(&other, KVS_IO, 0));
    BEGIN(done, KVS_WRITE, 5);
    done.canceled = true;
    assert_true(end(&done, KVS_OK, 0));
    assert_true(reads(5));
    assert_false(reads(1));
}

/* KVS-REQ-365 */
static void test_writers_beside_each_other(void **state)
{
    (void)state;
    put(1);
    BEGIN(a, KVS_WRITE, 2);
    BEGIN(b, KVS_WRITE, 3);
    assert_int_equal(model_length(&m, 0), LEN);
    assert_true(end(&a, KVS_OK, 0));
    BEGIN(c, KVS_WRITE, 4);
    assert_true(end(&b, KVS_OK, 0));
    assert_true(reads(2)); /* c is on its way, so this tells nothing for good */
    assert_true(reads(3));
    assert_true(reads(4));
    assert_false(reads(1));
    assert_true(end(&c, KVS_OK, 0));
    assert_false(reads(2)); /* had ended before c began */
    assert_true(reads(3));  /* and now nothing is on its way: this is what there is */
    assert_false(reads(4));
}

/* KVS-REQ-366 */
static void test_readers_beside_a_writer(void **state)
{
    (void)state;
    put(1);
    BEGIN(early, KVS_READ, 0);
    BEGIN(late, KVS_READ, 0);
    BEGIN(torn, KVS_READ, 0);
    BEGIN(other, KVS_READ, 0);
    BEGIN(w, KVS_WRITE, 2);
    assert_true(reads(1));
    assert_true(reads(2));
    assert_true(end(&w, KVS_OK, 0));
    assert_true(end(&early, KVS_OK, 1)); /* it began before */
    assert_true(reads(2));               /* and what it has seen is over */
    assert_true(end(&late, KVS_OK, 2));
    assert_false(end(&torn, KVS_OK, TORN));
    assert_false(end(&other, KVS_NOT_FOUND, 0));
    assert_false(reads(1));
    struct model_io elsewhere = {.op = KVS_READ, .key = 1, .len = LEN};
    model_begin(&m, &elsewhere);
    assert_false(end(&elsewhere, KVS_OK, 2)); /* another key's */
}

/* KVS-REQ-374 */
static void test_a_remove_beside_a_writer(void **state)
{
    (void)state;
    put(1);
    BEGIN(w, KVS_WRITE, 2);
    BEGIN(r, KVS_REMOVE, 0);
    assert_true(end(&r, KVS_OK, 0));
    assert_true(end(&w, KVS_OK, 0));
    assert_true(is_absent());
    assert_false(reads(2));
    put(3);
    BEGIN(first, KVS_REMOVE, 0);
    BEGIN(second, KVS_REMOVE, 0);
    assert_true(end(&first, KVS_OK, 0));
    assert_true(end(&second, KVS_NOT_FOUND, 0));
    assert_true(is_absent());
}

/* KVS-REQ-008 */
static void test_write_once(void **state)
{
    (void)state;
    assert_false(whole(KVS_WRITE, 1, KVS_EXISTS)); /* in a store that overwrites */
    model_free(&m);
    struct model_rules once = {.size_check = true};
    assert_true(model_init(&m, 1, &once));
    assert_false(whole(KVS_WRITE, 1, KVS_EXISTS));
    put(1);
    assert_true(whole(KVS_WRITE, 2, KVS_EXISTS));
    assert_true(reads(1));
    assert_false(reads(2));
    assert_false(whole(KVS_WRITE, 3, KVS_OK));
}

/* KVS-REQ-388 */
static void test_reopening(void **state)
{
    (void)state;
    put(1);
    put(2);
    model_reopened(&m, true);
    assert_false(is_absent());
    model_reopened(&m, false);
    assert_false(reads(1));
    assert_true(is_absent());
    assert_false(reads(2)); /* it has gone, and does not come back */
    put(3);
    assert_true(reads(3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_one_after_the_other, setup, teardown),
        cmocka_unit_test_setup_teardown(test_query_and_lengths, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_failed_write_leaves_old_or_new, setup, teardown),
        cmocka_unit_test_setup_teardown(test_only_what_was_canceled_is_canceled, setup, teardown),
        cmocka_unit_test_setup_teardown(test_writers_beside_each_other, setup, teardown),
        cmocka_unit_test_setup_teardown(test_readers_beside_a_writer, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_remove_beside_a_writer, setup, teardown),
        cmocka_unit_test_setup_teardown(test_write_once, setup, teardown),
        cmocka_unit_test_setup_teardown(test_reopening, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
