/* SPDX-License-Identifier: Apache-2.0 */
#include "launch.h"
#include "say.h"
#include "wire.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <kvslot/testkit.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

extern char **environ;

/* Below this number descriptors are given new meanings in the child, so the pipes' own numbers must lie
 * above. */
#define FIRST_FREE_FD 10

enum { CONFIG, OUTPUT, RESULT, PIPES };

/* pipe[i][0] is read from. Both ends are closed on exec; the parent's does not block. */
static int make_pipes(int pipes[PIPES][2], struct kvs_error *err)
{
    for (int i = 0; i < PIPES; i++)
        pipes[i][0] = pipes[i][1] = -1;
    for (int i = 0; i < PIPES; i++) {
        int low[2];
        /* A child may be gone before it has read its request: only a socket takes that without SIGPIPE. */
        int rc =
            i == CONFIG ? socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, low) : pipe2(low, O_CLOEXEC);
        if (rc != 0)
            return say(err, KVS_NO_MEMORY, "a pipe for a case cannot be made: %s", strerror(errno));
        for (int end = 0; end < 2; end++) {
            pipes[i][end] = fcntl(low[end], F_DUPFD_CLOEXEC, FIRST_FREE_FD);
            close(low[end]);
        }
        if (pipes[i][0] < 0 || pipes[i][1] < 0)
            return say(err, KVS_NO_MEMORY, "a pipe for a case cannot be made: %s", strerror(errno));
        int ours = i == CONFIG ? 1 : 0;
        fcntl(pipes[i][ours], F_SETFL, O_NONBLOCK);
    }
    return KVS_OK;
}

static int spawn_with(pid_t *pid, const char *program, const char *case_id, int pipes[PIPES][2])
{
    posix_spawn_file_actions_t fa;
    posix_spawnattr_t attr;
    sigset_t all, none;
    char *const argv[] = {(char *)(uintptr_t)program, (char *)(uintptr_t)case_id, NULL};
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawn_file_actions_init(&fa);
    posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&fa, pipes[OUTPUT][1], 1);
    posix_spawn_file_actions_adddup2(&fa, pipes[OUTPUT][1], 2);
    posix_spawn_file_actions_adddup2(&fa, pipes[CONFIG][0], WIRE_CONFIG_FD);
    posix_spawn_file_actions_adddup2(&fa, pipes[RESULT][1], WIRE_RESULT_FD);
    posix_spawn_file_actions_addclosefrom_np(&fa, WIRE_RESULT_FD + 1);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setpgroup(&attr, 0);
    posix_spawnattr_setsigdefault(&attr, &all);
    posix_spawnattr_setsigmask(&attr, &none);
    int rc = posix_spawn(pid, program, &fa, &attr, argv, environ);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&fa);
    return rc;
}

int launch_case(struct child *c, const char *program, const char *case_id, struct kvs_error *err)
{
    int pipes[PIPES][2];
    int rc = make_pipes(pipes, err);
    if (rc == KVS_OK) {
        int error = spawn_with(&c->pid, program, case_id, pipes);
        if (error != 0)
            rc = say(err, KVS_NOT_FOUND, "%s cannot be started: %s", program, strerror(error));
    }
    if (rc == KVS_OK) {
        c->config_fd = pipes[CONFIG][1];
        c->out_fd = pipes[OUTPUT][0];
        c->result_fd = pipes[RESULT][0];
        pipes[CONFIG][1] = pipes[OUTPUT][0] = pipes[RESULT][0] = -1;
    } else {
        c->pid = 0;
    }
    for (int i = 0; i < PIPES; i++)
        for (int end = 0; end < 2; end++)
            if (pipes[i][end] >= 0)
                close(pipes[i][end]);
    return rc;
}

/* "folder of the file" + "/" + below, if that can be run. */
static char *beside(const char *file, const char *below)
{
    char *path = NULL;
    const char *slash = strrchr(file, '/');
    if (!slash || asprintf(&path, "%.*s/%s", (int)(slash - file), file, below) < 0)
        return NULL;
    if (access(path, X_OK) == 0)
        return path;
    free(path);
    return NULL;
}

int launch_find_program(const char *given, char **program, struct kvs_error *err)
{
    static const char *const places[] = {"kvslot-case", "../bin/kvslot-case", "../../bin/kvslot-case"};
    char exe[PATH_MAX] = "", library[PATH_MAX] = "";
    Dl_info info;
    *program = NULL;
    if (given) {
        *program = strdup(given);
        if (access(given, X_OK) == 0 && *program)
            return KVS_OK;
        free(*program);
        *program = NULL;
        return say(err, KVS_NOT_FOUND, "the case program %s cannot be run: %s", given, strerror(errno));
    }
    ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
    exe[n > 0 ? n : 0] = '\0';
    if (dladdr((void *)(uintptr_t)launch_find_program, &info) == 0 || !info.dli_fname ||
        !realpath(info.dli_fname, library))
        library[0] = '\0';
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) && !*program; i++) {
        *program = beside(library, places[i]);
        if (!*program)
            *program = beside(exe, places[i]);
    }
    if (!*program && access(KVSLOT_CASE_INSTALLED, X_OK) == 0)
        *program = strdup(KVSLOT_CASE_INSTALLED);
    if (!*program)
        return say(err, KVS_NOT_FOUND,
                   "the program kvslot-case is neither beside %s nor in ../bin from there, nor %s",
                   library[0] ? library : exe, KVSLOT_CASE_INSTALLED);
    return KVS_OK;
}
