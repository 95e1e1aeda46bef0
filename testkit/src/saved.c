/* SPDX-License-Identifier: Apache-2.0 */
#include "saved.h"
#include "say.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static int wrong(struct kvs_error *err, const char *member, const char *needed)
{
    return say(err, KVS_INVALID_PARAM, "member %s has to be %s", member, needed);
}

int saved_outcome(const char *name)
{
    for (int i = KVS_CONFORM_PASS; name && i <= KVS_CONFORM_TIMEOUT; i++)
        if (strcmp(kvs_conform_outcome_name((uint32_t)i), name) == 0)
            return i;
    return -1;
}

int saved_verdict(const char *name)
{
    for (int i = KVS_CONFORM_VERDICT_PASS; name && i <= KVS_CONFORM_VERDICT_FAIL; i++)
        if (strcmp(kvs_conform_verdict_name((uint32_t)i), name) == 0)
            return i;
    return -1;
}

int saved_check_caps(const json_t *caps, struct kvs_error *err)
{
    const char *name;
    json_t *state;
    if (!json_is_object(caps))
        return wrong(err, "capabilities", "an object");
    json_object_foreach((json_t *)(uintptr_t)caps, name, state)
    {
        const char *s = json_string_value(state);
        if (!s || (strcmp(s, "native") != 0 && strcmp(s, "emulated") != 0 && strcmp(s, "none") != 0))
            return say(err, KVS_INVALID_PARAM,
                       "capability %.64s has to be \"native\", \"emulated\" or \"none\"", name);
    }
    return KVS_OK;
}

int saved_check_limits(const json_t *limits, struct kvs_error *err)
{
    const char *name;
    json_t *value;
    if (!json_is_object(limits))
        return wrong(err, "limits", "an object");
    json_object_foreach((json_t *)(uintptr_t)limits, name, value)
    {
        const char *s = json_string_value(value);
        if (strcmp(name, "thread_model") == 0) {
            if (!s || (strcmp(s, "serial") != 0 && strcmp(s, "parallel") != 0))
                return wrong(err, "limits.thread_model", "\"serial\" or \"parallel\"");
        } else if (!json_is_integer(value) || json_integer_value(value) < 0) {
            return say(err, KVS_INVALID_PARAM, "limit %.64s has to be a whole number from 0 on", name);
        }
    }
    return KVS_OK;
}

static int check_cases(struct saved *s, struct kvs_error *err)
{
    size_t i;
    json_t *one, *cases = json_object_get(s->root, "cases");
    if (!json_is_array(cases))
        return wrong(err, "cases", "an array");
    json_array_foreach(cases, i, one)
    {
        const char *id = json_string_value(json_object_get(one, "id"));
        const json_t *ms = json_object_get(one, "duration_ms");
        if (!id || !id[0])
            return say(err, KVS_INVALID_PARAM, "case %zu has no id", i);
        if (saved_outcome(json_string_value(json_object_get(one, "outcome"))) < 0)
            return say(err, KVS_INVALID_PARAM, "case %.64s has no outcome, or one that is not known", id);
        if (!json_is_integer(ms) || json_integer_value(ms) < 0)
            return say(err, KVS_INVALID_PARAM,
                       "case %.64s has no duration_ms, or one that is no whole number", id);
        if (json_object_get(s->by_id, id))
            return say(err, KVS_INVALID_PARAM, "case %.64s is there twice", id);
        if (json_object_set(s->by_id, id, one) != 0)
            return say(err, KVS_NO_MEMORY, "no memory for %zu cases", json_array_size(cases));
    }
    return KVS_OK;
}

static int check(struct saved *s, struct kvs_error *err)
{
    const json_t *format = json_object_get(s->root, "report_format");
    const json_t *backend = json_object_get(s->root, "backend"), *suite = json_object_get(s->root, "suite");
    if (!json_is_object(s->root) || !json_is_integer(format))
        return say(err, KVS_INVALID_PARAM,
                   "it is no report of the conformance suite: there is no report_format");
    if (json_integer_value(format) != SAVED_FORMAT)
        return say(err, KVS_INVALID_PARAM, "its report_format is %lld, and this release reads %d",
                   (long long)json_integer_value(format), SAVED_FORMAT);
    if (saved_verdict(json_string_value(json_object_get(s->root, "verdict"))) < 0)
        return wrong(err, "verdict", "\"pass\", \"partial\" or \"fail\"");
    if (!json_is_string(json_object_get(backend, "name")) ||
        !json_is_string(json_object_get(backend, "version")))
        return wrong(err, "backend", "an object with name and version");
    if (!json_is_string(json_object_get(suite, "version")))
        return wrong(err, "suite", "an object with a version");
    int rc = saved_check_caps(json_object_get(s->root, "capabilities"), err);
    if (rc == KVS_OK)
        rc = saved_check_limits(json_object_get(s->root, "limits"), err);
    return rc == KVS_OK ? check_cases(s, err) : rc;
}

int saved_take(struct saved *s, const char *name, json_t *root, struct kvs_error *err)
{
    struct kvs_error why = {0};
    *s = (struct saved){.file = name, .root = root, .by_id = json_object()};
    int rc = s->by_id ? check(s, &why) : say(&why, KVS_NO_MEMORY, "no memory");
    if (rc == KVS_OK)
        return rc;
    saved_free(s);
    return say(err, rc, "the report %s: %s", name, why.text);
}

int saved_read(struct saved *s, const char *file, struct kvs_error *err)
{
    json_error_t where;
    memset(s, 0, sizeof(*s));
    FILE *f = fopen(file, "re");
    if (!f)
        return say(err, KVS_IO, "the report %s cannot be read: %s", file, strerror(errno));
    json_t *root = json_loadf(f, JSON_REJECT_DUPLICATES, &where);
    bool unread = ferror(f);
    int error = errno;
    fclose(f);
    if (unread) {
        json_decref(root);
        return say(err, KVS_IO, "the report %s cannot be read: %s", file, strerror(error));
    }
    if (!root)
        return say(err, KVS_INVALID_PARAM, "the report %s is no JSON: line %d: %s", file, where.line,
                   where.text);
    return saved_take(s, file, root, err);
}

void saved_free(struct saved *s)
{
    json_decref(s->root);
    json_decref(s->by_id);
    memset(s, 0, sizeof(*s));
}
