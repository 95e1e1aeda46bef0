/* SPDX-License-Identifier: Apache-2.0 */
#include "model.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Sets ---- */

static void set_add(struct model *m, struct model_set *set, struct model_state s)
{
    for (size_t i = 0; i < set->n; i++) {
        struct model_state *t = &set->states[i];
        if (t->present == s.present && t->value == s.value && t->len == s.len) {
            if (s.ended > t->ended)
                t->ended = s.ended;
            return;
        }
    }
    if (set->n == set->room) {
        size_t room = set->room ? 2 * set->room : 4;
        struct model_state *grown = realloc(set->states, room * sizeof(*grown));
        if (!grown) {
            m->broken = true;
            return;
        }
        set->states = grown;
        set->room = room;
    }
    set->states[set->n++] = s;
}

static void set_free(struct model_set *set)
{
    free(set->states);
    memset(set, 0, sizeof(*set));
}

/* Does an io change its key, and to what. */
static bool changes(const struct model_io *io)
{
    return io->op == KVS_WRITE || io->op == KVS_REMOVE;
}

static struct model_state effect(const struct model_io *io, uint64_t ended)
{
    if (io->op == KVS_WRITE)
        return (struct model_state){true, io->value, io->len, ended};
    return (struct model_state){.ended = ended};
}

/* ---- Life ---- */

bool model_init(struct model *m, size_t nkeys, const struct model_rules *rules)
{
    memset(m, 0, sizeof(*m));
    m->rules = *rules;
    m->nkeys = nkeys;
    m->keys = calloc(nkeys + 1, sizeof(*m->keys));
    for (size_t i = 0; m->keys && i < nkeys; i++)
        set_add(m, &m->keys[i].states, (struct model_state){.present = false});
    return m->keys && !m->broken;
}

void model_free(struct model *m)
{
    for (size_t i = 0; m->keys && i < m->nkeys; i++)
        set_free(&m->keys[i].states);
    free(m->keys);
    memset(m, 0, sizeof(*m));
}

void model_reopened(struct model *m, bool kept)
{
    m->now++;
    for (size_t i = 0; !kept && i < m->nkeys; i++)
        set_add(m, &m->keys[i].states, (struct model_state){.ended = m->now});
}

uint64_t model_length(const struct model *m, unsigned key)
{
    const struct model_set *set = &m->keys[key].states;
    const struct model_io *newest = NULL;
    uint64_t len = 1;
    for (size_t i = 0; i < set->n; i++)
        if (set->states[i].present)
            len = set->states[i].len;
    for (const struct model_io *io = m->keys[key].running; io; io = io->next)
        if (io->op == KVS_WRITE && (!newest || io->begun > newest->begun))
            newest = io;
    return newest ? newest->len : len;
}

void model_begin(struct model *m, struct model_io *io)
{
    struct model_key *key = &m->keys[io->key];
    io->begun = ++m->now;
    io->canceled = false;
    io->alone = true;
    memset(&io->seen, 0, sizeof(io->seen));
    for (size_t i = 0; i < key->states.n; i++)
        set_add(m, &io->seen, key->states.states[i]);
    for (struct model_io *other = key->running; other; other = other->next) {
        if (changes(other)) {
            set_add(m, &io->seen, effect(other, MODEL_OPEN));
            io->alone = false;
        }
        if (changes(io)) {
            set_add(m, &other->seen, effect(io, MODEL_OPEN));
            other->alone = false;
        }
    }
    io->next = key->running;
    key->running = io;
}

/* ---- The end ---- */

/* Does what was seen go with that state. */
static bool goes_with(const struct model *m, const struct model_io *io, const struct model_result *r,
                      const struct model_state *s)
{
    bool loose = s->present && s->len != io->len && !m->rules.size_check;
    switch (r->status) {
    case KVS_NOT_FOUND:
        return !s->present;
    case KVS_EXISTS:
        return s->present;
    case KVS_MISMATCH:
        return s->present && s->len != io->len;
    case KVS_UNKNOWN:
        return !s->present || m->rules.query_local;
    default:
        break;
    }
    if (io->op == KVS_WRITE)
        return m->rules.overwrite || !s->present;
    if (io->op == KVS_QUERY)
        return s->present &&
               (r->bytes == s->len || (r->bytes == UINT64_MAX && (r->listed || !m->rules.query_size)));
    if (io->op == KVS_READ)
        return loose ||
               (s->present && s->len == io->len && r->bytes == io->len && r->is(r->arg, s->value, s->len));
    return s->present; /* REMOVE */
}

