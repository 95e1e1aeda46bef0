/* SPDX-License-Identifier: Apache-2.0 */
/* What differs between two reports, and whether the second one is worse. */
#include "saved.h"
#include "say.h"
#include "wire.h"
#include <stdlib.h>
#include <string.h>

#define SHOW_RATIO 3.0 /* of times, where the caller gives none */
#define SHOW_MS    100 /* what is less is noise, whatever its ratio */
#define WIDTH      28

struct comparison {
    struct saved a, b;
    double ratio; /* 0: times are shown, and never worse */
    FILE *out;    /* NULL: nowhere */
    unsigned worse, better, other;
    bool more; /* the second has a capability that the first lacked, or a limit less narrow */
};

enum change { SAME, WORSE, BETTER, OTHER };

/* A text from a report in one line, without what a terminal would obey. */
static void put_text(FILE *out, const char *text, int width)
{
    json_t *clean = wire_text(text, strlen(text));
    char *copy = clean ? strdup(json_string_value(clean)) : NULL;
    for (char *p = copy; p && *p; p++)
        *p = (char)(*p == '\n' || *p == '\t' ? ' ' : *p);
    fprintf(out, "%-*s", width, copy ? copy : "?");
    free(copy);
    json_decref(clean);
}

static void row(struct comparison *c, enum change change, const char *what, const char *a, const char *b)
{
    static const char *const words[] = {"", "WORSE", "better", "differs"};
    if (change == SAME)
        return;
    *(change == WORSE ? &c->worse : change == BETTER ? &c->better : &c->other) += 1;
    if (!c->out)
        return;
    fprintf(c->out, "%-8s ", words[change]);
    put_text(c->out, what, WIDTH);
    fputc(' ', c->out);
    put_text(c->out, a, WIDTH);
    fputc(' ', c->out);
    put_text(c->out, b, 0);
    fputc('\n', c->out);
}

/* A value as it is shown: "-" where there is none; to be freed. */
static char *shown(const json_t *value)
{
    if (!value || json_is_null(value))
        return strdup("-");
    if (json_is_string(value))
        return strdup(json_string_value(value));
    return json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
}

static void value_row(struct comparison *c, enum change change, const char *what, const json_t *a,
                      const json_t *b)
{
    char *x = shown(a), *y = shown(b);
    row(c, change, what, x ? x : "?", y ? y : "?");
    free(x);
    free(y);
}

static bool same(const json_t *a, const json_t *b)
{
    bool none = !a || json_is_null(a);
    return none || !b || json_is_null(b) ? none && (!b || json_is_null(b))
                                         : json_equal((json_t *)(uintptr_t)a, (json_t *)(uintptr_t)b);
}

static const json_t *at(const struct saved *s, const char *outer, const char *inner)
{
    const json_t *value = json_object_get(s->root, outer);
    return !inner                              ? value
           : strcmp(inner, "file.sha256") == 0 ? json_object_get(json_object_get(value, "file"), "sha256")
                                               : json_object_get(value, inner);
}

/* What explains a difference, and is none by itself. */
static void compare_context(struct comparison *c)
{
    static const char *const members[][2] = {
        {"suite", "version"},     {"sdk", "version"},
        {"backend", "name"},      {"backend", "version"},
        {"backend", "emulated"},  {"backend", "file.sha256"},
        {"target", NULL},         {"parameters", NULL},
        {"machine", "processor"}, {"machine", "cores"},
        {"machine", "kernel"},    {"machine", "architecture"},
        {"seed", NULL},           {"filter", NULL},
        {"skip", NULL},           {"timeout_multiplier", NULL},
    };
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        const char *outer = members[i][0], *inner = members[i][1];
        const json_t *a = at(&c->a, outer, inner), *b = at(&c->b, outer, inner);
        char name[64];
        snprintf(name, sizeof(name), inner ? "%s.%s" : "%s", outer, inner);
        if (!same(a, b))
            value_row(c, OTHER, name, a, b);
    }
}

static int cap_rank(const json_t *state)
{
    const char *s = json_string_value(state);
    return !s || strcmp(s, "none") == 0 ? 0 : strcmp(s, "emulated") == 0 ? 1 : 2;
}

static enum change limit_change(const char *name, const json_t *a, const json_t *b)
{
    const char *s = json_string_value(a), *t = json_string_value(b);
    if (same(a, b))
        return SAME;
    if (s && t)
        return strcmp(t, "serial") == 0 ? WORSE : BETTER;
    if (!json_is_integer(a) || !json_is_integer(b))
        return OTHER;
    json_int_t x = json_integer_value(a), y = json_integer_value(b);
    if (strcmp(name, "min_key") == 0)
        return y > x ? WORSE : BETTER;
    return y == 0 || (x != 0 && y > x) ? BETTER : WORSE; /* 0 is no limit */
}

/* Calls for each member of either object, once. */
static void each_member(struct comparison *c, const char *outer,
                        void (*fn)(struct comparison *c, const char *name, const json_t *a, const json_t *b))
{
    json_t *a = (json_t *)(uintptr_t)at(&c->a, outer, NULL), *b = (json_t *)(uintptr_t)at(&c->b, outer, NULL);
    const char *name;
    json_t *value;
    json_object_foreach(a, name, value) fn(c, name, value, json_object_get(b, name));
    json_object_foreach(b, name, value) if (!json_object_get(a, name)) fn(c, name, NULL, value);
}

static void compare_cap(struct comparison *c, const char *name, const json_t *a, const json_t *b)
{
    int x = cap_rank(a), y = cap_rank(b);
    char what[96];
    snprintf(what, sizeof(what), "capability %.64s", name);
    c->more |= y > x;
    value_row(c, x == y ? SAME : y < x ? WORSE : BETTER, what, a, b);
}

