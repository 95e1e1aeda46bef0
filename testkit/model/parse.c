/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a script. Each error names the line, what stands there, and what is expected. */
#include "../src/say.h"
#include "script.h"
#include <string.h>

struct reading {
    const char *at, *end; /* of the line */
    size_t line;
    struct script *script;
    struct kvs_error *err;
};

/* The next word; a comma is one. Length 0 at the end of the line. */
struct word {
    const char *text;
    size_t len;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static struct word next(struct reading *r)
{
    while (r->at < r->end && is_blank(*r->at))
        r->at++;
    struct word w = {r->at, 0};
    if (r->at < r->end && *r->at == ',')
        w.len = 1;
    else
        while (w.text + w.len < r->end && !is_blank(w.text[w.len]) && w.text[w.len] != ',')
            w.len++;
    r->at += w.len;
    return w;
}

static struct word peek(struct reading *r)
{
    const char *at = r->at;
    struct word w = next(r);
    r->at = at;
    return w;
}

static bool is(struct word w, const char *text)
{
    return w.len == strlen(text) && memcmp(w.text, text, w.len) == 0;
}

static int expected(struct reading *r, struct word w, const char *what)
{
    if (w.len == 0)
        return say(r->err, KVS_INVALID_PARAM, "line %zu ends where %s is expected", r->line, what);
    return say(r->err, KVS_INVALID_PARAM, "line %zu: '%.*s' stands where %s is expected", r->line,
               (int)(w.len < 60 ? w.len : 60), w.text, what);
}

static bool digits(const char *text, size_t len, uint64_t max, uint64_t *out)
{
    uint64_t n = 0;
    for (size_t i = 0; i < len; i++) {
        unsigned digit = (unsigned)(text[i] - '0');
        if (digit > 9 || digit > max || n > (max - digit) / 10)
            return false;
        n = 10 * n + digit;
    }
    *out = n;
    return len > 0;
}

static int number(struct reading *r, uint64_t max, const char *what, uint64_t *out)
{
    struct word w = next(r);
    return digits(w.text, w.len, max, out) ? KVS_OK : expected(r, w, what);
}

/* A letter and a number from 1 to max; *out counts from 0. */
static int name(struct reading *r, char letter, uint64_t max, const char *what, unsigned *out)
{
    struct word w = next(r);
    uint64_t n = 0;
    if (w.len < 2 || w.text[0] != letter || !digits(w.text + 1, w.len - 1, max, &n) || n == 0)
        return expected(r, w, what);
    *out = (unsigned)(n - 1);
    return KVS_OK;
}

static int key(struct reading *r, unsigned *out)
{
    return name(r, 'k', SCRIPT_KEYS, "a key, k1 to k64,", out);
}

static int engine(struct reading *r, unsigned *out)
{
    return name(r, 'e', SCRIPT_ENGINES, "an engine, e1 or e2,", out);
}

static int flight(struct reading *r, unsigned *out)
{
    int rc = name(r, 't', SCRIPT_FLIGHTS, "a transfer in flight, t1 to t16,", out);
    *out += rc == KVS_OK;
    return rc;
}

static int item(struct reading *r, struct step *s)
{
    struct step_item *i = &s->items[s->nitems];
    int rc = key(r, &i->key);
    s->nitems++;
    if (rc == KVS_OK && s->kind == STEP_WRITE) {
        rc = name(r, 'v', 1000000, "a value, v1 to v1000000,", &i->value);
        if (rc == KVS_OK)
            rc = number(r, SCRIPT_VALUE, "the value's length in bytes, 0 to 1073741824,", &i->len);
    }
    if (rc == KVS_OK && s->kind == STEP_READ && (is(peek(r), "longer") || is(peek(r), "shorter")))
        i->length = is(next(r), "longer") ? LENGTH_LONGER : LENGTH_SHORTER;
    return rc;
}

static int items(struct reading *r, struct step *s)
{
    int rc = item(r, s);
    while (rc == KVS_OK && is(peek(r), ",")) {
        next(r);
        if (s->nitems == SCRIPT_ITEMS)
            return say(r->err, KVS_INVALID_PARAM, "line %zu names more keys than the %d that a step takes",
                       r->line, SCRIPT_ITEMS);
        rc = item(r, s);
    }
    return rc;
}

#define STEPS "write, read, query, remove, post, wait, cancel, list, register, deregister or reopen"

static int operation(struct reading *r, struct step *s, struct word w)
{
    static const char *const words[] = {"write", "read", "query", "remove"};
    for (uint32_t i = 0; i < 4; i++)
        if (is(w, words[i])) {
            s->kind = i;
            return items(r, s);
        }
    return s->flight ? expected(r, w, "write, read, query or remove") : expected(r, w, "a step, " STEPS ",");
}

static int post(struct reading *r, struct step *s)
{
    int rc = flight(r, &s->flight);
    return rc == KVS_OK ? operation(r, s, next(r)) : rc;
}

static int wait_or_cancel(struct reading *r, struct step *s, uint32_t kind)
{
    s->kind = kind;
    return peek(r).len ? flight(r, &s->flight) : KVS_OK;
}

static int one_key(struct reading *r, struct step *s, uint32_t kind)
{
    s->kind = kind;
    s->nitems = 1;
    return key(r, &s->items[0].key);
}

static int reopen(struct reading *r, struct step *s)
{
    s->kind = STEP_REOPEN;
    s->engine = SCRIPT_ENGINES;
    return peek(r).len ? engine(r, &s->engine) : KVS_OK;
}

static int step(struct reading *r, struct word w)
{
    struct step s = {0};
    int rc = is(w, "post")         ? post(r, &s)
             : is(w, "wait")       ? wait_or_cancel(r, &s, STEP_WAIT)
             : is(w, "cancel")     ? wait_or_cancel(r, &s, STEP_CANCEL)
             : is(w, "register")   ? one_key(r, &s, STEP_REGISTER)
             : is(w, "deregister") ? one_key(r, &s, STEP_DEREGISTER)
             : is(w, "reopen")     ? reopen(r, &s)
             : is(w, "list")       ? (s.kind = STEP_LIST, KVS_OK)
                                   : operation(r, &s, w);
    bool has_engine = s.kind != STEP_WAIT && s.kind != STEP_CANCEL && s.kind != STEP_REOPEN;
    if (rc == KVS_OK && has_engine && is(peek(r), "on")) {
        next(r);
        rc = engine(r, &s.engine);
    }
    if (rc == KVS_OK && r->script->n == SCRIPT_STEPS)
        return say(r->err, KVS_INVALID_PARAM, "line %zu is one step more than the %d that a script takes",
                   r->line, SCRIPT_STEPS);
    if (rc == KVS_OK && !script_add(r->script, &s))
        rc = say(r->err, KVS_NO_MEMORY, "no memory for %zu steps", r->script->n);
    return rc;
}

static int line(struct reading *r)
{
    uint64_t len = 0;
    unsigned k = 0;
    struct word w = next(r);
    int rc = KVS_OK;
    if (is(w, "seed")) {
        rc = number(r, UINT64_MAX, "a seed, a whole number,", &r->script->seed);
    } else if (is(w, "key")) {
        rc = key(r, &k);
        if (rc == KVS_OK)
            rc = number(r, 4096, "the key's length in bytes, 0 to 4096,", &len);
        if (rc == KVS_OK)
            r->script->key_len[k] = (unsigned)len;
    } else if (is(w, "errors")) {
        w = next(r);
        r->script->errors = is(w, "allowed");
        rc = r->script->errors ? KVS_OK : expected(r, w, "'allowed'");
    } else {
        rc = step(r, w);
    }
    if (rc == KVS_OK && peek(r).len)
        rc = expected(r, next(r), "the end of the line");
    return rc;
}

int script_parse(const char *text, size_t len, struct script *s, struct kvs_error *err)
{
    struct reading r = {.script = s, .err = err};
    const char *end = text + len;
    int rc = KVS_OK;
    script_init(s);
    while (text < end && rc == KVS_OK) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        r.at = text;
        r.end = newline ? newline : end;
        r.line++;
        text = r.end + (newline != NULL);
        while (r.at < r.end && is_blank(*r.at))
            r.at++;
        r.at += r.at < r.end && *r.at == '|';
        struct word w = peek(&r);
        if (w.len > 0 && w.text[0] != '#')
            rc = line(&r);
    }
    if (rc != KVS_OK)
        script_free(s);
    return rc;
}
