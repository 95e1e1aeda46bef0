/* SPDX-License-Identifier: Apache-2.0 */
/* kvslot conform: the conformance suite on one target. */
#include "command.h"

#include <kvslot/testkit.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const struct cmd_option options[] = {
    {"json", 0, "FILE", "write the report to FILE as JSON"},
    {"filter", 0, "GLOBS", "only these cases: ids, globs, or tag:WORD, apart by commas"},
    {"skip", 0, "GLOBS", "not these cases: the same form"},
    {"list", 0, NULL, "list the cases; no TARGET is needed"},
    {"explain", 0, "ID", "tell what a case does, and what its failure means; no TARGET is needed"},
    {"seed", 0, "N", "seed of all random bytes; 0, the default, draws one"},
    {"repeat", 0, "N", "rounds of each case, until one is not PASS"},
    {"jobs", 0, "N", "cases at once"},
    {"timeout-multiplier", 0, "X", "stretches every time limit; may be a fraction"},
    {"case-program", 0, "FILE", "the program that runs a case, in place of kvslot-case"},
    {NULL, 0, NULL, NULL},
};

static int print_case(void *arg, const struct kvs_conform_case *info)
{
    (void)arg;
    printf("%-32s %-9s %s\n", info->id, info->profile == KVS_CONFORM_CORE ? "core" : "extended", info->title);
    return 0;
}

static int explain(const char *id)
{
    struct kvs_error err = {0};

    int status = kvs_conform_explain(id, stdout, &err);
    return status == KVS_OK ? CMD_OK : kvs_cmd_fail_status(status, &err);
}

static int multiplier(const struct cmd_call *call, double *out)
{
    const char *text = kvs_cmd_option(call, "timeout-multiplier");

    if (!text)
        return CMD_OK;
    char *end;
    double value = strtod(text, &end);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || !(value > 0 && value <= 1000))
        return kvs_cmd_fail(
            CMD_USAGE, "option --timeout-multiplier is '%s'; it takes a number above 0, up to 1000", text);
    *out = value;
    return CMD_OK;
}

static int configure(const struct cmd_call *call, struct kvs_conform_config *cfg)
{
    uint64_t jobs = 1, repeat = 1;

    int code = kvs_cmd_number(call, "seed", 0, UINT64_MAX, &cfg->seed);
    if (code == CMD_OK)
        code = kvs_cmd_number(call, "repeat", 1, INT_MAX, &repeat);
    if (code == CMD_OK)
        code = kvs_cmd_number(call, "jobs", 1, 256, &jobs);
    if (code == CMD_OK)
        code = multiplier(call, &cfg->timeout_multiplier);
    if (code != CMD_OK)
        return code;
    const char *target = call->operands[0];
    *(kvs_cmd_is_file(target) ? &cfg->plugin_file : &cfg->target) = target;
    cfg->params = call->params;
    cfg->nparams = call->nparams;
    cfg->filter = kvs_cmd_option(call, "filter");
    cfg->skip = kvs_cmd_option(call, "skip");
    cfg->json_file = kvs_cmd_option(call, "json");
    cfg->case_program = kvs_cmd_option(call, "case-program");
    cfg->repeat = (unsigned)repeat;
    cfg->jobs = (unsigned)jobs;
    cfg->out = stdout;
    return CMD_OK;
}

static int run(struct cmd_call *call)
{
    struct kvs_conform_config cfg;
    struct kvs_conform_summary summary = {.size = sizeof summary};
    struct kvs_error err = {0};

    if (kvs_cmd_option(call, "list"))
        return kvs_conform_list(print_case, NULL);
    if (kvs_cmd_option(call, "explain"))
        return explain(kvs_cmd_option(call, "explain"));
    if (call->noperands == 0)
        return kvs_cmd_fail(CMD_USAGE, "'kvslot conform' needs a TARGET; see 'kvslot conform --help'");
    kvs_conform_config_init(&cfg);
    int code = configure(call, &cfg);
    if (code != CMD_OK)
        return code;
    int status = kvs_conform_run(&cfg, &summary, &err);
    if (status == KVS_OK)
        return CMD_OK;
    fflush(stdout); /* the table stands before the sentence, also in one file */
    return kvs_cmd_fail_status(status, &err);
}

const struct cmd kvs_cmd_conform = {
    .name = "conform",
    .operands = "TARGET",
    .summary = "run the conformance suite on a store",
    .help = "Prints a line for each case and the verdict: pass, partial or fail; only fail exits with 1. "
            "Cases touch only\n"
            "keys under a random prefix of their own, and remove them.",
    .options = options,
    .min = 0,
    .max = 1,
    .run = run,
};
