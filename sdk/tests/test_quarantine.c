/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of transfers that were released, where the environment asks to have it guarded. */
#include "engine_test.h"

#include <stdio.h>
#include <stdlib.h>

#define PLACES 1024 /* how many are guarded */

static unsigned char memory[MAX_BATCH * 16];

enum access { NOT_MAPPED, NONE, READ_WRITE, OTHER };

/* What the kernel says of the page at `at`; looking at the memory itself would be the error that is meant. */
static enum access access_of(const void *at)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    assert_non_null(maps);
    char line[512], mode[8];
    unsigned long from, to;
    enum access found = NOT_MAPPED;
    while (found == NOT_MAPPED && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%lx-%lx %7s", &from, &to, mode) != 3 || (unsigned long)(uintptr_t)at < from ||
            (unsigned long)(uintptr_t)at >= to)
            continue;
        found = strncmp(mode, "---", 3) == 0 ? NONE : strncmp(mode, "rw", 2) == 0 ? READ_WRITE : OTHER;
    }
    fclose(maps);
    return found;
}

static kvs_xfer *released(const struct fixture *f, uint32_t count)
{
    kvs_xfer *x = prep(f->e, KVS_WRITE, count, memory, 16);
    expect_rc(run_it(x), KVS_OK);
    assert_int_equal(access_of(x), READ_WRITE);
    release(x);
    return x;
}

/* KVS-REQ-166: from the handle to the last record, after the engine's end, too */
static void test_guarded(void **state)
{
    struct fixture f;
    setenv("KVSLOT_QUARANTINE", "1", 1);
    open_mock(&f, *state, "");
    const char *one = (const char *)released(&f, 1), *many = (const char *)released(&f, MAX_BATCH);
    assert_int_equal(access_of(one), NONE);
    for (size_t at = 0; at < MAX_BATCH * (size_t)128; at += 1024)
        assert_int_equal(access_of(many + at), NONE);
    close_mock(&f);
    assert_int_equal(access_of(one), NONE);
    assert_int_equal(access_of(many), NONE);
}

/* As long as the last 1,024 of them, and with memory for all that are posted meanwhile. KVS-REQ-166 */
static void test_until_others_follow(void **state)
{
    struct fixture f;
    setenv("KVSLOT_QUARANTINE", "1", 1);
    open_mock(&f, *state, "");
    kvs_xfer *first = released(&f, 3);
    for (int i = 1; i < PLACES; i++)
        assert_ptr_not_equal(released(&f, 1), first);
    assert_int_equal(access_of(first), NONE);
    kvs_xfer *last = released(&f, 1);
    assert_int_not_equal(access_of(first), NONE);
    assert_int_equal(access_of(last), NONE);
    close_mock(&f);
}

/* Only where it is asked for. */
static void test_off(void **state)
{
    static const char *const values[] = {NULL, "", "0", "yes"};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        struct fixture f;
        if (values[i])
            setenv("KVSLOT_QUARANTINE", values[i], 1);
        else
            unsetenv("KVSLOT_QUARANTINE");
        open_mock(&f, *state, "");
        assert_int_not_equal(access_of(released(&f, 1)), NONE);
        close_mock(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {EACH_MODEL(test_guarded), EACH_MODEL(test_until_others_follow),
                                       EACH_MODEL(test_off)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
