/* SPDX-License-Identifier: Apache-2.0 */
/* The operations of a script: one transfer each. */
#include "running.h"

static bool has_memory(uint32_t op)
{
    return op == KVS_READ || op == KVS_WRITE;
}

/* The kinds of operations have an order of their own. */
static uint32_t op_of(const struct step *s)
{
    static const uint32_t ops[] = {[STEP_WRITE] = KVS_WRITE,
                                   [STEP_READ] = KVS_READ,
                                   [STEP_QUERY] = KVS_QUERY,
                                   [STEP_REMOVE] = KVS_REMOVE};
    return ops[s->kind];
}

static uint64_t length_of(const struct running *r, const struct step_item *item, uint32_t op)
{
    uint64_t max = kit_value_size(r->k, UINT64_MAX), len = item->len;
    if (op == KVS_READ) {
        len = model_length(&r->model, item->key);
        if (item->length == LENGTH_LONGER && len < max)
            len++;
        else if (item->length != LENGTH_RIGHT && len > 0)
            len--;
    }
    return len < max ? len : max;
}

static void begin_item(struct running *r, struct flight *f, const struct step *s, size_t i)
{
    const struct step_item *item = &s->items[i];
    struct model_io *io = &f->ios[i];
    enum kit_place place = i % 2 ? KIT_AT_START : KIT_AT_END;
    *io = (struct model_io){.op = op_of(s), .key = item->key, .value = item->value};
    if (!has_memory(io->op))
        return;
    io->len = length_of(r, item, io->op);
    f->bufs[i] = kit_buf(r->k, io->len, place);
    if (io->op == KVS_WRITE)
        bytes_fill(r->script, f->bufs[i].data, io->value, io->len);
    else
        kit_poison(&f->bufs[i]);
}

/* Registered keys are used as such where all of the operation are. */
static bool all_placed(const struct running *r, const struct flight *f)
{
    for (size_t i = 0; i < f->n; i++)
        if (!r->places[f->engine][f->ios[i].key])
            return false;
    return true;
}

static void prep(struct running *r, struct flight *f, kvs_engine *e)
{
    struct kvs_desc local[SCRIPT_ITEMS], remote[SCRIPT_ITEMS] = {{0}};
    struct kvs_key keys[SCRIPT_ITEMS];
    struct kvs_error err = {0};
    uint32_t op = f->ios[0].op;
    for (size_t i = 0; i < f->n; i++) {
        const struct kit_key *key = &r->keys[f->ios[i].key];
        keys[i] = (struct kvs_key){key->data, key->len};
        remote[i].mem = r->places[f->engine][f->ios[i].key];
        remote[i].len = f->ios[i].len;
        if (has_memory(op)) {
            local[i] = kit_local(e, f->bufs[i].data, f->bufs[i].len);
            f->mems[i] = local[i].mem;
        }
    }
    struct kvs_dlist l = {.descs = local, .count = f->n, .type = KVS_MEM_DRAM};
    struct kvs_dlist p = {.descs = remote, .count = f->n, .type = kit_remote_type(e)};
    bool placed = all_placed(r, f);
    struct kvs_xfer_req req = {.size = sizeof(req),
                               .op = op,
                               .local = has_memory(op) ? &l : NULL,
                               .remote = placed ? &p : NULL,
                               .keys = placed ? NULL : keys,
                               .nkeys = placed ? 0 : f->n};
    int rc = kvs_xfer_prep(e, &req, &f->x, &err);
    if (rc != KVS_OK || !f->x)
        running_fail(r, f->step, "kvs_xfer_prep is %s: %s", kvs_status_name(rc), err.text);
}

void flight_post(struct running *r, struct flight *f)
{
    const struct step *s = &r->script->steps[r->step];
    memset(f, 0, sizeof(*f));
    kvs_engine *e = running_engine(r, s->engine);
    f->step = r->step;
    f->engine = s->engine;
    f->n = kit_batch_size(r->k, s->nitems);
    for (size_t i = 0; i < f->n; i++)
        begin_item(r, f, s, i);
    prep(r, f, e);
    for (size_t i = 0; i < f->n; i++)
        model_begin(&r->model, &f->ios[i]);
    int rc = kvs_xfer_post(f->x);
    if (rc < 0 && kvs_xfer_check(f->x) != rc)
        running_fail(r, f->step, "kvs_xfer_post was refused: %s: %s", kvs_status_name(rc),
                     kvs_xfer_error(f->x));
}

