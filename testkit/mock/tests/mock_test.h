/* SPDX-License-Identifier: Apache-2.0 */
/* What the mock's tests share. */
#ifndef KVS_MOCK_TEST_H
#define KVS_MOCK_TEST_H

#include "fakehost.h"

#include <kvslot/mock.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

extern const struct kvs_backend kvs_mock_backend;

static const char *const models[] = {"blocking", "inline", "thread", "poll"};

/* Opens an engine on store `name`; a further parameter may be NULL. */
static inline void open_mock(struct fh_engine *engine, const char *name, const char *model, const char *param,
                             const char *value)
{
    const struct kvs_param_value params[] = {{"name", name}, {"model", model}, {param, value}, {NULL, NULL}};
    assert_int_equal(fh_open(engine, &kvs_mock_backend, params), KVS_OK);
}

static inline struct kvs_mock_counts counts_of(const char *name)
{
    struct kvs_mock_counts counts = {.size = sizeof(counts)};
    assert_int_equal(kvs_mock_get_counts(name, &counts), KVS_OK);
    return counts;
}

static inline int load(void **state)
{
    (void)state;
    return kvs_mock_backend.load(&fh_host);
}

#endif
