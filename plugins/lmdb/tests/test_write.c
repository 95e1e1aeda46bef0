/* SPDX-License-Identifier: Apache-2.0 */
/* lmdb: which writes share a transaction, what each io is told, and how the engine goes on after the disk
 * failed. */
#include "disk.h"
#include "util.h"

#include <errno.h>
#include <lmdb.h>
#include <semaphore.h>

#define MIB ((size_t)1 << 20)

static int set_up(void **state)
{
    (void)state;
    disk_mend();
    return 0;
}

/* With every write on the disk, which is what the tests count. */
static kvs_engine *open_synced(const char *folder, const char *more)
{
    char target[1200];
    kvs_engine *engine;
    struct kvs_error err;
    snprintf(target, sizeof(target), "lmdb:%s?%s", folder, more);
    if (kvs_engine_open(target, NULL, 0, &engine, &err) != KVS_OK)
        fail_msg("%s: %s", target, err.text);
    return engine;
}

static kvs_xfer *write_of(kvs_engine *engine, const char *key, char *bytes, size_t len)
{
    struct kvs_key keys = {key, strlen(key)};
    return prep_batch(engine, KVS_WRITE, &keys, 1, bytes, len, NULL, NULL);
}

static void end(kvs_xfer *xfer, int status)
{
    assert_int_equal(kvs_xfer_wait(xfer, WAIT), status);
    assert_int_equal(kvs_xfer_release(xfer, WAIT), KVS_OK);
}

/* A commit that stands at the disk, so that what is posted now queues behind it. */
static kvs_xfer *busy_disk(kvs_engine *engine)
{
    static char byte;
    kvs_xfer *xfer = write_of(engine, "first", &byte, 1);
    disk_mend();
    disk_stop();
    assert_int_equal(kvs_xfer_post(xfer), KVS_IN_PROG);
    disk_stopped();
    return xfer;
}

/* What several engines have posted while the disk was busy is one transaction; the first one waits for
 * nobody. */
static void test_shared(void **state)
{
    (void)state;
    enum { N = 8 };
    char folder[600], key[16], value[64] = "value", back[64];
    snprintf(folder, sizeof(folder), "%s", fresh_folder());
    kvs_engine *engines[N];
    kvs_xfer *xfers[N];
    for (int i = 0; i < N; i++)
        engines[i] = open_synced(folder, "");
    kvs_xfer *first = busy_disk(engines[0]);
    for (int i = 0; i < N; i++) {
        snprintf(key, sizeof(key), "k%d", i);
        xfers[i] = write_of(engines[i], key, value, sizeof(value));
        assert_int_equal(kvs_xfer_post(xfers[i]), KVS_IN_PROG);
    }
    assert_int_equal(kvs_xfer_check(first), KVS_IN_PROG);
    disk_go();
    end(first, KVS_OK);
    for (int i = 0; i < N; i++)
        end(xfers[i], KVS_OK);
    assert_int_equal(disk_flushes(), 2);
    for (int i = 0; i < N; i++) {
        snprintf(key, sizeof(key), "k%d", i);
        assert_int_equal(get_text(engines[(i + 1) % N], key, back, sizeof(back)), KVS_OK);
        assert_memory_equal(back, value, sizeof(back));
    }
    for (int i = 0; i < N; i++)
        close_engine(engines[i]);
}

/* KVS-REQ-364: one that has no room does not take the others with it */
static void test_tried_again_alone(void **state)
{
    (void)state;
    char folder[600], back[3];
    snprintf(folder, sizeof(folder), "%s", fresh_folder());
    kvs_engine *engine = open_synced(folder, "map_limit=1MiB"),
               *other = open_synced(folder, "map_limit=1MiB");
    char *large = calloc(2, MIB), small[3] = "ok";
    kvs_xfer *first = busy_disk(engine);
    kvs_xfer *before = write_of(engine, "before", small, 3),
             *wrong = write_of(other, "wrong", large, 2 * MIB), *after = write_of(engine, "after", small, 3);
    kvs_xfer_post(before);
    kvs_xfer_post(wrong);
    kvs_xfer_post(after);
    disk_go();
    end(first, KVS_OK);
    end(before, KVS_OK);
    assert_int_equal(kvs_xfer_wait(wrong, WAIT), KVS_FULL);
    const char *text;
    assert_int_equal(kvs_xfer_result(wrong, 0, NULL, NULL, &text), KVS_OK);
    assert_non_null(strstr(text, "map_limit"));
    assert_non_null(strstr(text, folder));
    assert_int_equal(kvs_xfer_release(wrong, WAIT), KVS_OK);
    end(after, KVS_OK);
    assert_int_equal(get_text(engine, "before", back, 3), KVS_OK);
    assert_int_equal(get_text(engine, "after", back, 3), KVS_OK);
    assert_int_equal(kvs_query(engine, "wrong", 5, NULL, NULL), KVS_NOT_FOUND);
    free(large);
    close_engine(other);
    close_engine(engine);
}

