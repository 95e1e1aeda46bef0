/* SPDX-License-Identifier: Apache-2.0 */
/* kvslot list */
#include "command.h"

#include <string.h>

struct listing {
    int width; /* of the longest name */
    int count;
};

static int measure(void *arg, const char *name, const char *where)
{
    struct listing *listing = arg;
    int len = (int)strlen(name);

    (void)where;
    listing->count++;
    if (len > listing->width)
        listing->width = len;
    return 0;
}

static int print(void *arg, const char *name, const char *where)
{
    const struct listing *listing = arg;

    printf("%-*s  %s\n", listing->width, name, where);
    return 0;
}

static int run(struct cmd_call *call)
{
    struct listing listing = {0};

    (void)call;
    int status = kvs_backend_list(measure, &listing);
    if (status == KVS_OK)
        status = kvs_backend_list(print, &listing);
    if (status != KVS_OK)
        return kvs_cmd_fail_status(status, NULL);
    if (listing.count == 0)
        fputs("kvslot: no backend was found; KVSLOT_PLUGIN_PATH names folders with plugins\n", stderr);
    return CMD_OK;
}

const struct cmd kvs_cmd_list = {
    .name = "list",
    .operands = "",
    .summary = "list the backends that can be opened by name, and their files",
    .help = "Files are found by their names, kvslot-NAME.so, and not loaded.",
    .no_params = true,
    .run = run,
};
