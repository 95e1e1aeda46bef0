/* SPDX-License-Identifier: Apache-2.0 */
/* kvslot conform: the conformance suite on one target. */
#include "command.h"

#include <kvslot/testkit.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static const struct cmd_option options[] = {
    {"config", 0, "FILE", "take what is not given here from FILE, a JSON object; it may name the TARGET too"},
    {"json", 0, "FILE", "write the report to FILE as JSON"},
    {"junit", 0, "FILE", "write the report to FILE as JUnit XML"},
    {"html", 0, "FILE", "write the report to FILE as a page for people"},
    {"expect", 0, "FILE", "fail where the store's capabilities and limits are not those in FILE"},
    {"filter", 0, "GLOBS", "only these cases: ids, globs, or tag:WORD, apart by commas"},
    {"skip", 0, "GLOBS", "not these cases: the same form"},
    {"self-test", 0, NULL,
     "show that the suite can fail: stores with a defect against their cases; no TARGET is needed"},
    {"list", 0, NULL, "list the cases; no TARGET is needed"},
    {"explain", 0, "ID", "tell what a case does, and what its failure means; no TARGET is needed"},
    {"compare", 0, "REPORT",
     "compare this JSON report with the one in TARGET's place: prints what differs, exits with 1 where that "
     "is "
     "worse"},
    {"time-ratio", 0, "X", "with --compare: a case that takes X times as long is worse"},
    {"seed", 0, "N", "seed of all random bytes; 0, the default, draws one"},
    {"replay", 0, "FILE", "only the steps in FILE, as a case of the tag model prints them where it fails"},
    {"repeat", 0, "N", "rounds of each case, until one is not PASS"},
    {"until-fail", 0, NULL, "all cases again and again, until one fails; --repeat is then the most rounds"},
    {"jobs", 0, "N", "cases at once"},
    {"strict", 0, NULL, "exit with 1 for a partial verdict too"},
    {"timeout-multiplier", 0, "X", "stretches every time limit; may be a fraction"},
    {"state", 0, "FOLDER", "where a run notes its keys, for the next one to remove if it is killed"},
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

/* An option that is a factor above `least`; *out is left alone where it is not given. */
static int factor(const struct cmd_call *call, const char *option, double least, double *out)
{
    const char *text = kvs_cmd_option(call, option);

    if (!text)
        return CMD_OK;
    char *end;
    double value = strtod(text, &end);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || !(value > least && value <= 1000))
        return kvs_cmd_fail(CMD_USAGE, "option --%s is '%s'; it takes a number above %g, up to 1000", option,
                            text, least);
    *out = value;
    return CMD_OK;
}

/* Exit code 1 says that the second report is worse, and nothing else. */
static int compare(const struct cmd_call *call)
{
    struct kvs_error err = {0};
    double ratio = 0;

    if (call->noperands != 1)
        return kvs_cmd_fail(CMD_USAGE,
                            "'kvslot conform --compare' needs two reports; see 'kvslot conform --help'");
    int code = factor(call, "time-ratio", 1, &ratio);
    if (code != CMD_OK)
        return code;
    int status = kvs_conform_compare(kvs_cmd_option(call, "compare"), call->operands[0], ratio, stdout, &err);
    if (status == KVS_OK)
        return CMD_OK;
    fflush(stdout);
    return kvs_cmd_fail(status == KVS_MISMATCH ? CMD_FAILED : CMD_USAGE, "%s", err.text);
}

/* Where an option stands, it goes before the file's member. */
static void take_text(const struct cmd_call *call, const char *option, const char **member)
{
    if (kvs_cmd_option(call, option))
        *member = kvs_cmd_option(call, option);
}

/* The file's parameters, in place of which the command line's stand; *all is to be freed. */
static int take_params(const struct cmd_call *call, struct kvs_conform_config *cfg,
                       struct kvs_param_value **all)
{
    size_t n = 0;

    *all = calloc(cfg->nparams + call->nparams + 1, sizeof **all);
    if (!*all)
        return kvs_cmd_fail(CMD_FAILED, "out of memory");
    for (size_t i = 0; i < cfg->nparams; i++) {
        bool replaced = false;
        for (size_t j = 0; j < call->nparams; j++)
            replaced |= strcmp(cfg->params[i].name, call->params[j].name) == 0;
        if (!replaced)
            (*all)[n++] = cfg->params[i];
    }
    for (size_t j = 0; j < call->nparams; j++)
        (*all)[n++] = call->params[j];
    cfg->params = *all;
    cfg->nparams = n;
    return CMD_OK;
}

static int take_numbers(const struct cmd_call *call, struct kvs_conform_config *cfg)
{
    uint64_t jobs = cfg->jobs, repeat = cfg->repeat;

    int code = kvs_cmd_number(call, "seed", 0, UINT64_MAX, &cfg->seed);
    if (code == CMD_OK)
        code = kvs_cmd_number(call, "repeat", 1, INT_MAX, &repeat);
    if (code == CMD_OK)
        code = kvs_cmd_number(call, "jobs", 1, 256, &jobs);
    if (code == CMD_OK)
        code = factor(call, "timeout-multiplier", 0, &cfg->timeout_multiplier);
    cfg->repeat = (unsigned)repeat;
    cfg->jobs = (unsigned)jobs;
    return code;
}

