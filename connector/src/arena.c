/* SPDX-License-Identifier: Apache-2.0 */
#include "arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>

struct kvs_arena_block {
    struct kvs_arena_block *next;
    alignas(max_align_t) char data[];
};

enum {
    FIRST_BLOCK = 8 << 10,
    MOST_BLOCK = 1 << 20, /* larger ones would leave more unused than they spare calls */
};

static void *new_block(struct kvs_arena *arena, size_t size)
{
    size_t room = arena->next ? arena->next : FIRST_BLOCK;
    if (room < size)
        room = size;
    struct kvs_arena_block *block = malloc(sizeof *block + room);
    if (!block)
        return NULL;
    arena->next = room >= MOST_BLOCK / 2 ? MOST_BLOCK : 2 * room;
    block->next = arena->blocks;
    arena->blocks = block;
    arena->at = block->data + size;
    arena->end = block->data + room;
    return block->data;
}

void *kvs_arena_get(struct kvs_arena *arena, size_t size)
{
    const size_t unit = alignof(max_align_t);
    if (size > SIZE_MAX / 2)
        return NULL;
    size = (size == 0 ? unit : size + unit - 1) / unit * unit;
    if ((size_t)(arena->end - arena->at) < size)
        return new_block(arena, size);
    void *got = arena->at;
    arena->at += size;
    return got;
}

void kvs_arena_clear(struct kvs_arena *arena)
{
    struct kvs_arena_block *block = arena->blocks;
    while (block) {
        struct kvs_arena_block *next = block->next;
        free(block);
        block = next;
    }
    *arena = (struct kvs_arena){0};
}

void kvs_arena_join(struct kvs_arena *to, struct kvs_arena *from)
{
    struct kvs_arena_block **last = &from->blocks;
    while (*last)
        last = &(*last)->next;
    *last = to->blocks;
    *to = *from;
    *from = (struct kvs_arena){0};
}
