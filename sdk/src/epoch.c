/* SPDX-License-Identifier: Apache-2.0 */
#include "epoch.h"
#include "proclock.h"
#include "slab.h"

#include <sys/mman.h>
#include <unistd.h>

/* Process-wide, since fork copies all of a process at once. The page is written under KVS_LOCK_EPOCH only. */
static volatile uint64_t *page;
const volatile uint64_t *kvs_epoch_word;
static uint64_t last; /* guarded by KVS_LOCK_EPOCH; unlike the page it survives a fork */

uint64_t kvs_epoch_begin(void)
{
    kvs_proclock_take(KVS_LOCK_EPOCH);
    if (!page) {
        size_t size = (size_t)sysconf(_SC_PAGESIZE);
        void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p != MAP_FAILED && madvise(p, size, MADV_WIPEONFORK) != 0) {
            munmap(p, size);
            p = MAP_FAILED;
        }
        if (p != MAP_FAILED) {
            page = p;
            kvs_epoch_word = p;
        }
    }
    uint64_t now = 0;
    if (page) {
        if (*page == 0) {
            if (last != 0)
                kvs_slab_after_fork();
            *page = ++last;
        }
        now = *page;
    }
    kvs_proclock_drop(KVS_LOCK_EPOCH);
    return now;
}
