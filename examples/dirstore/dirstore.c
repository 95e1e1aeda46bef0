/* SPDX-License-Identifier: Apache-2.0 */
/* The kvslot backend dirstore, from the blocking template: a folder is the store, each value a file in it. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <kvslot/backend.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_KEY   127        /* a file's name is the key in hex, and has at most 255 bytes */
#define MAX_VALUE (1u << 30) /* that one call of read and write moves */

/* What kvslot does for this backend; set once, before anything else runs. */
static const struct kvs_host *host;

struct engine {
    const char *folder; /* lives as long as the engine */
    int64_t lazy;       /* the first put makes the folder */
};

static const struct kvs_param params[] = {
    {.name = "path", .uri = "path", .help = "folder of the values", .flags = KVS_PARAM_REQUIRED},
};

static int status_of(int error)
{
    if (error == ENOSPC || error == EDQUOT || error == EFBIG)
        return KVS_FULL;
    if (error == EACCES || error == EPERM || error == EROFS)
        return KVS_ACCESS;
    return error == ENOENT ? KVS_NOT_FOUND : error == ENOMEM ? KVS_NO_MEMORY : KVS_IO;
}

static int failed(const struct engine *e, struct kvs_io *io, int error)
{
    error = error == ENOENT && !e->lazy && access(e->folder, F_OK) ? EIO : error; /* the store has gone */
    if (error != ENOENT)
        host->io_error(io, "the value's file: %s", strerror(error));
    return status_of(error);
}

struct path {
    char text[4400]; /* more than the system takes: what does not fit into 4096 is its error, not ours */
};

/* Two keys never have one file, and none has a name that starts with a dot. */
static struct path path_of(const struct engine *e, const void *key, size_t len)
{
    struct path path;
    snprintf(path.text, 4096, "%s/", e->folder);
    for (size_t i = 0, at = strlen(path.text); i < len; i++, at += 2)
        sprintf(path.text + at, "%02x", ((const unsigned char *)key)[i]);
    return path;
}

static int dirstore_load(const struct kvs_host *services)
{
    host = services;
    return KVS_OK;
}

static int dirstore_open(void *eng, void *ctx, struct kvs_limits *limits)
{
    struct engine *e = eng;
    (void)limits;
    host->param_str(ctx, "path", &e->folder, NULL);
    host->param_i64(ctx, "connect", &e->lazy);
    if (e->lazy)
        return KVS_OK;
    DIR *dir = mkdir(e->folder, 0700) == 0 || errno == EEXIST ? opendir(e->folder) : NULL;
    if (dir == NULL) /* never NOT_FOUND: that is for keys */
        return host->fail(ctx, errno == EACCES ? KVS_ACCESS : KVS_IO, "folder '%s': %m", e->folder);
    closedir(dir);
    return KVS_OK;
}

static int dirstore_put(void *eng, void *worker, const struct kvs_batch *batch, struct kvs_io *io)
{
    (void)worker, (void)batch;
    const struct engine *e = eng;
    const void *data = io->iovcnt > 0 ? io->iov[0].iov_base : NULL;
    struct path temp = path_of(e, NULL, 0), path = path_of(e, io->key, io->key_len);

    mkdir(e->folder, 0700);
    int fd = mkostemp(strcat(temp.text, ".XXXXXX"), O_CLOEXEC);
    if (fd < 0)
        return failed(eng, io, errno == ENOENT ? EIO : errno);
    errno = ENOSPC; /* what a short write means; readers have the old file or the new one, whole */
    int error = write(fd, data, io->len) == (ssize_t)io->len ? 0 : errno;
    error = close(fd) == 0 || error != 0 ? error : errno;
    error = error != 0 || rename(temp.text, path.text) == 0 ? error : errno;
    if (error != 0)
        unlink(temp.text);
    return error == 0 ? KVS_OK : failed(eng, io, error);
}