#define PARTS 5
#define PART  (3 * MIB)

static kvs_xfer *write_parts(kvs_engine *engine, char *space)
{
    static const char *const names[PARTS] = {"p0", "p1", "p2", "p3", "p4"};
    struct kvs_key keys[PARTS];
    for (size_t i = 0; i < PARTS; i++)
        keys[i] = (struct kvs_key){names[i], 2};
    return prep_batch(engine, KVS_WRITE, keys, PARTS, space, PART, NULL, NULL);
}

/* KVS-REQ-010 KVS-REQ-364 KVS-REQ-385: a large batch is several transactions, and each io is told about its
 * own: of those in the one that failed it is not known. The engine goes on. */
static void test_truth_of_each(void **state)
{
    (void)state;
    kvs_engine *engine = open_synced(fresh_folder(), "");
    char *space = calloc(PARTS, PART), *back = malloc(PART), key[4];
    kvs_xfer *xfer = write_parts(engine, space);
    disk_mend();
    kvs_xfer_post(xfer);
    assert_int_equal(kvs_xfer_wait(xfer, WAIT), KVS_OK);
    assert_int_equal(disk_flushes(), 3); /* of two, two and one: a value is never cut */
    memset(space, 'n', PARTS * PART);
    disk_mend();
    disk_fail_flush(2, EIO);
    kvs_xfer_post(xfer);
    assert_int_equal(kvs_xfer_wait(xfer, WAIT), KVS_IO);
    for (size_t i = 0; i < PARTS; i++) {
        const char *text;
        int status;
        bool failed = i == 2 || i == 3;
        assert_int_equal(kvs_xfer_result(xfer, i, &status, NULL, &text), KVS_OK);
        assert_int_equal(status, failed ? KVS_IO : KVS_OK);
        if (failed)
            assert_non_null(strstr(text, "may or may not be stored"));
        snprintf(key, sizeof(key), "p%zu", i);
        assert_int_equal(get_text(engine, key, back, PART), KVS_OK);
        if (!failed)
            assert_int_equal(back[0], 'n');
        for (size_t at = 0; at < PART; at += 4096)
            assert_int_equal(back[at], back[0]);
    }
    disk_mend();
    kvs_xfer_post(xfer);
    end(xfer, KVS_OK);
    free(space);
    free(back);
    close_engine(engine);
}

/* KVS-REQ-384 KVS-REQ-385: no room on the disk, in all that is written, and then room again */
static void test_disk_full(void **state)
{
    (void)state;
    static const int errors[] = {ENOSPC, EDQUOT, EFBIG};
    static char value[20000];
    const char *folder = fresh_folder();
    kvs_engine *engine = open_synced(folder, "");
    struct kvs_error err;
    assert_int_equal(put_text(engine, "old", "value", 5), KVS_OK);
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        char back[5];
        disk_fail_writes(errors[i], false);
        assert_int_equal(kvs_put(engine, "k", 1, value, sizeof(value), &err), KVS_FULL);
        assert_non_null(strstr(err.text, folder));
        assert_non_null(strstr(err.text, strerror(errors[i])));
        assert_int_equal(kvs_query(engine, "k", 1, NULL, NULL), KVS_NOT_FOUND);
        assert_int_equal(get_text(engine, "old", back, 5), KVS_OK);
        disk_mend();
        assert_int_equal(put_text(engine, "k", value, sizeof(value)), KVS_OK);
        assert_int_equal(kvs_remove(engine, "k", 1, NULL), KVS_OK);
    }
    close_engine(engine);
}