/* Is it an answer that tells something of the key. */
static bool is_answer(const struct model *m, const struct model_io *io, int status)
{
    return status == KVS_OK || (status == KVS_NOT_FOUND && io->op != KVS_WRITE) ||
           (status == KVS_MISMATCH && io->op == KVS_READ) || (status == KVS_UNKNOWN && io->op == KVS_QUERY) ||
           (status == KVS_EXISTS && io->op == KVS_WRITE && !m->rules.overwrite);
}

/* Nothing else changes the key: what was seen is the state, but for what may still take effect. */
static void narrow(struct model *m, const struct model_io *io, const struct model_result *r)
{
    struct model_set *set = &m->keys[io->key].states;
    size_t n = 0;
    for (size_t i = 0; i < set->n; i++)
        if (set->states[i].ended == MODEL_OPEN || goes_with(m, io, r, &set->states[i]))
            set->states[n++] = set->states[i];
    set->n = n;
}

/* An io that is OK has changed the key: what had ended before it began is over. */
static void settle(struct model *m, const struct model_io *io)
{
    struct model_set *set = &m->keys[io->key].states;
    size_t n = 0;
    for (size_t i = 0; i < set->n; i++)
        if (set->states[i].ended == MODEL_OPEN || set->states[i].ended >= io->begun)
            set->states[n++] = set->states[i];
    set->n = n;
    set_add(m, set, effect(io, m->now));
}

static void put_text(char *to, size_t size, const char *fmt, ...) KVS_PRINTF(3, 4);
static void put_text(char *to, size_t size, const char *fmt, ...)
{
    size_t at = strlen(to);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(to + at, size - at, fmt, ap);
    va_end(ap);
}

static void name_state(char *to, size_t size, const struct model_state *s)
{
    if (s->present)
        put_text(to, size, "v%u (%llu bytes)", s->value + 1, (unsigned long long)s->len);
    else
        put_text(to, size, "none");
}

static void explain(const struct model_io *io, const struct model_result *r, char *why, size_t size)
{
    why[0] = '\0';
    put_text(why, size, "is %s", kvs_status_name(r->status));
    if (io->op == KVS_READ && r->status == KVS_OK)
        put_text(why, size, " with %llu bytes", (unsigned long long)r->bytes);
    if (io->op == KVS_QUERY && r->status == KVS_OK)
        put_text(why, size, " with size %llu", (unsigned long long)r->bytes);
    put_text(why, size, ", but k%u can only have the value ", io->key + 1);
    for (size_t i = 0; i < io->seen.n && i < 8; i++) {
        put_text(why, size, i ? " or " : "");
        name_state(why, size, &io->seen.states[i]);
    }
    if (io->seen.n > 8)
        put_text(why, size, " or %zu others", io->seen.n - 8);
}

static void unlink_io(struct model *m, struct model_io *io)
{
    struct model_io **at = &m->keys[io->key].running;
    while (*at && *at != io)
        at = &(*at)->next;
    if (*at)
        *at = io->next;
}

/* Judges an answer, and takes over what it tells. */
static bool take_answer(struct model *m, struct model_io *io, const struct model_result *r)
{
    bool fits = false;
    for (size_t i = 0; i < io->seen.n && !fits; i++)
        fits = goes_with(m, io, r, &io->seen.states[i]);
    if (fits && changes(io) && r->status == KVS_OK)
        settle(m, io);
    else if (fits && io->alone && r->status != KVS_UNKNOWN)
        narrow(m, io, r);
    return fits;
}

bool model_end(struct model *m, struct model_io *io, const struct model_result *r, char *why, size_t size)
{
    bool fits;
    m->now++;
    unlink_io(m, io);
    if (is_answer(m, io, r->status)) {
        fits = take_answer(m, io, r);
        if (!fits)
            explain(io, r, why, size);
    } else {
        fits = m->rules.errors || (io->canceled && r->status == KVS_CANCELED);
        if (changes(io))
            set_add(m, &m->keys[io->key].states, effect(io, MODEL_OPEN));
        if (!fits)
            snprintf(why, size, "is %s, and nothing makes it fail", kvs_status_name(r->status));
    }
    set_free(&io->seen);
    return fits;
}
