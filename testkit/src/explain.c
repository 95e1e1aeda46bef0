/* SPDX-License-Identifier: Apache-2.0 */
/* What the suite says about its cases. */
#include "caps.h"
#include "registry.h"
#include "say.h"
#include <stdio.h>

int kvs_conform_list(int (*each)(void *arg, const struct kvs_conform_case *info), void *arg)
{
    const struct kit_case *row;
    for (size_t i = 0; (row = registry_at(i)) != NULL; i++) {
        struct kvs_conform_case info;
        registry_describe(row, &info);
        int rc = each(arg, &info);
        if (rc != 0)
            return rc;
    }
    return KVS_OK;
}

static int find(const char *id, const struct kit_case **row, struct kvs_error *err)
{
    *row = id ? registry_find(id) : NULL;
    if (*row)
        return KVS_OK;
    return say(err, KVS_NOT_FOUND, "there is no case '%s'; the nearest is %s", id ? id : "",
               registry_nearest(id ? id : ""));
}

/* A text in lines of at most 100 bytes. */
static void wrapped(FILE *out, const char *text)
{
    while (*text) {
        size_t n = strlen(text);
        if (n > 100)
            for (n = 100; n > 1 && text[n] != ' '; n--)
                ;
        fprintf(out, "    %.*s\n", (int)n, text);
        text += n + strspn(text + n, " ");
    }
}

int kvs_conform_explain(const char *id, FILE *out, struct kvs_error *err)
{
    char names[256];
    const struct kit_case *row;
    int rc = find(id, &row, err);
    if (rc != KVS_OK)
        return rc;
    fprintf(out, "%s: %s\n\n", row->id, row->title);
    wrapped(out, row->explain);
    fprintf(out, "\nprofile:      %s\n", row->profile == KVS_CONFORM_CORE ? "core" : "extended");
    caps_names(row->needs, names, sizeof(names));
    fprintf(out, "needs:        %s\n", names[0] ? names : "nothing beyond read and write");
    caps_names(row->absent, names, sizeof(names));
    if (names[0])
        fprintf(out, "only without: %s\n", names);
    if (row->tags && row->tags[0])
        fprintf(out, "tags:         %s\n", row->tags);
    fprintf(out, "time limit:   %u s\n", row->timeout_s ? row->timeout_s : KIT_TIMEOUT_S);
    fprintf(out, "requirements: %s\n", row->requirements);
    return ferror(out) ? say(err, KVS_IO, "the explanation cannot be written") : KVS_OK;
}
