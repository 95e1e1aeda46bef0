/* SPDX-License-Identifier: Apache-2.0 */
/* A key is absent where the store is there and has it not; a store that has gone is an error. */
#include <kvslot/kvslot.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static kvs_engine *open_store(const char *connect)
{
    const struct kvs_param_value params[] = {{"path", "store"}, {"connect", connect}};
    kvs_engine *engine = NULL;
    struct kvs_error err = {0, ""};
    if (kvs_engine_open("dirstore", params, 2, &engine, &err) != KVS_OK)
        fail_msg("%s", err.text);
    return engine;
}

static int get_from(kvs_engine *engine)
{
    char value[5];
    return kvs_get(engine, "key", 3, value, sizeof value, NULL);
}

static void test_vanished(void **state)
{
    (void)state;
    char found[5] = "";
    kvs_engine *engine = open_store("eager");
    assert_int_equal(get_from(engine), KVS_NOT_FOUND);
    assert_int_equal(kvs_put(engine, "key", 3, "value", 5, NULL), KVS_OK);
    assert_int_equal(kvs_get(engine, "key", 3, found, sizeof found, NULL), KVS_OK);
    assert_memory_equal(found, "value", 5);
    assert_int_equal(unlink("store/6b6579"), 0);
    assert_int_equal(rmdir("store"), 0);
    assert_int_equal(get_from(engine), KVS_IO);
    assert_int_equal(kvs_query(engine, "key", 3, NULL, NULL), KVS_IO);
    assert_int_equal(kvs_remove(engine, "key", 3, NULL), KVS_IO);
    assert_int_equal(kvs_engine_close(engine, KVS_SEC(30), NULL), KVS_OK);
}

/* What nobody has put yet. */
static void test_not_made_yet(void **state)
{
    (void)state;
    kvs_engine *engine = open_store("lazy");
    assert_int_equal(get_from(engine), KVS_NOT_FOUND);
    assert_int_equal(kvs_put(engine, "key", 3, "value", 5, NULL), KVS_OK);
    assert_int_equal(get_from(engine), KVS_OK);
    assert_int_equal(kvs_remove(engine, "key", 3, NULL), KVS_OK);
    assert_int_equal(rmdir("store"), 0);
    assert_int_equal(kvs_engine_close(engine, KVS_SEC(30), NULL), KVS_OK);
}

static int load(void **state)
{
    (void)state;
    struct kvs_error err = {0, ""};
    const char *plugin = getenv("DIRSTORE");
    if (kvs_plugin_load(plugin ? plugin : "", NULL, &err) != KVS_OK)
        fail_msg("%s", err.text);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_vanished), cmocka_unit_test(test_not_made_yet)};
    return cmocka_run_group_tests(tests, load, NULL);
}
