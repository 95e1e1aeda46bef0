/* SPDX-License-Identifier: Apache-2.0 */
/* What the thread that calls post copies itself. */
#include "engine_test.h"
#include "fresh_pages.h"

/* Page faults of this thread in a post of one value of fresh memory. */
static long faults_of_post(kvs_engine *e, uint32_t op, void *mem)
{
    kvs_xfer *x = prep(e, op, 1, mem, fresh_size());
    fresh_again(mem);
    long before = faults_here();
    int rc = kvs_xfer_post(x);
    long faults = faults_here() - before;
    assert_true(rc == KVS_IN_PROG || rc == KVS_OK);
    expect_rc(rc == KVS_OK ? rc : wait_end(x), KVS_OK);
    release(x);
    return faults;
}

/* KVS-REQ-110 KVS-REQ-294 */
static void test_copies(void **state)
{
    static const char *const params[] = {"", "bounce=yes"};
    char *mem = fresh_map();
    assert_non_null(mem);
    for (size_t i = 0; i < 2; i++) {
        struct fixture f;
        open_mock(&f, *state, params[i]);
        faults_of_post(f.e, KVS_WRITE,
                       mem); /* what the program itself touches for the first time is not counted */
        faults_of_post(f.e, KVS_READ, mem);
        long written = faults_of_post(f.e, KVS_WRITE, mem), read = faults_of_post(f.e, KVS_READ, mem);
        if (i == 1)
            assert_true(written >= FRESH_PAGES);
        else
            assert_true(written < FRESH_PAGES / 4);
        assert_true(read < FRESH_PAGES / 4);
        close_mock(&f);
    }
    /* What would show a copy. */
    fresh_again(mem);
    long before = faults_here();
    memset(mem, 1, fresh_size());
    assert_true(faults_here() - before >= FRESH_PAGES);
    fresh_unmap(mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        {"test_copies (blocking)", test_copies, NULL, NULL, model_blocking},
        {"test_copies (thread)", test_copies, NULL, NULL, model_thread},
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
