/* SPDX-License-Identifier: Apache-2.0 */
/* kvslot new: a backend's folder, from a template built into the program. */
#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct cmd_option options[] = {
    {"shape", 0, "SHAPE",
     "blocking (put and get that wait; the default), async, or vendor (C++ that calls back)"},
    {"dir", 0, "DIR", "the backend's own folder, which must not exist; default: ./NAME"},
    {NULL, 0, NULL, NULL},
};

/* Names and schemes of what comes with kvslot, now or soon. */
static const char *const taken[] = {"lmdb", "mock", "redis", "rediss", "valkey", "wqskv"};

enum { NAME_MAX_LEN = 32, MAX_FILES = 12 };

/* A folder that is being filled. */
struct scaffold {
    const char *name;
    char ident[NAME_MAX_LEN + 1]; /* the name as a C identifier */
    const char *dir;
    char files[MAX_FILES][PATH_MAX]; /* those that were made, to be taken back */
    int nfiles;
};

static int check_name(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_-";
    size_t len = strlen(name);

    if (len == 0 || name[0] < 'a' || name[0] > 'z' || strspn(name, letters) != len)
        return kvs_cmd_fail(
            CMD_USAGE,
            "the name '%s' cannot be a backend's: it takes a lowercase letter, then a-z, 0-9, _ and -", name);
    if (len > NAME_MAX_LEN)
        return kvs_cmd_fail(CMD_USAGE, "the name '%s' has %zu bytes; at most %d are possible", name, len,
                            NAME_MAX_LEN);
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++) {
        if (strcmp(name, taken[i]) == 0)
            return kvs_cmd_fail(
                CMD_USAGE,
                "the name '%s' is kept for kvslot's own; so are lmdb, mock, redis, rediss, valkey and wqskv",
                name);
    }
    return CMD_OK;
}

static const struct shape {
    const char *name;
    bool common; /* the files for every shape in C alone are for it, too */
    const char *marks;
} shapes[] = {{"blocking", true, ""}, {"async", true, ""}, {"vendor", false, "shim.cpp, then "}};

static const struct shape *find_shape(const char *name)
{
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        if (strcmp(shapes[i].name, name) == 0)
            return &shapes[i];
    kvs_cmd_fail(CMD_USAGE, "there is no shape '%s'; --shape takes blocking, async or vendor", name);
    return NULL;
}

/* What a place in a template stands for; *skip is how long the place is, 0 where there is none. */
static const char *replacement(const struct scaffold *s, const char *at, size_t left, size_t *skip)
{
    static char version[24];
    snprintf(version, sizeof version, "%d.%d", KVS_VERSION_MAJOR, KVS_VERSION_MINOR);
    const struct {
        const char *mark, *text;
    } marks[] = {{"@NAME@", s->name}, {"@IDENT@", s->ident}, {"@VERSION@", version}};

    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        size_t len = strlen(marks[i].mark);
        if (left >= len && memcmp(at, marks[i].mark, len) == 0) {
            *skip = len;
            return marks[i].text;
        }
    }
    *skip = 0;
    return NULL;
}

static void render(const struct scaffold *s, const char *data, size_t len, FILE *out)
{
    for (size_t i = 0, skip; i < len; i += skip) {
        const char *text = replacement(s, data + i, len - i, &skip);
        if (text) {
            fputs(text, out);
        } else {
            putc(data[i], out);
            skip = 1;
        }
    }
}

static int write_file(struct scaffold *s, const struct cmd_template *t)
{
    char *path = s->files[s->nfiles];
    int used = snprintf(path, PATH_MAX, "%s/", s->dir);

    FILE *names = used < PATH_MAX ? fmemopen(path + used, (size_t)(PATH_MAX - used), "w") : NULL;
    if (!names)
        return kvs_cmd_fail(CMD_FAILED, "the folder name '%s' is too long", s->dir);
    render(s, t->file, strlen(t->file), names);
    bool ended = fputc('\0', names) == 0;
    if (fclose(names) != 0 || !ended)
        return kvs_cmd_fail(CMD_FAILED, "the folder name '%s' is too long", s->dir);

    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd == -1)
        return kvs_cmd_fail(CMD_FAILED, "%s cannot be made: %s", path, strerror(errno));
    s->nfiles++;
    FILE *out = fdopen(fd, "w");
    if (!out) {
        close(fd);
        return kvs_cmd_fail(CMD_FAILED, "out of memory");
    }
    render(s, (const char *)t->data, t->len, out);
    bool failed = ferror(out);
    if (fclose(out) != 0 || failed)
        return kvs_cmd_fail(CMD_FAILED, "%s cannot be written: %s", path, strerror(errno));
    return CMD_OK;
}

