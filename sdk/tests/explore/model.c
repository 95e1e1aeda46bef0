/* SPDX-License-Identifier: Apache-2.0 */
/* Scripts, and the rules that are looked at while they run and afterwards. */
#include "model.h"
#include "arena.h"
#include "engine.h"
#include "rules.h"
#include "scheduler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct model model;

static unsigned number(const struct model_xfer *m)
{
    return (unsigned)(m - model.at);
}

/* ---- Words ---- */

static void do_post(struct model_xfer *m)
{
    m->accepted++; /* its done function may run inside */
    m->posts++;
    m->poster = explore_self();
    uint64_t before = m->posted_at;
    m->posted_at = explore_now();
    explore_note(m);
    int rc = kvs_xfer_post(m->x);
    if (m->unbacked) { /* KVS-REQ-297 */
        if (rc != KVS_NOT_ALLOWED && rc != KVS_BUSY)
            explore_fail("post of transfer %u, whose memory has gone, answers %s", number(m),
                         kvs_status_name(rc));
        m->accepted--;
        m->posted_at = before;
        return;
    }
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
    rules_result(m, rc, false);
}

static void do_wait(struct model_xfer *m)
{
    model.waits[explore_self()] = m;
    int rc = kvs_xfer_wait(m->x, KVS_FOREVER);
    model.waits[explore_self()] = NULL;
    if (rc == KVS_IN_PROG)
        explore_fail("a wait without limit came back before transfer %u had ended", number(m));
    if (rc != KVS_NOT_POSTED || m->accepted)
        rules_result(m, rc, false);
}

static bool do_look(struct model_xfer *m)
{
    int rc = kvs_xfer_check(m->x);
    if (rc == KVS_IN_PROG)
        return false;
    if (rc != KVS_NOT_POSTED || m->accepted)
        rules_result(m, rc, false);
    return true;
}

static void free_memory(struct model_xfer *m)
{
    char *mem = m->mem;
    m->mem = NULL;
    free(mem);
}

static void give_back(struct model_xfer *m)
{
    rules_given_back(m);
    if (!m->reg)
        free_memory(m);
}

