/* SPDX-License-Identifier: Apache-2.0 */
#include "script.h"
#include <stdlib.h>

static const char *const kinds[] = {
    [STEP_WRITE] = "write",   [STEP_READ] = "read",         [STEP_QUERY] = "query",
    [STEP_REMOVE] = "remove", [STEP_LIST] = "list",         [STEP_WAIT] = "wait",
    [STEP_CANCEL] = "cancel", [STEP_REGISTER] = "register", [STEP_DEREGISTER] = "deregister",
    [STEP_REOPEN] = "reopen",
};

static void print_item(const struct step *s, size_t i, FILE *out)
{
    static const char *const lengths[] = {"", " longer", " shorter"};
    const struct step_item *item = &s->items[i];
    fprintf(out, "%s k%u", i ? "," : "", item->key + 1);
    if (s->kind == STEP_WRITE)
        fprintf(out, " v%u %llu", item->value + 1, (unsigned long long)item->len);
    if (s->kind == STEP_READ)
        fputs(lengths[item->length], out);
}

static void print_step(const struct step *s, FILE *out)
{
    if (step_is_operation(s) && s->flight)
        fprintf(out, "post t%u ", s->flight);
    fputs(kinds[s->kind], out);
    for (size_t i = 0; i < s->nitems; i++)
        print_item(s, i, out);
    if ((s->kind == STEP_WAIT || s->kind == STEP_CANCEL) && s->flight)
        fprintf(out, " t%u", s->flight);
    if (s->kind == STEP_REOPEN && s->engine < SCRIPT_ENGINES)
        fprintf(out, " e%u", s->engine + 1);
    else if (s->kind != STEP_REOPEN && s->engine > 0)
        fprintf(out, " on e%u", s->engine + 1);
}

void script_print(const struct script *s, FILE *out)
{
    size_t keys = script_keys(s);
    fprintf(out, "seed %llu\n", (unsigned long long)s->seed);
    if (s->errors)
        fputs("errors allowed\n", out);
    for (size_t i = 0; i < keys; i++)
        if (s->key_len[i])
            fprintf(out, "key k%zu %u\n", i + 1, s->key_len[i]);
    for (size_t i = 0; i < s->n; i++) {
        print_step(&s->steps[i], out);
        fputc('\n', out);
    }
}

char *script_text(const struct script *s)
{
    char *text = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&text, &len);
    if (!f)
        return NULL;
    script_print(s, f);
    if (fclose(f) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

void step_text(const struct step *s, char *to, size_t size)
{
    FILE *f = fmemopen(to, size, "w");
    to[0] = '\0';
    if (!f)
        return;
    print_step(s, f);
    fclose(f);
    to[size - 1] = '\0';
}
