/* SPDX-License-Identifier: Apache-2.0 */
#include "quarantine.h"
#include "proclock.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* In front of the block, in the same pages. */
#define HEAD 64

struct pages {
    void *at;
    size_t size;
};

/* A ring, of the process: engines may be closed before a backend touches what they had. Guarded by
 * KVS_LOCK_QUARANTINE. */
static struct pages guarded[1024];
static size_t next;

bool kvs_quarantine_asked(void)
{
    const char *text = secure_getenv("KVSLOT_QUARANTINE");
    return text && strcmp(text, "1") == 0;
}

void *kvs_quarantine_alloc(size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (size > SIZE_MAX - HEAD - page)
        return NULL;
    size_t total = (size + HEAD + page - 1) / page * page;
    char *at = mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return NULL;
    memcpy(at, &total, sizeof total);
    return at + HEAD;
}

void kvs_quarantine_free(void *block)
{
    struct pages pages = {.at = (char *)block - HEAD}, old;
    memcpy(&pages.size, pages.at, sizeof pages.size);
    /* Mapped anew rather than protected: so the guarded ones take no memory. */
    if (mmap(pages.at, pages.size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1,
             0) == MAP_FAILED) {
        munmap(pages.at, pages.size);
        return;
    }
    kvs_proclock_take(KVS_LOCK_QUARANTINE);
    old = guarded[next];
    guarded[next] = pages;
    next = (next + 1) % (sizeof guarded / sizeof guarded[0]);
    kvs_proclock_drop(KVS_LOCK_QUARANTINE);
    if (old.at)
        munmap(old.at, old.size);
}
