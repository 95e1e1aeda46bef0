/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "places.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <kvslot/types.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_FILE    (1 << 20)
#define MAX_MEMBERS 64 /* whose lines are known; more are none of ours */
#define SHOWN       40 /* bytes of a value in a sentence */

/* A file on its way into a config. */
struct reading {
    const char *path;
    struct config *config;
    struct config_text *errors;
    json_t *root;
    struct place places[MAX_MEMBERS];
    size_t nplaces;
    bool no_memory;
};

static void add(struct config_text *to, const char *fmt, ...) KVS_PRINTF(2, 3);
static void add(struct config_text *to, const char *fmt, ...)
{
    va_list args;
    if (to->len >= sizeof(to->text) - 1)
        return;
    va_start(args, fmt);
    int n = vsnprintf(to->text + to->len, sizeof(to->text) - to->len, fmt, args);
    va_end(args);
    if (n > 0)
        to->len += (size_t)n;
    if (to->len >= sizeof(to->text))
        to->len = sizeof(to->text) - 1;
}

static void begin_error(struct reading *r)
{
    if (r->errors->len == 0)
        add(r->errors, "%s: ", r->path);
    else
        add(r->errors, "; ");
}

/* A member, and where it stands; NULL: it is not there. */
static json_t *find(struct reading *r, const char *name, struct place *place)
{
    const char *key;
    json_t *value;
    size_t i = 0;
    json_object_foreach(r->root, key, value) /* in the order of the text */
    {
        if (strcmp(key, name) == 0) {
            *place = i < r->nplaces ? r->places[i] : (struct place){0, "?", 1};
            return value;
        }
        i++;
    }
    return NULL;
}

static void wrong(struct reading *r, const char *name, const struct place *place, const char *expected)
{
    int shown = place->len > SHOWN ? SHOWN : (int)place->len;
    begin_error(r);
    add(r->errors, "line %u: '%s' is %.*s%s; %s is expected", place->line, name, shown, place->text,
        place->len > SHOWN ? "..." : "", expected);
}

static void missing(struct reading *r, const char *name, const char *expected)
{
    begin_error(r);
    add(r->errors, "'%s' is missing; %s is expected", name, expected);
}

static bool read_number(struct reading *r, const char *name, bool required, int64_t min, int64_t max,
                        int64_t *out)
{
    char expected[96];
    struct place place;
    snprintf(expected, sizeof(expected), "a whole number from %" PRId64 " to %" PRId64, min, max);
    const json_t *value = find(r, name, &place);
    if (value == NULL) {
        if (required)
            missing(r, name, expected);
        return false;
    }
    if (!json_is_integer(value) || json_integer_value(value) < min || json_integer_value(value) > max) {
        wrong(r, name, &place, expected);
        return false;
    }
    *out = json_integer_value(value);
    return true;
}

static bool read_u32(struct reading *r, const char *name, bool required, int64_t min, int64_t max,
                     uint32_t *out)
{
    int64_t value = 0;
    if (!read_number(r, name, required, min, max, &value))
        return false;
    *out = (uint32_t)value;
    return true;
}

static bool read_bool(struct reading *r, const char *name, bool *out)
{
    struct place place;
    const json_t *value = find(r, name, &place);
    if (value == NULL)
        return false;
    if (!json_is_boolean(value)) {
        wrong(r, name, &place, "true or false");
        return false;
    }
    *out = json_is_true(value);
    return true;
}

/* NULL: it is not there, or is none. */
static const char *read_text(struct reading *r, const char *name, const char *expected, struct place *place)
{
    const json_t *value = find(r, name, place);
    if (value == NULL)
        missing(r, name, expected);
    else if (!json_is_string(value))
        wrong(r, name, place, expected);
    return json_string_value(value);
}

/* "20,21": empty pieces are skipped. */
static void read_cpus(struct reading *r)
{
    static const char expected[] = "a text of processors' numbers, as \"20,21\"";
    struct place place;
    const char *text = read_text(r, "bind_cpus", expected, &place);
    if (text == NULL)
        return;
    int *cpus = calloc(strlen(text) / 2 + 1, sizeof(*cpus));
    size_t n = 0;
    if (cpus == NULL) {
        r->no_memory = true;
        return;
    }
    for (const char *at = text; *at != '\0';) {
        at += strspn(at, " \t,");
        if (*at == '\0')
            break;
        char *end;
        errno = 0;
        long number = strtol(at, &end, 10);
        const char *next = end + strspn(end, " \t");
        if (*at < '0' || *at > '9' || errno != 0 || number > INT_MAX || (*next != ',' && *next != '\0')) {
            wrong(r, "bind_cpus", &place, expected);
            free(cpus);
            return;
        }
        cpus[n++] = (int)number;
        at = next;
    }
    r->config->cpus = cpus;
    r->config->options.cpus = cpus;
    r->config->options.ncpus = n;
}

