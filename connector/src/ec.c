/* SPDX-License-Identifier: Apache-2.0 */
/* Connectors for ec_transfer_params. */
#include "json.h"
#include "names.h"
#include "params.h"
#include "say.h"

#include <stdlib.h>
#include <string.h>

#define CONNECTOR_MAGIC UINT64_C(0x65632d636f6e6e00)
#define REQUEST_MAGIC   UINT64_C(0x65632d7265710000)

/* Not changed between build and free. */
struct kvs_ec_connector {
    uint64_t magic; /* CONNECTOR_MAGIC, until it is freed */
    const struct kvs_known *known;
    struct kvs_settings settings;
};

/* One thread's at a time. */
struct kvs_ec_request {
    uint64_t magic; /* REQUEST_MAGIC, until it is freed */
    const struct kvs_known *known;
    struct kvs_settings settings;
    struct kvs_arena arena; /* of all below, copies of the texts too */
    struct kvs_json *all;   /* the members of all objects that were added, as they came */
    size_t bytes;           /* of the texts */
};

static bool is_connector(const kvs_ec_connector *c)
{
    return c && c->magic == CONNECTOR_MAGIC;
}

static bool is_request(const kvs_ec_request *r)
{
    return r && r->magic == REQUEST_MAGIC;
}

int kvs_ec_connector_build(const char *name, const struct kvs_param_value *params, size_t nparams,
                           kvs_ec_connector **connector, struct kvs_error *err)
{
    if (!connector)
        return kvs_say(err, KVS_INVALID_PARAM, "connector is NULL: there is nowhere to put it");
    *connector = NULL;
    if (!name)
        return kvs_say(err, KVS_INVALID_PARAM, "name is NULL; \"\" stands for the default");
    struct kvs_found found = kvs_names_find(KVS_CONNECTOR_EC, name);
    if (!found.known)
        return kvs_names_unknown(KVS_CONNECTOR_EC, name, err);
    struct kvs_settings settings;
    int status = kvs_settings_read(&settings, found, params, nparams, err);
    if (status != KVS_OK)
        return status;
    kvs_ec_connector *c = malloc(sizeof *c);
    if (!c)
        return kvs_say_memory(err);
    *c = (kvs_ec_connector){.magic = CONNECTOR_MAGIC, .known = found.known, .settings = settings};
    *connector = c;
    return KVS_OK;
}

void kvs_ec_connector_free(kvs_ec_connector *connector)
{
    if (!is_connector(connector))
        return;
    connector->magic = 0;
    free(connector);
}

const char *kvs_ec_connector_name(const kvs_ec_connector *connector)
{
    return is_connector(connector) ? connector->known->name : "";
}

/* ---- Requests ---- */

int kvs_ec_request_begin(const kvs_ec_connector *connector, kvs_ec_request **request, struct kvs_error *err)
{
    if (!request)
        return kvs_say(err, KVS_INVALID_PARAM, "request is NULL: there is nowhere to put it");
    *request = NULL;
    if (!is_connector(connector))
        return kvs_say(err, KVS_INVALID_PARAM, "the connector is no valid handle");
    kvs_ec_request *r = malloc(sizeof *r);
    if (!r)
        return kvs_say_memory(err);
    *r = (kvs_ec_request){.magic = REQUEST_MAGIC, .known = connector->known, .settings = connector->settings};
    r->all = kvs_json_container(&r->arena, KVS_JSON_OBJECT);
    if (!r->all) {
        free(r);
        return kvs_say_memory(err);
    }
    *request = r;
    return KVS_OK;
}

void kvs_ec_request_end(kvs_ec_request *request)
{
    if (!is_request(request))
        return;
    kvs_arena_clear(&request->arena);
    request->magic = 0;
    free(request);
}

static void add_all(kvs_ec_request *r, struct kvs_json *answer)
{
    if (!answer || answer->kind != KVS_JSON_OBJECT || answer->count == 0) {
        kvs_log(KVS_LOG_WARN, "connector",
                "%s: an encoder answered %s for ec_transfer_params, which is left out", r->known->name,
                !answer                           ? "nothing"
                : answer->kind == KVS_JSON_OBJECT ? "an empty object"
                                                  : kvs_json_kind_name(answer));
        return;
    }
    struct kvs_json *next;
    for (struct kvs_json *m = answer->first; m; m = next) {
        next = m->next;
        if (m->kind != KVS_JSON_PLAIN || m->text[0] != 'n') /* null */
            kvs_json_append(r->all, m->name, m->name_len, m);
    }
}

