/* SPDX-License-Identifier: Apache-2.0 */
/* lmdb: a map that is full, grows, and is grown by another process. */
#include "util.h"

#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <sys/wait.h>

static void number(char *key, size_t size, int i)
{
    snprintf(key, size, "key-%d", i);
}

/* KVS-REQ-010 KVS-REQ-364 KVS-REQ-385: what was reported OK is there, what was not is not, and the engine
 * goes on */
static void test_full(void **state)
{
    (void)state;
    const char *folder = fresh_folder();
    kvs_engine *engine = open_at(folder, "&map_size=1MiB&map_limit=1MiB");
    static char value[4000], back[4000];
    struct kvs_error err;
    char key[32];
    int n = 0, status;
    for (;; n++) {
        memset(value, 'a' + n % 26, sizeof(value));
        number(key, sizeof(key), n);
        status = kvs_put(engine, key, strlen(key), value, sizeof(value), &err);
        if (status != KVS_OK)
            break;
        assert_true(n < 300);
    }
    assert_int_equal(status, KVS_FULL);
    assert_non_null(strstr(err.text, "map_limit"));
    assert_true(n > 100);
    assert_int_equal(kvs_query(engine, key, strlen(key), NULL, NULL), KVS_NOT_FOUND);
    for (int i = 0; i < n; i++) {
        number(key, sizeof(key), i);
        assert_int_equal(get_text(engine, key, back, sizeof(back)), KVS_OK);
        memset(value, 'a' + i % 26, sizeof(value));
        assert_memory_equal(back, value, sizeof(back));
    }
    /* LMDB frees pages one transaction later. */
    for (int i = 0; i < 20; i++) {
        number(key, sizeof(key), i);
        assert_int_equal(kvs_remove(engine, key, strlen(key), NULL), KVS_OK);
    }
    assert_int_equal(put_text(engine, "again", value, sizeof(value)), KVS_OK);
    close_engine(engine);
    engine = open_at(folder, "&map_size=1MiB&map_limit=2MiB");
    for (int i = 0; i < n; i++) {
        number(key, sizeof(key), 1000 + i);
        assert_int_equal(put_text(engine, key, value, 1000), KVS_OK);
    }
    close_engine(engine);
}

#define FIXED 300000

struct reader {
    kvs_engine *engine;
    atomic_int stop, reads;
};

static void *read_on(void *arg)
{
    struct reader *reader = arg;
    char *back = malloc(FIXED), *fixed = malloc(FIXED);
    memset(fixed, 'f', FIXED);
    while (!atomic_load(&reader->stop)) {
        if (get_text(reader->engine, "fixed", back, FIXED) != KVS_OK || memcmp(back, fixed, FIXED) != 0)
            abort();
        atomic_fetch_add(&reader->reads, 1);
    }
    free(back);
    free(fixed);
    return NULL;
}

static void *write_many(void *arg)
{
    struct reader *reader = arg;
    static char value[50000];
    char key[40];
    for (int i = 0; i < 40; i++) {
        snprintf(key, sizeof(key), "%p-%d", (void *)&key, i);
        if (put_text(reader->engine, key, value, sizeof(value)) != KVS_OK)
            abort();
    }
    return NULL;
}

/* The map moves many times beside readers and writers; each sees only what it should. */
static void test_grow(void **state)
{
    (void)state;
    char folder[600], more[64];
    snprintf(folder, sizeof(folder), "%s", fresh_folder());
    struct reader reader = {.engine = open_at(folder, "&map_size=64KiB&threads=6")};
    char *fixed = malloc(FIXED);
    memset(fixed, 'f', FIXED);
    assert_int_equal(put_text(reader.engine, "fixed", fixed, FIXED), KVS_OK);
    free(fixed);
    pthread_t readers[2], writers[3];
    for (size_t i = 0; i < 2; i++)
        pthread_create(&readers[i], NULL, read_on, &reader);
    for (size_t i = 0; i < 3; i++)
        pthread_create(&writers[i], NULL, write_many, &reader);
    for (size_t i = 0; i < 3; i++)
        pthread_join(writers[i], NULL);
    /* An engine that wants a larger map moves it, too. */
    for (int i = 0; i < 100; i++) {
        int seen = atomic_load(&reader.reads);
        snprintf(more, sizeof(more), "&map_size=%dMiB", 20 + i);
        close_engine(open_at(folder, more));
        while (atomic_load(&reader.reads) == seen)
            usleep(10);
    }
    atomic_store(&reader.stop, 1);
    for (size_t i = 0; i < 2; i++)
        pthread_join(readers[i], NULL);
    close_engine(reader.engine);
}