static void read_members(struct reading *r)
{
    struct wqskv_options *o = &r->config->options;
    struct place place;
    int64_t threads = 0;
    read_u32(r, "poolid", true, 0, UINT32_MAX, &o->poolid);
    if (read_number(r, "thread_num", true, 1, INT_MAX, &threads))
        o->thread_num = (int32_t)threads;
    static const char modes[] = "\"poll\" or \"event\"";
    const char *mode = read_text(r, "thread_mode", modes, &place);
    o->event = mode != NULL && strcmp(mode, "event") == 0;
    if (mode != NULL && !o->event && strcmp(mode, "poll") != 0)
        wrong(r, "thread_mode", &place, modes);
    const char *conf = read_text(r, "wengine_conf", "a path", &place);
    if (conf != NULL) {
        r->config->conf = strdup(conf);
        r->no_memory = r->no_memory || r->config->conf == NULL;
        o->conf = r->config->conf;
    }
    read_u32(r, "node_id", true, 0, UINT32_MAX, &o->node_id);
    read_u32(r, "bvar_port", true, 0, 65535, &o->bvar_port);
    read_cpus(r);
    read_u32(r, "mem_size", true, 1, UINT32_MAX, &o->mem_size);
    o->has_objsz = read_u32(r, "mempool_objsz", false, 0, UINT32_MAX, &o->objsz);
    o->has_objnum = read_u32(r, "mempool_objnum", false, 0, UINT32_MAX, &o->objnum);
    o->has_round_robin = read_bool(r, "use_round_robin", &o->round_robin);
    read_bool(r, "wds_debug_log", &o->debug_log);
}

static void warn_of_unknown(const struct reading *r, void (*warn)(void *arg, const char *text), void *arg)
{
    static const char *const known[] = {
        "poolid",    "thread_num", "thread_mode",   "wengine_conf",   "node_id",         "bvar_port",
        "bind_cpus", "mem_size",   "mempool_objsz", "mempool_objnum", "use_round_robin", "wds_debug_log"};
    const char *key;
    json_t *value;
    size_t i = 0;
    json_object_foreach(r->root, key, value)
    {
        bool found = false;
        for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++)
            found = found || strcmp(key, known[k]) == 0;
        if (!found) {
            struct config_text text = {"", 0};
            add(&text, "%s: line %u: '%.64s' is no member that is known, and is not used", r->path,
                i < r->nplaces ? r->places[i].line : 0, key);
            warn(arg, text.text);
        }
        i++;
    }
}

static int cannot_read(const char *path, int error, struct config_text *errors)
{
    add(errors, "%s cannot be read: %s; the library's configuration, a JSON file, is expected", path,
        strerror(error));
    if (error == EACCES || error == EPERM)
        return KVS_ACCESS;
    return error == ENOENT || error == ENOTDIR || error == ELOOP || error == ENAMETOOLONG ? KVS_INVALID_PARAM
                                                                                          : KVS_IO;
}

/* The whole file, to be freed. */
static int read_file(const char *path, char **out, size_t *len, struct config_text *errors)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return cannot_read(path, errno, errors);
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > MAX_FILE) {
        add(errors, "%s is no file of up to %d bytes; the library's configuration, a JSON file, is expected",
            path, MAX_FILE);
        close(fd);
        return KVS_INVALID_PARAM;
    }
    char *data = malloc(MAX_FILE);
    ssize_t n = 0;
    *len = 0;
    while (data != NULL && *len < MAX_FILE) {
        n = read(fd, data + *len, MAX_FILE - *len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        *len += (size_t)n;
    }
    int error = n < 0 ? errno : 0;
    close(fd);
    *out = data;
    if (data == NULL)
        return KVS_NO_MEMORY;
    return error != 0 ? cannot_read(path, error, errors) : KVS_OK;
}

static int parse(struct reading *r, const char *data, size_t len)
{
    json_error_t error;
    r->root = json_loadb(data, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (r->root == NULL) {
        add(r->errors, "%s: line %d: %s; JSON is expected", r->path, error.line < 1 ? 1 : error.line,
            error.text);
        return KVS_INVALID_PARAM;
    }
    if (!json_is_object(r->root)) {
        add(r->errors, "%s: line 1: it is no object; {\"poolid\": ...} is expected", r->path);
        return KVS_INVALID_PARAM;
    }
    r->nplaces = places_find(data, len, r->places, MAX_MEMBERS);
    if (r->nplaces > MAX_MEMBERS)
        r->nplaces = MAX_MEMBERS;
    read_members(r);
    if (r->no_memory)
        return KVS_NO_MEMORY;
    return r->errors->len > 0 ? KVS_INVALID_PARAM : KVS_OK;
}

int config_read(const char *path, struct config *config, struct config_text *errors,
                void (*warn)(void *arg, const char *text), void *arg)
{
    struct reading r = {.path = path, .config = config, .errors = errors};
    char *data = NULL;
    size_t len = 0;
    memset(config, 0, sizeof(*config));
    errors->len = 0;
    errors->text[0] = '\0';
    int status = read_file(path, &data, &len, errors);
    if (status == KVS_OK)
        status = parse(&r, data, len);
    if (json_is_object(r.root))
        warn_of_unknown(&r, warn, arg);
    if (status == KVS_NO_MEMORY && errors->len == 0)
        add(errors, "out of memory while '%s' was read", path);
    json_decref(r.root);
    free(data);
    if (status != KVS_OK)
        config_free(config);
    return status;
}

void config_free(struct config *config)
{
    free(config->conf);
    free(config->cpus);
    memset(config, 0, sizeof(*config));
}
