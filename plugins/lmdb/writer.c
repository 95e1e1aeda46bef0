/* SPDX-License-Identifier: Apache-2.0 */
#include "writer.h"
#include "env.h"

/* What one transaction takes at most. With more than a few MiB the disk would wait until all of it has been
 * copied, and a batch that shares it would wait for the others. */
#define GROUP_BYTES  (UINT64_C(8) << 20)
#define GROUP_IOS    16384u
#define GROUP_SLICES 64u
/* The pages that the trees above the values may take. */
#define TREE_ROOM (UINT64_C(1) << 20)

/* How long other processes may be kept from opening the environment while writes follow each other, in ns. */
#define KEPT UINT64_C(1000000)

struct group {
    struct env *env;
    const struct slice *slices;
    unsigned count;
};

static int do_group(void *arg, MDB_txn *txn)
{
    const struct group *group = arg;
    for (unsigned s = 0; s < group->count; s++) {
        const struct slice *slice = &group->slices[s];
        for (uint32_t i = slice->from; i < slice->to; i++) {
            int rc = io_write(txn, slice->db->dbi, slice->batch, kvs_batch_io(slice->batch, i));
            if (rc != 0)
                return rc;
        }
    }
    return 0;
}

static uint64_t group_bytes(const struct group *group)
{
    uint64_t bytes = TREE_ROOM;
    for (unsigned s = 0; s < group->count; s++) {
        for (uint32_t i = group->slices[s].from; i < group->slices[s].to; i++)
            bytes += kvs_batch_io(group->slices[s].batch, i)->len;
    }
    return bytes;
}

static void explain(const struct env *env, const struct slice *slice, int rc, bool unsure,
                    struct env_text *text)
{
    const char *doing = slice->batch->op == KVS_WRITE ? "write" : "remove";
    env_say(text, "cannot %s in '%s': %s%s", doing, env->path, env_reason(rc),
            unsure ? "; it may or may not be stored" : "");
}

static void end_group(const struct group *group, int rc, bool unsure)
{
    struct env_text text;
    for (unsigned s = 0; s < group->count; s++) {
        if (rc != 0)
            explain(group->env, &group->slices[s], rc, unsure, &text);
        slice_end(&group->slices[s], unsure ? KVS_IO : env_status(rc), text.text);
    }
}

static void write_group(struct env *env, const struct slice *slices, unsigned count)
{
    struct group group = {.env = env, .slices = slices, .count = count};
    bool unsure;
    int rc = txn_write(env, do_group, &group, group_bytes(&group), &unsure);
    if (rc != 0 && !unsure && count > 1) {
        /* What one of them fails with is not the others' fault. */
        for (unsigned s = 0; s < count; s++)
            write_group(env, &slices[s], 1);
        return;
    }
    end_group(&group, rc, unsure);
}

/* With the writer's lock held. */
static unsigned take_group(struct job_list *queue, struct slice *slices)
{
    uint64_t bytes = 0;
    uint32_t ios = 0;
    unsigned count = 0;
    while (queue->head != NULL && count < GROUP_SLICES && bytes < GROUP_BYTES && ios < GROUP_IOS) {
        const struct job *job = queue->head;
        /* An io is never cut, so that one may be larger than a group: alone, then. */
        if (count > 0 && bytes + kvs_batch_io(job->batch, job->at)->len > GROUP_BYTES)
            break;
        struct slice *slice = &slices[count++];
        bytes += job_slice(queue, GROUP_BYTES - bytes, GROUP_IOS - ios, slice);
        ios += slice->to - slice->from;
    }
    return count;
}

/* Ends those whose time is over. How many are left. */
static unsigned drop_late(struct slice *slices, unsigned count)
{
    unsigned left = 0;
    for (unsigned s = 0; s < count; s++) {
        if (slice_late(&slices[s]))
            slice_end(&slices[s], KVS_TIMEOUT, "the time was over before it could be written");
        else
            slices[left++] = slices[s];
    }
    return left;
}

/* Waits for a job, with the writer's lock held. Meanwhile it sees to it that other processes are not kept
 * from the environment for longer than KEPT: whoever is writing just then lets go himself, after that write.
 * False: the thread has to end. */
static bool wait_for_job(struct env *env)
{
    struct pool *writer = &env->writer;
    uint64_t until = 0;
    while (!pool_is_due(writer)) {
        if (env->keeps && until == 0)
            until = lmdb_host->now_ns() + KEPT;
        if (pool_sleep(writer, until))
            continue;
        atomic_store_explicit(&env->alone.over, true, memory_order_relaxed);
        env->keeps = writer->held || !txn_let_go(env);
        until = 0;
    }
    return writer->queue.head != NULL;
}

static void *writer_main(void *arg)
{
    struct env *env = arg;
    struct pool *writer = &env->writer;
    struct slice slices[GROUP_SLICES];
    pthread_mutex_lock(&writer->lock);
    while (wait_for_job(env)) {
        unsigned count = take_group(&writer->queue, slices);
        pool_unlock(writer);
        count = drop_late(slices, count);
        if (count > 0)
            write_group(env, slices, count);
        pthread_mutex_lock(&writer->lock);
    }
    pthread_mutex_unlock(&writer->lock);
    return NULL;
}

int writer_take(struct env *env, struct job *job)
{
    return pool_take(&env->writer, job, writer_main, env);
}

/* Sets the writer free. */
static void release(struct env *env)
{
    struct pool *writer = &env->writer;
    pthread_mutex_lock(&writer->lock);
    writer->held = false;
    bool begins = !env->keeps && atomic_load_explicit(&env->alone.kept, memory_order_relaxed);
    env->keeps = env->keeps || begins;
    pool_unlock(writer);
    if (begins)
        pthread_cond_signal(&writer->more);
}

/* By whom the writer is held: whether its thread can see to the end of what is kept. */
static bool may_keep(struct env *env)
{
    if (!alone_is_due(&env->alone))
        return false;
    pthread_mutex_lock(&env->writer.lock);
    bool may = pool_start(&env->writer, writer_main, env);
    pthread_mutex_unlock(&env->writer.lock);
    return may;
}

bool write_at_once(struct env *env, struct job *job, uint64_t bytes)
{
    const struct slice all = {job->batch, job->db, 0, job->batch->count};
    struct group group = {.env = env, .slices = &all, .count = 1};
    bool unsure;
    if (env->config.sync != SYNC_NONE || !job_small(job, bytes) || !pool_try_hold(&env->writer))
        return false;
    int rc = txn_try_write(env, do_group, &group, group_bytes(&group), may_keep(env), &unsure);
    release(env); /* before done functions may run */
    if (rc != 0 && !unsure)
        return false; /* nothing of it is stored: the writer may wait, and mend what is wrong, or tell it */
    end_group(&group, rc, unsure);
    return true;
}
