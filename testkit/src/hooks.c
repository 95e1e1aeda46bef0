/* SPDX-License-Identifier: Apache-2.0 */
/* What a case may do to the store, and the other ways to open it. */
#include "kit.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static const char *command_of(const struct wire_config *cfg, const char *name)
{
    return json_string_value(json_object_get(json_object_get(cfg->store, "hooks"), name));
}

static int spawn_shell(const char *command, pid_t *pid)
{
    posix_spawn_file_actions_t fa;
    posix_spawnattr_t attr;
    sigset_t none;
    static char shell[] = "sh", option[] = "-c";
    char *const argv[] = {shell, option, (char *)(uintptr_t)command, NULL};
    sigemptyset(&none);
    posix_spawn_file_actions_init(&fa);
    posix_spawn_file_actions_addclosefrom_np(&fa, 3);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attr, &none);
    int rc = posix_spawn(pid, "/bin/sh", &fa, &attr, argv, environ);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&fa);
    return rc;
}

/* KVS_OK, or a sentence. A command that does not end is killed; what it has started stays. */
int hook_run(const struct wire_config *cfg, const char *name, uint64_t wait_ns, struct kvs_error *err)
{
    const char *command = command_of(cfg, name);
    uint64_t end = kit_now() + wait_ns;
    pid_t pid, got;
    int status = 0, rc = command ? spawn_shell(command, &pid) : 0;
    err->status = KVS_BACKEND;
    err->text[0] = '\0';
    if (!command)
        return KVS_OK;
    if (rc != 0) {
        snprintf(err->text, sizeof(err->text), "the hook %s cannot be started: %s", name, strerror(rc));
        return KVS_BACKEND;
    }
    while ((got = waitpid(pid, &status, WNOHANG)) == 0 && kit_now() < end)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    if (got == 0) {
        kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
        snprintf(err->text, sizeof(err->text), "the hook %s does not end", name);
    } else if (got != pid) {
        snprintf(err->text, sizeof(err->text), "the end of the hook %s is lost: %s", name, strerror(errno));
    } else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        snprintf(err->text, sizeof(err->text), "the hook %s ended with %s %d", name,
                 WIFEXITED(status) ? "exit code" : "signal",
                 WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    }
    return err->text[0] ? KVS_BACKEND : KVS_OK;
}

void kit_needs_hook(struct kit *k, const char *name)
{
    if (!command_of(k->cfg, name))
        kit_not_supported(k, "the run has no hook %s, which --config gives", name);
}

void kit_hook_at(struct kit_at at, struct kit *k, const char *name)
{
    struct kvs_error err;
    if (hook_run(k->cfg, name, kit_wait_ns(k), &err) != KVS_OK)
        kit_fail_at(at, "%s", err.text);
}

void kit_needs_variant(struct kit *k, const char *name)
{
    if (!json_object_get(json_object_get(k->cfg->store, "variants"), name))
        kit_not_supported(k, "the run has no variant %s, which --config gives", name);
}

/* The run's own parameters, then those of the variant, then one more. */
int kit_open_variant(struct kit *k, const char *variant, const char *name, const char *value, kvs_engine **e,
                     struct kvs_error *err)
{
    const json_t *pairs = json_object_get(json_object_get(k->cfg->store, "variants"), variant);
    struct wire_config cfg = *k->cfg;
    size_t n = 0, i;
    json_t *pair;
    cfg.params = calloc(cfg.nparams + json_array_size(pairs) + 1, sizeof(*cfg.params));
    KIT_CHECK(cfg.params, "no memory for parameters");
    for (i = 0; i < k->cfg->nparams; i++) {
        bool replaced = false;
        size_t j;
        json_array_foreach(pairs, j, pair)
        {
            replaced |= strcmp(json_string_value(json_array_get(pair, 0)), k->cfg->params[i].name) == 0;
        }
        if (!replaced)
            cfg.params[n++] = k->cfg->params[i];
    }
    json_array_foreach(pairs, i, pair)
    {
        cfg.params[n++] = (struct kvs_param_value){json_string_value(json_array_get(pair, 0)),
                                                   json_string_value(json_array_get(pair, 1))};
    }
    cfg.nparams = n;
    int rc = kit_engine_open(&cfg, k->target, name, value, e, err);
    free(cfg.params);
    if (rc == KVS_OK)
        kit_remember(k, *e);
    return rc;
}
