/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small store in memory with one deliberate defect, chosen by ROGUE_DEFECT when it is compiled. The
 * conformance suite must catch every one of them, and must find nothing in the one without a defect.
 * testkit/tests/test_rogues.c says which case catches which.
 */
#include "defects.h"
#include <fcntl.h>
#include <kvslot/backend.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const enum defect defect = ROGUE_DEFECT;

struct value {
    struct value *next;
    size_t key_len, len;
    uint8_t *key, *data;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards values and all that hangs on it */
static struct value *values;                             /* one store a process, so that engines share it */
static const struct kvs_host *host;
static char note_file[4096]; /* parameter of the first open; "" : none */

static void note(const char *what, const void *key, size_t len)
{
    FILE *f = note_file[0] ? fopen(note_file, "a") : NULL;
    if (!f)
        return;
    fprintf(f, "%s %.*s\n", what, (int)len, (const char *)key);
    fclose(f);
}

/* The bytes of a key that this store looks at. */
static size_t key_len(const struct kvs_io *io)
{
    if (defect == KEY_CUT_AT_NUL)
        return strnlen(io->key, io->key_len);
    if (defect == KEY_CUT_AT_64 && io->key_len > 64)
        return 64;
    return io->key_len;
}

static struct value **find(const void *key, size_t len)
{
    struct value **at = &values;
    while (*at && ((*at)->key_len != len || memcmp((*at)->key, key, len) != 0))
        at = &(*at)->next;
    return at;
}

static int put(const struct kvs_io *io)
{
    struct value **at = find(io->key, key_len(io)), *v = *at;
    const uint8_t *from = io->iovcnt > 0 ? io->iov[0].iov_base : NULL;
    if (defect == LOST_WRITE || (defect == STALE_READ && v))
        return KVS_OK;
    if (v && (defect == WRITE_ONCE_OK || defect == HONEST_WRITE_ONCE || defect == HONEST_MINIMAL))
        return defect == WRITE_ONCE_OK ? KVS_OK : KVS_EXISTS;
    if (defect == CRASHES_AFTER_WRITE || defect == CRASHES_AFTER_WRITE_LISTED)
        note("written", io->key, io->key_len);
    uint8_t *data = malloc(io->len + 1);
    if (!v) {
        v = calloc(1, sizeof(*v));
        v->key_len = key_len(io);
        v->key = malloc(v->key_len + 1);
        memcpy(v->key, io->key, v->key_len);
        v->next = NULL;
        *at = v;
    }
    if (io->len > 0)
        memcpy(data, from, io->len);
    if (defect == SOURCE_WRITTEN && io->len > 0)
        *(uint8_t *)io->iov[0].iov_base ^= 1;
    free(v->data);
    v->data = data;
    v->len = io->len;
    return KVS_OK;
}

/* SIGSEGV. The address is volatile, else an optimising compiler sees through it and warns. */
static void crash(void)
{
    static int *volatile const nowhere = (int *)(uintptr_t)8;
    *nowhere = 1;
}

static void touch_missing_page(void)
{
    int fd = memfd_create("rogue", MFD_CLOEXEC);
    volatile char *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
    (void)*page; /* behind the end of the file: SIGBUS */
}

static void misbehave_in_get(const struct kvs_io *io)
{
    if (defect == HANG || defect == HANG_IGNORING_TERM)
        for (;;)
            pause();
    if (defect == CRASH_ON_EMPTY && io->len == 0)
        crash();
    if (defect == SIGBUS_ON_LARGE && io->len > 500000)
        touch_missing_page();
    if (defect == CRASHES_AFTER_WRITE || defect == CRASHES_AFTER_WRITE_LISTED)
        abort(); /* a raised signal would wait: workers block all */
    if (defect == EXITS_QUIETLY)
        _exit(0);
    if (defect == EXITS_WITH_7) /* the number of SIGBUS, and a favourite code for "skipped" */
        _exit(7);
}

static int copy_out(const struct value *v, struct kvs_io *io, uint64_t offset)
{
    uint8_t *to = io->iovcnt > 0 ? io->iov[0].iov_base : NULL;
    uint64_t n = v->len < offset ? 0 : v->len - offset;
    n = n < io->len ? n : io->len;
    if (defect == SHORT_READ && n > 1)
        n--;
    if (n > 0)
        memcpy(to, v->data + offset, n);
    if (defect == WRITES_PAST_END && io->len > 0)
        to[io->len] = 0;
    if (defect == WRITES_BEFORE && io->len > 0)
        to[-1] = 0;
    io->actual = io->flags & KVS_IO_RANGED ? n : v->len;
    return KVS_OK;
}

static int get(struct kvs_io *io)
{
    struct value *v = *find(io->key, key_len(io));
    misbehave_in_get(io);
    if (!v || (defect == EMPTY_IS_ABSENT && v->len == 0)) {
        if (defect == BUFFER_TOUCHED && io->len > 0)
            memset(io->iov[0].iov_base, 0, 1);
        return defect == MISSING_IS_OK ? KVS_OK : defect == MISSING_IS_ERROR ? KVS_BACKEND : KVS_NOT_FOUND;
    }
    if (io->flags & KVS_IO_RANGED)
        return copy_out(v, io, defect == OFFSET_IGNORED ? 0 : io->offset);
    if (v->len == io->len)
        return copy_out(v, io, 0);
    if (defect == NO_SIZE_CHECK) {
        copy_out(v, io, 0);
        io->actual = io->len;
        return KVS_OK;
    }
    io->actual = v->len;
    return KVS_OK;
}

static int query(struct kvs_io *io)
{
    struct value *v = *find(io->key, key_len(io));
    io->actual = v ? v->len : 0;
    if (defect == WRONG_QUERY_SIZE || defect == PRINTS_MUCH)
        io->actual++;
    return v || defect == QUERY_LIES ? KVS_OK : KVS_NOT_FOUND;
}

static int drop(const struct kvs_io *io)
{
    struct value **at = find(io->key, key_len(io)), *v = *at;
    if (defect == CRASHES_AFTER_WRITE || defect == CRASHES_AFTER_WRITE_LISTED)
        note("removed", io->key, io->key_len);
    if (!v)
        return KVS_NOT_FOUND;
    if (defect == REMOVE_LIES)
        return KVS_OK;
    *at = v->next;
    free(v->key);
    free(v->data);
    free(v);
    return KVS_OK;
}

static int run(const struct kvs_batch *batch, struct kvs_io *io)
{
    pthread_mutex_lock(&lock);
    int rc = batch->op == KVS_WRITE   ? put(io)
             : batch->op == KVS_READ  ? get(io)
             : batch->op == KVS_QUERY ? query(io)
                                      : drop(io);
    pthread_mutex_unlock(&lock);
    return rc;
}

static int rogue_io(void *eng, void *worker, const struct kvs_batch *batch, struct kvs_io *io)
{
    (void)worker;
    if (defect == LEAKS_SECRET && batch->op == KVS_WRITE) {
        const char *secret = *(const char **)eng;
        printf("connecting with %s\n", secret);
        fprintf(stderr, "password=%s\n", secret);
        host->io_error(io, "the server refused the password %s", secret);
        return KVS_ACCESS;
    }
    return run(batch, io);
}

static int rogue_prep(void *eng, struct kvs_batch *batch)
{
    (void)eng;
    for (uint32_t i = 0; i < batch->count; i++)
        *(uint64_t *)kvs_batch_io(batch, i)->priv = kvs_batch_io(batch, i)->token;
    return KVS_OK;
}

/* The async shape, for defects of completion. */
static int rogue_submit(void *eng, struct kvs_batch *batch)
{
    (void)eng;
    for (uint32_t i = 0; i < batch->count; i++) {
        struct kvs_io *io = kvs_batch_io(batch, i);
        if (defect == NEVER_COMPLETES && batch->op == KVS_READ)
            continue;
        if (defect == COMPLETES_EARLY && batch->op == KVS_READ) {
            host->complete(io, KVS_OK);
            continue;
        }
        uint64_t token = io->token;
        if (defect == RESTS_TOO_EARLY)
            host->complete_rest(batch, KVS_OK);
        if (defect == READS_TOKEN_EARLY)
            host->complete_cb(0, (void *)(uintptr_t) * (uint64_t *)io->priv);
        int status = run(batch, io);
        if (defect == COMPLETES_AGAIN && batch->op == KVS_READ)
            status = KVS_AGAIN;
        if (defect == RESTS_TOO_EARLY)
            host->complete_cb(0, (void *)(uintptr_t)token);
        else
            host->complete(io, status);
        if (defect == COMPLETES_TWICE)
            host->complete(io, KVS_OK);
    }
    return KVS_OK;
}

static int list_notes(int (*each)(void *arg, const void *key, size_t len, uint64_t size), void *arg)
{
    char line[256];
    int rc = KVS_OK;
    FILE *f = fopen(note_file, "r");
    while (f && rc == KVS_OK && fgets(line, sizeof(line), f))
        if (strncmp(line, "written ", 8) == 0)
            rc = each(arg, line + 8, strcspn(line + 8, "\n"), KVS_SIZE_UNKNOWN);
    if (f)
        fclose(f);
    return rc;
}

static int rogue_list(void *eng, const void *prefix, size_t len,
                      int (*each)(void *arg, const void *key, size_t len, uint64_t size), void *arg,
                      uint64_t deadline)
{
    int rc = KVS_OK;
    (void)eng;
    (void)deadline;
    if (defect == CRASHES_AFTER_WRITE_LISTED)
        return list_notes(each, arg);
    pthread_mutex_lock(&lock);
    for (struct value *v = values; v && rc == KVS_OK; v = v->next)
        if (defect == LIST_IGNORES_PREFIX || (v->key_len >= len && memcmp(v->key, prefix, len) == 0))
            rc = each(arg, v->key, v->key_len, v->len);
    pthread_mutex_unlock(&lock);
    return rc;
}

static void note_process(pid_t pid)
{
    char text[16];
    note("process", text, (size_t)snprintf(text, sizeof(text), "%d", (int)pid));
}

/* A process that outlives its parent and holds the parent's output open. */
static void leave_child(void)
{
    pid_t pid = fork();
    if (pid == 0)
        for (;;)
            pause();
    note_process(pid);
}

static void print_much(void)
{
    char line[1024];
    memset(line, 'n', sizeof(line));
    puts("the first line of much");
    for (int i = 0; i < 20000; i++)
        fwrite(line, 1, sizeof(line), stdout);
    puts("\nthe last line of much");
    fflush(stdout);
}

/* Does a file of this process hold the text. */
static bool holds(const char *file, const char *text)
{
    char buf[65536];
    FILE *f = fopen(file, "r");
    size_t n = f ? fread(buf, 1, sizeof(buf), f) : 0;
    if (f)
        fclose(f);
    return memmem(buf, n, text, strlen(text)) != NULL;
}

static int rogue_load(const struct kvs_host *h)
{
    host = h;
    if (defect == HANG_IGNORING_TERM)
        signal(SIGTERM, SIG_IGN);
    return KVS_OK;
}

static int rogue_open(void *eng, void *ctx, struct kvs_limits *limits)
{
    const char *file = NULL;
    (void)limits;
    host->param_str(ctx, "password", (const char **)eng, NULL);
    host->param_str(ctx, "notes", &file, NULL);
    if (file)
        snprintf(note_file, sizeof(note_file), "%s", file);
    if (defect == LEAVES_CHILD)
        leave_child();
    if (defect == HANG_IGNORING_TERM)
        note_process(getpid());
    if (defect == LEAKS_DESCRIPTOR && open("/dev/null", O_RDONLY | O_CLOEXEC) < 0)
        return KVS_IO;
    if (defect == PRINTS_MUCH)
        print_much();
    const char *secret = *(const char **)eng;
    if (defect == LEAKS_SECRET &&
        (holds("/proc/self/cmdline", secret) || holds("/proc/self/environ", secret)))
        abort();
    return defect == OPEN_FAILS ? host->fail(ctx, KVS_ACCESS, "the rogue does not open") : KVS_OK;
}

__attribute__((destructor)) static void unload(void)
{
    if (defect == CRASH_AT_EXIT)
        crash();
    while (values) {
        struct value *v = values;
        values = v->next;
        free(v->key);
        free(v->data);
        free(v);
    }
}

static const struct kvs_param params[] = {
    {.name = "password", .def = "none", .help = "Shown by one of the rogues", .flags = KVS_PARAM_SECRET},
    {.name = "notes", .help = "A file for what some of the rogues have to tell"},
};

#define WRITES_ONCE (ROGUE_DEFECT == WRITE_ONCE_OK || ROGUE_DEFECT == HONEST_WRITE_ONCE)
#define HAS_QUERY   (ROGUE_DEFECT != HONEST_NO_QUERY && ROGUE_DEFECT != HONEST_MINIMAL)
#define HAS_LIST    (ROGUE_DEFECT != CRASHES_AFTER_WRITE && ROGUE_DEFECT != HONEST_MINIMAL)
#define MORE_CAPS                                                                                            \
    ((HAS_QUERY ? KVS_CAP_QUERY | KVS_CAP_QUERY_SIZE : 0) | KVS_CAP_REMOVE | (HAS_LIST ? KVS_CAP_LIST : 0) | \
     KVS_CAP_RANGE | KVS_CAP_SIZE_CHECK | KVS_CAP_READ_ATOMIC | KVS_CAP_CONSISTENCY |                        \
     (WRITES_ONCE ? 0 : KVS_CAP_OVERWRITE))
#define CAPS            (KVS_CAP_READ | KVS_CAP_WRITE | (ROGUE_DEFECT == HONEST_MINIMAL ? 0 : MORE_CAPS))
#define NONE            (ROGUE_DEFECT == HONEST_MINIMAL ? (0xffff & ~(KVS_CAP_READ | KVS_CAP_WRITE)) : 0)
#define SMALL(limit)    (ROGUE_DEFECT == HONEST_SMALL ? (limit) : 0)
#define IF_BLOCKING(fn) (ROGUE_DEFECT < FIRST_ASYNC ? (fn) : NULL)
#define IF_MORE(fn)     (ROGUE_DEFECT < FIRST_ASYNC && ROGUE_DEFECT != HONEST_MINIMAL ? (fn) : NULL)

/* clang-format off */
KVS_BACKEND_DEFINE(rogue, .name = ROGUE_NAME, .version = "1", .summary = "In memory, with one defect at most",
    .params = params, .nparams = sizeof(params) / sizeof(params[0]),
    .thread_model = ROGUE_DEFECT == HONEST_SMALL ? KVS_THREADS_SERIAL : KVS_THREADS_PARALLEL,
    .remote_mems = SMALL(KVS_MEM_MASK(KVS_MEM_OBJECT)), .flags = KVS_F_EMULATED | SMALL(KVS_F_NEEDS_REGISTRATION),
    .caps_native = CAPS, .caps_none = NONE, .max_value = SMALL(100), .max_key = SMALL(34), .max_batch = SMALL(2),
    .engine_priv = sizeof(const char *), .io_priv = sizeof(uint64_t), .load = rogue_load, .open = rogue_open, .prep = rogue_prep,
    .put = IF_BLOCKING(rogue_io), .get = IF_BLOCKING(rogue_io), .query = HAS_QUERY ? IF_BLOCKING(rogue_io) : NULL,
    .remove = IF_MORE(rogue_io), .submit = ROGUE_DEFECT < FIRST_ASYNC ? NULL : rogue_submit,
    .list = HAS_LIST ? rogue_list : NULL)
