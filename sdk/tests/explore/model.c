/* SPDX-License-Identifier: Apache-2.0 */
/* Scripts, and the rules that are looked at while they run and afterwards. */
#include "model.h"
#include "arena.h"
#include "engine.h"
#include "scheduler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct model model;

static unsigned ios(void)
{
    return model.s->ios ? model.s->ios : 1;
}

static unsigned xfers(void)
{
    return model.s->xfers ? model.s->xfers : 1;
}

static unsigned number(const struct model_xfer *m)
{
    return (unsigned)(m - model.at);
}

/* ---- Rules ---- */

static bool legal(int status)
{
    unsigned may = model.s->may;
    return status == KVS_OK || (status == KVS_CANCELED && (may & MAY_CANCEL)) ||
           (status == KVS_TIMEOUT && (may & MAY_TIMEOUT)) ||
           (status == model.s->refuses && (may & MAY_REFUSE));
}

/* A call has shown the transfer's end: KVS-REQ-200, nothing is open, and the result is one of its ios'. */
static void look_at_result(struct model_xfer *m, int rc, bool in_done)
{
    unsigned n = number(m);
    explore_note(m);
    if (!legal(rc))
        explore_fail("transfer %u ended with %s", n, kvs_status_name(rc));
    if (rc == KVS_TIMEOUT && explore_now() < m->posted_at + m->x->engine->timeout)
        explore_fail("transfer %u ended with TIMEOUT before its time was up", n);
    if (m->owned && rc != KVS_TIMEOUT)
        explore_fail("transfer %u shows %s, but the store has ios of it", n, kvs_status_name(rc));
    if (!in_done && model.s->done && m->returned != m->accepted)
        explore_fail("transfer %u shows its end after %u posts, with %u calls of its done function over", n,
                     m->accepted, m->returned);
    bool found = rc == KVS_OK || rc == KVS_TIMEOUT;
    for (unsigned i = 0; i < ios(); i++) {
        int status = 99;
        kvs_xfer_result(m->x, i, &status, NULL, NULL);
        found = found || status == rc;
        if (!legal(status))
            explore_fail("io %u of transfer %u ended with %s", i, n, kvs_status_name(status));
        if (rc == KVS_OK && status != KVS_OK)
            explore_fail("transfer %u is OK, but its io %u is %s", n, i, kvs_status_name(status));
    }
    if (!found)
        explore_fail("transfer %u has %s, but none of its ios", n, kvs_status_name(rc));
}

/* Nobody can run but by time passing: whoever waits for a transfer that has ended was not woken. */
static struct model_xfer *waits[EXPLORE_THREADS];

static void on_idle(void)
{
    for (int i = 0; i < EXPLORE_THREADS; i++)
        if (waits[i] && explore_asleep(i) && !waits[i]->gone && kvs_xfer_ended(waits[i]->x->word.v))
            explore_fail("transfer %u has ended, but whoever waits for it was not woken", number(waits[i]));
}

static void done(kvs_xfer *x, int status, void *arg)
{
    struct model_xfer *m = arg;
    explore_note(m);
    m->started++;
    if (m->abandoned)
        explore_fail("a done function of transfer %u starts after it was abandoned", number(m));
    if (m->started != m->returned + 1)
        explore_fail("two done functions of transfer %u run at once", number(m));
    if (m->x != x || kvs_xfer_check(x) != status)
        explore_fail("check inside a done function of transfer %u does not give its result", number(m));
    look_at_result(m, status, true);
    explore_point("in its done function", m, true);
    if (model.s->done == DONE_POSTS && m->reposts > 0) {
        m->reposts--;
        m->posts++;
        int rc = kvs_xfer_post(x);
        if (rc == KVS_IN_PROG) {
            m->accepted++;
            m->posted_at = explore_now(); /* or later */
        } else if (!(rc == KVS_BUSY && status == KVS_TIMEOUT) && !(rc == KVS_NOT_ALLOWED && model.closing))
            explore_fail("post in a done function answers %s", kvs_status_name(rc));
    }
    if (model.s->done == DONE_RELEASES) {
        int rc = kvs_xfer_release(x, 0);
        if (rc != KVS_OK && status != KVS_TIMEOUT)
            explore_fail("release in a done function answers %s", kvs_status_name(rc));
        m->gone = rc == KVS_OK;
    }
    if (model.s->done == DONE_ABANDONS) {
        kvs_xfer_abandon(x);
        m->gone = true;
    }
    m->returned++;
    explore_point("at the end of its done function", m, true);
}

/* ---- Words ---- */

static void do_post(struct model_xfer *m)
{
    m->accepted++; /* its done function may run inside */
    m->posts++;
    uint64_t before = m->posted_at;
    m->posted_at = explore_now();
    explore_note(m);
    int rc = kvs_xfer_post(m->x);
    if (rc == KVS_IN_PROG)
        return;
    if (model.s->done || rc == KVS_NOT_ALLOWED || rc == KVS_BUSY) {
        m->accepted--;
        m->posted_at = before;
        bool held = rc == KVS_BUSY && (model.s->may & MAY_TIMEOUT);
        bool refused = rc == model.s->refuses || (rc == KVS_NOT_ALLOWED && model.closing);
        if (!held && !(refused && (model.s->may & MAY_REFUSE)))
            explore_fail("post of transfer %u answers %s", number(m), kvs_status_name(rc));
        return;
    }
    if (rc == model.s->refuses && rc != KVS_OK) {
        m->accepted--;
        return;
    }
    look_at_result(m, rc, false);
}

