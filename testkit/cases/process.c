/* SPDX-License-Identifier: Apache-2.0 */
/* Two processes and one store. */
#include "case.h"

#define VALUES 24
#define KILLED 200

static struct kit_key key_of(struct kit *k, size_t i)
{
    return kit_key(k, "p%zu", i);
}

static struct kit_buf value_of(struct kit *k, size_t i)
{
    return kit_value(k, kit_value_size(k, i == 0 ? 0 : 37 * i * i), i);
}

static void visible_helper(struct kit *k, const char *role)
{
    kvs_engine *e = kit_open(k);
    size_t first = role[0] == 'r' ? VALUES : 0;
    for (size_t i = first; i < first + VALUES; i++) {
        struct kit_buf v = value_of(k, i);
        if (role[0] == 'r')
            kit_expect(k, e, key_of(k, i), v.data, v.len);
        else
            kit_put(k, e, key_of(k, i), v.data, v.len);
    }
}

static void process_visible(struct kit *k)
{
    struct kit_process p;
    kvs_engine *e = kit_open(k);
    for (size_t i = 0; i < 2 * VALUES; i++)
        key_of(k, i);
    kit_process_start(k, &p, "write");
    kit_process_end(k, &p, false);
    for (size_t i = 0; i < VALUES; i++) {
        struct kit_buf v = value_of(k, i);
        kit_expect(k, e, key_of(k, i), v.data, v.len);
        v = value_of(k, VALUES + i);
        kit_put(k, e, key_of(k, VALUES + i), v.data, v.len);
    }
    kit_process_start(k, &p, "read");
    kit_process_end(k, &p, false);
}

#define ROUNDS 30

static struct kit_buf contended(struct kit *k, size_t writer)
{
    return kit_value(k, kit_value_size(k, 60000), 1000 + writer);
}

static void together_helper(struct kit *k, const char *role)
{
    kvs_engine *e = kit_open(k);
    size_t writer = (size_t)(role[0] - '0');
    struct kit_key shared = kit_key(k, "contended");
    struct kit_buf v = contended(k, writer);
    for (size_t i = 0; i < ROUNDS; i++) {
        kit_put(k, e, shared, v.data, v.len);
        struct kit_buf own = value_of(k, i);
        kit_put(k, e, kit_key(k, "w%zu.%zu", writer, i), own.data, own.len);
    }
}

static bool one_of_both(struct kit *k, const struct kit_buf *to)
{
    for (size_t writer = 0; writer < 2; writer++)
        if (memcmp(to->data, contended(k, writer).data, to->len) == 0)
            return true;
    return false;
}

static void process_together(struct kit *k)
{
    struct kit_process p[2];
    kvs_engine *e = kit_open(k);
    struct kit_key shared = kit_key(k, "contended");
    struct kit_buf v = contended(k, 0), to = kit_buf(k, v.len, KIT_AT_END);
    kit_put(k, e, shared, v.data, v.len);
    for (size_t i = 0; i < ROUNDS; i++)
        for (size_t writer = 0; writer < 2; writer++)
            kit_key(k, "w%zu.%zu", writer, i);
    kit_process_start(k, &p[0], "0");
    kit_process_start(k, &p[1], "1");
    for (size_t i = 0; i < ROUNDS; i++) {
        KIT_STATUS(kit_read(k, e, shared, &to), KVS_OK);
        KIT_CHECK(one_of_both(k, &to), "a READ beside WRITEs of other processes gave a mix of values");
    }
    kit_process_end(k, &p[0], false);
    kit_process_end(k, &p[1], false);
    KIT_STATUS(kit_read(k, e, shared, &to), KVS_OK);
    KIT_CHECK(one_of_both(k, &to), "the value is none of those that were written: it is a mix");
    for (size_t i = 0; i < ROUNDS; i++) {
        struct kit_buf own = value_of(k, i);
        for (size_t writer = 0; writer < 2; writer++)
            kit_expect(k, e, kit_key(k, "w%zu.%zu", writer, i), own.data, own.len);
    }
}

