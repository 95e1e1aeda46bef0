/* SPDX-License-Identifier: Apache-2.0 */
#include "generate.h"

/* Few keys meet often; a store that writes once needs new ones. */
#define KEYS        8
#define KEYS_ONCE   56
#define HOT         2 /* half of the operations are about so many */
#define LARGE       200000
#define LARGE_LIMIT (UINT64_C(1) << 20) /* a declared limit up to here is reached now and then */

struct making {
    struct script *script;
    const struct script_shape *shape;
    uint64_t state;
    unsigned nkeys, fresh, values, flight; /* flight: the last one */
    uint64_t usual[2];                     /* lengths of most values, so that many are alike */
    bool ok;
};

static uint64_t draw(struct making *m, uint64_t below)
{
    uint64_t z = m->state += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (z ^ (z >> 31)) % below;
}

static bool percent(struct making *m, unsigned n)
{
    return draw(m, 100) < n;
}

static uint64_t limited(const struct making *m, uint64_t len)
{
    uint64_t max = m->shape->max_value;
    return max > 0 && len > max ? max : len;
}

static uint64_t length(struct making *m)
{
    uint64_t max = m->shape->max_value;
    unsigned n = (unsigned)draw(m, 100);
    if (n < 50)
        return m->usual[0];
    if (n < 70)
        return m->usual[1];
    if (n < 80)
        return 0;
    if (n < 84 && max > 0 && max <= LARGE_LIMIT)
        return max;
    return limited(m, n < 86 ? draw(m, LARGE) : n < 94 ? draw(m, 5000) : draw(m, 100));
}

static unsigned any_key(struct making *m)
{
    return (unsigned)(m->shape->overwrite && percent(m, 50) ? draw(m, HOT) : draw(m, m->nkeys));
}

/* In a store that writes once mostly one that is new. */
static unsigned key_to_write(struct making *m)
{
    if (!m->shape->overwrite && m->fresh < m->nkeys && percent(m, 70))
        return m->fresh++;
    return any_key(m);
}

static void add(struct making *m, const struct step *s)
{
    m->ok = m->ok && script_add(m->script, s);
}

static uint32_t kind(struct making *m)
{
    const struct script_shape *shape = m->shape;
    unsigned n = (unsigned)draw(m, 100);
    if (n < 40)
        return STEP_WRITE;
    if (n < 52 && shape->query)
        return STEP_QUERY;
    if (n < 62 && shape->remove)
        return STEP_REMOVE;
    return STEP_READ;
}

static void add_operation(struct making *m, bool flies)
{
    const struct script_shape *shape = m->shape;
    struct step s = {.kind = kind(m), .engine = percent(m, 30)};
    size_t most = shape->max_batch > 0 && shape->max_batch < SCRIPT_ITEMS ? shape->max_batch : SCRIPT_ITEMS;
    s.flight = flies ? m->flight = 1 + (unsigned)draw(m, SCRIPT_FLIGHTS) : 0;
    s.nitems = percent(m, 70) ? 1 : 1 + draw(m, most);
    for (size_t i = 0; i < s.nitems; i++) {
        struct step_item *item = &s.items[i];
        item->key = s.kind == STEP_WRITE ? key_to_write(m) : any_key(m);
        if (s.kind == STEP_WRITE) {
            item->value = m->values++;
            item->len = length(m);
        }
        if (s.kind == STEP_READ && percent(m, 6))
            item->length = percent(m, 50) ? LENGTH_LONGER : LENGTH_SHORTER;
    }
    add(m, &s);
}

static void add_plain(struct making *m, uint32_t kind, unsigned engine)
{
    add(m, &(struct step){.kind = kind, .engine = engine});
}

static void add_place(struct making *m)
{
    struct step s = {
        .kind = percent(m, 60) ? STEP_REGISTER : STEP_DEREGISTER, .engine = percent(m, 30), .nitems = 1};
    s.items[0].key = any_key(m);
    add(m, &s);
}

static void add_flight(struct making *m)
{
    unsigned n = (unsigned)draw(m, 100);
    struct step s = {.kind = n < 15 ? STEP_WAIT : STEP_CANCEL};
    if (n >= 20) {
        add_operation(m, n < 90);
        return;
    }
    /* What was just posted is most likely to run still; now and then all of them are meant. */
    if (s.kind == STEP_CANCEL && percent(m, 70))
        s.flight = m->flight;
    else if (!percent(m, 20))
        s.flight = 1 + (unsigned)draw(m, SCRIPT_FLIGHTS);
    add(m, &s);
}

static void add_step(struct making *m)
{
    const struct script_shape *shape = m->shape;
    unsigned n = (unsigned)draw(m, 100);
    if (n < 6)
        add_place(m);
    else if (n < 8 && shape->list)
        add_plain(m, STEP_LIST, percent(m, 30));
    else if (shape->about == ABOUT_REOPENING && n < 14)
        add_plain(m, STEP_REOPEN, percent(m, 60) ? SCRIPT_ENGINES : percent(m, 50));
    else if (shape->about == ABOUT_FLIGHTS)
        add_flight(m);
    else
        add_operation(m, shape->about == ABOUT_REOPENING && percent(m, 20));
}

/* All keys once more, as a new engine sees them where that is the point. */
static void add_end(struct making *m)
{
    add_plain(m, STEP_WAIT, 0);
    if (m->shape->about == ABOUT_REOPENING)
        add_plain(m, STEP_REOPEN, SCRIPT_ENGINES);
    for (unsigned i = 0; i < m->nkeys; i++) {
        struct step s = {.kind = STEP_READ, .engine = i % 2, .nitems = 1};
        s.items[0].key = i;
        add(m, &s);
    }
    if (m->shape->list)
        add_plain(m, STEP_LIST, 0);
}

static unsigned key_length(struct making *m)
{
    size_t max = m->shape->max_key;
    unsigned n = (unsigned)draw(m, 100);
    if (n < 60)
        return 0;
    return (unsigned)(n < 75 ? max : draw(m, 1 + (n < 90 && max > 100 ? 100 : max)));
}

bool script_generate(struct script *s, uint64_t seed, const struct script_shape *shape)
{
    struct making m = {.script = s, .shape = shape, .ok = true};
    script_init(s);
    s->seed = seed;
    m.state = seed + (uint64_t)shape->about * UINT64_C(0x632be59bd9b4e019);
    m.nkeys = shape->overwrite ? KEYS : KEYS_ONCE;
    m.usual[0] = limited(&m, 1 + draw(&m, 100));
    m.usual[1] = limited(&m, 1 + draw(&m, 9000));
    for (unsigned i = 0; i < m.nkeys; i++)
        s->key_len[i] = key_length(&m);
    for (size_t i = 0; i < shape->steps; i++)
        add_step(&m);
    add_end(&m);
    if (!m.ok)
        script_free(s);
    return m.ok;
}
