/* SPDX-License-Identifier: Apache-2.0 */
#include "mask.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Shorter ones would blot out text that has nothing to do with them. */
#define SHORTEST  4
#define FILE_MOST 4096

bool mask_is_secret(const struct mask *m, const char *name, size_t len)
{
    for (size_t i = 0; m->names && i < json_array_size(m->names); i++) {
        const char *s = json_string_value(json_array_get(m->names, i));
        if (s && strlen(s) == len && memcmp(s, name, len) == 0)
            return true;
    }
    return m->names == NULL;
}

static int add(struct mask *m, const char *value, size_t len)
{
    if (len < SHORTEST)
        return KVS_OK;
    char **grown = realloc(m->values, (m->n + 1) * sizeof(*grown));
    char *copy = calloc(1, len + 1);
    if (grown)
        m->values = grown;
    if (!grown || !copy) {
        free(copy);
        return KVS_NO_MEMORY;
    }
    memcpy(copy, value, len);
    m->values[m->n++] = copy;
    return KVS_OK;
}

static int add_file(struct mask *m, const char *path)
{
    char text[FILE_MOST];
    FILE *f = fopen(path, "re");
    if (!f)
        return KVS_OK; /* open will say so */
    size_t n = fread(text, 1, sizeof(text), f);
    fclose(f);
    if (n > 0 && text[n - 1] == '\n')
        n--;
    return add(m, text, n);
}

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* What a part of a URI stands for; no longer than that. Answers how long it is. */
static size_t decode(char *plain, const char *value, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        int hi = i + 2 < len && value[i] == '%' ? digit(value[i + 1]) : -1;
        int lo = hi >= 0 ? digit(value[i + 2]) : -1;
        plain[n++] = lo >= 0 ? (char)(hi << 4 | lo) : value[i];
        i += lo >= 0 ? 2 : 0;
    }
    return n;
}

/* As it stands in the URI, and as it is meant. */
static int add_encoded(struct mask *m, const char *value, size_t len)
{
    char *plain = malloc(len + 1);
    int rc = add(m, value, len);
    size_t n = plain ? decode(plain, value, len) : 0;
    if (plain && n != len && rc == KVS_OK)
        rc = add(m, plain, n);
    free(plain);
    return rc;
}

/* In a query, where it may be written with '%'. */
static bool is_secret_name(const struct mask *m, const char *name, size_t len)
{
    char plain[3 * 64];
    if (len > sizeof(plain)) /* no parameter has such a name */
        return true;
    return mask_is_secret(m, plain, decode(plain, name, len));
}

/* Calls each for the parts of a target that must not be shown: the password, the user where that is a secret,
 * and secret parameters. */
static int secret_parts(const struct mask *m, const char *target,
                        int (*each)(void *arg, const char *at, size_t len), void *arg)
{
    int rc = KVS_OK;
    const char *host = strstr(target, "://");
    if (host) {
        host += 3;
        size_t authority = strcspn(host, "/?");
        const char *end = memrchr(host, '@', authority);
        const char *colon = end ? memchr(host, ':', (size_t)(end - host)) : NULL;
        if (end && mask_is_secret(m, MASK_USER, strlen(MASK_USER)))
            rc = each(arg, host, (size_t)((colon ? colon : end) - host));
        if (colon && rc == KVS_OK)
            rc = each(arg, colon + 1, (size_t)(end - colon - 1));
    }
    for (const char *p = strchr(target, '?'); p && rc == KVS_OK; p = strchr(p, '&')) {
        size_t name = strcspn(++p, "=&"), len = strcspn(p, "&");
        if (p[name] == '=' && is_secret_name(m, p, name))
            rc = each(arg, p + name + 1, len - name - 1);
    }
    return rc;
}

static int add_part(void *arg, const char *at, size_t len)
{
    return add_encoded(arg, at, len);
}

static int add_value(struct mask *m, const char *value)
{
    return value[0] == '@' ? add_file(m, value + 1) : add(m, value, strlen(value));
}

static int longer_first(const void *a, const void *b)
{
    size_t x = strlen(*(char *const *)a), y = strlen(*(char *const *)b);
    return x < y ? 1 : x > y ? -1 : 0;
}

int mask_init(struct mask *m, const json_t *names, const char *target, const struct kvs_param_value *params,
              size_t nparams)
{
    memset(m, 0, sizeof(*m));
    m->names = names;
    int rc = target ? secret_parts(m, target, add_part, m) : KVS_OK;
    for (size_t i = 0; i < nparams && rc == KVS_OK; i++)
        if (mask_is_secret(m, params[i].name, strlen(params[i].name)))
            rc = add_value(m, params[i].value);
    for (size_t i = 0; names && i < json_array_size(names) && rc == KVS_OK; i++) {
        const char *name = json_string_value(json_array_get(names, i));
        const char *value = name && name[0] == MASK_ENV ? secure_getenv(name + 1) : NULL;
        rc = value ? add_value(m, value) : KVS_OK;
    }
    if (m->n > 1)
        qsort(m->values, m->n, sizeof(*m->values), longer_first);
    if (rc != KVS_OK)
        mask_free(m);
    return rc;
}

void mask_free(struct mask *m)
{
    for (size_t i = 0; i < m->n; i++)
        free(m->values[i]);
    free(m->values);
    m->values = NULL;
    m->n = 0;
}

char *mask_text(const struct mask *m, const char *text, size_t *len)
{
    char *out = malloc(*len + 1);
    size_t n = 0;
    if (!out)
        return NULL;
    for (size_t i = 0; i < *len;) {
        size_t v = 0, vlen = 0;
        for (; v < m->n; v++) {
            vlen = strlen(m->values[v]);
            if (vlen <= *len - i && memcmp(text + i, m->values[v], vlen) == 0)
                break;
        }
        if (v < m->n) {
            memcpy(out + n, MASK_SHOWN, strlen(MASK_SHOWN)); /* never longer than what it replaces */
            n += strlen(MASK_SHOWN);
            i += vlen;
        } else {
            out[n++] = text[i++];
        }
    }
    out[n] = '\0';
    *len = n;
    return out;
}

struct copy {
    const char *from; /* what is not copied yet */
    FILE *to;
};

static int hide_part(void *arg, const char *at, size_t len)
{
    struct copy *c = arg;
    fprintf(c->to, "%.*s%s", (int)(at - c->from), c->from, MASK_SHOWN);
    c->from = at + len;
    return KVS_OK;
}

char *mask_target(const struct mask *m, const char *target)
{
    char *shown = NULL;
    size_t len = 0;
    struct copy c = {target, open_memstream(&shown, &len)};
    if (!c.to)
        return NULL;
    secret_parts(m, target, hide_part, &c);
    fputs(c.from, c.to);
    if (fclose(c.to) != 0) {
        free(shown);
        return NULL;
    }
    return shown;
}

const char *mask_value(const struct mask *m, const struct kvs_param_value *p)
{
    return p->value[0] == '@' || !mask_is_secret(m, p->name, strlen(p->name)) ? p->value : MASK_SHOWN;
}
