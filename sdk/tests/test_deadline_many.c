/* SPDX-License-Identifier: Apache-2.0 */
/* Many transfers whose time is up at once: each is looked at a few times, however many there are. */
#include "engine.h"
#include "engine_test.h"
#include "hand.h"

enum { N = 1000 };

static unsigned char memory[16];
static struct kvs_batch *taken[N];
static unsigned ntaken; /* one thread posts */

static int take(struct kvs_batch *batch)
{
    taken[ntaken++] = batch;
    return KVS_OK;
}

static uint64_t looks(kvs_engine *e)
{
    kvs_mutex_lock(&e->lock);
    uint64_t n = e->looks;
    kvs_mutex_unlock(&e->lock);
    return n;
}

/* KVS-REQ-266 KVS-REQ-269 */
static void test_many(void **state)
{
    static kvs_xfer *x[N];
    char target[64];
    hand_reset();
    kvs_set_log(no_log, NULL, -1);
    hand.on_submit = take;
    ntaken = 0;
    snprintf(target, sizeof target, "%s:?timeout=200ms&cancel_grace=1ms", (const char *)*state);
    kvs_engine *e = open_engine(target);
    for (int i = 0; i < N; i++) {
        x[i] = prep(e, KVS_WRITE, 1, memory, 16);
        post_short(x[i]);
    }
    for (int i = 0; i < N; i++)
        expect_rc(wait_end(x[i]), KVS_TIMEOUT);
    assert_int_equal(ntaken, N);
    /* Two steps each, with a look at two lists; and those that wake up meanwhile. With a look at all that are
     * out of time before each step it would be N * N. */
    assert_in_range(looks(e), 2 * N, 50 * N);
    for (int i = 0; i < N; i++) {
        hand.host->complete_rest(taken[i], KVS_OK);
        release(x[i]);
    }
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
    kvs_set_log(NULL, NULL, -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {{"test_many", test_many, NULL, NULL, (char[]){"hand-stiff"}}};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
