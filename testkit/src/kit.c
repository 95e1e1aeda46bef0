/* SPDX-License-Identifier: Apache-2.0 */
#include "kit.h"
#include "expect.h"
#include "register.h"
#include <stdlib.h>
#include <time.h>

uint64_t kit_seed(const struct kit *k)
{
    return k->cfg->seed;
}

uint64_t kit_run_number(const struct kit *k)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325); /* FNV-1a: any spread of the prefix will do */
    for (const char *p = k->cfg->prefix; *p; p++)
        h = (h ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
    return h;
}

uint64_t kit_now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

uint64_t kit_wait_ns(const struct kit *k)
{
    uint64_t now = kit_now(), want = k->cfg->timeout_ns / 2, margin = k->cfg->timeout_ns / 20;
    uint64_t left = k->deadline_ns > now + margin ? k->deadline_ns - now - margin : 0;
    return want < left ? want : left;
}

/* Length of a percent-encoded text once decoded. */
static size_t decoded_length(const char *s, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i += s[i] == '%' ? 3 : 1)
        n++;
    return n;
}

/* How long the prefix parameter is that the run's own parameters give. */
static size_t user_prefix(const struct wire_config *cfg)
{
    for (size_t i = 0; i < cfg->nparams; i++)
        if (strcmp(cfg->params[i].name, "prefix") == 0)
            return strlen(cfg->params[i].value);
    const char *at = strchr(cfg->target, '?');
    while (at) {
        size_t len = strcspn(++at, "&");
        if (strncmp(at, "prefix=", 7) == 0)
            return decoded_length(at + 7, len - 7);
        at = at[len] ? at + len : NULL;
    }
    return 0;
}

int kit_begin(struct kit *k, const struct wire_config *cfg, const struct kit_case *row, struct kvs_error *err)
{
    const char *name = NULL;
    memset(k, 0, sizeof(*k));
    pthread_mutex_init(&k->lock, NULL);
    k->cfg = cfg;
    k->row = row;
    k->deadline_ns = kit_now() + cfg->timeout_ns;
    k->user_prefix_len = user_prefix(cfg);
    if (!cfg->plugin[0] && strncmp(cfg->target, "rogue", 5) == 0) {
        int rc = kvs_rogues_register(cfg->target, err);
        if (rc != KVS_OK)
            return rc;
    }
    if (cfg->plugin[0]) {
        int rc = kvs_plugin_load(cfg->plugin, &name, err);
        if (rc != KVS_OK)
            return rc;
    }
    k->target = cfg->target[0] ? cfg->target : name;
    return KVS_OK;
}

bool kit_has_expectation(const struct kit *k)
{
    return json_object_get(k->cfg->store, "expect") != NULL;
}

size_t kit_unexpected(const struct kit *k, char *text, size_t size)
{
    return expect_differences(json_object_get(k->cfg->store, "expect"), kit_limits(k), text, size);
}

void kit_end(struct kit *k)
{
    kit_engines_end(k);
    kit_keys_end(k);
    kit_memory_end(k);
    pthread_mutex_destroy(&k->lock);
}
