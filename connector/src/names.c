/* SPDX-License-Identifier: Apache-2.0 */
#include "names.h"

#include "own.h"
#include "say.h"
#include <string.h>

#define MAX_INPUT                                                                                            \
    {                                                                                                        \
        .name = "max_input", .def = "1MiB", .type = KVS_PARAM_SIZE, .min = 1, .max = 1 << 30,                \
        .help = "most bytes of an input", .since = "0.1"                                                     \
    }

const struct kvs_param kvs_max_input = MAX_INPUT;

static const struct kvs_param plain_params[] = {MAX_INPUT};

static const struct kvs_param sglang_params[] = {
    {.name = "bootstrap_port",
     .def = "8998",
     .env = "SGLANG_BOOTSTRAP_PORT",
     .type = KVS_PARAM_INT,
     .min = 1,
     .max = 65535,
     .help = "port of the prefill pod's bootstrap server",
     .since = "0.1"},
    MAX_INPUT,
    {.name = "room",
     .def = "uuid",
     .type = KVS_PARAM_ENUM,
     .choices = "uuid|int",
     .help = "bootstrap_room: a UUID as text, or a number in [0, 2^63)",
     .since = "0.1"},
};

#define PARAMS(list) .params = (list), .nparams = sizeof(list) / sizeof(list)[0]
#define PREFILL_FLAGS                                                                                        \
    {"do_remote_decode", "true"},                                                                            \
    {                                                                                                        \
        "do_remote_prefill", "false"                                                                         \
    }

static const struct kvs_fixed flags[] = {PREFILL_FLAGS, {NULL, NULL}};

static const struct kvs_fixed nixl_prefill[] = {
    PREFILL_FLAGS,           {"remote_block_ids", "null"}, {"remote_engine_id", "null"},
    {"remote_host", "null"}, {"remote_port", "null"},      {NULL, NULL},
};

/* In the order of names. */
static const struct kvs_known kv[] = {
    {.name = "kv-nixl",
     .help = "NIXL in vLLM: decode carries what the prefill answered",
     PARAMS(plain_params),
     .passes_on = true,
     .fixed = nixl_prefill},
    {.name = "kv-sglang",
     .help = "SGLang: as kv-nixl; prefill names a bootstrap port and a fresh room",
     PARAMS(sglang_params),
     .passes_on = true,
     .has_room = true,
     .fixed = flags},
    {.name = "kv-shared-storage",
     .help = "a store that both pods see: nothing is handed over in the requests",
     PARAMS(plain_params),
     .is_default = true,
     .fixed = flags},
    {.name = NULL},
};

static const struct kvs_known ec[] = {
    {.name = "ec-nixl",
     .help = "NIXL: prefill carries a descriptor for each mm_hash",
     PARAMS(plain_params),
     .passes_on = true},
    {.name = "ec-shared-storage",
     .help = "a store that all pods see: nothing is handed over in the requests",
     PARAMS(plain_params),
     .is_default = true},
    {.name = NULL},
};

static const struct {
    const struct kvs_known *known;
    const char *word;
} families[] = {[KVS_CONNECTOR_KV] = {kv, "kv_connector"}, [KVS_CONNECTOR_EC] = {ec, "ec_connector"}};

#define FAMILIES (sizeof families / sizeof families[0])

struct kvs_found kvs_names_find(int family, const char *name)
{
    for (const struct kvs_known *k = families[family].known; k->name; k++) {
        if (strcmp(name, k->name) == 0 || (name[0] == '\0' && k->is_default))
            return (struct kvs_found){.known = k};
    }
    return (struct kvs_found){.own = family == KVS_CONNECTOR_KV ? kvs_own_find(name) : NULL};
}

int kvs_names_unknown(int family, const char *name, struct kvs_error *err)
{
    char quoted[400];
    return kvs_say(err, KVS_NOT_FOUND, "unknown %s: %s", families[family].word,
                   kvs_say_quoted(quoted, sizeof quoted, name, strlen(name)));
}

/* ---- Listing ---- */

static struct kvs_connector_info info_of(const struct kvs_known *k, const struct kvs_connector_own *own)
{
    struct kvs_connector_info info = {.size = sizeof info};
    if (k) {
        info.is_default = k->is_default;
        info.name = k->name;
        info.help = k->help;
        info.params = k->params;
        info.nparams = k->nparams;
        info.param_size = sizeof(struct kvs_param);
    } else {
        info.name = own->name;
        info.help = own->help ? own->help : "";
        info.params = own->params;
        info.nparams = own->nparams;
        info.param_size = own->param_size;
    }
    return info;
}

int kvs_connector_list(int family, int (*each)(void *arg, const struct kvs_connector_info *info), void *arg)
{
    if (family < 0 || (size_t)family >= FAMILIES || !each)
        return KVS_INVALID_PARAM;
    const struct kvs_known *k = families[family].known;
    const char *last = "";
    for (;;) {
        const struct kvs_connector_own *own = family == KVS_CONNECTOR_KV ? kvs_own_after(last) : NULL;
        if (!k->name && !own)
            return KVS_OK;
        bool known_first = k->name && (!own || strcmp(k->name, own->name) < 0);
        struct kvs_connector_info info = info_of(known_first ? k : NULL, own);
        last = info.name;
        k += known_first;
        int result = each(arg, &info);
        if (result != 0)
            return result;
    }
}