/* Reads a copy of the text into the request's memory, which is as it was where that fails. */
static int read_copy(kvs_ec_request *r, const char *what, const char *input, size_t len,
                     struct kvs_json **root, struct kvs_error *err)
{
    struct kvs_arena arena = {0};
    struct kvs_json_source source = {what, input, len, r->settings.max_input};

    *root = NULL;
    if (input && len > 0 && len <= source.most) {
        char *copy = kvs_arena_get(&arena, len);
        if (!copy)
            return kvs_say_memory(err);
        source.text = memcpy(copy, input, len);
    }
    int status = kvs_json_read(&arena, &source, root, err);
    if (status == KVS_OK && *root) {
        kvs_arena_join(&r->arena, &arena);
        r->bytes += len;
    }
    kvs_arena_clear(&arena);
    return status;
}

int kvs_ec_request_merge(kvs_ec_request *request, const char *input, size_t len, struct kvs_error *err)
{
    struct kvs_json *root;
    if (!is_request(request))
        return kvs_say(err, KVS_INVALID_PARAM, "the request is no valid handle");
    if (!request->known->passes_on)
        return KVS_OK;
    int status = read_copy(request, "an encoder's ec_transfer_params", input, len, &root, err);
    if (status == KVS_OK)
        add_all(request, root);
    return status;
}

int kvs_ec_request_merge_all(kvs_ec_request *request, const char *input, size_t len, struct kvs_error *err)
{
    struct kvs_json *root, *next;
    if (!is_request(request))
        return kvs_say(err, KVS_INVALID_PARAM, "the request is no valid handle");
    if (!request->known->passes_on)
        return KVS_OK;
    int status = read_copy(request, "the encoders' answers", input, len, &root, err);
    if (status != KVS_OK)
        return status;
    if (!root || root->kind != KVS_JSON_ARRAY)
        return kvs_say(err, KVS_INVALID_PARAM, "the encoders' answers: %s; an array is needed",
                       root ? kvs_json_kind_name(root) : "nothing");
    for (struct kvs_json *answer = root->first; answer; answer = next) {
        next = answer->next;
        add_all(request, answer);
    }
    return KVS_OK;
}

/* Copies the members into one object, in order, each name once. They are not the request's own nodes, which
 * keep their places. */
static int flatten(const kvs_ec_request *r, struct kvs_arena *arena, struct kvs_json **object,
                   struct kvs_error *err)
{
    char quoted[256];
    struct kvs_json **members = kvs_json_sorted(arena, r->all);

    *object = kvs_json_container(arena, KVS_JSON_OBJECT);
    if (!members || !*object)
        return kvs_say_memory(err);
    for (uint32_t i = 0; i < r->all->count; i++) {
        struct kvs_json *last = (*object)->last;
        if (last && kvs_json_name_order(last, members[i]) == 0) {
            if (kvs_json_equal(last, members[i]))
                continue;
            return kvs_say(err, KVS_MISMATCH, "two encoders answered different descriptors for mm_hash %s",
                           kvs_say_quoted(quoted, sizeof quoted, last->name, last->name_len));
        }
        struct kvs_json *copy = kvs_json_container(arena, members[i]->kind);
        if (!copy)
            return kvs_say_memory(err);
        *copy = *members[i];
        kvs_json_append(*object, copy->name, copy->name_len, copy);
    }
    return KVS_OK;
}

int kvs_ec_request_prefill(const kvs_ec_request *request, char **json, size_t *len, struct kvs_error *err)
{
    struct kvs_arena arena = {0};
    struct kvs_json *object;

    if (json)
        *json = NULL;
    if (len)
        *len = 0;
    if (!is_request(request) || !json)
        return kvs_say(err, KVS_INVALID_PARAM, "%s",
                       json ? "the request is no valid handle"
                            : "json is NULL: there is nowhere to put the object");
    int status = flatten(request, &arena, &object, err);
    if (status == KVS_OK)
        status = kvs_json_print(object, request->bytes + 64, json, len, err);
    kvs_arena_clear(&arena);
    return status;
}
