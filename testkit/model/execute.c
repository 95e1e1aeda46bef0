/* SPDX-License-Identifier: Apache-2.0 */
#include "execute.h"
#include "running.h"
#include <stdlib.h>

#define TEXT_MAX 1500

static void step_said(const struct running *r, size_t step, char *to, size_t size, const char *fmt,
                      va_list ap)
{
    char text[200];
    step_text(&r->script->steps[step], text, sizeof(text));
    int n = snprintf(to, size, "step %zu, '%s': ", step + 1, text);
    vsnprintf(to + n, size - (size_t)n, fmt, ap);
}

_Noreturn void running_fail_at(struct kit_at at, const struct running *r, size_t step, const char *fmt, ...)
{
    char text[TEXT_MAX];
    va_list ap;
    va_start(ap, fmt);
    step_said(r, step, text, sizeof(text), fmt, ap);
    va_end(ap);
    kit_fail_at(at, "%s", text);
}

_Noreturn void running_hang_at(struct kit_at at, const struct running *r, size_t step, const char *fmt, ...)
{
    char text[TEXT_MAX];
    va_list ap;
    va_start(ap, fmt);
    step_said(r, step, text, sizeof(text), fmt, ap);
    va_end(ap);
    kit_hang_at(at, "%s", text);
}

kvs_engine *running_engine(struct running *r, unsigned engine)
{
    if (!r->engines[engine])
        r->engines[engine] = kit_open(r->k);
    return r->engines[engine];
}

/* ---- Keys ---- */

/* Bytes in front of the name: any value, NUL first; the name at the end tells long keys apart. */
static struct kit_key make_key(struct kit *k, const char *prefix, unsigned number, size_t want)
{
    uint8_t bytes[KIT_KEY_MAX];
    char name[16];
    bool limited;
    size_t at = strlen(prefix), max = kit_max_key(k, &limited), min = kit_limits(k)->min_key;
    size_t tail = (size_t)snprintf(name, sizeof(name), "k%u", number + 1), len = at + want;
    len = len < min ? min : len;
    len = len > max ? max : len;
    len = len < at + tail ? at + tail : len;
    KIT_CHECK(len <= sizeof(bytes), "a key of %zu bytes is more than the kit makes", len);
    memcpy(bytes, prefix, at);
    for (size_t i = at; i < len - tail; i++)
        bytes[i] = (uint8_t)((i - at) * 37);
    memcpy(bytes + len - tail, name, tail);
    return kit_key_raw(k, bytes, len);
}

size_t model_keys(struct kit *k, const struct script *s, const char *prefix, struct kit_key *keys)
{
    size_t n = script_keys(s);
    for (unsigned i = 0; i < n; i++)
        keys[i] = make_key(k, prefix ? prefix : kit_prefix(k), i, s->key_len[i]);
    return n;
}

/* ---- Steps that are no transfers ---- */

static void finish_all(struct running *r)
{
    for (size_t i = 0; i <= SCRIPT_FLIGHTS; i++)
        flight_finish(r, &r->flights[i]);
}

static void close_engine(struct running *r, unsigned engine)
{
    if (!r->engines[engine])
        return;
    for (size_t i = 0; i <= SCRIPT_FLIGHTS; i++)
        if (r->flights[i].engine == engine)
            flight_finish(r, &r->flights[i]);
    kit_close(r->k, r->engines[engine]);
    r->engines[engine] = NULL;
    memset(r->places[engine], 0, sizeof(r->places[engine])); /* they have gone with it */
}

static void reopen(struct running *r, unsigned which)
{
    bool open = false;
    for (unsigned i = 0; i < SCRIPT_ENGINES; i++) {
        if (which == i || which == SCRIPT_ENGINES)
            close_engine(r, i);
        open |= r->engines[i] != NULL;
    }
    if (!open)
        model_reopened(&r->model, kit_has(r->k, KVS_CAP_DURABLE));
    running_engine(r, which < SCRIPT_ENGINES ? which : 0);
}

static void place_key(struct running *r, const struct step *s)
{
    unsigned key = s->items[0].key;
    kvs_engine *e = running_engine(r, s->engine);
    kvs_mem **place = &r->places[s->engine][key];
    struct kvs_error err = {0};
    int rc = KVS_OK;
    if (s->kind == STEP_REGISTER && !*place) {
        struct kvs_desc d = {.dev_id = key, .meta_info = r->keys[key].data, .meta_len = r->keys[key].len};
        rc = kvs_mem_register(e, kit_remote_type(e), &d, place, &err);
    } else if (s->kind == STEP_DEREGISTER && *place) {
        rc = kvs_mem_deregister(e, *place, &err);
        *place = NULL;
    }
    if (rc != KVS_OK)
        running_fail(r, r->step, "it is %s: %s", kvs_status_name(rc), err.text);
}

