/* SPDX-License-Identifier: Apache-2.0 */
/* Connectors for kv_transfer_params. */
#include "json.h"
#include "names.h"
#include "own.h"
#include "params.h"
#include "room.h"
#include "say.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC UINT64_C(0x6b762d636f6e6e00)

/* Not changed between build and free. */
struct kvs_connector {
    uint64_t magic; /* MAGIC, until it is freed */
    struct kvs_found found;
    struct kvs_settings settings;
    void *state; /* of one's own */
};

static bool is_connector(const kvs_connector *c)
{
    return c && c->magic == MAGIC;
}

/* ---- Building ---- */

static int build_own(kvs_connector *c, const struct kvs_param_value *params, size_t nparams,
                     struct kvs_error *err)
{
    const struct kvs_connector_own *own = c->found.own;
    struct kvs_error why = {0};

    if (!own || !own->build)
        return KVS_OK;
    /* max_input is not theirs. */
    struct kvs_param_value *theirs = calloc(nparams + 1, sizeof *theirs);
    if (!theirs)
        return kvs_say_memory(err);
    size_t n = 0;
    for (size_t i = 0; i < nparams; i++) {
        if (strcmp(params[i].name, kvs_max_input.name) != 0)
            theirs[n++] = params[i];
    }
    int status = own->build(own, theirs, n, &c->state, &why);
    free(theirs);
    if (status == KVS_OK)
        return KVS_OK;
    return kvs_say(err, status < 0 ? status : KVS_BACKEND, "connector '%s' was not built: %.400s", own->name,
                   why.text[0]  ? why.text
                   : status < 0 ? kvs_status_text(status)
                                : "it answered what is no error");
}

int kvs_connector_build(const char *name, const struct kvs_param_value *params, size_t nparams,
                        kvs_connector **connector, struct kvs_error *err)
{
    if (!connector)
        return kvs_say(err, KVS_INVALID_PARAM, "connector is NULL: there is nowhere to put it");
    *connector = NULL;
    if (!name)
        return kvs_say(err, KVS_INVALID_PARAM, "name is NULL; \"\" stands for the default");
    struct kvs_found found = kvs_names_find(KVS_CONNECTOR_KV, name);
    if (!found.known && !found.own)
        return kvs_names_unknown(KVS_CONNECTOR_KV, name, err);
    struct kvs_settings settings;
    int status = kvs_settings_read(&settings, found, params, nparams, err);
    if (status != KVS_OK)
        return status;
    kvs_connector *c = malloc(sizeof *c);
    if (!c)
        return kvs_say_memory(err);
    *c = (kvs_connector){.magic = MAGIC, .found = found, .settings = settings};
    status = build_own(c, params, nparams, err);
    if (status != KVS_OK) {
        free(c);
        return status;
    }
    *connector = c;
    return KVS_OK;
}

void kvs_connector_free(kvs_connector *connector)
{
    if (!is_connector(connector))
        return;
    if (connector->found.own && connector->found.own->destroy)
        connector->found.own->destroy(connector->state);
    connector->magic = 0;
    free(connector);
}

const char *kvs_connector_name(const kvs_connector *connector)
{
    if (!is_connector(connector))
        return "";
    return connector->found.known ? connector->found.known->name : connector->found.own->name;
}

void kvs_connector_text_free(char *json)
{
    free(json);
}

/* ---- What goes into the requests ---- */

static int check_call(const kvs_connector *c, char **json, size_t *len, struct kvs_error *err)
{
    if (json)
        *json = NULL;
    if (len)
        *len = 0;
    if (!is_connector(c))
        return kvs_say(err, KVS_INVALID_PARAM, "the connector is no valid handle");
    if (!json)
        return kvs_say(err, KVS_INVALID_PARAM, "json is NULL: there is nowhere to put the object");
    return KVS_OK;
}

/* `port` and `room` are there as long as the object. */
static bool put_bootstrap(struct kvs_arena *arena, struct kvs_json *object, const char *port,
                          const char *room, bool number)
{
    return kvs_json_put(arena, object, "bootstrap_port", KVS_JSON_PLAIN, port, strlen(port)) &&
           kvs_json_put(arena, object, "bootstrap_room", number ? KVS_JSON_PLAIN : KVS_JSON_STRING, room,
                        strlen(room));
}

