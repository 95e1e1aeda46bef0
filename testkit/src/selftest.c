/* SPDX-License-Identifier: Apache-2.0 */
/* The proof that cases can fail: each rogue against the case that must catch it. */
#include "defects.h"
#include "expect.h"
#include "run.h"
#include "say.h"
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define REFUSED 6 /* no outcome: the backend is not even loaded */

#define ROW(name, requirement, id, outcome, reason, multiplier, what)                                        \
    {"rogue", #name, requirement, id, KVS_CONFORM_##outcome, reason, multiplier, what},

static const struct rogue {
    const char *backend, *defect;
    const char *requirement; /* "": it has no defect, and the whole suite must find none */
    const char *id;
    uint32_t outcome;
    const char *reason; /* a part of it */
    double multiplier;
    const char *what;
} rogues[] = {
    {"rogue-minimal", "write_once", "", "", KVS_CONFORM_PASS, "", 1, "no defect: READ and WRITE once"},
    {"rogue-no-query", "none", "", "", KVS_CONFORM_PASS, "", 1, "no defect: no QUERY of its own"},
    {"rogue-small", "none", "", "", KVS_CONFORM_PASS, "", 1, "no defect: small limits"},
    {"rogue-real", "none", "KVS-REQ-435", EXPECT_CASE, KVS_CONFORM_FAIL,
     "emulated is expected to be yes and is no", 1, "is in memory, and does not set EMULATED"},
    {"rogue-no-shape", "none", "KVS-REQ-406", "", REFUSED, "has neither the functions put and get nor submit",
     1, "has no function that reads or writes"},
    HONEST_BLOCKING(ROW) HONEST_ASYNC(ROW) HONEST_THREAD(ROW) HONEST_POLL(ROW) DEFECTS_BLOCKING(ROW)
        DEFECTS_LEAKS(ROW) DEFECTS_ASYNC(ROW) DEFECTS_THREAD(ROW) DEFECTS_POLL(ROW)};
#define ROGUES (sizeof(rogues) / sizeof(rogues[0]))

/* How it is called in filters and in the table. */
static const char *name_of(const struct rogue *r)
{
    return strcmp(r->backend, "rogue") == 0 ? r->defect : r->backend;
}

/* What came of one. */
struct result {
    bool wanted, done, caught;
    char text[600]; /* outcome, or what is wrong */
};

struct selftest {
    const struct kvs_conform_config *cfg;
    char folder[PATH_MAX]; /* of the files that stand for stores */
    _Atomic size_t next;
    pthread_mutex_t lock; /* guards those below */
    struct result results[ROGUES];
    size_t printed;
};

/* The commands and parameters by which a case takes the rogue's store away: it is a file. */
struct store {
    char file[PATH_MAX + 32], expected[PATH_MAX + 64], start[PATH_MAX + 64], stop[PATH_MAX + 64],
        pause[PATH_MAX + 64];
    char target[128];
    struct kvs_param_value params[1], denied[1], unreachable[1], full[1];
    struct kvs_conform_variant variants[3];
};

static void write_file(const char *name, const char *text)
{
    FILE *f = fopen(name, "we");
    if (!f)
        return;
    fputs(text, f);
    fclose(f);
}

static void make_store(struct store *s, const struct selftest *t, size_t i)
{
    snprintf(s->file, sizeof(s->file), "%s/%zu", t->folder, i);
    snprintf(s->start, sizeof(s->start), ": >'%s'", s->file);
    snprintf(s->stop, sizeof(s->stop), "rm -f '%s'", s->file);
    snprintf(s->pause, sizeof(s->pause), "echo paused >'%s'", s->file);
    snprintf(s->target, sizeof(s->target), "%s:?defect=%s", rogues[i].backend, rogues[i].defect);
    s->params[0] = (struct kvs_param_value){"server", s->file};
    s->denied[0] = (struct kvs_param_value){"password", "wrong"};
    s->unreachable[0] = (struct kvs_param_value){"server", "/nonexistent/store"};
    s->full[0] = (struct kvs_param_value){"capacity", "1000KiB"};
    s->variants[0] = (struct kvs_conform_variant){"denied", s->denied, 1};
    s->variants[1] = (struct kvs_conform_variant){"unreachable", s->unreachable, 1};
    s->variants[2] = (struct kvs_conform_variant){"full", s->full, 1};
    snprintf(s->expected, sizeof(s->expected), "%s.expected", s->file);
    write_file(s->file, "");
    write_file(s->expected, "emulated yes\nlist native\n");
}

/* The one row that a rogue's run is about; or the first that a store without a defect did not pass. */
struct seen {
    uint32_t outcome;
    char reason[256], id[64];
    bool bad;
};

static void look_at(void *arg, const struct run_row *row)
{
    struct seen *s = arg;
    bool fine = row->outcome == KVS_CONFORM_PASS || row->outcome == KVS_CONFORM_NOT_SUPPORTED;
    if (s->bad)
        return;
    s->bad = !fine;
    s->outcome = row->outcome;
    snprintf(s->id, sizeof(s->id), "%s", row->row->id);
    snprintf(s->reason, sizeof(s->reason), "%s", row->reason ? row->reason : "");
}

static void judge_one(struct result *r, const struct rogue *rogue, int rc, const struct seen *s,
                      const struct kvs_error *err)
{
    const char *name = kvs_conform_outcome_name(s->outcome);
    bool ran = rc == KVS_OK || rc == KVS_MISMATCH;
    if (rogue->outcome == REFUSED && !ran) {
        r->caught = strstr(err->text, rogue->reason) != NULL;
        snprintf(r->text, sizeof(r->text), r->caught ? "%s" : "%s, but for another reason: %s", "refused",
                 err->text);
        return;
    }
    if (!ran)
        snprintf(r->text, sizeof(r->text), "did not run: %s", err->text);
    else if (rogue->requirement[0] == '\0')
        snprintf(r->text, sizeof(r->text), s->bad ? "%s: %s: %s" : "%s", s->bad ? name : "passes", s->id,
                 s->reason);
    else
        snprintf(r->text, sizeof(r->text), s->outcome == rogue->outcome ? "%s" : "%s: %s", name, s->reason);
    if (rogue->requirement[0] == '\0')
        r->caught = ran && !s->bad;
    else
        r->caught = ran && s->outcome == rogue->outcome && strstr(s->reason, rogue->reason);
    if (ran && rogue->requirement[0] && s->outcome == rogue->outcome && !r->caught)
        snprintf(r->text, sizeof(r->text), "%s, but for another reason: %s", name, s->reason);
}

static void try_one(struct selftest *t, size_t i)
{
    const struct rogue *rogue = &rogues[i];
    struct store store;
    struct kvs_conform_config cfg;
    struct kvs_error err = {0};
    struct seen seen = {0};
    double multiplier = t->cfg->timeout_multiplier > 0 ? t->cfg->timeout_multiplier : 1;
    make_store(&store, t, i);
    kvs_conform_config_init(&cfg);
    cfg.target = store.target;
    cfg.params = store.params;
    cfg.nparams = 1;
    cfg.filter = rogue->id[0] ? rogue->id : NULL;
    cfg.expect_file = strcmp(rogue->id, EXPECT_CASE) == 0 ? store.expected : NULL;
    cfg.timeout_multiplier = multiplier * rogue->multiplier;
    cfg.seed = t->cfg->seed;
    cfg.case_program = t->cfg->case_program;
    cfg.hooks = (struct kvs_conform_hooks){store.start, store.stop, store.stop, store.pause, store.start};
    cfg.variants = store.variants;
    cfg.nvariants = 3;
    cfg.stop = t->cfg->stop;
    int rc = run_suite(&cfg, NULL, &err, look_at, &seen);
    pthread_mutex_lock(&t->lock);
    judge_one(&t->results[i], rogue, rc, &seen, &err);
    t->results[i].done = true;
    pthread_mutex_unlock(&t->lock);
    unlink(store.file);
    unlink(store.expected);
}

static void print_one(FILE *out, const struct rogue *rogue, const struct result *r)
{
    fprintf(out, "%-8s %-21s %-12s %-27s %s\n", r->caught ? "caught" : "ESCAPED", name_of(rogue),
            rogue->requirement[0] ? rogue->requirement : "-",
            rogue->id[0]                ? rogue->id
            : rogue->outcome == REFUSED ? "loading it"
                                        : "the whole suite",
            r->text);
    if (!r->caught)
        fprintf(out, "         %s\n", rogue->what);
    fflush(out);
}

/* In the order of the table, whatever ends first. */
static void print_done(struct selftest *t)
{
    pthread_mutex_lock(&t->lock);
    for (; t->printed < ROGUES && (t->results[t->printed].done || !t->results[t->printed].wanted);
         t->printed++)
        if (t->results[t->printed].wanted && t->cfg->out)
            print_one(t->cfg->out, &rogues[t->printed], &t->results[t->printed]);
    pthread_mutex_unlock(&t->lock);
}

static void *work(void *arg)
{
    struct selftest *t = arg;
    for (size_t i; (i = t->next++) < ROGUES;) {
        if (t->results[i].wanted && !(t->cfg->stop && *t->cfg->stop))
            try_one(t, i);
        print_done(t);
    }
    return NULL;
}

/* A sanitizer's allocator hides what open.cycles looks at, and finds such leaks itself; and under
 * ThreadSanitizer a forked child cannot open an engine, and to start a thread is to sleep. */
static bool can_be_caught(const struct rogue *r)
{
#if defined(__SANITIZE_THREAD__)
    if (strcmp(r->defect, "child_shares") == 0 || strcmp(r->defect, "table_survives_fork") == 0 ||
        strcmp(r->defect, "touches_batch_after") == 0 || strcmp(r->defect, "none_thread") == 0)
        return false;
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return !strstr(r->defect, "leaks_memory") && strcmp(r->defect, "leaks_mapping") != 0;
#else
    (void)r;
    return true;
#endif
}

/* Marks those whose name the filter has, all without one. How many. */
static uint32_t choose(struct selftest *t)
{
    uint32_t n = 0;
    for (size_t i = 0; i < ROGUES; i++) {
        const char *list = t->cfg->filter;
        t->results[i].wanted = !list;
        for (const char *p = list ? list : ""; *p;) {
            char one[128];
            size_t len = strcspn(p, ",");
            snprintf(one, sizeof(one), "%.*s", (int)len, p);
            t->results[i].wanted |= fnmatch(one, name_of(&rogues[i]), 0) == 0;
            p += len + (p[len] == ',');
        }
        t->results[i].wanted &= can_be_caught(&rogues[i]);
        n += t->results[i].wanted;
    }
    return n;
}

static int run_all(struct selftest *t, struct kvs_error *err)
{
    unsigned jobs = t->cfg->jobs ? t->cfg->jobs : 1, started = 0;
    pthread_t *threads = calloc(jobs, sizeof(*threads));
    if (!threads)
        return say(err, KVS_NO_MEMORY, "no memory for %u threads", jobs);
    while (started + 1 < jobs && pthread_create(&threads[started], NULL, work, t) == 0)
        started++;
    work(t);
    while (started > 0)
        pthread_join(threads[--started], NULL);
    free(threads);
    return KVS_OK;
}

static int conclude(struct selftest *t, uint32_t wanted, uint32_t *caught, struct kvs_error *err)
{
    uint32_t n = 0;
    for (size_t i = 0; i < ROGUES; i++)
        n += t->results[i].wanted && t->results[i].caught;
    if (caught)
        *caught = n;
    if (t->cfg->out)
        fprintf(t->cfg->out, "\n%u of %u rogues are as they should be\n", n, wanted);
    if (t->cfg->out && (fflush(t->cfg->out) != 0 || ferror(t->cfg->out)))
        return say(err, KVS_IO, "the table cannot be written");
    return n == wanted
               ? KVS_OK
               : say(err, KVS_MISMATCH, "%u of %u rogues are not as they should be", wanted - n, wanted);
}

int kvs_conform_self_test(const struct kvs_conform_config *cfg, uint32_t *total, uint32_t *caught,
                          struct kvs_error *err)
{
    const char *base = getenv("TMPDIR");
    if (!cfg || cfg->size != sizeof(*cfg))
        return say(err, KVS_INVALID_PARAM, "the configuration is NULL, or its size is not %zu", sizeof(*cfg));
    struct selftest *t = calloc(1, sizeof(*t));
    if (!t)
        return say(err, KVS_NO_MEMORY, "no memory for the self-test");
    t->cfg = cfg;
    pthread_mutex_init(&t->lock, NULL);
    uint32_t wanted = choose(t);
    int rc = wanted ? KVS_OK : say(err, KVS_INVALID_PARAM, "filter '%s' matches no rogue", cfg->filter);
    snprintf(t->folder, sizeof(t->folder), "%s/kvslot-selftest-XXXXXX", base && base[0] ? base : "/tmp");
    if (rc == KVS_OK && !mkdtemp(t->folder))
        rc = say(err, KVS_IO, "the folder %s cannot be made: %s", t->folder, strerror(errno));
    else if (rc == KVS_OK) {
        rc = run_all(t, err);
        rmdir(t->folder);
    }
    if (total)
        *total = wanted;
    if (rc == KVS_OK)
        rc = conclude(t, wanted, caught, err);
    pthread_mutex_destroy(&t->lock);
    free(t);
    return rc;
}