/* ---- List ---- */

struct listing {
    struct running *r;
    struct model_io ios[SCRIPT_KEYS];
    unsigned times[SCRIPT_KEYS];
    uint64_t sizes[SCRIPT_KEYS];
};

static int listed(void *arg, const void *key, size_t len, uint64_t size)
{
    struct listing *l = arg;
    struct running *r = l->r;
    size_t i = 0;
    while (i < r->nkeys && (r->keys[i].len != len || memcmp(r->keys[i].data, key, len) != 0))
        i++;
    if (i == r->nkeys)
        running_fail(r, r->step, "list gives a key of %zu bytes that nobody has written", len);
    if (++l->times[i] > 1)
        running_fail(r, r->step, "list gives k%zu twice", i + 1);
    l->sizes[i] = size;
    return 0;
}

/* A list is a QUERY of every key. */
static void list(struct running *r, const struct step *s)
{
    struct listing l = {.r = r};
    struct kvs_error err = {0};
    char why[600] = "";
    kvs_engine *e = running_engine(r, s->engine);
    for (unsigned i = 0; i < r->nkeys; i++) {
        l.ios[i] = (struct model_io){.op = KVS_QUERY, .key = i};
        model_begin(&r->model, &l.ios[i]);
    }
    int rc = kvs_list(e, kit_prefix(r->k), kit_prefix_len(r->k), listed, &l, &err);
    if (rc != KVS_OK && !r->script->errors)
        running_fail(r, r->step, "list is %s: %s", kvs_status_name(rc), err.text);
    for (size_t i = 0; i < r->nkeys; i++) {
        int status = rc != KVS_OK ? rc : l.times[i] ? KVS_OK : KVS_NOT_FOUND;
        struct model_result result = {.status = status, .bytes = l.sizes[i], .listed = true};
        if (!model_end(&r->model, &l.ios[i], &result, why, sizeof(why)))
            running_fail(r, r->step, "the answer of list for k%zu %s", i + 1, why);
    }
}

/* ---- The run ---- */

/* Is it an operation that the store does not have. */
static bool is_missing(const struct running *r, const struct step *s)
{
    return (s->kind == STEP_QUERY && !kit_has(r->k, KVS_CAP_QUERY)) ||
           (s->kind == STEP_REMOVE && !kit_has(r->k, KVS_CAP_REMOVE)) ||
           (s->kind == STEP_LIST && !kit_has(r->k, KVS_CAP_LIST));
}

static void operate(struct running *r, const struct step *s)
{
    struct flight *f = &r->flights[s->flight];
    flight_finish(r, f);
    flight_post(r, f);
    if (s->flight == 0)
        flight_finish(r, f);
}

static void each_flight(struct running *r, unsigned which, void (*fn)(struct running *r, struct flight *f))
{
    for (unsigned i = 0; i <= SCRIPT_FLIGHTS; i++)
        if (which == 0 || which == i)
            fn(r, &r->flights[i]);
}

static void carry_out(struct running *r, const struct step *s)
{
    if (is_missing(r, s))
        return;
    switch (s->kind) {
    case STEP_LIST:
        list(r, s);
        break;
    case STEP_WAIT:
        each_flight(r, s->flight, flight_finish);
        break;
    case STEP_CANCEL:
        each_flight(r, s->flight, flight_cancel);
        break;
    case STEP_REGISTER:
    case STEP_DEREGISTER:
        place_key(r, s);
        break;
    case STEP_REOPEN:
        reopen(r, s->engine);
        break;
    default:
        operate(r, s);
    }
}

void model_execute(struct kit *k, const struct script *s, uint64_t wait_ns)
{
    struct running *r = calloc(1, sizeof(*r));
    struct model_rules rules = {.overwrite = kit_has(k, KVS_CAP_OVERWRITE),
                                .size_check = kit_has(k, KVS_CAP_SIZE_CHECK),
                                .query_size = kit_has(k, KVS_CAP_QUERY_SIZE),
                                .query_local = kit_has(k, KVS_CAP_QUERY_LOCAL),
                                .errors = s->errors};
    KIT_CHECK(r, "no memory for the script's run");
    r->k = k;
    r->script = s;
    r->wait_ns = wait_ns;
    r->nkeys = model_keys(k, s, NULL, r->keys);
    KIT_CHECK(model_init(&r->model, r->nkeys, &rules), "no memory for the model");
    for (r->step = 0; r->step < s->n; r->step++)
        carry_out(r, &s->steps[r->step]);
    finish_all(r);
    model_free(&r->model);
    free(r);
}