static void take_back(const struct scaffold *s)
{
    for (int i = 0; i < s->nfiles; i++)
        unlink(s->files[i]);
    rmdir(s->dir);
}

/* Where kvslot is installed, if it is, and CMake would not look there by itself. */
static bool find_prefix(char *prefix, size_t size)
{
    ssize_t len = readlink("/proc/self/exe", prefix, size - 1);

    if (len <= 0)
        return false;
    prefix[len] = '\0';
    for (int i = 0; i < 2; i++) { /* .../bin/kvslot */
        char *slash = strrchr(prefix, '/');
        if (!slash)
            return false;
        *slash = '\0';
    }
    char header[PATH_MAX + 32];
    snprintf(header, sizeof header, "%s/include/kvslot/backend.h", prefix);
    return access(header, R_OK) == 0 && strcmp(prefix, "/usr") != 0 && strcmp(prefix, "/usr/local") != 0;
}

static void next_steps(const struct scaffold *s, const struct shape *shape)
{
    char prefix[PATH_MAX];
    bool elsewhere = find_prefix(prefix, sizeof prefix);

    for (int i = 0; i < s->nfiles; i++)
        printf("made %s\n", s->files[i]);
    printf("\nIt works as it is, in memory. To build and check it:\n\n"
           "  cmake -S %s -B %s/build%s%s\n"
           "  cmake --build %s/build\n"
           "  %s%skvslot conform %s/build/kvslot-%s.so\n\n"
           "Then follow the marks 'EDIT 1', 'EDIT 2', ... in %s/%s%s.c.\n",
           s->dir, s->dir, elsewhere ? " -DCMAKE_PREFIX_PATH=" : "", elsewhere ? prefix : "", s->dir,
           elsewhere ? prefix : "", elsewhere ? "/bin/" : "", s->dir, s->name, s->dir, shape->marks, s->name);
}

static int fill(struct scaffold *s, const struct shape *shape)
{
    for (const struct cmd_template *t = kvs_cmd_templates; t->shape; t++) {
        if (strcmp(t->shape, shape->name) != 0 && !(shape->common && strcmp(t->shape, "common") == 0))
            continue;
        int code = write_file(s, t);
        if (code != CMD_OK)
            return code;
    }
    return CMD_OK;
}

static int run(struct cmd_call *call)
{
    const char *name = call->operands[0];
    const char *wanted = kvs_cmd_option(call, "shape");
    const char *dir = kvs_cmd_option(call, "dir");
    char beside[NAME_MAX_LEN + 3];

    int code = check_name(name);
    if (code != CMD_OK)
        return code;
    const struct shape *shape = find_shape(wanted ? wanted : "blocking");
    if (!shape)
        return CMD_USAGE;
    snprintf(beside, sizeof beside, "./%s", name);

    struct scaffold *s = calloc(1, sizeof *s);
    if (!s)
        return kvs_cmd_fail(CMD_FAILED, "out of memory");
    s->name = name;
    s->dir = dir ? dir : beside;
    for (size_t i = 0; name[i]; i++)
        s->ident[i] = name[i] == '-' ? '_' : name[i];
    if (mkdir(s->dir, 0777) != 0) {
        code = kvs_cmd_fail(CMD_FAILED, "the folder %s cannot be made: %s%s", s->dir, strerror(errno),
                            errno == EEXIST && !dir ? "; --dir takes another" : "");
    } else {
        code = fill(s, shape);
        if (code == CMD_OK)
            next_steps(s, shape);
        else
            take_back(s);
    }
    free(s);
    return code;
}

const struct cmd kvs_cmd_new = {
    .name = "new",
    .operands = "NAME",
    .summary = "start a backend of your own from a template",
    .help = "Makes a folder with a backend that builds and passes the conformance suite before any edit; "
            "numbered marks\n"
            "in it say what to replace. NAME has at most 32 characters: a letter, then a-z, 0-9, _ and -.",
    .options = options,
    .min = 1,
    .max = 1,
    .no_params = true,
    .run = run,
};
