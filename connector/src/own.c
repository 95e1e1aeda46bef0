/* SPDX-License-Identifier: Apache-2.0 */
#include "own.h"

#include "names.h"
#include "say.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    const struct kvs_connector_own *own;
    struct entry *next; /* does not change once it is in the list */
};

/* Entries are only put in front, and stay. */
static _Atomic(struct entry *) list;

const struct kvs_connector_own *kvs_own_find(const char *name)
{
    for (struct entry *e = atomic_load_explicit(&list, memory_order_acquire); e; e = e->next) {
        if (strcmp(e->own->name, name) == 0)
            return e->own;
    }
    return NULL;
}

const struct kvs_connector_own *kvs_own_after(const char *name)
{
    const struct kvs_connector_own *first = NULL;
    for (struct entry *e = atomic_load_explicit(&list, memory_order_acquire); e; e = e->next) {
        if (strcmp(e->own->name, name) > 0 && (!first || strcmp(e->own->name, first->name) < 0))
            first = e->own;
    }
    return first;
}

/* ---- Registering ---- */

static bool is_name(const char *name)
{
    static const char rest[] = "abcdefghijklmnopqrstuvwxyz0123456789_-";
    size_t len = strspn(name, rest);
    return name[0] >= 'a' && name[0] <= 'z' && len <= 63 && name[len] == '\0';
}

static int check_params(const struct kvs_connector_own *own, struct kvs_error *err)
{
    if (own->nparams == 0)
        return KVS_OK;
    if (!own->params || own->param_size != sizeof(struct kvs_param))
        return kvs_say(err, KVS_INVALID_PARAM,
                       "connector '%s': param_size is %zu, with params at %p; %zu and an address are needed",
                       own->name, own->param_size, (const void *)own->params, sizeof(struct kvs_param));
    for (size_t i = 0; i < own->nparams; i++) {
        const char *name = own->params[i].name;
        if (!name || strcmp(name, kvs_max_input.name) == 0)
            return kvs_say(err, KVS_INVALID_PARAM, "connector '%s': parameter %zu is called %s", own->name, i,
                           name ? "max_input, which all connectors have" : "NULL");
    }
    return KVS_OK;
}

static int check(const struct kvs_connector_own *own, struct kvs_error *err)
{
    char quoted[128];
    if (!own)
        return kvs_say(err, KVS_INVALID_PARAM, "the connector to register is NULL");
    if (own->size != sizeof *own)
        return kvs_say(err, KVS_INVALID_PARAM,
                       "the connector to register has %u bytes, and this library's have %zu", own->size,
                       sizeof *own);
    if (!own->name || !is_name(own->name))
        return kvs_say(err, KVS_INVALID_PARAM,
                       "a connector is called %s; a name is a lowercase letter, then up to 62 of a-z, 0-9, "
                       "_ and -",
                       own->name ? kvs_say_quoted(quoted, sizeof quoted, own->name, strlen(own->name))
                                 : "NULL");
    if (!own->prefill || !own->decode)
        return kvs_say(err, KVS_INVALID_PARAM, "connector '%s' has no %s function", own->name,
                       own->prefill ? "decode" : "prefill");
    return check_params(own, err);
}

int kvs_connector_register(const struct kvs_connector_own *own, struct kvs_error *err)
{
    int status = check(own, err);
    if (status != KVS_OK)
        return status;
    struct entry *entry = malloc(sizeof *entry);
    if (!entry)
        return kvs_say_memory(err);
    entry->own = own;
    entry->next = atomic_load_explicit(&list, memory_order_acquire);
    do { /* again where another thread was first: it may have taken the name */
        struct kvs_found found = kvs_names_find(KVS_CONNECTOR_KV, own->name);
        if (found.own == own) {
            free(entry);
            return KVS_OK;
        }
        if (found.own || found.known) {
            free(entry);
            return kvs_say(err, KVS_INVALID_PARAM, "there is a connector '%s' already", own->name);
        }
    } while (!atomic_compare_exchange_strong_explicit(&list, &entry->next, entry, memory_order_acq_rel,
                                                      memory_order_acquire));
    return KVS_OK;
}

/* ---- Calling ---- */

int kvs_connector_answer_set(kvs_connector_answer *answer, const char *json, size_t len)
{
    if (!answer || !json)
        return KVS_INVALID_PARAM;
    char *copy = malloc(len + 1);
    if (!copy)
        return KVS_NO_MEMORY;
    memcpy(copy, json, len);
    copy[len] = '\0';
    free(answer->json);
    answer->json = copy;
    answer->len = len;
    return KVS_OK;
}

/* The status of a function of theirs that answered one. */
static int theirs(const struct kvs_connector_own *own, const char *what, int status,
                  const struct kvs_error *own_err, struct kvs_error *err)
{
    if (status > 0)
        return kvs_say(err, KVS_BACKEND, "connector '%s': %s answered %d, which is no error", own->name, what,
                       status);
    return kvs_say(err, status, "connector '%s': %.400s", own->name,
                   own_err->text[0] ? own_err->text : kvs_status_text(status));
}

/* Makes *json of what was left. */
static int take(const struct kvs_connector_own *own, const char *what, const kvs_connector_answer *answer,
                char **json, size_t *len, struct kvs_error *err)
{
    struct kvs_arena arena = {0};
    struct kvs_error why = {0};
    struct kvs_json *root;
    struct kvs_json_source source = {"its object", answer->json, answer->len, SIZE_MAX};
    int status = kvs_json_read(&arena, &source, &root, &why);
    if (status == KVS_OK && root && root->kind == KVS_JSON_OBJECT)
        status = kvs_json_print(root, answer->len + 1, json, len, err);
    else if (status == KVS_OK)
        status = kvs_say(err, KVS_BACKEND, "connector '%s': %s left %s, not an object", own->name, what,
                         root ? kvs_json_kind_name(root) : "nothing");
    else if (status == KVS_NO_MEMORY)
        status = kvs_say_memory(err);
    else
        status = kvs_say(err, KVS_BACKEND, "connector '%s': %s left %.400s", own->name, what, why.text);
    kvs_arena_clear(&arena);
    return status;
}

int kvs_own_prefill(const struct kvs_connector_own *own, void *state, char **json, size_t *len,
                    struct kvs_error *err)
{
    struct kvs_connector_answer answer = {0};
    struct kvs_error own_err = {0};
    int status = own->prefill(state, &answer, &own_err);
    if (status != KVS_OK)
        status = theirs(own, "prefill", status, &own_err, err);
    else
        status = take(own, "prefill", &answer, json, len, err);
    free(answer.json);
    return status;
}

int kvs_own_decode(const struct kvs_connector_own *own, void *state, const struct kvs_json *input,
                   char **json, size_t *len, struct kvs_error *err)
{
    struct kvs_connector_answer answer = {0};
    struct kvs_error own_err = {0};
    char *text = NULL;
    size_t text_len = 0;
    int status = input ? kvs_json_print(input, 0, &text, &text_len, err) : KVS_OK;
    if (status != KVS_OK)
        return status;
    status = own->decode(state, text, text_len, &answer, &own_err);
    if (status != KVS_OK)
        status = theirs(own, "decode", status, &own_err, err);
    else
        status = take(own, "decode", &answer, json, len, err);
    free(answer.json);
    free(text);
    return status;
}