/* Says each value once its write has completed, until it is killed. */
static void crash_helper(struct kit *k, const char *role)
{
    kvs_engine *e = kit_open(k);
    (void)role;
    for (size_t i = 0; i < KILLED; i++) {
        struct kit_buf v = kit_value(k, kit_value_size(k, 3000), i);
        kit_put(k, e, kit_key(k, "c%zu", i), v.data, v.len);
        kit_process_say(i);
    }
    for (;;) /* all are written and none is lost by an engine that was closed */
        kvs_engine_progress(e);
}

static void process_crash(struct kit *k)
{
    struct kit_process p;
    int64_t said = -1, next;
    for (size_t i = 0; i < KILLED; i++)
        kit_key(k, "c%zu", i);
    kit_process_start(k, &p, "crash");
    for (int i = 0; i < KILLED / 2 && (next = kit_process_hear(k, &p)) >= 0; i++)
        said = next;
    KIT_EQ(said, KILLED / 2 - 1);
    kit_process_kill(&p);
    while ((next = kit_process_hear(k, &p)) >= 0) /* what it said before it died */
        said = next;
    kit_process_end(k, &p, true);
    kvs_engine *e = kit_open(k);
    for (size_t i = 0; i < KILLED; i++) {
        size_t len = kit_value_size(k, 3000);
        struct kit_buf v = kit_value(k, len, i), to = kit_buf(k, len, KIT_AT_END);
        int rc = kit_read(k, e, kit_key(k, "c%zu", i), &to);
        if ((int64_t)i <= said)
            KIT_STATUS(rc, KVS_OK);
        KIT_CHECK(rc == KVS_OK || rc == KVS_NOT_FOUND, "READ after a crash is %s", kvs_status_name(rc));
        if (rc == KVS_OK)
            KIT_BYTES(to.data, v.data, len);
    }
}

static const struct kit_case cases[] = {
    {.id = "process.visible",
     .title = "What one process has written another one reads",
     .explain = "A second process writes values, which this one reads, also through an engine that was open "
                "before; then the other way round. A failure means that the capability shared is claimed and "
                "not kept.",
     .requirements = "KVS-REQ-362",
     .needs = KVS_CAP_SHARED,
     .profile = KVS_CONFORM_EXTENDED,
     .tags = "concurrency",
     .timeout_s = 40,
     .fn = process_visible,
     .helper = visible_helper},
    {.id = "process.together",
     .title = "Two processes write one key while a third reads it",
     .explain = "Two further processes write values of 60 kB to one key, and others to keys of their own, "
                "while this one reads: each READ, and the value at the end, is one of those that were "
                "written, whole, and nothing of the rest is lost.",
     .requirements = "KVS-REQ-362 KVS-REQ-365 KVS-REQ-366",
     .needs = KVS_CAP_SHARED | KVS_CAP_OVERWRITE,
     .profile = KVS_CONFORM_EXTENDED,
     .tags = "concurrency",
     .timeout_s = 60,
     .fn = process_together,
     .helper = together_helper},
    {.id = "process.crash",
     .title = "Completed writes survive a process that is killed",
     .explain = "A second process writes values one by one and says each as soon as it has completed; half "
                "way it is killed with SIGKILL. Every value that it said is there, whole, and of the others "
                "none is there in part. A failure means that the capability durable does not hold for a "
                "crash of the process; a loss of power is another thing, which no case can try.",
     .requirements = "KVS-REQ-388 KVS-REQ-364",
     .needs = KVS_CAP_DURABLE,
     .profile = KVS_CONFORM_EXTENDED,
     .tags = "durability process_crash",
     .timeout_s = 60,
     .fn = process_crash,
     .helper = crash_helper},
};
KIT_TOPIC(topic_process, cases);
