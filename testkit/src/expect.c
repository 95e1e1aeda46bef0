/* SPDX-License-Identifier: Apache-2.0 */
#include "expect.h"
#include "caps.h"
#include "say.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX_BYTES 256

struct wanted {
    const char *name;
    uint64_t cap;
};

static void match(void *arg, const char *name, uint64_t cap)
{
    struct wanted *w = arg;
    if (strcmp(name, w->name) == 0)
        w->cap = cap;
}

/* The bit of a capability of that name; 0: there is none. */
static uint64_t cap_of(const char *name)
{
    struct wanted w = {.name = name};
    caps_each(match, &w);
    return w.cap;
}

/* The limits that are numbers. */
#define NUMBERS(XX) XX(min_key) XX(max_key) XX(max_value) XX(max_batch) XX(max_iov)

/* How that is in the store; false: there is nothing of that name. */
static bool value_of(const struct kvs_limits *l, const char *name, char to[32])
{
    uint64_t cap = cap_of(name);
    if (cap)
        snprintf(to, 32, "%s", caps_state(l, cap));
    else if (strcmp(name, "emulated") == 0)
        snprintf(to, 32, "%s", l->flags & KVS_F_EMULATED ? "yes" : "no");
    else if (strcmp(name, "thread_model") == 0)
        snprintf(to, 32, "%s", l->thread_model == KVS_THREADS_PARALLEL ? "parallel" : "serial");
#define NUMBER(member) else if (strcmp(name, #member) == 0) snprintf(to, 32, "%" PRIu64, (uint64_t)l->member);
    NUMBERS(NUMBER)
#undef NUMBER
    else return false;
    return true;
}

static bool is_number(const char *text)
{
    errno = 0;
    char *end;
    strtoull(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && (text[0] != '0' || !text[1]) && *end == '\0' && errno == 0;
}

/* The words that a name can be followed by; NULL: a number. */
static const char *words_of(const char *name)
{
    if (cap_of(name))
        return "native|emulated|none";
    return strcmp(name, "emulated") == 0       ? "yes|no"
           : strcmp(name, "thread_model") == 0 ? "serial|parallel"
                                               : NULL;
}

static bool is_word_of(const char *words, const char *word)
{
    size_t len = strlen(word);
    if (strchr(word, '|'))
        return false;
    for (const char *p = words; p; p = strchr(p, '|') ? strchr(p, '|') + 1 : NULL)
        if (len > 0 && strncmp(p, word, len) == 0 && (p[len] == '|' || p[len] == '\0'))
            return true;
    return false;
}

static int read_line(json_t *all, char *line, struct kvs_error *err)
{
    static const char blanks[] = " \t\r\n";
    static const struct kvs_limits any = {.size = sizeof(any)};
    char *rest = NULL, ignored[32];
    line[strcspn(line, "#")] = '\0';
    const char *name = strtok_r(line, blanks, &rest), *value = strtok_r(NULL, blanks, &rest);
    if (!name)
        return KVS_OK;
    if (!value_of(&any, name, ignored))
        return say(err, KVS_INVALID_PARAM,
                   "'%s' is no capability, and none of emulated, thread_model, min_key, max_key, max_value, "
                   "max_batch, "
                   "max_iov",
                   name);
    const char *words = words_of(name);
    if (!value || strtok_r(NULL, blanks, &rest) || !(words ? is_word_of(words, value) : is_number(value)))
        return say(err, KVS_INVALID_PARAM, "%s has to be followed by %s", name,
                   words ? words : "one whole number");
    if (json_object_get(all, name))
        return say(err, KVS_INVALID_PARAM, "%s is there twice", name);
    if (json_object_set_new(all, name, json_string(value)) != 0)
        return say(err, KVS_NO_MEMORY, "no memory");
    return KVS_OK;
}

static int read_lines(FILE *f, json_t *all, unsigned *number, struct kvs_error *err)
{
    char line[LINE_MAX_BYTES];
    int rc = KVS_OK;
    while (rc == KVS_OK && fgets(line, sizeof(line), f)) {
        ++*number;
        if (strlen(line) == sizeof(line) - 1)
            return say(err, KVS_INVALID_PARAM, "it has more than %d bytes", LINE_MAX_BYTES - 2);
        rc = read_line(all, line, err);
    }
    return rc;
}

int expect_read(const char *file, json_t **out, struct kvs_error *err)
{
    struct kvs_error why = {0};
    unsigned number = 0;
    json_t *all = json_object();
    FILE *f = fopen(file, "re");
    *out = NULL;
    int rc = f && all ? read_lines(f, all, &number, &why) : KVS_OK;
    if (!f || ferror(f))
        rc = say(err, KVS_IO, "the expectation %s cannot be read: %s", file, strerror(errno));
    else if (!all)
        rc = say(err, KVS_NO_MEMORY, "no memory for the expectation %s", file);
    else if (rc != KVS_OK)
        rc = say(err, rc, "the expectation %s, line %u: %s", file, number, why.text);
    else if (json_object_size(all) == 0)
        rc = say(err, KVS_INVALID_PARAM, "the expectation %s expects nothing", file);
    if (f)
        fclose(f);
    if (rc == KVS_OK)
        *out = all;
    else
        json_decref(all);
    return rc;
}

size_t expect_differences(const json_t *expected, const struct kvs_limits *limits, char *text, size_t size)
{
    const char *name;
    json_t *value;
    size_t n = 0, at = 0;
    text[0] = '\0';
    json_object_foreach((json_t *)(uintptr_t)expected, name, value)
    {
        char is[32] = "not known";
        bool known = value_of(limits, name, is);
        if (known && strcmp(is, json_string_value(value)) == 0)
            continue;
        n++;
        if (at < size)
            at += (size_t)snprintf(text + at, size - at, "%s%s is expected to be %s and is %s",
                                   at ? "; " : "", name, json_string_value(value), is);
    }
    return n;
}
