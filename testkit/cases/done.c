/* SPDX-License-Identifier: Apache-2.0 */
/* Done functions. */
#include "case.h"
#include <stdatomic.h>

struct state {
    struct kit_event ran;
    _Atomic int status;                     /* of the last run */
    _Atomic int check, wait, post, release; /* what the calls inside answered */
    _Atomic unsigned posts_left;
};

static void begin(struct state *s)
{
    memset(s, 0, sizeof(*s));
    kit_event_init(&s->ran);
}

static void note(kvs_xfer *x, int status, void *arg)
{
    struct state *s = arg;
    s->status = status;
    s->check = kvs_xfer_check(x);
    s->wait = kvs_xfer_wait(x, 0);
    kit_event_signal(&s->ran);
}

static kvs_xfer *write_with(struct kit *k, kvs_engine *e, const char *name, kvs_done_fn done, struct state *s)
{
    struct kit_buf v = kit_value(k, kit_value_size(k, 2000), 1);
    struct kit_item item = {kit_key(k, "%s", name), v.data, v.len};
    return kit_prep_at(KIT_HERE, k, e, KVS_WRITE, &item, 1, NULL, done, s);
}

static void done_once(struct kit *k)
{
    struct state s;
    kvs_engine *e = kit_open(k);
    begin(&s);
    kvs_xfer *x = write_with(k, e, "once", note, &s);
    KIT_STATUS(kvs_xfer_post(x), KVS_IN_PROG);
    KIT_STATUS(kit_wait(k, x), KVS_OK);
    KIT_EQ(kit_event_count(&s.ran), 1);
    KIT_STATUS(s.status, KVS_OK);
    KIT_STATUS(s.check, KVS_OK);
    KIT_STATUS(s.wait, KVS_NOT_ALLOWED);
    KIT_STATUS(kvs_xfer_check(x), KVS_OK);
    kit_release(x);
    kit_close(k, e);
    KIT_EQ(kit_event_count(&s.ran), 1);
    kit_event_destroy(&s.ran);
}

static void done_failure(struct kit *k)
{
    struct state s;
    kvs_engine *e = kit_open(k);
    struct kit_buf to = kit_buf(k, 16, KIT_AT_END);
    struct kit_item item = {kit_key(k, "absent"), to.data, to.len};
    begin(&s);
    kvs_xfer *x = kit_prep_at(KIT_HERE, k, e, KVS_READ, &item, 1, NULL, note, &s);
    KIT_STATUS(kvs_xfer_post(x), KVS_IN_PROG);
    KIT_STATUS(kit_wait(k, x), KVS_NOT_FOUND);
    KIT_EQ(kit_event_count(&s.ran), 1);
    KIT_STATUS(s.status, KVS_NOT_FOUND);
    kit_release(x);
    kit_close(k, e);
    kit_event_destroy(&s.ran);
}

static void post_again(kvs_xfer *x, int status, void *arg)
{
    struct state *s = arg;
    s->status = status;
    if (s->posts_left > 0) {
        s->posts_left--;
        s->post = kvs_xfer_post(x);
    }
    kit_event_signal(&s->ran);
}

#define POSTS 200

static void done_posts(struct kit *k)
{
    struct state s;
    kvs_engine *e = kit_open(k);
    struct kit_key key = kit_key(k, "ring");
    struct kit_buf v = kit_value(k, kit_value_size(k, 300), 1), to = kit_buf(k, v.len, KIT_AT_END);
    struct kit_item item = {key, to.data, to.len};
    kit_put(k, e, key, v.data, v.len);
    begin(&s);
    s.posts_left = POSTS - 1;
    kvs_xfer *x = kit_prep_at(KIT_HERE, k, e, KVS_READ, &item, 1, NULL, post_again, &s);
    KIT_STATUS(kvs_xfer_post(x), KVS_IN_PROG);
    kit_event_await(k, &s.ran, POSTS, e);
    KIT_STATUS(kit_wait(k, x), KVS_OK);
    KIT_EQ(kit_event_count(&s.ran), POSTS);
    KIT_STATUS(s.post, KVS_IN_PROG);
    KIT_STATUS(s.status, KVS_OK);
    KIT_BYTES(to.data, v.data, v.len);
    kit_release(x);
    kit_close(k, e);
    kit_event_destroy(&s.ran);
}

static void release_itself(kvs_xfer *x, int status, void *arg)
{
    struct state *s = arg;
    s->status = status;
    s->release = kvs_xfer_release(x, 0);
    kit_event_signal(&s->ran);
}

static void abandon_itself(kvs_xfer *x, int status, void *arg)
{
    struct state *s = arg;
    s->status = status;
    kvs_xfer_abandon(x);
    kit_event_signal(&s->ran);
}

static void done_releases(struct kit *k)
{
    struct state s;
    kvs_engine *e = kit_open(k);
    begin(&s);
    for (unsigned i = 0; i < 20; i++) {
        char name[16] = {'r', (char)('a' + i), '\0'};
        kvs_xfer *x = write_with(k, e, name, i % 2 ? release_itself : abandon_itself, &s);
        KIT_STATUS(kvs_xfer_post(x), KVS_IN_PROG);
        kit_event_await(k, &s.ran, i + 1, e);
        KIT_STATUS(s.status, KVS_OK);
        KIT_STATUS(s.release, KVS_OK);
    }
    kit_close(k, e);
    KIT_EQ(kit_event_count(&s.ran), 20);
    kit_event_destroy(&s.ran);
}

static const struct kit_case cases[] = {
    {.id = "done.once",
     .title = "A done function runs once, with the result",
     .explain = "Writes with a done function: post is IN_PROG, the function runs exactly once, check inside "
                "it is the result and wait inside it is NOT_ALLOWED.",
     .requirements = "KVS-REQ-111 KVS-REQ-200 KVS-REQ-210 KVS-REQ-214 KVS-REQ-150",
     .fn = done_once},
    {.id = "done.failure",
     .title = "A done function gets the failure",
     .explain = "Reads an absent key with a done function: it is given NOT_FOUND, and never OK.",
     .requirements = "KVS-REQ-200 KVS-REQ-006",
     .fn = done_failure},
    {.id = "done.posts",
     .title = "A done function may post its transfer again",
     .explain = "A READ posts itself 200 times from its done function. It must not nest, lose a round or "
                "run once too often.",
     .requirements = "KVS-REQ-208 KVS-REQ-211 KVS-REQ-200 KVS-REQ-173",
     .fn = done_posts},
    {.id = "done.releases",
     .title = "A done function may release or abandon its transfer",
     .explain = "Twenty writes release or abandon themselves in their done functions.",
     .requirements = "KVS-REQ-212 KVS-REQ-213 KVS-REQ-172",
     .fn = done_releases},
};
KIT_TOPIC(topic_done, cases);