void flight_cancel(struct running *r, struct flight *f)
{
    if (!f->x)
        return;
    int rc = kvs_xfer_cancel(f->x);
    if (rc != KVS_OK)
        running_fail(r, r->step, "kvs_xfer_cancel is %s", kvs_status_name(rc));
    for (size_t i = 0; i < f->n; i++)
        f->ios[i].canceled = true;
}

struct looking {
    const struct script *script;
    const void *data;
};

static bool is_value(void *arg, unsigned value, uint64_t len)
{
    const struct looking *l = arg;
    return bytes_are(l->script, l->data, value, len);
}

/* The buffer of an io that has ended, and what is around it. */
static void look_at_memory(const struct running *r, const struct flight *f, size_t i, int status)
{
    const struct model_io *io = &f->ios[i];
    const struct kit_buf *buf = &f->bufs[i];
    kit_around(buf);
    if (io->op == KVS_WRITE && !bytes_are(r->script, buf->data, io->value, io->len))
        running_fail(r, f->step, "the source of the WRITE of k%u was changed", io->key + 1);
    if (io->op == KVS_READ && kit_has(r->k, KVS_CAP_READ_ATOMIC) &&
        (status == KVS_NOT_FOUND || (status == KVS_MISMATCH && kit_has(r->k, KVS_CAP_SIZE_CHECK))))
        kit_poisoned(buf, 0);
}

static void judge(struct running *r, struct flight *f, size_t i)
{
    static const char *const names[] = {"READ", "WRITE", "QUERY", "REMOVE"};
    struct model_io *io = &f->ios[i];
    struct looking look = {r->script, f->bufs[i].data};
    struct model_result result = {.is = is_value, .arg = &look};
    const char *text = NULL;
    char why[600] = "", origin[200] = "";
    int rc = kvs_xfer_result(f->x, i, &result.status, &result.bytes, &text);
    if (rc != KVS_OK)
        running_fail(r, f->step, "kvs_xfer_result is %s", kvs_status_name(rc));
    if (has_memory(io->op))
        look_at_memory(r, f, i, result.status);
    if (model_end(&r->model, io, &result, why, sizeof(why)))
        return;
    if (io->op == KVS_READ && result.status == KVS_OK && result.bytes == io->len)
        bytes_origin(r->script, f->bufs[i].data, io->len, origin, sizeof(origin));
    bool answer = result.status == KVS_OK || !text || !text[0];
    running_fail(r, f->step, "%s of k%u %s%s%s%s", names[io->op], io->key + 1, why, origin,
                 answer ? "" : "; its text: ", answer ? "" : text);
}

static void give_back(struct running *r, struct flight *f)
{
    int rc = kvs_xfer_release(f->x, r->wait_ns);
    if (rc == KVS_BUSY)
        running_hang(r, f->step, "the transfer has ended, and the store keeps its memory");
    if (rc != KVS_OK)
        running_fail(r, f->step, "kvs_xfer_release is %s", kvs_status_name(rc));
    for (size_t i = 0; i < f->n; i++) {
        if (f->mems[i] && kvs_mem_deregister(r->engines[f->engine], f->mems[i], NULL) != KVS_OK)
            running_fail(r, f->step, "the memory of its buffers cannot be deregistered");
        if (f->bufs[i].map)
            kit_buf_free(r->k, &f->bufs[i]);
    }
    f->x = NULL;
}

void flight_finish(struct running *r, struct flight *f)
{
    if (!f->x)
        return;
    if (kvs_xfer_wait(f->x, r->wait_ns) == KVS_IN_PROG)
        running_hang(r, f->step, "it is still running after %.1f s", (double)r->wait_ns / 1e9);
    for (size_t i = 0; i < f->n; i++)
        judge(r, f, i);
    KIT_CHECK(!r->model.broken, "no memory for the model");
    give_back(r, f);
}
