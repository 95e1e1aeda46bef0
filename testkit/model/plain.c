/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the steps of a script plainer: fewer keys in each, one engine, nothing in flight, short values and
 * keys, low numbers. */
#include "shrink.h"
#include <stdlib.h>
#include <string.h>

/* One way to make one step plainer; false where it is that already. */
typedef bool change_fn(struct script *s, size_t step, size_t item);

static bool drop_item(struct script *s, size_t step, size_t item)
{
    struct step *t = &s->steps[step];
    if (t->nitems < 2 || item >= t->nitems)
        return false;
    memmove(&t->items[item], &t->items[item + 1], (t->nitems - item - 1) * sizeof(t->items[0]));
    t->nitems--;
    return true;
}

static bool first_engine(struct script *s, size_t step, size_t item)
{
    struct step *t = &s->steps[step];
    bool all = t->kind == STEP_REOPEN;
    if (item > 0 || t->engine == (all ? SCRIPT_ENGINES : 0))
        return false;
    t->engine = all ? SCRIPT_ENGINES : 0;
    return true;
}

static bool not_in_flight(struct script *s, size_t step, size_t item)
{
    struct step *t = &s->steps[step];
    if (item > 0 || t->flight == 0)
        return false;
    t->flight = 0;
    return true;
}

static bool right_length(struct script *s, size_t step, size_t item)
{
    struct step *t = &s->steps[step];
    if (item >= t->nitems || t->items[item].length == LENGTH_RIGHT)
        return false;
    t->items[item].length = LENGTH_RIGHT;
    return true;
}

/* Keys that are used less become the first one. */
static bool first_key(struct script *s, size_t step, size_t item)
{
    struct step *t = &s->steps[step];
    if (item >= t->nitems || t->items[item].key == 0)
        return false;
    t->items[item].key = 0;
    return true;
}

static bool change_step(struct shrink *how, struct script *s, size_t step, change_fn *change)
{
    bool any = false;
    for (size_t item = 0; item < SCRIPT_ITEMS && !how->over;) {
        struct script smaller;
        if (!script_copy(&smaller, s, 0, 0)) {
            how->over = true;
            return any;
        }
        if (!change(&smaller, step, item)) {
            script_free(&smaller);
            item++;
        } else if (shrink_take(how, s, &smaller)) {
            any = true;
        } else {
            item++;
        }
    }
    return any;
}

static bool change_steps(struct shrink *how, struct script *s, change_fn *change)
{
    bool any = false;
    for (size_t step = s->n; step-- > 0 && !how->over;)
        any |= change_step(how, s, step, change);
    return any;
}

/* All values of one length get a shorter one together: to be alike may be what counts. */
static bool shorten(struct shrink *how, struct script *s, uint64_t from, uint64_t to)
{
    struct script smaller;
    if (to >= from)
        return false;
    if (!script_copy(&smaller, s, 0, 0)) {
        how->over = true;
        return false;
    }
    for (size_t i = 0; i < smaller.n; i++)
        for (size_t j = 0; j < smaller.steps[i].nitems; j++)
            if (smaller.steps[i].items[j].len == from)
                smaller.steps[i].items[j].len = to;
    return shrink_take(how, s, &smaller);
}

static bool shorten_values(struct shrink *how, struct script *s)
{
    bool any = false;
    for (size_t i = 0; i < s->n && !how->over; i++)
        for (size_t j = 0; s->steps[i].kind == STEP_WRITE && j < s->steps[i].nitems; j++) {
            /* Down to 8: values of fewer bytes may be the same by chance. */
            uint64_t len;
            bool done = false;
            while ((len = s->steps[i].items[j].len) > 0 && !done && !how->over) {
                done = !shorten(how, s, len, 0) && !shorten(how, s, len, 8) && !shorten(how, s, len, len / 2);
                any |= !done;
            }
        }
    return any;
}

static bool shorten_key(struct shrink *how, struct script *s, size_t key, unsigned to)
{
    struct script smaller;
    if (to >= s->key_len[key] || how->over)
        return false;
    if (!script_copy(&smaller, s, 0, 0)) {
        how->over = true;
        return false;
    }
    smaller.key_len[key] = to;
    return shrink_take(how, s, &smaller);
}

static bool plain_keys(struct shrink *how, struct script *s)
{
    bool any = false;
    size_t n = script_keys(s);
    for (size_t i = 0; i < n; i++)
        while (shorten_key(how, s, i, 0) || shorten_key(how, s, i, s->key_len[i] / 2))
            any = true;
    return any;
}

/* The number that `from` gets: in the order in which they come. */
static unsigned rank(unsigned *seen, size_t *n, size_t most, unsigned from)
{
    size_t i = 0;
    while (i < *n && seen[i] != from)
        i++;
    if (i == *n && *n < most)
        seen[(*n)++] = from;
    return (unsigned)i;
}

#define VALUES 256

/* Low numbers for keys, values and flights. It has to fail still: a key's number is part of its bytes. */
static bool renumber(struct shrink *how, struct script *s)
{
    struct script t;
    unsigned keys[SCRIPT_KEYS], values[VALUES], flights[SCRIPT_FLIGHTS];
    size_t nkeys = 0, nvalues = 0, nflights = 0;
    if (s->n > VALUES || !script_copy(&t, s, 0, 0))
        return false;
    memset(t.key_len, 0, sizeof(t.key_len));
    for (size_t i = 0; i < t.n; i++) {
        struct step *step = &t.steps[i];
        for (size_t j = 0; j < step->nitems; j++) {
            struct step_item *item = &step->items[j];
            unsigned key = rank(keys, &nkeys, SCRIPT_KEYS, item->key);
            t.key_len[key] = s->key_len[item->key];
            item->key = key;
            if (step->kind == STEP_WRITE)
                item->value = rank(values, &nvalues, VALUES, item->value);
        }
        if (step->flight)
            step->flight = 1 + rank(flights, &nflights, SCRIPT_FLIGHTS, step->flight);
    }
    char *before = script_text(s), *after = script_text(&t);
    bool same = !before || !after || strcmp(before, after) == 0;
    free(before);
    free(after);
    if (!same)
        return shrink_take(how, s, &t);
    script_free(&t);
    return false;
}

bool shrink_parts(struct shrink *how, struct script *s)
{
    static change_fn *const changes[] = {drop_item, first_engine, not_in_flight, right_length, first_key};
    bool any = false;
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
        any |= change_steps(how, s, changes[i]);
    any |= shorten_values(how, s);
    any |= plain_keys(how, s);
    renumber(how, s);
    return any;
}