static void do_wait(struct model_xfer *m)
{
    waits[explore_self()] = m;
    int rc = kvs_xfer_wait(m->x, KVS_FOREVER);
    waits[explore_self()] = NULL;
    if (rc == KVS_IN_PROG)
        explore_fail("a wait without limit came back before transfer %u had ended", number(m));
    if (rc != KVS_NOT_POSTED || m->accepted)
        look_at_result(m, rc, false);
}

static bool do_look(struct model_xfer *m)
{
    int rc = kvs_xfer_check(m->x);
    if (rc == KVS_IN_PROG)
        return false;
    if (rc != KVS_NOT_POSTED || m->accepted)
        look_at_result(m, rc, false);
    return true;
}

static void given_back(struct model_xfer *m)
{
    explore_note(m);
    if (m->owned)
        explore_fail("transfer %u was released, but the store has ios of it", number(m));
    if (m->returned != m->started || (model.s->done && m->returned != m->accepted))
        explore_fail("transfer %u was released after %u posts, with %u calls of its done function over",
                     number(m), m->accepted, m->returned);
    m->gone = true;
    free(m->mem);
    m->mem = NULL;
}

static bool do_try(struct model_xfer *m)
{
    int rc = kvs_xfer_release(m->x, 0);
    if (rc == KVS_OK)
        given_back(m);
    else if (rc != KVS_BUSY)
        explore_fail("release of transfer %u answers %s", number(m), kvs_status_name(rc));
    return rc == KVS_OK;
}

static void do_abandon(struct model_xfer *m)
{
    m->gone = true;
    kvs_xfer_abandon(m->x);
    m->abandoned = true;
    explore_note(m);
    if (m->returned != m->started)
        explore_fail("abandon of transfer %u has returned, but its done function has not", number(m));
}

static void do_close(uint64_t timeout)
{
    struct kvs_error err = {0, ""};
    model.closing = true;
    explore_note(&model);
    int rc = kvs_engine_close(model.e, timeout, &err);
    if (rc == KVS_OK)
        model.e = NULL;
    else if (rc != KVS_BUSY || timeout == KVS_FOREVER)
        explore_fail("close answers %s: %s", kvs_status_name(rc), err.text);
}

static bool is_gone(void *arg)
{
    const struct model_xfer *m = arg;
    return m->gone && m->returned == m->started;
}

static bool is_given(void *arg)
{
    const struct model_xfer *m = arg;
    return m->owned || store_taken() > 0;
}

static bool others_ended(void *arg)
{
    (void)arg;
    return model.ended == model.callers - 1;
}

static void on_xfer(const char *word, size_t len, struct model_xfer *m)
{
#define IS(w) (strlen(w) == len && memcmp(word, w, len) == 0)
    if (IS("gone"))
        explore_wait("its being given back", is_gone, m);
    if (IS("given"))
        explore_wait("the store's having it", is_given, m);
    if (m->gone || IS("given"))
        return;
    if (IS("post"))
        do_post(m);
    else if (IS("wait"))
        do_wait(m);
    else if (IS("look"))
        do_look(m);
    else if (IS("check"))
        while (!do_look(m))
            explore_spin();
    else if (IS("cancel"))
        kvs_xfer_cancel(m->x);
    else if (IS("try"))
        do_try(m);
    else if (IS("release"))
        while (!do_try(m))
            explore_spin();
    else if (IS("abandon"))
        do_abandon(m);
    else
        explore_fail("no such word: %s", word);
}

static void on_engine(const char *word, size_t len)
{
    if (IS("join")) {
        explore_wait("the other callers", others_ended, NULL);
    } else if (IS("letgo")) {
        model.let_go = true;
        explore_point("lets the store go on", &model, true);
    } else if (IS("nap")) {
        explore_nap(KVS_MS(2));
    } else if (IS("close")) {
        do_close(KVS_FOREVER);
    } else if (IS("shut")) {
        do_close(0);
    } else if (IS("drop")) {
        model.closing = true;
        model.dropped = true;
        kvs_engine_abandon(model.e);
        model.e = NULL;
    } else if (IS("progress")) {
        kvs_engine_progress(model.e);
    } else {
        explore_fail("no such word: %s", word);
    }
}

static void *perform(void *script)
{
    for (const char *word = script; *word;) {
        size_t len = strcspn(word, " ");
        unsigned n = (unsigned char)word[len - 1] - (unsigned)'0';
        if (n < MODEL_XFERS)
            on_xfer(word, len - 1, &model.at[n]);
        else
            on_engine(word, len);
        word += len + strspn(word + len, " ");
    }
    if (script != model.s->script[0])
        model.ended++;
    explore_note(&model);
    return NULL;
}

/* ---- Runs ---- */

