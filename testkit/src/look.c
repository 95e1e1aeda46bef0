/* SPDX-License-Identifier: Apache-2.0 */
/* What the runner finds out about the target before the first case, in processes of their own. */
#include "caps.h"
#include "child.h"
#include "run.h"
#include "say.h"
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOK_TIMEOUT_S 60 /* opening a target may wait for its `timeout`, 30 s by default */

char *run_request(const struct run *r, const char *case_id, const char *role, const char *prefix,
                  unsigned round, uint64_t timeout_ns, const json_t *keys)
{
    struct wire_config w = {.case_id = (char *)(uintptr_t)case_id,
                            .target = (char *)(uintptr_t)(r->cfg->target ? r->cfg->target : ""),
                            .plugin = (char *)(uintptr_t)(r->cfg->plugin_file ? r->cfg->plugin_file : ""),
                            .prefix = (char *)(uintptr_t)prefix,
                            .role = (char *)(uintptr_t)role,
                            .script = r->script,
                            .params = r->params,
                            .nparams = r->cfg->nparams,
                            .seed = r->seed + (round > 0 ? round - 1 : 0),
                            .timeout_ns = timeout_ns,
                            .limits = r->limits,
                            .store = r->store};
    return wire_config_encode(&w, keys);
}

void run_wait(struct child *c)
{
    while (!child_step(c)) {
        struct pollfd fds[3];
        size_t n = child_poll(c, fds);
        poll(fds, n, child_tick(c));
    }
}

int run_say_silent(const struct run *r, const struct child *c, const char *what, struct kvs_error *err)
{
    size_t len = 0;
    char *raw = child_output_text(c, &len), *text = raw ? mask_text(&r->mask, raw, &len) : NULL;
    const char *said = text && len > 0 ? text : "it printed nothing";
    int rc;
    if (c->stage != CHILD_RUNS)
        rc = say(err, KVS_TIMEOUT, "%s did not end in its time: %.300s", what, said);
    else if (c->exited && WIFSIGNALED(c->status))
        rc = say(err, KVS_BACKEND, "%s died of SIG%s: %.300s", what, sigabbrev_np(WTERMSIG(c->status)), said);
    else
        rc = say(err, KVS_BACKEND, "%s ended without an answer: %.300s", what, said);
    free(text);
    free(raw);
    return rc;
}

int run_errand(const struct run *r, const char *prefix, const json_t *keys, const char *id,
               const char *member, const char *what, json_t **answer, struct kvs_error *err)
{
    struct child c;
    uint64_t timeout = run_timeout(r, LOOK_TIMEOUT_S);
    char *request = run_request(r, id, NULL, prefix, 0, timeout, keys);
    if (!request)
        return say(err, KVS_INVALID_PARAM, "target, plugin file or a parameter is not UTF-8");
    int rc = child_start(&c, r->program, id, request, timeout, run_timeout(r, 2), err);
    if (rc == KVS_OK) {
        run_wait(&c);
        const json_t *error = child_report(&c, "error");
        *answer = json_incref((json_t *)(uintptr_t)child_report(&c, member));
        if (error)
            rc = say(err, (int)json_integer_value(json_object_get(error, "status")), "%s",
                     json_string_value(json_object_get(error, "text")));
        else if (!*answer ||
                 c.stage != CHILD_RUNS) /* one that answers and then crashes will do so in every case */
            rc = run_say_silent(r, &c, what, err);
    }
    child_free(&c);
    return rc;
}

static int errand(const struct run *r, const char *id, const char *member, const char *what, json_t **answer,
                  struct kvs_error *err)
{
    return run_errand(r, r->run_prefix, NULL, id, member, what, answer, err);
}

static bool sweep_dead(void *arg, const char *prefix, json_t *keys)
{
    struct run *r = arg;
    struct kvs_error err = {0};
    json_t *answer = NULL;
    bool removable = caps_have(&r->limits, KVS_CAP_REMOVE);
    int rc = removable ? run_errand(r, prefix, keys, WIRE_SWEEP, "outcome",
                                    "the process that removes a dead run's keys", &answer, &err)
                       : KVS_OK;
    json_decref(answer);
    if (rc != KVS_OK)
        table_note(r, "keys under %s, of a run that was killed, cannot be removed: %s", prefix, err.text);
    else if (removable)
        table_note(r, "removed what a run that was killed had left under %s", prefix);
    return rc == KVS_OK;
}

void run_sweep_dead(struct run *r)
{
    journal_sweep(r->cfg->state_dir, r->identity, sweep_dead, r);
}

