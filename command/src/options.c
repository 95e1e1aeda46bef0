/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing the command line by the tables of options. */
#include "command.h"

#include <ctype.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static const struct cmd_option param_option = {"param", 'p', "NAME=VALUE",
                                               "a parameter of the store; may be repeated"};
static const struct cmd_option help_option = {"help", 'h', NULL, "show this text"};
static const struct cmd_option version_option = {"version", 0, NULL, "show the version"};

/* Numbers of options without a letter: beyond any character. */
enum { NUMBER_BASE = 256 };

struct table {
    const struct cmd_option *options[CMD_OPTIONS_MAX + 3];
    size_t count;
    struct option longs[CMD_OPTIONS_MAX + 4];
    char shorts[2 * CMD_OPTIONS_MAX + 8];
};

static void add(struct table *table, const struct cmd_option *option)
{
    size_t i = table->count++;

    table->options[i] = option;
    table->longs[i] = (struct option){option->name, option->arg ? required_argument : no_argument, NULL,
                                      NUMBER_BASE + (int)i};
    if (option->letter) {
        size_t len = strlen(table->shorts);
        table->shorts[len++] = (char)option->letter;
        if (option->arg)
            table->shorts[len++] = ':';
        table->shorts[len] = '\0';
    }
}

static int by_letter(const struct table *table, int letter)
{
    for (size_t i = 0; i < table->count; i++) {
        if (table->options[i]->letter == letter)
            return (int)i;
    }
    return -1;
}

/* The text of the parameter is not repeated in errors: it may hold a secret. */
static int add_param(struct cmd_call *call, const char *text)
{
    const char *equals = strchr(text, '=');

    if (!equals || equals == text)
        return kvs_cmd_fail(CMD_USAGE, "option -p needs NAME=VALUE, and there is no %s in what it was given",
                            equals ? "name" : "'='");
    struct kvs_param_value *more = realloc(call->params, (call->nparams + 1) * sizeof *more);
    if (!more)
        return kvs_cmd_fail(CMD_FAILED, "out of memory");
    call->params = more;
    char *name = strndup(text, (size_t)(equals - text));
    if (!name)
        return kvs_cmd_fail(CMD_FAILED, "out of memory");
    call->params[call->nparams++] = (struct kvs_param_value){name, equals + 1};
    return CMD_OK;
}

/* `place` counts the command's own options from 0, then come the common ones. */
static int take(struct cmd_call *call, const struct cmd_option *option, size_t place, const char *arg)
{
    if (option == &param_option) {
        if (call->cmd && call->cmd->no_params)
            return kvs_cmd_fail(CMD_USAGE, "'kvslot %s' takes no parameters (-p)", call->cmd->name);
        return add_param(call, arg);
    }
    if (option == &help_option)
        call->help = true;
    else if (option == &version_option)
        call->version = true;
    else
        call->values[place] = arg ? arg : "";
    return CMD_OK;
}

static int refuse(const struct cmd_call *call, const struct table *table, char **argv, int result)
{
    const char *help = call->cmd ? call->cmd->name : "";
    const char *space = call->cmd ? " " : "";
    char letter[3] = {'-', (char)optopt, '\0'};

    if (result == ':' || (optopt >= NUMBER_BASE && (size_t)(optopt - NUMBER_BASE) < table->count)) {
        int place = optopt >= NUMBER_BASE ? optopt - NUMBER_BASE : by_letter(table, optopt);
        const struct cmd_option *option = table->options[place];
        if (option->arg)
            return kvs_cmd_fail(CMD_USAGE, "option --%s needs %s", option->name, option->arg);
        return kvs_cmd_fail(CMD_USAGE, "option --%s takes no argument", option->name);
    }
    if (optopt > 0 && optopt < NUMBER_BASE)
        return kvs_cmd_fail(CMD_USAGE, "unknown option '%s'; see 'kvslot%s%s --help'", letter, space, help);
    /* What stands after '=' is not repeated: it may be a secret. */
    const char *word = argv[optind - 1];
    return kvs_cmd_fail(CMD_USAGE, "unknown or ambiguous option '%.*s'; see 'kvslot%s%s --help'",
                        (int)strcspn(word, "="), word, space, help);
}

static int parse(struct cmd_call *call, struct table *table, int argc, char **argv)
{
    int result;

    opterr = 0;
    optind = 0; /* glibc: start anew */
    while ((result = getopt_long(argc, argv, table->shorts, table->longs, NULL)) != -1) {
        if (result == '?' || result == ':')
            return refuse(call, table, argv, result);
        int place = result >= NUMBER_BASE ? result - NUMBER_BASE : by_letter(table, result);
        int code = take(call, table->options[place], (size_t)place, optarg);
        if (code != CMD_OK)
            return code;
    }
    return CMD_OK;
}

