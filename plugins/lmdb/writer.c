/* SPDX-License-Identifier: Apache-2.0 */
#include "writer.h"
#include "env.h"
#include "thread.h"

/* What one transaction takes at most. With more than a few MiB the disk would wait until all of it has been
 * copied, and a batch that shares it would wait for the others. */
#define GROUP_BYTES  (UINT64_C(8) << 20)
#define GROUP_IOS    16384u
#define GROUP_SLICES 64u
/* The pages that the trees above the values may take. */
#define TREE_ROOM (UINT64_C(1) << 20)

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
    struct env_text text;
    for (unsigned s = 0; s < count; s++) {
        if (rc != 0)
            explain(env, &slices[s], rc, unsure, &text);
        slice_end(&slices[s], unsure ? KVS_IO : env_status(rc), text.text);
    }
}

/* With the writer's lock held. */
static unsigned take_group(struct writer *writer, struct slice *slices)
{
    uint64_t bytes = 0;
    uint32_t ios = 0;
    unsigned count = 0;
    while (writer->queue.head != NULL && count < GROUP_SLICES && bytes < GROUP_BYTES && ios < GROUP_IOS) {
        const struct job *job = writer->queue.head;
        /* An io is never cut, so that one may be larger than a group: alone, then. */
        if (count > 0 && bytes + kvs_batch_io(job->batch, job->at)->len > GROUP_BYTES)
            break;
        struct slice *slice = &slices[count++];
        bytes += job_slice(&writer->queue, GROUP_BYTES - bytes, GROUP_IOS - ios, slice);
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

static void *writer_main(void *arg)
{
    struct env *env = arg;
    struct writer *writer = &env->writer;
    struct slice slices[GROUP_SLICES];
    pthread_mutex_lock(&writer->lock);
    for (;;) {
        while (writer->queue.head == NULL && !writer->stop) {
            writer->idle = true;
            pthread_cond_wait(&writer->more, &writer->lock);
        }
        writer->idle = false;
        if (writer->queue.head == NULL)
            break;
        unsigned count = take_group(writer, slices);
        pthread_mutex_unlock(&writer->lock);
        count = drop_late(slices, count);
        if (count > 0)
            write_group(env, slices, count);
        pthread_mutex_lock(&writer->lock);
    }
    pthread_mutex_unlock(&writer->lock);
    return NULL;
}

void writer_init(struct writer *writer)
{
    *writer = (struct writer){.started = false};
    pthread_mutex_init(&writer->lock, NULL);
    pthread_cond_init(&writer->more, NULL);
}

void writer_stop(struct writer *writer)
{
    pthread_mutex_lock(&writer->lock);
    writer->stop = true;
    pthread_cond_signal(&writer->more);
    pthread_mutex_unlock(&writer->lock);
    if (writer->started)
        pthread_join(writer->thread, NULL);
    pthread_cond_destroy(&writer->more);
    pthread_mutex_destroy(&writer->lock);
}

int writer_take(struct env *env, struct job *job)
{
    struct writer *writer = &env->writer;
    pthread_mutex_lock(&writer->lock);
    if (!writer->started)
        writer->started = thread_start(&writer->thread, writer_main, env) == 0;
    bool taken = writer->started, wakes = taken && writer->idle;
    if (taken) {
        job_push(&writer->queue, job);
        writer->idle = false;
    }
    pthread_mutex_unlock(&writer->lock);
    if (wakes) /* with the lock it would wake only to wait for it */
        pthread_cond_signal(&writer->more);
    return taken ? KVS_OK : KVS_NO_MEMORY;
}
