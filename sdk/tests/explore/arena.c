/* SPDX-License-Identifier: Apache-2.0 */
#include "arena.h"
#include "scheduler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#endif
#ifdef WITH_ASAN
#include <sanitizer/asan_interface.h>
#define POISON(p, n)   ASAN_POISON_MEMORY_REGION(p, n)
#define UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION(p, n)
#else
#define POISON(p, n)   ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
#endif

#define ROOM   (1u << 24)
#define GRAIN  16u
#define GAP    32u  /* between blocks */
#define FRESH  0xa5 /* in what malloc gives */
#define FREED  0xdd
#define BLOCKS 4096u
#define MARKED 4096u /* bytes at the start of a block that get a pattern */

static size_t marked(size_t size)
{
    return size < MARKED ? size : MARKED;
}

enum { OUTSIDE, LIVE, GONE };

struct block {
    uint32_t at, size;
    bool freed;
    const char *where;
};

static char *arena;
static uint32_t used;
static uint8_t state[ROOM / GRAIN]; /* of each grain */
static struct block blocks[BLOCKS];
static uint32_t nblocks;

/* At one address in every process, so that what depends on addresses does not differ. */
static void make(void)
{
    void *at = (void *)(uintptr_t)UINT64_C(0x200000000000);
    arena = mmap(at, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (arena == MAP_FAILED)
        abort();
    POISON(arena, ROOM);
}

void arena_reset(void)
{
    if (!arena)
        make();
    memset(state, OUTSIDE, used / GRAIN + 1);
    POISON(arena, used);
    used = 0;
    nblocks = 0;
}

bool arena_has(const void *p)
{
    return arena && (uintptr_t)p - (uintptr_t)arena < ROOM;
}

size_t arena_offset(const void *p)
{
    return (size_t)((uintptr_t)p - (uintptr_t)arena);
}

const char *arena_fault(const void *p, size_t n)
{
    if (!arena_has(p))
        return (uintptr_t)p < 4096 ? "use of a null pointer" : NULL;
    size_t from = arena_offset(p) / GRAIN, to = (arena_offset(p) + n - 1) / GRAIN;
    for (size_t i = from; i <= to && i < ROOM / GRAIN; i++)
        if (state[i] != LIVE)
            return state[i] == GONE ? "use of freed memory" : "use of memory that was never allocated";
    return NULL;
}

const char *arena_check_freed(void)
{
#ifndef WITH_ASAN
    for (uint32_t i = 0; i < nblocks; i++) {
        const struct block *b = &blocks[i];
        const unsigned char *c = (const unsigned char *)arena + b->at;
        if (!b->freed || b->size == 0)
            continue;
        if (c[0] != FREED || memcmp(c, c + 1, marked(b->size) - 1) != 0)
            return b->where ? b->where : "?";
    }
#endif
    return NULL;
}

size_t arena_live(const char **where)
{
    size_t n = 0;
    for (uint32_t i = 0; i < nblocks; i++)
        if (!blocks[i].freed && n++ == 0)
            *where = blocks[i].where;
    return n;
}

static void *take(size_t align, size_t size, int fill)
{
    uint64_t at = (used + GAP + align - 1) & ~(uint64_t)(align - 1);
    uint64_t grains = (size + GRAIN - 1) / GRAIN;
    if (at + grains * GRAIN + GAP > ROOM || nblocks == BLOCKS)
        explore_fail("the explorer's memory is used up");
    blocks[nblocks++] = (struct block){(uint32_t)at, (uint32_t)size, false, explore_where};
    used = (uint32_t)(at + grains * GRAIN);
    memset(&state[at / GRAIN], LIVE, grains);
    UNPOISON(arena + at, size);
    memset(arena + at, fill, fill == FRESH ? marked(size) : size);
    return arena + at;
}

static struct block *block_of(void *p)
{
    uint32_t at = (uint32_t)arena_offset(p), i = nblocks;
    while (i > 0 && blocks[i - 1].at != at)
        i--;
    return i ? &blocks[i - 1] : NULL;
}

static void give(void *p)
{
    struct block *b = block_of(p);
    if (!b || b->freed)
        explore_fail(b ? "memory was freed twice" : "something that is no memory was freed");
    b->freed = true;
    b->where = explore_where;
    memset(p, FREED, marked(b->size));
    memset(&state[b->at / GRAIN], GONE, (b->size + GRAIN - 1) / GRAIN);
    POISON(p, b->size);
    explore_point("free", p, true);
}

/* ---- In the place of the C library's, by the linker ---- */

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__real_aligned_alloc(size_t align, size_t n);
void __real_free(void *p);
char *__real_strdup(const char *s);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_aligned_alloc(size_t align, size_t n);
void __wrap_free(void *p);
char *__wrap_strdup(const char *s);

void *__wrap_malloc(size_t n)
{
    return explore_running() ? take(GRAIN, n, FRESH) : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return explore_running() ? take(GRAIN, n * size, 0) : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
    if (p ? !arena_has(p) : !explore_running())
        return __real_realloc(p, n);
    void *q = take(GRAIN, n, FRESH);
    if (p) {
        struct block *b = block_of(p);
        if (!b || b->freed)
            explore_fail("memory that is not there was to be made larger");
        memcpy(q, p, b->size < n ? b->size : n);
        give(p);
    }
    return q;
}

void *__wrap_aligned_alloc(size_t align, size_t n)
{
    return explore_running() ? take(align < GRAIN ? GRAIN : align, n, FRESH) : __real_aligned_alloc(align, n);
}

void __wrap_free(void *p)
{
    if (arena_has(p))
        give(p);
    else
        __real_free(p);
}

char *__wrap_strdup(const char *s)
{
    if (!explore_running())
        return __real_strdup(s);
    size_t n = strlen(s) + 1;
    return memcpy(take(GRAIN, n, FRESH), s, n);
}
