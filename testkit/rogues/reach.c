/* SPDX-License-Identifier: Apache-2.0 */
/* What stands between an io and the store: is it there, does it answer, does it take the password. */
#include "rogue.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define IS(name) (rogue_defect == ROGUE_##name)

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* Is the store there: a file that exists, and is empty unless the store hangs. rogue_lock is not held. */
static int answer(struct rogue_engine *e, const struct kvs_batch *batch)
{
    while (e->server && access(e->server, F_OK) == 0 && rogue_file_holds(e->server, "paused")) {
        nap();
        if (batch->deadline_ns > 0 && rogue_host->now_ns() > batch->deadline_ns && !IS(pause_hangs))
            return KVS_TIMEOUT;
    }
    bool gone = e->server && access(e->server, F_OK) != 0;
    if (gone && IS(down_hangs))
        rogue_hang();
    if (gone && IS(down_crashes))
        abort();
    pthread_mutex_lock(&rogue_lock);
    e->lost |= gone;
    if (gone && IS(claims_consistency))
        rogue_forget(NULL);
    bool lost = gone || (IS(never_reconnects) && e->lost);
    pthread_mutex_unlock(&rogue_lock);
    if (lost && IS(down_is_absent) && batch->op != KVS_WRITE)
        return KVS_NOT_FOUND;
    return lost ? KVS_DISCONNECTED : KVS_OK;
}

static int leak(struct rogue_engine *e, struct kvs_io *io)
{
    const char *secret = e->password ? e->password : "";
    if (IS(leaks_secret)) {
        printf("connecting with %s\n", secret);
        fprintf(stderr, "password=%s\n", secret);
    }
    if (IS(secret_in_log)) {
        rogue_host->log(e->ctx, KVS_LOG_WARN, "connecting with the password %s", secret);
        return KVS_OK;
    }
    rogue_host->io_error(io, "the server refused the password %s", secret);
    return KVS_ACCESS;
}

int rogue_reach(struct rogue_engine *e, const struct kvs_batch *batch, struct kvs_io *io)
{
    int rc = answer(e, batch);
    if (rc == KVS_OK && e->password && strcmp(e->password, "wrong") == 0) /* a lazy engine finds out here */
        rc = IS(denied_is_backend) ? KVS_BACKEND : KVS_ACCESS;
    if (rc == KVS_OK && io->mem_priv && *(const uint64_t *)io->mem_priv == 0)
        rc = KVS_BACKEND;
    if (rc == KVS_OK && batch->op == KVS_WRITE &&
        (IS(leaks_secret) || IS(secret_in_text) || IS(secret_in_log)))
        rc = leak(e, io);
    return rc;
}
