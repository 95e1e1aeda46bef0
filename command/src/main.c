/* SPDX-License-Identifier: Apache-2.0 */
/* The kvslot command: finds the subcommand and runs it. */
#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static const struct cmd *const cmds[] = {
    &kvs_cmd_list,   &kvs_cmd_info, &kvs_cmd_put,     &kvs_cmd_get, &kvs_cmd_query,
    &kvs_cmd_remove, &kvs_cmd_keys, &kvs_cmd_conform, &kvs_cmd_new, NULL,
};

/* A store that opened its file as descriptor 1 would get our output written into it. */
static void hold_standard_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) == -1 && errno == EBADF) {
            int got = open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY); /* using it still fails */
            (void)got;
        }
    }
}

static const struct cmd *find(const char *name)
{
    for (size_t i = 0; cmds[i]; i++) {
        if (strcmp(cmds[i]->name, name) == 0)
            return cmds[i];
    }
    return NULL;
}

static int unknown_command(const char *name)
{
    char names[256] = "";
    for (size_t i = 0; cmds[i]; i++) {
        if (i > 0)
            strncat(names, ", ", sizeof names - strlen(names) - 1);
        strncat(names, cmds[i]->name, sizeof names - strlen(names) - 1);
    }
    /* What follows a colon may be a URI with a password in it. */
    return kvs_cmd_fail(CMD_USAGE, "there is no command '%.*s'; the commands are %s", (int)strcspn(name, ":"),
                        name, names);
}

static int run(struct cmd_call *call, int argc, char **argv)
{
    int next = 0;
    int code = kvs_cmd_parse_global(call, argc, argv, &next);
    if (code != CMD_OK)
        return code;
    if (call->help) {
        kvs_cmd_help_global(cmds);
        return CMD_OK;
    }
    if (call->version) {
        printf("kvslot %s\n", kvs_version());
        return CMD_OK;
    }
    if (next >= argc)
        return kvs_cmd_fail(CMD_USAGE, "a command is needed; 'kvslot --help' lists them");
    call->cmd = find(argv[next]);
    if (!call->cmd)
        return unknown_command(argv[next]);
    code = kvs_cmd_parse(call, argc - next, argv + next);
    if (code != CMD_OK)
        return code;
    if (call->help) {
        kvs_cmd_help(call->cmd);
        return CMD_OK;
    }
    return call->cmd->run(call);
}

int main(int argc, char **argv)
{
    struct cmd_call call = {0};

    hold_standard_descriptors();
    signal(SIGPIPE, SIG_IGN); /* a reader that went away is an error like any other */
    int code = run(&call, argc, argv);
    kvs_cmd_call_free(&call);
    errno = 0;
    if ((fflush(stdout) != 0 || ferror(stdout)) && code == CMD_OK)
        code = kvs_cmd_fail(CMD_FAILED, "writing to standard output failed: %s",
                            errno ? strerror(errno) : "an earlier write did not succeed");
    return code;
}