/* KVS-REQ-384: a write that found room for its beginning only, which LMDB takes for an input/output error */
static void test_disk_full_in_between(void **state)
{
    (void)state;
    static char value[20000];
    kvs_engine *engine = open_synced(fresh_folder(), "");
    struct kvs_error err;
    disk_short_writes();
    assert_int_equal(kvs_put(engine, "k", 1, value, sizeof(value), &err), KVS_FULL);
    assert_non_null(strstr(err.text, strerror(ENOSPC)));
    disk_mend();
    assert_int_equal(kvs_query(engine, "k", 1, NULL, NULL), KVS_NOT_FOUND);
    assert_int_equal(put_text(engine, "k", value, sizeof(value)), KVS_OK);
    close_engine(engine);
}

/* KVS-REQ-385: after what LMDB calls fatal the environment is opened again, and both of its databases with it
 */
static void test_opened_again(void **state)
{
    (void)state;
    char folder[600], moved[700], aside[700], back[3];
    snprintf(folder, sizeof(folder), "%s", fresh_folder());
    snprintf(moved, sizeof(moved), "%s-moved", folder);
    kvs_engine *engine = open_synced(folder, ""), *named = open_synced(folder, "database=other");
    struct kvs_error err;
    assert_int_equal(put_text(engine, "k", "one", 3), KVS_OK);
    assert_int_equal(put_text(named, "k", "two", 3), KVS_OK);
    for (int i = 0; i < 3; i++) {
        snprintf(aside, sizeof(aside), "%s-aside-%d", folder, i);
        disk_fail_writes(EIO, true);
        assert_int_equal(kvs_put(engine, "new", 3, "new", 3, &err), KVS_IO);
        assert_non_null(strstr(err.text, "may or may not be stored"));
        disk_mend();
        /* While it cannot be opened, that is said; what is there by then is another environment. */
        assert_int_equal(rename(folder, moved), 0);
        assert_int_equal(kvs_put(engine, "new", 3, "new", 3, &err), KVS_IO);
        assert_int_equal(kvs_get(named, "k", 1, back, 3, &err), KVS_IO);
        assert_non_null(strstr(err.text, folder));
        kvs_engine *stranger = open_synced(folder, "");
        assert_int_equal(kvs_put(engine, "new", 3, "new", 3, &err), KVS_IO);
        assert_int_equal(kvs_query(stranger, "new", 3, NULL, NULL), KVS_NOT_FOUND);
        close_engine(stranger);
        assert_int_equal(rename(folder, aside), 0);
        assert_int_equal(rename(moved, folder), 0);
        assert_int_equal(get_text(named, "k", back, 3), KVS_OK);
        assert_memory_equal(back, "two", 3);
        assert_int_equal(put_text(engine, "new", "new", 3), KVS_OK);
        assert_int_equal(get_text(engine, "k", back, 3), KVS_OK);
        assert_memory_equal(back, "one", 3);
    }
    close_engine(named);
    close_engine(engine);
}

/* Until a post has written by itself: the writer may still be about to lie down. */
static void write_inside_post(kvs_xfer *xfer)
{
    int rc, tries = 0;
    while ((rc = kvs_xfer_post(xfer)) == KVS_IN_PROG && tries++ < 100000)
        assert_int_equal(kvs_xfer_wait(xfer, WAIT), KVS_OK);
    assert_int_equal(rc, KVS_OK);
}

/* KVS-REQ-384 KVS-REQ-385: the same of what is written inside post; what goes wrong before it may be stored
 * is left to the writer, that knows better */
static void test_at_once(void **state)
{
    (void)state;
    static char value[60000];
    const char *folder = fresh_folder();
    kvs_engine *engine = open_at(folder, "&map_size=64KiB&map_limit=1MiB");
    struct kvs_error err;
    kvs_xfer *xfer = write_of(engine, "k", value, sizeof(value));
    for (int i = 0; i < 2; i++) {
        kvs_xfer_post(xfer); /* the first time the map has to grow */
        assert_int_equal(kvs_xfer_wait(xfer, WAIT), KVS_OK);
        write_inside_post(xfer);
        disk_fail_writes(EIO, true);
        kvs_xfer_post(xfer);
        assert_int_equal(kvs_xfer_wait(xfer, WAIT), KVS_IO);
        const char *text;
        assert_int_equal(kvs_xfer_result(xfer, 0, NULL, NULL, &text), KVS_OK);
        assert_non_null(strstr(text, "may or may not be stored"));
        disk_mend();
    }
    kvs_xfer_post(xfer);
    end(xfer, KVS_OK);
    int status = KVS_OK, n = 0;
    char key[16];
    while (status == KVS_OK && n < 100) {
        snprintf(key, sizeof(key), "n%d", n++);
        status = kvs_put(engine, key, strlen(key), value, sizeof(value), &err);
    }
    assert_int_equal(status, KVS_FULL);
    assert_non_null(strstr(err.text, folder));
    assert_int_equal(kvs_remove(engine, "k", 1, NULL), KVS_OK);
    assert_int_equal(kvs_remove(engine, "k", 1, NULL), KVS_NOT_FOUND);
    assert_int_equal(put_text(engine, "k", "v", 1), KVS_OK);
    close_engine(engine);
}