static bool do_try(struct model_xfer *m)
{
    int rc = kvs_xfer_release(m->x, 0);
    if (rc == KVS_OK)
        give_back(m);
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

/* A registration is counted from prep to release: KVS-REQ-080 and its like. */
static void do_deregister(struct model_xfer *m)
{
    if (!m->reg)
        return;
    bool gone = m->gone && !model.s->done && !m->abandoned; /* else by whom, and when, is not known here */
    bool bounce = model.s->params && strstr(model.s->params, "bounce=yes");
    gone = gone || (bounce && m->abandoned); /* KVS-REQ-296 */
    int rc = kvs_mem_deregister(model.e, m->reg, NULL);
    if (rc == KVS_OK) {
        if (m->owned && !bounce)
            explore_fail("the memory of transfer %u was deregistered, but the store has ios of it",
                         number(m));
        m->reg = NULL;
        m->unbacked = !m->gone;
        free_memory(m);
    } else if (rc != KVS_BUSY || gone) {
        explore_fail("deregistering the memory of transfer %u answers %s", number(m), kvs_status_name(rc));
    }
}

static void do_any(void)
{
    kvs_xfer *all[MODEL_XFERS] = {NULL};
    size_t at = MODEL_XFERS;
    bool some = false;
    for (unsigned i = 0; i < model_xfers(model.s); i++)
        if (!model.at[i].gone && model.at[i].posts > 0 && model.at[i].poster == explore_self()) {
            all[i] = model.at[i].x;
            some = true;
        }
    if (!some)
        return;
    int rc = kvs_xfer_wait_any(all, MODEL_XFERS, KVS_FOREVER, &at);
    if (rc != KVS_OK || at >= MODEL_XFERS || !all[at])
        explore_fail("a wait for any answers %s, place %zu", kvs_status_name(rc), at);
    rc = kvs_xfer_check(all[at]);
    if (rc == KVS_IN_PROG)
        explore_fail("a wait for any came back for transfer %zu, which has not ended", at);
    rules_result(&model.at[at], rc, false);
}

static bool all_given(void)
{
    bool all = true;
    for (unsigned i = 0; i < model_xfers(model.s); i++)
        all = all && (model.at[i].gone || model.at[i].reaped == model.at[i].accepted);
    return all;
}

/* KVS-REQ-322 */
static void do_reap(void)
{
    do {
        kvs_xfer *got[MODEL_XFERS];
        size_t n = 0;
        model.reaping[explore_self()] = true;
        int rc = kvs_engine_reap(model.e, got, MODEL_XFERS, KVS_FOREVER, &n);
        model.reaping[explore_self()] = false;
        if (rc != KVS_OK || n == 0 || n > MODEL_XFERS)
            explore_fail("reap without limit answers %s, and gives %zu", kvs_status_name(rc), n);
        for (size_t i = 0; i < n; i++) {
            struct model_xfer *m = model.at;
            while (m < model.at + MODEL_XFERS && m->x != got[i])
                m++;
            if (m == model.at + MODEL_XFERS || m->gone)
                explore_fail("reap gives a transfer that is none, or is gone");
            explore_note(m);
            if (++m->reaped > m->accepted)
                explore_fail("transfer %u was given %u times after %u posts", number(m), m->reaped,
                             m->accepted);
            do_look(m);
        }
    } while (!all_given());
}

static bool is_readable(uint64_t ns)
{
    struct pollfd p = {.fd = model.fd, .events = POLLIN};
    return kvs_fds_wait(&p, 1, ns) == 1;
}

static void do_loop(struct model_xfer *m)
{
    while (!kvs_xfer_ended(kvs_a64_load(&m->x->word))) {
        is_readable(EXPLORE_NEVER);
        kvs_engine_progress(model.e);
    }
    do_look(m);
}

/* KVS-REQ-333 */
static void do_quiet(void)
{
    for (int i = 0; is_readable(0); i++) {
        if (i == 20)
            explore_fail("the engine's descriptor stays readable, but there is nothing to do");
        kvs_engine_progress(model.e);
    }
}

static int on_held(void *arg, const struct kvs_held *memory)
{
    (void)arg;
    explore_touch(memory, sizeof *memory);
    return 0;
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

/* KVS-REQ-601 */
static void do_count(struct model_xfer *m)
{
    struct kvs_stats stats = {.size = sizeof stats};
    uint64_t late = 0;
    for (unsigned i = 0; i < model_ios(model.s); i++) {
        int status = 99;
        kvs_xfer_result(m->x, i, &status, NULL, NULL);
        late += status == KVS_TIMEOUT;
    }
    kvs_engine_stats(model.e, &stats);
    uint64_t counted = stats.io_errors[KVS_STATUS_SLOT(KVS_TIMEOUT)];
    if (counted != late)
        explore_fail("%u ios of transfer %u are TIMEOUT, but %u are counted", (unsigned)late, number(m),
                     (unsigned)counted);
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

static bool has_begun(void *arg)
{
    const struct model_xfer *m = arg;
    return m->started > 0;
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
    if (IS("begun"))
        explore_wait("its done function", has_begun, m);
    if (IS("dereg"))
        do_deregister(m);
    if (m->gone || IS("given") || IS("begun") || IS("dereg"))
        return;
    if (IS("post"))
        do_post(m);
    else if (IS("free"))
        free_memory(m);
    else if (IS("wait"))
        do_wait(m);
    else if (IS("look"))
        do_look(m);
    else if (IS("loop"))
        do_loop(m);
    else if (IS("count"))
        do_count(m);
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
    } else if (IS("any")) {
        do_any();
    } else if (IS("reap")) {
        do_reap();
    } else if (IS("fd")) {
        if (kvs_engine_fd(model.e, &model.fd) != KVS_OK)
            explore_fail("there is no descriptor of the engine");
    } else if (IS("quiet")) {
        do_quiet();
    } else if (IS("held")) {
        kvs_engine_held(model.e, on_held, NULL);
    } else if (IS("stats")) {
        struct kvs_stats stats = {.size = sizeof stats};
        kvs_engine_stats(model.e, &stats);
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
    struct kvs_error err = {0, ""};
    struct kvs_desc whole = {
        .addr = (uint64_t)(uintptr_t)m->mem, .len = MODEL_IOS * MODEL_LEN, .dev_id = number(m)};
    if (model.s->registered && kvs_mem_register(model.e, KVS_MEM_DRAM, &whole, &m->reg, &err) != KVS_OK)
        explore_fail("register: %s", err.text);
    for (unsigned i = 0; i < model_ios(model.s); i++) {
        snprintf(names[i], sizeof names[i], "%c%c", '0' + (int)number(m), '0' + (int)i);
        keys[i] = (struct kvs_key){names[i], 2};
        descs[i] = (struct kvs_desc){
            .mem = m->reg, .addr = (uint64_t)(uintptr_t)m->mem + i * MODEL_LEN, .len = MODEL_LEN};
    }
    struct kvs_dlist local = {descs, model_ios(model.s), 0, KVS_MEM_DRAM};
    struct kvs_xfer_req req = {.size = sizeof req,
                               .op = KVS_READ,
                               .flags = model.s->reaps ? KVS_XFER_REAP : 0,
                               .local = &local,
                               .keys = keys,
                               .nkeys = model_ios(model.s),
                               .done = model.s->done ? rules_done : NULL,
                               .arg = m};
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

static void free_rest(void)
{
    for (unsigned i = 0; i < model_xfers(model.s); i++)
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
    model.s = s;
    model.fd = -1;
    store_begin(s);
    open_engine();
    kvs_engine *any = model.e;
    uint64_t before = kvs_engine_violations(any);
    struct kvs_slab *slab = any->slab;
    for (unsigned i = 0; i < model_xfers(s); i++)
        prepare(&model.at[i]);
    store_start();
    for (model.callers = 1; model.callers < 3 && s->script[model.callers]; model.callers++)
        threads[model.callers] =
            explore_start(perform, (void *)(uintptr_t)s->script[model.callers], names[model.callers]);
    perform((void *)(uintptr_t)s->script[0]);
    for (unsigned i = 1; i < model.callers; i++)
        explore_join(threads[i]);
    model.let_go = true;
    for (unsigned i = 0; i < model_xfers(s); i++)
        while (!model.at[i].gone && !do_try(&model.at[i]))
            explore_spin();
    if (model.e)
        do_close(KVS_FOREVER);
    store_end(!model.dropped);
    rules_end(kvs_slab_violations(slab) - before);
    free_rest();
    if (model.dropped)
        explore_leave_threads();
}

void model_run(void *scenario)
{
    explore_idle = rules_idle;
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