static int prefill(const kvs_connector *c, struct kvs_arena *arena, char **json, size_t *len,
                   struct kvs_error *err)
{
    const struct kvs_known *known = c->found.known;
    char room[KVS_ROOM_SIZE], port[16];
    struct kvs_json *object = kvs_json_container(arena, KVS_JSON_OBJECT);
    bool ok = object != NULL;

    for (const struct kvs_fixed *f = known->fixed; ok && f->name; f++)
        ok = kvs_json_put(arena, object, f->name, KVS_JSON_PLAIN, f->json, strlen(f->json));
    if (ok && known->has_room) {
        int status = kvs_room_make(room, c->settings.int_room, err);
        if (status != KVS_OK)
            return status;
        snprintf(port, sizeof port, "%u", c->settings.port);
        ok = put_bootstrap(arena, object, port, room, c->settings.int_room);
    }
    if (!ok || !kvs_json_settle(arena, object))
        return kvs_say_memory(err);
    return kvs_json_print(object, 256, json, len, err);
}

int kvs_connector_prefill(const kvs_connector *connector, char **json, size_t *len, struct kvs_error *err)
{
    struct kvs_arena arena = {0};
    int status = check_call(connector, json, len, err);
    if (status != KVS_OK)
        return status;
    if (connector->found.own)
        return kvs_own_prefill(connector->found.own, connector->state, json, len, err);
    status = prefill(connector, &arena, json, len, err);
    kvs_arena_clear(&arena);
    return status;
}

/* *object: what the prefill handed over, NULL: nothing. */
static int read_input(const kvs_connector *c, struct kvs_arena *arena, const char *input, size_t len,
                      struct kvs_json **object, struct kvs_error *err)
{
    struct kvs_json_source source = {"the prefill's kv_transfer_params", input, len, c->settings.max_input};
    struct kvs_json *root;

    *object = NULL;
    int status = kvs_json_read(arena, &source, &root, err);
    if (status != KVS_OK || !root)
        return status;
    if (root->kind == KVS_JSON_OBJECT)
        *object = root->count > 0 ? root : NULL;
    else
        kvs_log(KVS_LOG_WARN, "connector",
                "%s: the prefill's kv_transfer_params is %s, not an object: "
                "nothing is handed over",
                kvs_connector_name(c), kvs_json_kind_name(root));
    return KVS_OK;
}

/* The flags go last, so that they stand for those of the input. */
static int decode(struct kvs_arena *arena, struct kvs_json *object, size_t guess, char **json, size_t *len,
                  struct kvs_error *err)
{
    if (!object)
        object = kvs_json_container(arena, KVS_JSON_OBJECT);
    if (!object || !kvs_json_put(arena, object, "do_remote_decode", KVS_JSON_PLAIN, "false", 5) ||
        !kvs_json_put(arena, object, "do_remote_prefill", KVS_JSON_PLAIN, "true", 4) ||
        !kvs_json_settle(arena, object))
        return kvs_say_memory(err);
    return kvs_json_print(object, guess, json, len, err);
}

int kvs_connector_decode(const kvs_connector *connector, const char *input, size_t input_len, char **json,
                         size_t *len, int *handoff, struct kvs_error *err)
{
    struct kvs_arena arena = {0};
    struct kvs_json *object = NULL;

    if (handoff)
        *handoff = KVS_HANDOFF_UNUSED;
    int status = check_call(connector, json, len, err);
    if (status != KVS_OK)
        return status;
    const struct kvs_found *found = &connector->found;
    bool reads = found->own || found->known->passes_on;
    if (reads)
        status = read_input(connector, &arena, input, input_len, &object, err);
    int given = !reads ? KVS_HANDOFF_UNUSED : object ? KVS_HANDOFF_GIVEN : KVS_HANDOFF_MISSING;
    if (status == KVS_OK && found->own)
        status = kvs_own_decode(found->own, connector->state, object, json, len, err);
    else if (status == KVS_OK)
        status = decode(&arena, object, (object ? input_len : 0) + 64, json, len, err);
    if (status == KVS_OK && handoff)
        *handoff = given;
    kvs_arena_clear(&arena);
    return status;
}
