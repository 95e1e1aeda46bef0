/* SPDX-License-Identifier: Apache-2.0 */
/* The process of one case, or of the runner's own errands: the look at the target before, and the sweep after
 * a crash. */
#include "crash.h"
#include "kit.h"
#include "mask.h"
#include "registry.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <kvslot/backend.h>
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_pipe(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

/* All of a pipe up to its end, to be freed. */
static char *read_all(int fd, size_t *len)
{
    size_t room = 4096, at = 0;
    char *text = malloc(room);
    while (text) {
        ssize_t n = read(fd, text + at, room - at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        at += (size_t)n;
        if (at == room) {
            char *grown = realloc(text, room *= 2);
            if (!grown)
                free(text);
            text = grown;
        }
    }
    *len = at;
    return text;
}

static void send_json(json_t *json)
{
    char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
    if (text) {
        size_t len = strlen(text);
        char *line = malloc(len + 2);
        if (line) {
            memcpy(line, text, len);
            memcpy(line + len, "\n", 2);
            report_line(line);
            free(line);
        }
    }
    free(text);
    json_decref(json);
}

static int send_error(int rc, const struct kvs_error *err)
{
    send_json(
        json_pack("{s:{s:i, s:o}}", "error", "status", rc, "text", wire_text(err->text, strlen(err->text))));
    return 0;
}

/* The parameter, and where else it may come from. */
static void name_secret(json_t *names, const struct kvs_param *p)
{
    json_array_append_new(names, json_string(p->name));
    if (p->uri && strstr(p->uri, "user"))
        json_array_append_new(names, json_string(MASK_USER));
    if (p->env)
        json_array_append_new(names, json_sprintf("%c%s", MASK_ENV, p->env));
}

/* Which parameters must not be shown; sent before the target is opened, so that the runner knows it whatever
 * happens. */
static void send_secrets(const struct kvs_backend *b)
{
    size_t n = 0;
    const struct kvs_param *own = kvs_sdk_params(&n);
    json_t *names = json_array();
    for (size_t i = 0; i < n; i++)
        if (own[i].flags & KVS_PARAM_SECRET)
            name_secret(names, &own[i]);
    for (uint32_t i = 0; i < b->nparams; i++) {
        size_t stride = b->param_size ? b->param_size : sizeof(struct kvs_param);
        const struct kvs_param *p = (const void *)((const char *)b->params + i * stride);
        if (p->flags & KVS_PARAM_SECRET)
            name_secret(names, p);
    }
    send_json(json_pack("{s:o}", "secrets", names));
}

/* The file that the backend's code is in: its plugin, or what it is linked into. */
static json_t *file_of(const struct kvs_backend *b)
{
    char path[PATH_MAX];
    Dl_info info;
    void *code = b->submit ? (void *)(uintptr_t)b->submit : (void *)(uintptr_t)b->put;
    bool found = code && dladdr(code, &info) != 0 && info.dli_fname && realpath(info.dli_fname, path);
    return found ? json_string(path) : json_null();
}

static int probe(struct kit *k, const struct wire_config *cfg)
{
    struct kvs_error err = {0};
    struct kvs_limits limits = {.size = sizeof(limits)};
    const struct kvs_backend *b = NULL;
    kvs_engine *e = NULL;
    int rc = kvs_backend_find(k->target, &b, &err);
    if (rc != KVS_OK)
        return send_error(rc, &err);
    send_secrets(b);
    if (strcmp(cfg->case_id, WIRE_NAMES) == 0)
        return 0;
    rc = kit_engine_open(cfg, k->target, NULL, NULL, &e, &err);
    if (rc != KVS_OK)
        return send_error(rc, &err);
    rc = kvs_engine_limits(e, &limits);
    if (rc == KVS_OK)
        rc = kvs_engine_close(e, kit_wait_ns(k), &err);
    if (rc != KVS_OK)
        return send_error(rc, &err);
    send_json(json_pack("{s:{s:s, s:s, s:s, s:o, s:o}}", "probe", "name", b->name, "version", b->version,
                        "target", k->target, "file", file_of(b), "limits", wire_limits_json(&limits)));
    return 0;
}

static int sweep(struct kit *k, const struct wire_config *cfg)
{
    struct kvs_error err = {0};
    kvs_engine *e = NULL;
    int rc = KVS_OK;
    if (json_is_true(json_object_get(cfg->store, "restore")) &&
        ((rc = hook_run(cfg, "resume", kit_wait_ns(k), &err)) != KVS_OK ||
         (rc = hook_run(cfg, "start", kit_wait_ns(k), &err)) != KVS_OK))
        return send_error(rc, &err);
    if (!kit_has(k, KVS_CAP_REMOVE)) {
        report_outcome(KVS_CONFORM_PASS, "");
        return 0;
    }
    rc = kit_engine_open(cfg, k->target, NULL, NULL, &e, &err);
    if (rc != KVS_OK)
        return send_error(rc, &err);
    if (kit_has(k, KVS_CAP_LIST))
        rc = sweep_prefix(e, cfg->prefix, kit_wait_ns(k), &err);
    struct kit_key *keys = calloc(cfg->nkeys + 1, sizeof(*keys));
    for (size_t i = 0; keys && i < cfg->nkeys; i++)
        keys[i] = (struct kit_key){cfg->key_lens[i], cfg->keys[i]};
    if (keys && rc == KVS_OK)
        rc = sweep_keys(e, keys, cfg->nkeys, kit_wait_ns(k), &err);
    free(keys);
    kvs_engine_close(e, kit_wait_ns(k), NULL);
    if (rc != KVS_OK)
        return send_error(rc, &err);
    report_outcome(KVS_CONFORM_PASS, "");
    return 0;
}

static int run_case(const struct wire_config *cfg, const struct kit_case *row)
{
    struct kvs_error err = {0};
    struct kit k;
    int rc = kit_begin(&k, cfg, row, &err);
    if (rc != KVS_OK)
        return send_error(rc, &err);
    if (strcmp(cfg->case_id, WIRE_PROBE) == 0 || strcmp(cfg->case_id, WIRE_NAMES) == 0)
        return probe(&k, cfg);
    if (strcmp(cfg->case_id, WIRE_SWEEP) == 0)
        return sweep(&k, cfg);
    if (cfg->role)
        row->helper(&k, cfg->role);
    else
        row->fn(&k);
    kit_end(&k);
    report_outcome(KVS_CONFORM_PASS, "");
    return 0;
}

int kvs_conform_case_main(int argc, char **argv)
{
    struct wire_config cfg;
    size_t len = 0;
    if (argc != 2 || !is_pipe(WIRE_CONFIG_FD) || !is_pipe(WIRE_RESULT_FD)) {
        fprintf(stderr,
                "%s: this program runs one case for the conformance runner and is not started by hand; see "
                "`kvslot "
                "conform --help`\n",
                argc > 0 ? argv[0] : "kvslot-case");
        return 2;
    }
    /* A runner that is killed takes its cases along. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    fcntl(WIRE_RESULT_FD, F_SETFD, FD_CLOEXEC);
    setvbuf(stdout, NULL, _IOLBF, 0);
    crash_install();
    setenv("KVSLOT_QUARANTINE", "1", 0); /* KVS-REQ-166: who uses a transfer that was released crashes */
    mallopt(M_PERTURB, 0xa5);            /* who uses memory that was given back finds that it has changed */
    char *text = read_all(WIRE_CONFIG_FD, &len);
    close(WIRE_CONFIG_FD);
    int rc = text ? wire_config_decode(text, len, &cfg) : KVS_NO_MEMORY;
    free(text);
    report_to(WIRE_RESULT_FD);
    const struct kit_case *row = rc == KVS_OK ? registry_find(cfg.case_id) : NULL;
    if (rc != KVS_OK || (!row && cfg.case_id[0] != '@') || (cfg.role && (!row || !row->helper))) {
        fprintf(
            stderr,
            "%s: the runner's request for '%s' cannot be read; are runner and case program of one release?\n",
            argv[0], argv[1]);
        return 2;
    }
    rc = run_case(&cfg, row);
    wire_config_free(&cfg);
    return rc;
}
