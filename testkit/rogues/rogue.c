/* SPDX-License-Identifier: Apache-2.0 */
/* The rogue's tables, and what it does on opening and closing. The conformance suite must catch every defect,
 * and must find nothing where there is none. */
#include "rogue.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef ROGUE_NAME
#define ROGUE_NAME "rogue"
#endif
#define IS(name) (rogue_defect == ROGUE_##name)

_Atomic enum defect rogue_defect;
const struct kvs_host *rogue_host;
char rogue_notes[4096];
static unsigned engines; /* guarded by rogue_lock */

static int rogue_load(const struct kvs_host *host)
{
    rogue_host = host;
    return KVS_OK;
}

static int64_t number(void *ctx, const char *name)
{
    int64_t value = 0;
    rogue_host->param_i64(ctx, name, &value);
    return value;
}

/* By place in `choices`, which is the order of enum defect without the marks. */
static enum defect nth_defect(int64_t n)
{
#define PLACE(name, ...) ROGUE_##name,
    static const enum defect all[] = {HONEST_BLOCKING(PLACE) DEFECTS_BLOCKING(PLACE) DEFECTS_LEAKS(PLACE)
                                          DEFECTS_OF_PROCESSES(PLACE) HONEST_ASYNC(PLACE) DEFECTS_ASYNC(PLACE)
                                              HONEST_THREAD(PLACE) DEFECTS_THREAD(PLACE) HONEST_POLL(PLACE)
                                                  DEFECTS_POLL(PLACE)};
#undef PLACE
    return all[n];
}

static void lose(struct kvs_limits *limits, uint64_t caps)
{
    limits->caps_native &= ~caps;
    limits->caps_none |= caps;
}

/* What the defect can do beyond what it has to be caught at. */
static void limit(struct kvs_limits *limits)
{
    bool both = limits->caps_native & KVS_CAP_CANCEL; /* the table with both shapes */
    if (both && rogue_defect < FIRST_ASYNC)
        limits->flags |= KVS_F_USE_BLOCKING;
    else if (both && rogue_defect < FIRST_POLL)
        limits->flags |= KVS_F_NO_POLL;
    if (rogue_defect < FIRST_POLL)
        lose(limits, KVS_CAP_CANCEL);
    if (IS(write_once) || IS(write_once_ok) || IS(exists_is_backend))
        lose(limits, KVS_CAP_OVERWRITE);
    if (IS(crashes_after_write))
        lose(limits, KVS_CAP_LIST);
    if (!IS(claims_durable) && !IS(lost_on_reopen))
        lose(limits, KVS_CAP_DURABLE);
    if (!IS(claims_shared))
        lose(limits, KVS_CAP_SHARED);
    if (!IS(claims_ttl))
        lose(limits, KVS_CAP_TTL);
    if (!IS(claims_query_local) && !IS(unknown_is_absent))
        lose(limits, KVS_CAP_QUERY_LOCAL);
    if (IS(claims_value))
        limits->max_value = 1u << 20;
    if (IS(widens_limits))
        limits->max_batch = 2 * limits->max_batch;
}