/* One value that is far larger than the map. */
static void test_grow_for_one(void **state)
{
    (void)state;
    kvs_engine *engine = open_at(fresh_folder(), "&map_size=64KiB&map_limit=40MiB");
    char *value = calloc(1, 30u << 20);
    struct kvs_error err;
    assert_int_equal(put_text(engine, "k", value, 30u << 20), KVS_OK);
    assert_int_equal(kvs_put(engine, "l", 1, value, 30u << 20, &err), KVS_FULL);
    assert_int_equal(kvs_query(engine, "l", 1, NULL, NULL), KVS_NOT_FOUND);
    assert_int_equal(kvs_query(engine, "k", 1, NULL, NULL), KVS_OK);
    free(value);
    close_engine(engine);
}

/* KVS-REQ-362: another process makes the file larger than our map; the next read and the next write notice */
static void test_grown_elsewhere(void **state)
{
    (void)state;
    for (int write_first = 0; write_first < 2; write_first++) {
        const char *folder = fresh_folder();
        kvs_engine *engine = open_at(folder, "&map_size=64KiB");
        char *back = malloc(4u << 20);
        assert_int_equal(put_text(engine, "mine", "m", 1), KVS_OK);
        assert_int_equal(run_self("write-4MiB", folder), 0);
        if (write_first)
            assert_int_equal(put_text(engine, "mine", "n", 1), KVS_OK);
        assert_int_equal(get_text(engine, "theirs", back, 4u << 20), KVS_OK);
        for (size_t i = 0; i < 4u << 20; i += 4096)
            assert_int_equal(back[i], 't');
        assert_int_equal(get_text(engine, "mine", back, 1), KVS_OK);
        assert_int_equal(back[0], write_first ? 'n' : 'm');
        free(back);
        close_engine(engine);
    }
}

/* KVS-REQ-362: opening beside a process that makes the file larger all the time */
static void test_open_while_it_grows(void **state)
{
    (void)state;
    char folder[600];
    int wstatus;
    pid_t writer;
    snprintf(folder, sizeof(folder), "%s", fresh_folder());
    close_engine(open_at(folder, "&map_size=64KiB"));
    char program[4096], what[] = "write-1000";
    snprintf(program, sizeof(program), "%s", self);
    char *const argv[] = {program, what, folder, NULL};
    assert_int_equal(posix_spawn(&writer, program, NULL, NULL, argv, environ), 0);
    do {
        close_engine(open_at(folder, "&map_size=64KiB"));
    } while (waitpid(writer, &wstatus, WNOHANG) == 0);
    assert_true(WIFEXITED(wstatus));
    assert_int_equal(WEXITSTATUS(wstatus), 0);
}

static int write_1000(const char *folder)
{
    static const char value[20000];
    char key[16];
    int status = KVS_OK;
    kvs_engine *engine = open_at(folder, "&map_size=64KiB");
    for (int i = 0; i < 1000 && status == KVS_OK; i++) {
        snprintf(key, sizeof(key), "%d", i);
        status = put_text(engine, key, value, sizeof(value));
    }
    close_engine(engine);
    return status == KVS_OK ? 0 : 1;
}

static int write_4mib(const char *folder)
{
    kvs_engine *engine = open_at(folder, "&map_size=64KiB");
    char *value = malloc(4u << 20);
    memset(value, 't', 4u << 20);
    int status = put_text(engine, "theirs", value, 4u << 20);
    free(value);
    close_engine(engine);
    return status == KVS_OK ? 0 : 1;
}

int main(int argc, char **argv)
{
    self = argv[0];
    if (argc == 3 && strcmp(argv[1], "write-4MiB") == 0)
        return write_4mib(argv[2]);
    if (argc == 3 && strcmp(argv[1], "write-1000") == 0)
        return write_1000(argv[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_grow),
        cmocka_unit_test(test_grow_for_one),
        cmocka_unit_test(test_grown_elsewhere),
        cmocka_unit_test(test_open_while_it_grows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