/* The user's own folder for what programs keep; *own is to be freed. */
static const char *default_state(char **own)
{
    const char *base = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

    *own = NULL;
    if (base && base[0] == '/') {
        if (asprintf(own, "%s/kvslot", base) < 0)
            *own = NULL;
    } else if (home && home[0] == '/') {
        if (asprintf(own, "%s/.local/state/kvslot", home) < 0)
            *own = NULL;
    }
    return *own;
}

static int configure(const struct cmd_call *call, struct kvs_conform_config *cfg,
                     struct kvs_param_value **params)
{
    int code = take_numbers(call, cfg);

    if (code == CMD_OK)
        code = take_params(call, cfg, params);
    if (code != CMD_OK)
        return code;
    const char *target = call->operands[0];
    if (target) {
        cfg->target = cfg->plugin_file = NULL;
        *(kvs_cmd_is_file(target) ? &cfg->plugin_file : &cfg->target) = target;
    }
    if (!cfg->target && !cfg->plugin_file && !kvs_cmd_option(call, "self-test"))
        return kvs_cmd_fail(CMD_USAGE, "'kvslot conform' needs a TARGET; see 'kvslot conform --help'");
    take_text(call, "filter", &cfg->filter);
    take_text(call, "skip", &cfg->skip);
    take_text(call, "expect", &cfg->expect_file);
    take_text(call, "json", &cfg->json_file);
    take_text(call, "junit", &cfg->junit_file);
    take_text(call, "html", &cfg->html_file);
    take_text(call, "state", &cfg->state_dir);
    take_text(call, "case-program", &cfg->case_program);
    take_text(call, "replay", &cfg->replay_file);
    cfg->until_fail |= kvs_cmd_option(call, "until-fail") != NULL;
    cfg->strict |= kvs_cmd_option(call, "strict") != NULL;
    cfg->out = stdout;
    return CMD_OK;
}

static volatile sig_atomic_t stop; /* set by a signal; the second one of its kind ends the program */

static void on_signal(int sig)
{
    (void)sig;
    stop = 1;
}

static int run_suite(struct kvs_conform_config *cfg)
{
    struct kvs_conform_summary summary = {.size = sizeof summary};
    struct sigaction act = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    struct kvs_error err = {0};

    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
    cfg->stop = &stop;
    int status = kvs_conform_run(cfg, &summary, &err);
    if (status == KVS_OK)
        return CMD_OK;
    fflush(stdout); /* the table stands before the sentence, also in one file */
    return kvs_cmd_fail_status(status, &err);
}

static int self_test(struct kvs_conform_config *cfg)
{
    struct kvs_error err = {0};

    cfg->stop = &stop;
    int status = kvs_conform_self_test(cfg, NULL, NULL, &err);
    fflush(stdout);
    return status == KVS_OK ? CMD_OK : kvs_cmd_fail_status(status, &err);
}

static int run(struct cmd_call *call)
{
    struct kvs_conform_config cfg;
    struct kvs_conform_file *file = NULL;
    struct kvs_param_value *params = NULL;
    struct kvs_error err = {0};
    char *state = NULL;

    if (kvs_cmd_option(call, "list"))
        return kvs_conform_list(print_case, NULL);
    if (kvs_cmd_option(call, "explain"))
        return explain(kvs_cmd_option(call, "explain"));
    if (kvs_cmd_option(call, "compare"))
        return compare(call);
    if (kvs_cmd_option(call, "time-ratio"))
        return kvs_cmd_fail(CMD_USAGE, "option --time-ratio goes with --compare only");
    kvs_conform_config_init(&cfg);
    if (kvs_cmd_option(call, "config")) {
        int status = kvs_conform_config_read(kvs_cmd_option(call, "config"), &cfg, &file, &err);
        if (status != KVS_OK)
            return kvs_cmd_fail_status(status, &err);
    }
    if (!cfg.state_dir)
        cfg.state_dir = default_state(&state);
    int code = configure(call, &cfg, &params);
    if (code == CMD_OK)
        code = kvs_cmd_option(call, "self-test") ? self_test(&cfg) : run_suite(&cfg);
    free(state);
    free(params);
    kvs_conform_file_free(file);
    return code;
}

const struct cmd kvs_cmd_conform = {
    .name = "conform",
    .operands = "TARGET",
    .summary = "run the conformance suite on a store",
    .help = "Prints a line for each case and the verdict: pass, partial or fail; fail exits with 1. "
            "Cases touch only\n"
            "keys under a random prefix of their own, and remove them.",
    .options = options,
    .min = 0,
    .max = 1,
    .run = run,
};