/* Tells targets apart, without a secret: target, plugin, and parameters as they may be shown. */
static char *identity_of(const struct run *r)
{
    char *text = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&text, &len);
    if (!f)
        return NULL;
    fprintf(f, "%s %s", r->shown_target, r->cfg->plugin_file ? r->cfg->plugin_file : "");
    for (size_t i = 0; i < r->cfg->nparams; i++)
        fprintf(f, " %s=%s", r->cfg->params[i].name, mask_value(&r->mask, &r->cfg->params[i]));
    bool bad = fclose(f) != 0;
    for (size_t i = 0; !bad && i < len; i++)
        text[i] = (char)(text[i] == '\n' ? ' ' : text[i]);
    return text;
}

/* What a descriptor holds up to its end, without a final newline. */
static int read_fd(const char *name, int fd, char **value, struct kvs_error *err)
{
    size_t len = 0;
    char buf[4096], *text = NULL;
    FILE *f = open_memstream(&text, &len);
    ssize_t n = -1;
    while (f && ((n = read(fd, buf, sizeof(buf))) > 0 || (n < 0 && errno == EINTR)))
        if (n > 0)
            fwrite(buf, 1, (size_t)n, f);
    if (n < 0)
        say(err, KVS_INVALID_PARAM, "parameter %s: descriptor %d cannot be read: %s", name, fd,
            strerror(errno));
    if (!f || fclose(f) != 0 || n < 0) {
        free(text);
        return f ? KVS_INVALID_PARAM : say(err, KVS_NO_MEMORY, "no memory for parameter %s", name);
    }
    if (len > 0 && text[len - 1] == '\n')
        text[--len] = '\0';
    if (text[0] == '@') {
        free(text);
        return say(err, KVS_INVALID_PARAM,
                   "parameter %s: a secret that begins with '@' has to be given as @FILE", name);
    }
    *value = text;
    return KVS_OK;
}

/* Every case opens the target again, but a descriptor gives its secret once. */
static int read_secrets(struct run *r, struct kvs_error *err)
{
    struct mask names = {.names = r->secrets};
    for (size_t i = 0; i < r->cfg->nparams; i++) {
        const struct kvs_param_value *p = &r->params[i];
        char *end;
        if (strncmp(p->value, "@fd:", 4) != 0 || !mask_is_secret(&names, p->name, strlen(p->name)))
            continue;
        long fd = strtol(p->value + 4, &end, 10);
        if (*end || end == p->value + 4 || fd < 0 || fd > INT_MAX)
            continue; /* open will refuse it */
        int rc = read_fd(p->name, (int)fd, &r->read_values[i], err);
        if (rc != KVS_OK)
            return rc;
        r->params[i].value = r->read_values[i];
    }
    return KVS_OK;
}

/* What must not be shown: of the run's own parameters, and of the variants'. */
static int init_mask(struct run *r, struct kvs_error *err)
{
    size_t n = r->cfg->nparams, room = n;
    for (size_t i = 0; i < r->cfg->nvariants; i++)
        room += r->cfg->variants[i].nparams;
    struct kvs_param_value *all = calloc(room + 1, sizeof(*all));
    if (!all)
        return say(err, KVS_NO_MEMORY, "no memory for %zu parameters", room);
    if (n > 0)
        memcpy(all, r->params, n * sizeof(*all));
    for (size_t i = 0; i < r->cfg->nvariants; i++)
        for (size_t j = 0; j < r->cfg->variants[i].nparams; j++)
            all[n++] = r->cfg->variants[i].params[j];
    int rc = mask_init(&r->mask, r->secrets, r->cfg->target, all, n);
    free(all);
    return rc == KVS_OK ? rc : say(err, rc, "no memory for what must not be shown");
}

int run_look(struct run *r, struct kvs_error *err)
{
    size_t n = r->cfg->nparams;
    r->params = calloc(n + 1, sizeof(*r->params));
    r->read_values = calloc(n + 1, sizeof(*r->read_values));
    if (!r->params || !r->read_values)
        return say(err, KVS_NO_MEMORY, "no memory for %zu parameters", n);
    if (n > 0)
        memcpy(r->params, r->cfg->params, n * sizeof(*r->params));
    int rc = errand(r, WIRE_NAMES, "secrets", "the process that loads the backend", &r->secrets, err);
    if (rc == KVS_OK)
        rc = read_secrets(r, err);
    if (rc == KVS_OK)
        rc = init_mask(r, err);
    if (rc == KVS_OK)
        rc = errand(r, WIRE_PROBE, "probe", "the process that opens the target", &r->probe, err);
    if (rc != KVS_OK)
        return rc;
    wire_limits_read(json_object_get(r->probe, "limits"), &r->limits);
    const char *target =
        r->cfg->target ? r->cfg->target : json_string_value(json_object_get(r->probe, "target"));
    r->shown_target = mask_target(&r->mask, target);
    r->identity = r->shown_target ? identity_of(r) : NULL;
    return r->identity ? KVS_OK : say(err, KVS_NO_MEMORY, "no memory for the target's name");
}