/* KVS-REQ-384: what waits behind a disk that hangs ends in its time, and is not written afterwards */
static void test_late(void **state)
{
    (void)state;
    char folder[600], value = 'v';
    snprintf(folder, sizeof(folder), "%s", fresh_folder());
    kvs_engine *engine = open_synced(folder, "timeout=0"),
               *hasty = open_synced(folder, "timeout=10ms&cancel_grace=10ms");
    kvs_xfer *first = busy_disk(engine), *late = write_of(hasty, "late", &value, 1);
    int rc = kvs_xfer_post(late); /* on a busy machine its time is up before post is back */
    assert_true(rc == KVS_IN_PROG || rc == KVS_TIMEOUT);
    assert_int_equal(kvs_xfer_wait(late, WAIT), KVS_TIMEOUT);
    assert_int_equal(kvs_xfer_release(late, 0), KVS_BUSY);
    disk_go();
    end(first, KVS_OK);
    assert_int_equal(put_text(engine, "behind", &value, 1), KVS_OK);
    assert_int_equal(kvs_xfer_release(late, 0), KVS_OK);
    assert_int_equal(kvs_query(engine, "late", 4, NULL, NULL), KVS_NOT_FOUND);
    close_engine(hasty);
    close_engine(engine);
}

static void wait_for_it(kvs_xfer *xfer, int status, void *arg)
{
    (void)xfer;
    (void)status;
    sem_wait(arg);
}

/* KVS-REQ-206: a done function that waits does not stand in the way of what other engines write */
static void test_done_waits(void **state)
{
    (void)state;
    char folder[600], value = 'v';
    sem_t written;
    sem_init(&written, 0, 0);
    snprintf(folder, sizeof(folder), "%s", fresh_folder());
    kvs_engine *engine = open_synced(folder, ""), *other = open_synced(folder, "");
    kvs_xfer *first = busy_disk(engine);
    struct kvs_key key = {"k", 1};
    kvs_xfer *xfer = prep_batch(engine, KVS_WRITE, &key, 1, &value, 1, wait_for_it, &written);
    assert_int_equal(kvs_xfer_post(xfer),
                     KVS_IN_PROG); /* it ends later, so that done does not run inside post */
    disk_go();
    end(first, KVS_OK);
    assert_int_equal(put_text(other, "other", &value, 1), KVS_OK);
    sem_post(&written);
    assert_int_equal(kvs_xfer_release(xfer, WAIT), KVS_OK);
    close_engine(other);
    close_engine(engine);
    sem_destroy(&written);
}

/* KVS-REQ-388: a file that was just made is found again after a crash: its folder, and the one above, are
 * flushed, too */
static void test_made_durable(void **state)
{
    (void)state;
    char folder[600];
    snprintf(folder, sizeof(folder), "%s/made", fresh_folder());
    close_engine(open_synced(folder, ""));
    assert_int_equal(disk_folders(), 2);
    close_engine(open_synced(folder, "")); /* it was there */
    assert_int_equal(disk_folders(), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_shared, set_up),
        cmocka_unit_test_setup(test_tried_again_alone, set_up),
        cmocka_unit_test_setup(test_truth_of_each, set_up),
        cmocka_unit_test_setup(test_disk_full, set_up),
        cmocka_unit_test_setup(test_disk_full_in_between, set_up),
        cmocka_unit_test_setup(test_opened_again, set_up),
        cmocka_unit_test_setup(test_at_once, set_up),
        cmocka_unit_test_setup(test_late, set_up),
        cmocka_unit_test_setup(test_done_waits, set_up),
        cmocka_unit_test_setup(test_made_durable, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