static void prepare(struct model_xfer *m)
{
    char names[MODEL_IOS][3];
    struct kvs_key keys[MODEL_IOS];
    struct kvs_desc descs[MODEL_IOS];
    m->mem = malloc(MODEL_IOS * MODEL_LEN);
    m->reposts = model.s->reposts;
    for (unsigned i = 0; i < ios(); i++) {
        snprintf(names[i], sizeof names[i], "%c%c", '0' + (int)number(m), '0' + (int)i);
        keys[i] = (struct kvs_key){names[i], 2};
        descs[i] = (struct kvs_desc){.addr = (uint64_t)(uintptr_t)m->mem + i * MODEL_LEN, .len = MODEL_LEN};
    }
    struct kvs_dlist local = {descs, ios(), 0, KVS_MEM_DRAM};
    struct kvs_xfer_req req = {.size = sizeof req,
                               .op = KVS_READ,
                               .local = &local,
                               .keys = keys,
                               .nkeys = ios(),
                               .done = model.s->done ? done : NULL,
                               .arg = m};
    struct kvs_error err = {0, ""};
    if (kvs_xfer_prep(model.e, &req, &m->x, &err) != KVS_OK)
        explore_fail("prep: %s", err.text);
}

static void open_engine(void)
{
    char target[128];
    struct kvs_error err = {0, ""};
    snprintf(target, sizeof target, "%s:?%s", store_name(model.s->shape),
             model.s->params ? model.s->params : "timeout=0");
    if (kvs_engine_open(target, NULL, 0, &model.e, &err) != KVS_OK)
        explore_fail("open: %s", err.text);
}

/* Nothing is left, and each accepted post had its done call. */
static void look_at_all(uint64_t violations)
{
    for (unsigned i = 0; i < xfers(); i++) {
        struct model_xfer *m = &model.at[i];
        if (model.s->done && m->returned != m->accepted && !m->abandoned)
            explore_fail("transfer %u had %u posts, but %u calls of its done function", i, m->accepted,
                         m->returned);
        if (m->returned != m->started || m->returned > m->accepted)
            explore_fail("transfer %u had %u posts, and %u calls of its done function", i, m->accepted,
                         m->started);
        if (m->owned)
            explore_fail("the store has ios of transfer %u at the end", i);
    }
    uint64_t least = model.s->twice ? store_taken() : 0, most = least;
    if (model.s->may & MAY_TIMEOUT) /* the vendor's thread may take longer than the grace: cancel is native */
        for (unsigned i = 0; i < xfers(); i++)
            most += model.at[i].posts;
    if (violations < least || violations > most)
        explore_fail("%llu violations were counted, and not %llu to %llu", (unsigned long long)violations,
                     (unsigned long long)least, (unsigned long long)most);
}

static void free_rest(void)
{
    for (unsigned i = 0; i < xfers(); i++)
        free(model.at[i].mem);
    const char *where = NULL;
    size_t left = arena_live(&where);
    if (left && !model.dropped)
        explore_fail("%zu blocks of memory were not freed, the first from %s", left, where ? where : "?");
    where = arena_check_freed();
    if (where)
        explore_fail("freed memory was written (freed at %s)", where);
}

static void body(void *arg)
{
    static const char *const names[] = {"main", "second", "third"};
    const struct scenario *s = arg;
    int threads[3];
    memset(&model, 0, sizeof model);
    memset(waits, 0, sizeof waits);
    model.s = s;
    store_begin(s);
    open_engine();
    kvs_engine *any = model.e;
    uint64_t before = kvs_engine_violations(any);
    struct kvs_slab *slab = any->slab;
    for (unsigned i = 0; i < xfers(); i++)
        prepare(&model.at[i]);
    store_start();
    for (model.callers = 1; model.callers < 3 && s->script[model.callers]; model.callers++)
        threads[model.callers] =
            explore_start(perform, (void *)(uintptr_t)s->script[model.callers], names[model.callers]);
    perform((void *)(uintptr_t)s->script[0]);
    for (unsigned i = 1; i < model.callers; i++)
        explore_join(threads[i]);
    model.let_go = true;
    for (unsigned i = 0; i < xfers(); i++)
        while (!model.at[i].gone && !do_try(&model.at[i]))
            explore_spin();
    if (model.e)
        do_close(KVS_FOREVER);
    store_end(!model.dropped);
    look_at_all(kvs_slab_violations(slab) - before);
    free_rest();
    if (model.dropped)
        explore_leave_threads();
}

void model_run(void *scenario)
{
    explore_idle = on_idle;
    explore_sync_reset();
    if (!explore_run(body, scenario))
        explore_fail("the engine is closed, but threads of it have not ended");
}

void model_warm_up(void)
{
    store_register();
    for (int shape = 0; shape < SHAPES; shape++) {
        const struct scenario s = {.name = "warm up", .shape = (enum shape)shape};
        memset(&model, 0, sizeof model);
        model.s = &s;
        store_begin(&s);
        open_engine();
        prepare(&model.at[0]);
        kvs_xfer_release(model.at[0].x, 0);
        free(model.at[0].mem);
        do_close(KVS_FOREVER);
    }
}
