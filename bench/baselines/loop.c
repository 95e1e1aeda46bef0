/* SPDX-License-Identifier: Apache-2.0 */
#include "loop.h"
#include "touch.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(struct loop_rec) == 128, "a record is as large as the SDK's");
_Static_assert(sizeof(struct loop_mem) == 128, "a registration is as large as the SDK's");

static void move(struct loop_rec *rec)
{
    touch(rec->at, rec->len);
    rec->actual = rec->len;
    rec->bytes = rec->len;
    rec->status = 0;
}

/* Volatile, so that the call stays one. */
static void (*volatile mover)(struct loop_rec *rec) = move;

struct loop *loop_prep(const struct loop_pair *pairs, uint32_t count)
{
    size_t bytes = 0, head = (sizeof(struct loop) + 63) & ~(size_t)63;
    for (uint32_t i = 0; i < count; i++)
        bytes += pairs[i].mem->key_len;
    size_t room = head + count * sizeof(struct loop_rec) + bytes;
    char *base = aligned_alloc(64, (room + 63) & ~(size_t)63);
    if (!base)
        return NULL;
    struct loop *l = (struct loop *)(void *)base;
    l->count = count;
    l->recs = (struct loop_rec *)(void *)(base + head);
    l->keys = base + head + count * sizeof(struct loop_rec);
    atomic_init(&l->open, 0);
    char *key = l->keys;
    for (uint32_t i = 0; i < count; i++) {
        const struct loop_mem *m = pairs[i].mem;
        l->recs[i] =
            (struct loop_rec){.key = key, .key_len = m->key_len, .at = pairs[i].at, .len = pairs[i].len};
        memcpy(key, m->key, m->key_len);
        key += m->key_len;
    }
    return l;
}

int loop_post(struct loop *l)
{
    int status = 0;
    atomic_store(&l->open, l->count);
    for (uint32_t i = 0; i < l->count; i++) {
        mover(&l->recs[i]);
        if (l->recs[i].status != 0)
            status = l->recs[i].status;
        atomic_fetch_sub(&l->open, 1);
    }
    return atomic_load(&l->open) == 0 ? status : 1;
}

void loop_release(struct loop *l)
{
    free(l);
}
