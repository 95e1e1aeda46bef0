/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers between two pages that cannot be touched, with canaries in what is left of their own pages. */
#include "kit.h"
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define CANARY 0xc5

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static struct kit_buf map_pages(struct kit *k, size_t pages)
{
    size_t page = page_size(), len = (pages + 2) * page;
    struct kit_mapping *m = malloc(sizeof(*m));
    void *map = mmap(NULL, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    KIT_CHECK(m && map != MAP_FAILED, "no memory for a buffer of %zu pages", pages);
    KIT_CHECK(mprotect((uint8_t *)map + page, pages * page, PROT_READ | PROT_WRITE) == 0, "mprotect failed");
    memset((uint8_t *)map + page, CANARY, pages * page);
    m->map = map;
    m->len = len;
    pthread_mutex_lock(&k->lock);
    m->next = k->mappings;
    k->mappings = m;
    pthread_mutex_unlock(&k->lock);
    return (struct kit_buf){.map = map, .map_len = len};
}

struct kit_buf kit_buf(struct kit *k, size_t len, enum kit_place place)
{
    size_t page = page_size(), pages = len > 0 ? (len + page - 1) / page : 1;
    struct kit_buf b = map_pages(k, pages);
    b.len = len;
    b.data = b.map + page + (place == KIT_AT_END ? pages * page - len : 0);
    return b;
}

struct kit_buf kit_buf_skewed(struct kit *k, size_t len, size_t skew)
{
    size_t page = page_size();
    struct kit_buf b = map_pages(k, (len + skew + page - 1) / page + 1);
    b.len = len;
    b.data = b.map + page + skew;
    return b;
}

void kit_buf_protect(const struct kit_buf *b)
{
    size_t page = page_size();
    KIT_CHECK(mprotect(b->map + page, b->map_len - 2 * page, PROT_READ) == 0, "mprotect failed");
}

void kit_buf_remap(const struct kit_buf *b)
{
    size_t page = page_size();
    void *fresh = mmap(b->map + page, b->map_len - 2 * page, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    KIT_CHECK(fresh == b->map + page, "mmap failed");
    memset(fresh, CANARY, b->map_len - 2 * page);
    kit_poison(b);
}

void kit_buf_forbid(const struct kit_buf *b)
{
    size_t page = page_size();
    KIT_CHECK(mprotect(b->map + page, b->map_len - 2 * page, PROT_NONE) == 0, "mprotect failed");
}

/* splitmix64: every seed gives a good stream, and byte n needs no more state than n. */
static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

void kit_fill(const struct kit *k, void *to, size_t len, uint64_t salt)
{
    kit_fill_seeded(kit_seed(k), to, len, salt);
}

void kit_fill_seeded(uint64_t seed, void *to, size_t len, uint64_t salt)
{
    uint64_t state = mix(seed) ^ mix(salt + UINT64_C(0x9e3779b97f4a7c15));
    uint8_t *p = to;
    while (len > 0) {
        uint64_t word = mix(state += UINT64_C(0x9e3779b97f4a7c15));
        size_t n = len < sizeof(word) ? len : sizeof(word);
        memcpy(p, &word, n);
        p += n;
        len -= n;
    }
}

struct kit_buf kit_value(struct kit *k, size_t len, uint64_t salt)
{
    struct kit_buf b = kit_buf(k, len, KIT_AT_END);
    kit_fill(k, b.data, len, salt);
    return b;
}

/* The macros give the argument as it was written, which may be an address. */
static const char *name_of(const char *what)
{
    return what[0] == '&' ? what + 1 : what;
}

static uint8_t poison_at(size_t i)
{
    return (uint8_t)(0xdb + i * 31);
}

void kit_poison(const struct kit_buf *b)
{
    for (size_t i = 0; i < b->len; i++)
        b->data[i] = poison_at(i);
}

void kit_poisoned_at(struct kit_at at, const char *what, const struct kit_buf *b, size_t from)
{
    for (size_t i = from; i < b->len; i++)
        if (b->data[i] != poison_at(i))
            kit_fail_at(at, "%s was written: byte %zu of %zu is %02x, not %02x as it was before",
                        name_of(what), i, b->len, b->data[i], poison_at(i));
}

static void check_canary(struct kit_at at, const char *what, const uint8_t *from, const uint8_t *to,
                         const char *side)
{
    for (const uint8_t *p = from; p < to; p++)
        if (*p != CANARY)
            kit_fail_at(at, "memory %s %s was written: %zu bytes from it is %02x, not %02x", side,
                        name_of(what), side[0] == 'b' ? (size_t)(to - p) : (size_t)(p - from) + 1, *p,
                        CANARY);
}

void kit_around_at(struct kit_at at, const char *what, const struct kit_buf *b)
{
    size_t page = page_size();
    check_canary(at, what, b->map + page, b->data, "before");
    check_canary(at, what, b->data + b->len, b->map + b->map_len - page, "after");
}

void kit_buf_free(struct kit *k, struct kit_buf *b)
{
    pthread_mutex_lock(&k->lock);
    struct kit_mapping **at = &k->mappings, *m;
    while (*at && (*at)->map != b->map)
        at = &(*at)->next;
    m = *at;
    if (m)
        *at = m->next;
    pthread_mutex_unlock(&k->lock);
    KIT_CHECK(m || !b->map, "a buffer is given back that is none of the kit's");
    if (m)
        munmap(m->map, m->len);
    free(m);
    memset(b, 0, sizeof(*b));
}

void kit_memory_end(struct kit *k)
{
    while (k->mappings) {
        struct kit_mapping *m = k->mappings;
        k->mappings = m->next;
        munmap(m->map, m->len);
        free(m);
    }
}