static void leak(void)
{
    void *volatile lost = NULL;
    if (IS(leaks_descriptor))
        rogue_leak_descriptor();
    if (IS(leaks_memory))
        lost = malloc(1000);
    if (IS(leaks_mapping))
        lost = mmap(NULL, 1u << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (IS(leaks_thread))
        rogue_leak_thread();
    (void)lost;
}

static void misbehave_in_open(const char *secret)
{
    leak();
    if (IS(leaves_child) || IS(hang_ignoring_term))
        rogue_leave_child();
    if (IS(hang_ignoring_term))
        signal(SIGTERM, SIG_IGN);
    if (IS(prints_much))
        rogue_print_much();
    if (IS(leaks_secret) &&
        (rogue_file_holds("/proc/self/cmdline", secret) || rogue_file_holds("/proc/self/environ", secret)))
        abort();
}

/* Is the store there, and is the password right. */
static int connect_now(struct rogue_engine *e)
{
    static pid_t connected_by; /* guarded by rogue_lock */
    bool denied = e->password && strcmp(e->password, "wrong") == 0;
    if (e->server && access(e->server, F_OK) != 0 && !IS(opens_anyway))
        return rogue_host->fail(e->ctx, KVS_DISCONNECTED, "there is no store at %s", e->server);
    if (denied)
        return rogue_host->fail(e->ctx, IS(denied_is_backend) ? KVS_BACKEND : KVS_ACCESS,
                                "the password is wrong");
    pthread_mutex_lock(&rogue_lock);
    connected_by = connected_by ? connected_by : getpid();
    bool taken = IS(table_survives_fork) && connected_by != getpid();
    pthread_mutex_unlock(&rogue_lock);
    return taken ? rogue_host->fail(e->ctx, KVS_DISCONNECTED, "the parent has the connection") : KVS_OK;
}

/* The folder that it is told to have, which it has no use for. */
static int have_folder(void *ctx)
{
    const char *path = NULL;
    rogue_host->param_str(ctx, "path", &path, NULL);
    if (!path || access(path, F_OK) == 0)
        return KVS_OK;
    if (number(ctx, "create") == 0 && !IS(ignores_create))
        return rogue_host->fail(ctx, KVS_NOT_FOUND, "there is no folder '%s', and create=no", path);
    if (mkdir(path, 0700) != 0)
        return rogue_host->fail(ctx, KVS_IO, "folder '%s' cannot be made: %s", path, strerror(errno));
    return KVS_OK;
}

static int check_level(void *ctx)
{
    int64_t level = number(ctx, "level");
    if (IS(crashes_at_bound) && level == 10)
        rogue_crash();
    return IS(refuses_silently) && level == 10 ? KVS_INVALID_PARAM : KVS_OK;
}

static int rogue_open(void *eng, void *ctx, struct kvs_limits *limits)
{
    struct rogue_engine *e = eng;
    const char *file = NULL;
    e->ctx = ctx;
    rogue_defect = nth_defect(number(ctx, "defect"));
    rogue_host->param_str(ctx, "password", &e->password, NULL);
    rogue_host->param_str(ctx, "server", &e->server, NULL);
    rogue_host->param_str(ctx, "notes", &file, NULL);
    e->capacity = (uint64_t)number(ctx, "capacity");
    if (file && !rogue_notes[0])
        snprintf(rogue_notes, sizeof(rogue_notes), "%s", file);
    bool lazy = number(ctx, "connect") != 0 && !IS(connects_when_lazy);
    int rc = check_level(ctx);
    if (rc == KVS_OK)
        rc = have_folder(ctx);
    if (rc == KVS_OK && !lazy)
        rc = connect_now(e);
    if (rc == KVS_OK && IS(open_fails))
        rc = rogue_host->fail(ctx, KVS_ACCESS, "the rogue does not open");
    if (rc != KVS_OK)
        return rc;
    limit(limits);
    e->fd = -1;
    if (rogue_defect >= FIRST_POLL && (e->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) < 0)
        return rogue_host->fail(ctx, KVS_NO_MEMORY, "no eventfd: %s", strerror(errno));
    TAILQ_INIT(&e->queue);
    pthread_mutex_init(&e->guard, NULL);
    misbehave_in_open(e->password);
    pthread_mutex_lock(&rogue_lock);
    engines++;
    pthread_mutex_unlock(&rogue_lock);
    return KVS_OK;
}

static void rogue_close(void *eng)
{
    struct rogue_engine *e = eng;
    static _Atomic unsigned closed;
    if (++closed > 1 && IS(hangs_on_close))
        rogue_hang();
    if (e->fd >= 0)
        close(e->fd);
    pthread_mutex_destroy(&e->guard);
    pthread_mutex_lock(&rogue_lock);
    if (IS(own_store))
        rogue_forget(e);
    if (--engines == 0 && IS(lost_on_reopen))
        rogue_forget(NULL);
    if (engines == 0)
        rogue_put_back(); /* of which there is nothing but with removed_comes_back */
    pthread_mutex_unlock(&rogue_lock);
}

static int rogue_io_blocking(void *eng, void *worker, const struct kvs_batch *batch, struct kvs_io *io)
{
    (void)worker;
    return rogue_run(eng, batch, io);
}

/* Only memory that was registered can be used as registered memory. */
static int rogue_register(void *eng, void *mem_priv, uint32_t type, const struct kvs_desc *desc)
{
    (void)eng;
    (void)type;
    (void)desc;
    *(uint64_t *)mem_priv = !IS(registers_silently);
    return KVS_OK;
}

__attribute__((destructor)) static void unload(void)
{
    if (IS(crash_at_exit))
        rogue_crash();
    pthread_mutex_lock(&rogue_lock);
    rogue_put_back();
    rogue_forget(NULL);
    pthread_mutex_unlock(&rogue_lock);
}

#define CHOICE(name, ...) "|" #name
#define CHOICES                                                                                              \
    "none|write_once" DEFECTS_BLOCKING(CHOICE) DEFECTS_LEAKS(CHOICE) DEFECTS_OF_PROCESSES(CHOICE)            \
        HONEST_ASYNC(CHOICE) DEFECTS_ASYNC(CHOICE) HONEST_THREAD(CHOICE) DEFECTS_THREAD(CHOICE)              \
            HONEST_POLL(CHOICE) DEFECTS_POLL(CHOICE)

static const struct kvs_param params[] = {
    {.name = "defect",
     .def = "none",
     .choices = CHOICES,
     .help = "what it does wrong",
     .type = KVS_PARAM_ENUM},
    {.name = "password", .def = "none", .help = "'wrong' is refused", .flags = KVS_PARAM_SECRET},
    {.name = "notes", .help = "a file for what some defects have to tell"},
    {.name = "server",
     .help = "a file: the store is there as long as it exists, and hangs while it holds 'paused'"},
    {.name = "capacity", .def = "0", .help = "of all values; 0: no limit", .type = KVS_PARAM_SIZE},
    {.name = "path", .help = "a folder that has to be there"},
    {.name = "create", .def = "yes", .help = "makes it", .type = KVS_PARAM_BOOL},
    {.name = "level", .def = "5", .min = 1, .max = 10, .help = "means nothing", .type = KVS_PARAM_INT},
};

#define PARAMS     .params = params, .nparams = sizeof(params) / sizeof(params[0])
#define BASIC_CAPS (KVS_CAP_READ | KVS_CAP_WRITE)
#define CAPS                                                                                                 \
    (BASIC_CAPS | KVS_CAP_REMOVE | KVS_CAP_LIST | KVS_CAP_RANGE | KVS_CAP_OVERWRITE | KVS_CAP_SIZE_CHECK |   \
     KVS_CAP_READ_ATOMIC | KVS_CAP_CONSISTENCY)
#define QUERY_CAPS (KVS_CAP_QUERY | KVS_CAP_QUERY_SIZE)
#define CLAIMED    (KVS_CAP_CANCEL | KVS_CAP_DURABLE | KVS_CAP_SHARED | KVS_CAP_TTL | KVS_CAP_QUERY_LOCAL)
#define BLOCKING                                                                                             \
    .load = rogue_load, .open = rogue_open, .close = rogue_close, .put = rogue_io_blocking,                  \
    .get = rogue_io_blocking

/* clang-format off */
KVS_BACKEND_DEFINE(kvs_rogue_backend, .name = ROGUE_NAME, .version = "1", .summary = "In memory, with one defect at most",
    PARAMS, BLOCKING, .thread_model = KVS_THREADS_PARALLEL, .flags = KVS_F_EMULATED, .max_batch = 65536,
    .caps_native = CAPS | QUERY_CAPS | CLAIMED, .engine_priv = sizeof(struct rogue_engine), .io_priv = sizeof(struct rogue_io),
    .query = rogue_io_blocking, .remove = rogue_io_blocking, .mem_priv = sizeof(uint64_t), .on_register = rogue_register, .prep = rogue_prep, .submit = rogue_submit,
    .cancel = rogue_cancel, .poll = rogue_poll, .poll_fd = rogue_poll_fd, .list = rogue_list)

#ifdef KVS_BACKEND_STATIC
/* Honest stores that can do less than others. */
KVS_BACKEND_DEFINE(kvs_rogue_minimal, .name = "rogue-minimal", .version = "1", .summary = "READ and WRITE once, and nothing else",
    PARAMS, BLOCKING, .thread_model = KVS_THREADS_PARALLEL, .flags = KVS_F_EMULATED, .caps_native = BASIC_CAPS,
    .caps_none = 0xffff & ~BASIC_CAPS, .engine_priv = sizeof(struct rogue_engine))

KVS_BACKEND_DEFINE(kvs_rogue_no_query, .name = "rogue-no-query", .version = "1", .summary = "QUERY is the SDK's to emulate",
    PARAMS, BLOCKING, .thread_model = KVS_THREADS_PARALLEL, .flags = KVS_F_EMULATED, .caps_native = CAPS,
    .engine_priv = sizeof(struct rogue_engine), .remove = rogue_io_blocking, .list = rogue_list)

KVS_BACKEND_DEFINE(kvs_rogue_small, .name = "rogue-small", .version = "1", .summary = "Small limits, serial, memory must be registered",
    PARAMS, BLOCKING, .thread_model = KVS_THREADS_SERIAL, .remote_mems = KVS_MEM_MASK(KVS_MEM_OBJECT),
    .flags = KVS_F_EMULATED | KVS_F_NEEDS_REGISTRATION, .caps_native = CAPS | QUERY_CAPS, .max_value = 100, .max_key = 34,
    .max_batch = 2, .engine_priv = sizeof(struct rogue_engine), .mem_priv = sizeof(uint64_t),
    .query = rogue_io_blocking, .remove = rogue_io_blocking, .on_register = rogue_register, .list = rogue_list)

/* Those whose defect stands in the table. */
KVS_BACKEND_DEFINE(kvs_rogue_real, .name = "rogue-real", .version = "1", .summary = "Does not say that it is no real store",
    PARAMS, BLOCKING, .thread_model = KVS_THREADS_PARALLEL, .caps_native = CAPS | QUERY_CAPS,
    .engine_priv = sizeof(struct rogue_engine), .query = rogue_io_blocking, .remove = rogue_io_blocking, .list = rogue_list)

KVS_BACKEND_DEFINE(kvs_rogue_no_shape, .name = "rogue-no-shape", .version = "1", .summary = "Has nothing to read and write with",
    PARAMS, .load = rogue_load, .open = rogue_open, .close = rogue_close, .flags = KVS_F_EMULATED,
    .caps_native = BASIC_CAPS, .engine_priv = sizeof(struct rogue_engine))
#endif