static int dirstore_get(void *eng, void *worker, const struct kvs_batch *batch, struct kvs_io *io)
{
    (void)worker, (void)batch;
    struct stat st = {0};
    int fd = open(path_of(eng, io->key, io->key_len).text, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return failed(eng, io, errno);
    int error = fstat(fd, &st) == 0 ? 0 : errno;
    io->actual = (uint64_t)st.st_size;
    if (error == 0 && io->actual == io->len && io->len > 0) {
        errno = EIO; /* what a short read means; one that fails must not touch the caller's memory */
        char *aside = malloc(io->len);
        error = aside != NULL && read(fd, aside, io->len) == (ssize_t)io->len ? 0 : errno;
        if (error == 0)
            memcpy(io->iov[0].iov_base, aside, io->len);
        free(aside);
    }
    close(fd);
    return error == 0 ? KVS_OK : failed(eng, io, error);
}

static int dirstore_query(void *eng, void *worker, const struct kvs_batch *batch, struct kvs_io *io)
{
    (void)worker, (void)batch;
    struct stat st;
    if (stat(path_of(eng, io->key, io->key_len).text, &st) != 0)
        return failed(eng, io, errno);
    io->actual = (uint64_t)st.st_size;
    return KVS_OK;
}

static int dirstore_remove(void *eng, void *worker, const struct kvs_batch *batch, struct kvs_io *io)
{
    (void)worker, (void)batch;
    return unlink(path_of(eng, io->key, io->key_len).text) == 0 ? KVS_OK : failed(eng, io, errno);
}

static int dirstore_list(void *eng, const void *prefix, size_t len,
                         int (*each)(void *arg, const void *key, size_t len, uint64_t size), void *arg,
                         uint64_t deadline_ns)
{
    const struct engine *e = eng;
    unsigned char key[MAX_KEY];
    struct dirent *file;
    struct stat st;
    int answer = KVS_OK;
    DIR *dir = opendir(e->folder);

    if (dir == NULL)
        return errno == ENOENT ? (e->lazy ? KVS_OK : KVS_IO) : status_of(errno);
    while (answer == KVS_OK && (file = readdir(dir)) != NULL) {
        size_t n = 0, size = strlen(file->d_name) / 2;
        while (n < MAX_KEY && n < size && sscanf(file->d_name + 2 * n, "%2hhx", &key[n]) == 1)
            n++;
        struct path path = path_of(e, key, n);
        if (strcmp(strrchr(path.text, '/') + 1, file->d_name) != 0 || stat(path.text, &st) != 0)
            continue; /* no file of a key, or gone meanwhile */
        if (n >= len && memcmp(key, prefix, len) == 0)
            answer = each(arg, key, n, (uint64_t)st.st_size);
        if (answer == KVS_OK && deadline_ns != 0 && host->now_ns() > deadline_ns)
            answer = KVS_TIMEOUT;
    }
    closedir(dir);
    return answer;
}

/* clang-format off */
KVS_BACKEND_DEFINE(dirstore_backend,
                   .name = "dirstore", .version = "0.1.0", .summary = "A folder of files",
                   .params = params, .nparams = sizeof params / sizeof params[0],
                   .thread_model = KVS_THREADS_PARALLEL, .max_key = MAX_KEY, .max_value = MAX_VALUE,
                   .caps_native = KVS_CAP_QUERY | KVS_CAP_QUERY_SIZE | KVS_CAP_REMOVE | KVS_CAP_LIST |
                                  KVS_CAP_OVERWRITE | KVS_CAP_SIZE_CHECK | KVS_CAP_READ_ATOMIC |
                                  KVS_CAP_CONSISTENCY | KVS_CAP_SHARED | KVS_CAP_DURABLE,
                   .engine_priv = sizeof(struct engine),
                   .load = dirstore_load, .open = dirstore_open,
                   .put = dirstore_put, .get = dirstore_get, .query = dirstore_query,
                   .remove = dirstore_remove, .list = dirstore_list)