static void compare_limit(struct comparison *c, const char *name, const json_t *a, const json_t *b)
{
    char what[96];
    snprintf(what, sizeof(what), "limit %.64s", name);
    enum change change = limit_change(name, a, b);
    c->more |= change == BETTER;
    value_row(c, change, what, a, b);
}

static const char *outcome_name(const json_t *one)
{
    return json_string_value(json_object_get(one, "outcome"));
}

/* 0: it passes; 1: it says nothing; 2: it fails. */
static int rank_of(const json_t *one)
{
    int outcome = saved_outcome(outcome_name(one));
    return outcome == KVS_CONFORM_PASS                                              ? 0
           : outcome == KVS_CONFORM_SKIPPED || outcome == KVS_CONFORM_NOT_SUPPORTED ? 1
                                                                                    : 2;
}

static void compare_times(struct comparison *c, const char *id, const json_t *a, const json_t *b)
{
    json_int_t x = json_integer_value(json_object_get(a, "duration_ms")),
               y = json_integer_value(json_object_get(b, "duration_ms")), less = x < y ? x : y;
    double ratio = c->ratio > 0 ? c->ratio : SHOW_RATIO;
    if ((double)(x < y ? y : x) <= ratio * (double)(less ? less : 1) || x + y - 2 * less < SHOW_MS)
        return;
    char before[32], after[32];
    snprintf(before, sizeof(before), "%lld ms", (long long)x);
    snprintf(after, sizeof(after), "%lld ms", (long long)y);
    row(c, c->ratio <= 0 ? OTHER : y > x ? WORSE : BETTER, id, before, after);
}

/* An outcome, and what it says beside it; to be freed. */
static char *outcome_text(const json_t *one)
{
    const char *reason = json_string_value(json_object_get(one, "reason"));
    char *text = NULL;
    if (asprintf(&text, "%s%s%s", outcome_name(one), reason && reason[0] ? ": " : "", reason ? reason : "") <
        0)
        return NULL;
    return text;
}

static void compare_case(struct comparison *c, const char *id, const json_t *a, const json_t *b)
{
    int x = a ? rank_of(a) : 0, y = b ? rank_of(b) : 0;
    if (a && b && strcmp(outcome_name(a), outcome_name(b)) == 0) {
        if (x == 0)
            compare_times(c, id, a, b);
        return;
    }
    enum change change = x == y ? OTHER : y > x ? WORSE : BETTER;
    /* A case of what a store lacks, or of where a limit is, has nothing to say where that is gone. What the
     * store lost has a row of its own. */
    if (b && x == 0 && c->more && saved_outcome(outcome_name(b)) == KVS_CONFORM_NOT_SUPPORTED)
        change = OTHER;
    if (!a)
        change = y == 2 ? WORSE : OTHER;
    if (!b) /* what is no longer tested may well be broken */
        change = x == 0 ? WORSE : OTHER;
    char *after = b ? outcome_text(b) : strdup("(is gone)");
    row(c, change, id, a ? outcome_name(a) : "(is new)", after ? after : "?");
    free(after);
}

static void compare_cases(struct comparison *c)
{
    size_t i;
    json_t *one;
    json_array_foreach(json_object_get(c->b.root, "cases"), i, one)
    {
        const char *id = json_string_value(json_object_get(one, "id"));
        compare_case(c, id, json_object_get(c->a.by_id, id), one);
    }
    json_array_foreach(json_object_get(c->a.root, "cases"), i, one)
    {
        const char *id = json_string_value(json_object_get(one, "id"));
        if (!json_object_get(c->b.by_id, id))
            compare_case(c, id, one, NULL);
    }
}

static void compare_all(struct comparison *c)
{
    const char *a = json_string_value(json_object_get(c->a.root, "verdict"));
    const char *b = json_string_value(json_object_get(c->b.root, "verdict"));
    int x = saved_verdict(a), y = saved_verdict(b);
    if (c->out) {
        fprintf(c->out, "%-8s %-*s %-*s %s\n", "", WIDTH, "", WIDTH, c->a.file, c->b.file);
    }
    row(c, x == y ? SAME : y > x ? WORSE : BETTER, "verdict", a, b);
    compare_context(c);
    each_member(c, "capabilities", compare_cap);
    each_member(c, "limits", compare_limit);
    compare_cases(c);
    if (c->out)
        fprintf(c->out, "\n%u worse, %u better, %u differ otherwise\n", c->worse, c->better, c->other);
}

int kvs_conform_compare(const char *before, const char *after, double time_ratio, FILE *out,
                        struct kvs_error *err)
{
    struct comparison c = {.ratio = time_ratio, .out = out};
    if (!before || !after || !(time_ratio == 0 || (time_ratio > 1 && time_ratio <= 1e6)))
        return say(err, KVS_INVALID_PARAM, "a report's name is NULL, or the ratio of times is not above 1");
    int rc = saved_read(&c.a, before, err);
    if (rc == KVS_OK)
        rc = saved_read(&c.b, after, err);
    if (rc == KVS_OK) {
        compare_all(&c);
        if (out && (fflush(out) != 0 || ferror(out)))
            rc = say(err, KVS_IO, "the table cannot be written");
        else if (c.worse > 0)
            rc = say(err, KVS_MISMATCH, "%s is worse than %s in %u of %u differences", after, before, c.worse,
                     c.worse + c.better + c.other);
    }
    saved_free(&c.a);
    saved_free(&c.b);
    return rc;
}
