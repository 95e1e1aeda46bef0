/* SPDX-License-Identifier: Apache-2.0 */
/* What the subcommands share. Functions that may fail for a user's reason answer an exit code (0 is success)
 * and have then said why on standard error. */
#ifndef KVS_COMMAND_H
#define KVS_COMMAND_H

#include <kvslot/backend.h>
#include <kvslot/kvslot.h>
#include <stdbool.h>
#include <stdio.h>

/* Exit codes; kvs_cmd_exit_code() says which status is which. */
enum cmd_exit {
    CMD_OK = 0,
    CMD_FAILED = 1,
    CMD_USAGE = 2,
    CMD_NOT_FOUND = 3,
};

/* ---- Options, as data: parser, --help and docs/kvslot.md go by these ---- */

#define CMD_OPTIONS_MAX 32

struct cmd_option {
    const char *name; /* without dashes; NULL ends a list */
    int letter;       /* of the short form, or 0 */
    const char *arg;  /* name of its argument, or NULL */
    const char *help; /* one line */
};

struct cmd_call;

struct cmd {
    const char *name;
    const char *operands; /* as usage shows them */
    const char *summary;  /* one line */
    const char *help;     /* what else there is to say, or NULL */
    const struct cmd_option *options;
    const char *hex; /* name of the option that replaces the second operand, or NULL */
    int min, max;    /* operands */
    bool no_params;  /* -p has no meaning here */
    int (*run)(struct cmd_call *call);
};

/* One run of a command, parsed. All pointers but params go into argv. */
struct cmd_call {
    const struct cmd *cmd;
    char **operands; /* noperands of them, then NULL */
    int noperands;
    const char *values[CMD_OPTIONS_MAX]; /* by place in cmd->options; "" for one that takes no argument */
    struct kvs_param_value *params;      /* names are copies */
    size_t nparams;
    bool help, version;
};

extern const struct cmd kvs_cmd_list, kvs_cmd_info, kvs_cmd_put, kvs_cmd_get, kvs_cmd_query, kvs_cmd_remove,
    kvs_cmd_keys, kvs_cmd_conform, kvs_cmd_new;

/* Options in front of the command; stops at the first operand, whose place is *next. */
int kvs_cmd_parse_global(struct cmd_call *call, int argc, char **argv, int *next);
/* Options and operands of call->cmd; argv[0] is the command's name. */
int kvs_cmd_parse(struct cmd_call *call, int argc, char **argv);
void kvs_cmd_call_free(struct cmd_call *call);
/* Value of an option of call->cmd; NULL where it was not given. */
const char *kvs_cmd_option(const struct cmd_call *call, const char *name);
void kvs_cmd_help(const struct cmd *cmd);
void kvs_cmd_help_global(const struct cmd *const *cmds);

/* ---- Errors ---- */

/* The exit code that stands for a status. */
int kvs_cmd_exit_code(int status);
/* Prints the table of exit codes. */
void kvs_cmd_exit_help(FILE *out);
/* Says "kvslot: sentence" on standard error and answers `code`. */
int kvs_cmd_fail(int code, const char *fmt, ...) KVS_PRINTF(2, 3);
/* The same for an error of the SDK: `status` and the text it left in err, or the status' own. */
int kvs_cmd_fail_status(int status, const struct kvs_error *err);
/* The same for what a call with a key answered: NOT_FOUND then names the key. */
struct cmd_key;
int kvs_cmd_fail_key(int status, const struct kvs_error *err, const struct cmd_key *key);

/* ---- Targets, keys, numbers ---- */

/* Is TARGET a plugin's file: a slash, or .so at the end, and no colon before. */
bool kvs_cmd_is_file(const char *target);
/* The name or URI that a TARGET stands for; a plugin file is loaded for it. */
int kvs_cmd_target(const char *target, const char **name);
/* Opens the engine of operand 0 with the call's parameters. */
int kvs_cmd_open(const struct cmd_call *call, kvs_engine **engine);
void kvs_cmd_close(kvs_engine *engine);

struct cmd_key {
    const void *data; /* in argv, or `own` */
    size_t len;
    void *own;
};

/* The key: operand 1, or the bytes of option cmd->hex; *next is the place of the operand after it. */
int kvs_cmd_key(const struct cmd_call *call, struct cmd_key *key, int *next);
void kvs_cmd_key_free(struct cmd_key *key);
/* Writes bytes with everything but printable ASCII, and the backslash, as \xNN. */
void kvs_cmd_print_key(FILE *out, const void *key, size_t len);
/* Parses option `name`, where given, as a whole number from min to max; *out is left alone otherwise. */
int kvs_cmd_number(const struct cmd_call *call, const char *name, uint64_t min, uint64_t max, uint64_t *out);

/* ---- Values ---- */

struct cmd_input {
    const char *name; /* for messages */
    int fd;
    void *data; /* len bytes; NULL where there are none */
    size_t len;
    void *map; /* the mapping that data is in, or NULL: data is from malloc */
    size_t map_len;
};

/* Opens FILE; NULL and "-" are standard input. */
int kvs_cmd_input_open(const char *file, struct cmd_input *in);
/* Makes its bytes available: regular files by mapping them, everything else by reading to the end. */
int kvs_cmd_input_load(struct cmd_input *in);
void kvs_cmd_input_close(struct cmd_input *in);

/* Writes a value to FILE; NULL and "-" are standard output. A regular file is replaced as a whole or not at
 * all. */
int kvs_cmd_output(const char *file, const void *data, size_t len);

/* ---- Parts of info ---- */

/* What there is to tell about a backend. */
struct cmd_info {
    const struct kvs_backend *backend;
    const char *where;                  /* its file, or "built in" */
    const struct kvs_param *sdk_params; /* nsdk_params of them */
    size_t nsdk_params;
};

void kvs_cmd_info_text(const struct cmd_info *info, FILE *out);
int kvs_cmd_info_json(const struct cmd_info *info, FILE *out);

/* A number's word; by place, `words` ends with NULL. */
extern const char *const kvs_cmd_mem_names[], *const kvs_cmd_flag_names[], *const kvs_cmd_cap_names[];
/* "native", "none" or "emulated". */
const char *kvs_cmd_cap_state(const struct kvs_backend *backend, unsigned bit);
/* "blocking", "async", or "async, blocking" for a table that has both. */
const char *kvs_cmd_shape(const struct kvs_backend *backend);
const char *kvs_cmd_thread_model(const struct kvs_backend *backend);
const char *kvs_cmd_param_type(const struct kvs_param *param);

/* ---- Templates, built into the program ---- */

struct cmd_template {
    const char *shape; /* "common": of every shape */
    const char *file;  /* its name in the new folder; @NAME@ is replaced there too */
    const unsigned char *data;
    size_t len;
};

extern const struct cmd_template kvs_cmd_templates[]; /* ends with shape NULL */

#endif