int kvs_cmd_parse_global(struct cmd_call *call, int argc, char **argv, int *next)
{
    struct table table = {.shorts = "+:"};

    add(&table, &param_option);
    add(&table, &help_option);
    add(&table, &version_option);
    int code = parse(call, &table, argc, argv);
    *next = optind;
    return code;
}

static int check_operands(const struct cmd_call *call)
{
    const struct cmd *cmd = call->cmd;
    int min = cmd->min, max = cmd->max;

    if (cmd->hex && kvs_cmd_option(call, cmd->hex)) {
        min = min > 1 ? min - 1 : min;
        max--;
    }
    if (call->noperands >= min && call->noperands <= max)
        return CMD_OK;
    return kvs_cmd_fail(CMD_USAGE, "'kvslot %s' takes %s, and was given %d operand%s; see 'kvslot %s --help'",
                        cmd->name, cmd->operands[0] ? cmd->operands : "no operands", call->noperands,
                        call->noperands == 1 ? "" : "s", cmd->name);
}

int kvs_cmd_parse(struct cmd_call *call, int argc, char **argv)
{
    struct table table = {.shorts = ":"};

    for (const struct cmd_option *option = call->cmd->options; option && option->name; option++)
        add(&table, option);
    add(&table, &param_option);
    add(&table, &help_option);
    if (call->cmd->no_params && call->nparams > 0)
        return kvs_cmd_fail(CMD_USAGE, "'kvslot %s' takes no parameters (-p)", call->cmd->name);
    int code = parse(call, &table, argc, argv);
    if (code != CMD_OK || call->help)
        return code;
    call->operands = argv + optind;
    call->noperands = argc - optind;
    return check_operands(call);
}

void kvs_cmd_call_free(struct cmd_call *call)
{
    for (size_t i = 0; i < call->nparams; i++)
        free((char *)(uintptr_t)call->params[i].name);
    free(call->params);
}

const char *kvs_cmd_option(const struct cmd_call *call, const char *name)
{
    const struct cmd_option *options = call->cmd->options;

    for (size_t i = 0; options && options[i].name; i++) {
        if (strcmp(options[i].name, name) == 0)
            return call->values[i];
    }
    return NULL;
}

/* ---- Help ---- */

static void option_line(const struct cmd_option *option)
{
    char left[64], letter[8] = "    ";

    if (option->letter)
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    snprintf(left, sizeof left, "%s--%s%s%s", letter, option->name, option->arg ? " " : "",
             option->arg ? option->arg : "");
    printf("  %-32s %s\n", left, option->help);
}

void kvs_cmd_help(const struct cmd *cmd)
{
    printf("Usage: kvslot %s [OPTION]...%s%s\n\n", cmd->name, cmd->operands[0] ? " " : "", cmd->operands);
    printf("%c%s.\n", toupper((unsigned char)cmd->summary[0]), cmd->summary + 1);
    if (cmd->help)
        printf("\n%s\n", cmd->help);
    printf("\nOptions:\n");
    for (const struct cmd_option *option = cmd->options; option && option->name; option++)
        option_line(option);
    if (!cmd->no_params)
        option_line(&param_option);
    option_line(&help_option);
    printf("\nExit codes:\n");
    kvs_cmd_exit_help(stdout);
}

void kvs_cmd_help_global(const struct cmd *const *cmds)
{
    printf(
        "Usage: kvslot [OPTION]... COMMAND [OPTION]... [OPERAND]...\n\n"
        "Moves values to and from any store that has a kvslot backend, and checks backends.\n\nCommands:\n");
    for (size_t i = 0; cmds[i]; i++) {
        char left[64];
        snprintf(left, sizeof left, "%s %s", cmds[i]->name, cmds[i]->operands);
        printf("  %-32s %s\n", left, cmds[i]->summary);
    }
    printf("\n'kvslot COMMAND --help' tells more about one.\n\nOptions:\n");
    option_line(&param_option);
    option_line(&help_option);
    option_line(&version_option);
    printf(
        "\nTARGET names a store: a backend (mock), a URI (lmdb:/var/cache/kv?sync=none), or a plugin's file "
        "(anything\n"
        "else with a slash in it, or ending in .so). 'kvslot info TARGET' lists the parameters. Secrets "
        "are best\n"
        "given as -p NAME=@FILE, so that no process list shows them.\n"
        "\nEnvironment:\n"
        "  KVSLOT_PLUGIN_PATH               folders with plugins (kvslot-NAME.so), apart by ':', looked "
        "in first\n"
        "  KVSLOT_LOG                       how much is logged: error, warn (the default), info, debug, "
        "trace\n"
        "\nExit codes:\n");
    kvs_cmd_exit_help(stdout);
}
