/* SPDX-License-Identifier: Apache-2.0 */
/* Certificates of an authority of the test's own, made with the command openssl. */
#include "server.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

int server_run_tool(const char *const *argv, const char *output)
{
    union {
        const char *const *in;
        char *const *out;
    } args = {.in = argv};
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int wstatus;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    int rc = posix_spawnp(&pid, argv[0], &actions, NULL, args.out, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (rc != 0 || waitpid(pid, &wstatus, 0) != pid || !WIFEXITED(wstatus))
        return -1;
    return WEXITSTATUS(wstatus);
}

/* `signer`: of which authority's; NULL: it is one itself. */
static bool make(const char *folder, const char *name, const char *signer, const char *alternatives)
{
    char key[128], cert[128], ca[128], ca_key[128], subject[64], log[128];
    snprintf(key, sizeof(key), "%s/%s.key", folder, name);
    snprintf(cert, sizeof(cert), "%s/%s.pem", folder, name);
    snprintf(ca, sizeof(ca), "%s/%s.pem", folder, signer != NULL ? signer : name);
    snprintf(ca_key, sizeof(ca_key), "%s/%s.key", folder, signer != NULL ? signer : name);
    snprintf(subject, sizeof(subject), "/CN=kvslot test %s", name);
    snprintf(log, sizeof(log), "%s/openssl.log", folder);
    const char *argv[32] = {
        "openssl", "req",   "-x509", "-newkey", "ec",    "-pkeyopt", "ec_paramgen_curve:P-256",
        "-nodes",  "-days", "30",    "-subj",   subject, "-keyout",  key,
        "-out",    cert};
    size_t n = 16;
    if (signer != NULL) {
        const char *more[] = {"-CA",     ca,           "-CAkey",  ca_key,
                              "-addext", alternatives, "-addext", "basicConstraints=CA:false"};
        memcpy(&argv[n], more, sizeof(more));
    }
    int rc = server_run_tool(argv, log);
    if (rc == 0)
        return true;
    fprintf(stderr,
            rc < 0 ? "openssl is not installed (Debian: apt-get install openssl)\n"
                   : "openssl req could not make %s; see %s\n",
            cert, log);
    return false;
}

bool server_make_certificates(const char *folder)
{
    return make(folder, "ca", NULL, NULL) && make(folder, "other-ca", NULL, NULL) &&
           make(folder, "server", "ca", "subjectAltName=DNS:localhost,IP:127.0.0.1") &&
           make(folder, "client", "ca", "subjectAltName=DNS:client.invalid");
}

const char *server_file(const struct server *s, const char *name)
{
    static char path[128];
    snprintf(path, sizeof(path), "%s/%s", s->folder, name);
    return path;
}
