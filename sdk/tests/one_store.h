/* SPDX-License-Identifier: Apache-2.0 */
/* For tests that each begin with one engine of a store that is empty. */
#ifndef KVS_TESTS_ONE_STORE_H
#define KVS_TESTS_ONE_STORE_H

#include "engines.h"
#include "toy.h"

static struct kvs_backend store; /* main() fills it */
static kvs_engine *e;

static int setup(void **state)
{
    (void)state;
    toy_reset();
    e = toy_open(&store, NULL);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    close_engine(e);
    return 0;
}

#endif
