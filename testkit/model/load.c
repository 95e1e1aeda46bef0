/* SPDX-License-Identifier: Apache-2.0 */
#include "../src/say.h"
#include "script.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX (16u << 20)

int script_load(const char *file, struct script *s, struct kvs_error *err)
{
    struct kvs_error why = {0};
    size_t len = 0;
    script_init(s);
    FILE *f = fopen(file, "re");
    char *text = malloc(FILE_MAX);
    int rc = f && text ? KVS_OK
             : f       ? say(err, KVS_NO_MEMORY, "no memory for the script %s", file)
                       : say(err, KVS_IO, "the script %s cannot be read: %s", file, strerror(errno));
    if (rc == KVS_OK) {
        len = fread(text, 1, FILE_MAX, f);
        if (ferror(f))
            rc = say(err, KVS_IO, "the script %s cannot be read: %s", file, strerror(errno));
        else if (len == FILE_MAX)
            rc = say(err, KVS_INVALID_PARAM, "the script %s is larger than %u bytes", file, FILE_MAX - 1);
    }
    if (rc == KVS_OK) {
        rc = script_parse(text, len, s, &why);
        if (rc == KVS_OK && s->n == 0)
            rc = say(&why, KVS_INVALID_PARAM, "it has no step");
        if (rc != KVS_OK)
            say(err, rc, "the script %s: %s", file, why.text);
    }
    if (rc != KVS_OK)
        script_free(s);
    free(text);
    if (f)
        fclose(f);
    return rc;
}
