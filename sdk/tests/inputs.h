/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests that give bad input to every function of a header: a row for each function, and a look into the
 * header whether one has none.
 */
#ifndef KVS_TESTS_INPUTS_H
#define KVS_TESTS_INPUTS_H

#include "engines.h"
#include "toy.h"

#include <ctype.h>
#include <limits.h>
#include <stdalign.h>

static struct kvs_backend store; /* main() fills it */
static kvs_engine *good;         /* with a prefix, which lengths are added to */
static kvs_xfer *prepared_one;
static kvs_mem *mine;
static char buf[64];
static const char name[] = "name";

/* Memory that is no handle: of zeros, of ones, of text. */
static alignas(64) unsigned char zeros[8192], ones[8192], text[8192];

enum { BAD = 5 };

static void *bad_handle(int i, void *of_another_kind)
{
    void *const all[BAD] = {NULL, zeros, ones, text, of_another_kind};
    return all[i];
}

#define bad_engine(i) ((kvs_engine *)bad_handle((i), prepared_one))
#define bad_xfer(i)   ((kvs_xfer *)bad_handle((i), good))
#define bad_mem(i)    ((kvs_mem *)bad_handle((i), good))
#define FOR_BAD(i)    for (int i = 0; i < BAD; i++)
#define INVALID(call) assert_int_equal((call), KVS_INVALID_PARAM)

/* The error is in the structure, and so it is without one. */
#define REFUSED(status, part, call)                                                                          \
    do {                                                                                                     \
        struct kvs_error e_ = {0, ""}, *err = &e_;                                                           \
        int rc_ = (call);                                                                                    \
        expect_status(rc_, (status), err);                                                                   \
        expect_text(err->text, part);                                                                        \
        err = NULL;                                                                                          \
        assert_int_equal((call), (status));                                                                  \
    } while (0)

struct row {
    const char *function;
    void (*test)(void);
};

/* Transfers and the calls for one key have a program of their own. */
static inline bool of_transfers(const char *function)
{
    static const char *const calls[] = {"kvs_put",   "kvs_get",    "kvs_get_alloc",
                                        "kvs_query", "kvs_remove", "kvs_list"};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (strcmp(function, calls[i]) == 0)
            return true;
    return strncmp(function, "kvs_xfer_", strlen("kvs_xfer_")) == 0;
}

/* The next function that the header's text declares: its name, before the first parenthesis. NULL: no more.
 */
static inline const char *next_function(const char *at, char *function, size_t size)
{
    const char *end = (at = strstr(at, "\nKVS_EXPORT ")) ? strchr(at, '(') : NULL;
    if (!end)
        return NULL;
    const char *begin = end;
    while (isalnum((unsigned char)begin[-1]) || begin[-1] == '_')
        begin--;
    snprintf(function, size, "%.*s", (int)(end - begin), begin);
    return end;
}

/* Each function of the header has a row, and each row a function. */
static inline void check_rows(const struct row *rows, size_t n, bool transfers)
{
    static char header[1 << 18];
    const char *path = getenv("SDK_TEST_HEADER");
    FILE *f = path ? fopen(path, "re") : NULL;
    if (!f)
        fail_msg("SDK_TEST_HEADER has to be the path of kvslot.h; it is %s", path ? path : "not set");
    size_t len = fread(header, 1, sizeof header - 1, f), found = 0;
    fclose(f);
    assert_true(len < sizeof header - 1);
    char function[64];
    for (const char *at = header; (at = next_function(at, function, sizeof function)) != NULL;) {
        if (of_transfers(function) != transfers)
            continue;
        size_t i = 0;
        while (i < n && strcmp(rows[i].function, function) != 0)
            i++;
        if (i == n)
            fail_msg("%s() has no row: add one, with all that may be wrong with what it is given", function);
        found++;
    }
    assert_int_equal(found, n);
}

static inline void run_rows(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        print_message("%s\n", rows[i].function);
        rows[i].test();
    }
    assert_int_equal(atomic_load(&toy.calls), 0); /* nothing of it has reached the store */
}

static inline int inputs_setup(void **state)
{
    (void)state;
    toy_reset();
    memset(ones, 0xff, sizeof ones);
    memset(text, 'k', sizeof text);
    store = toy_table("inputs");
    good = toy_open(&store, WITH({"prefix", "p/"}));
    mine = registered(good, KVS_MEM_DRAM, 1, "mine", (uint64_t)(uintptr_t)buf, sizeof buf);
    struct ask a;
    ask_for(&a, KVS_WRITE, 2, buf, 8);
    prepared_one = prepared(good, &a);
    return 0;
}

/* Whatever was refused, what is good is as it was. */
static inline int inputs_teardown(void **state)
{
    (void)state;
    assert_int_equal(run_xfer(prepared_one), KVS_OK);
    assert_int_equal(kvs_xfer_release(prepared_one, 0), KVS_OK);
    deregistered(good, mine);
    close_engine(good);
    return 0;
}

#endif
