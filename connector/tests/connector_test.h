/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of connectors share. */
#ifndef KVS_CONNECTOR_TEST_H
#define KVS_CONNECTOR_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <kvslot/connector.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

/* ---- The log, caught ---- */

/* Written inside the log's function, one call at a time; read where no thread runs that logs. */
static struct {
    int lines;
    int level;
    char last[1200];
} caught __attribute__((unused));

__attribute__((unused)) static void catch_line(void *arg, int level, const char *text)
{
    (void)arg;
    caught.lines++;
    caught.level = level;
    snprintf(caught.last, sizeof caught.last, "%s", text);
}

__attribute__((unused)) static void catch_log(void)
{
    memset(&caught, 0, sizeof caught);
    kvs_set_log(catch_line, NULL, KVS_LOG_WARN);
}

/* ---- Calls that have to succeed ---- */

__attribute__((unused)) static kvs_connector *build(const char *name, const char *param, const char *value)
{
    struct kvs_error err = {0};
    struct kvs_param_value given = {param, value};
    kvs_connector *c = NULL;
    if (kvs_connector_build(name, &given, param != NULL, &c, &err) != KVS_OK)
        fail_msg("%s was not built: %s", name, err.text);
    assert_non_null(c);
    return c;
}

__attribute__((unused)) static char *prefill(const kvs_connector *c)
{
    struct kvs_error err = {0};
    char *json = NULL;
    size_t len = 0;
    if (kvs_connector_prefill(c, &json, &len, &err) != KVS_OK)
        fail_msg("prefill: %s", err.text);
    assert_int_equal(len, strlen(json));
    return json;
}

__attribute__((unused)) static char *decode_bytes(const kvs_connector *c, const char *input, size_t input_len,
                                                  int want)
{
    struct kvs_error err = {0};
    char *json = NULL;
    size_t len = 0;
    int handoff = -1;
    if (kvs_connector_decode(c, input, input_len, &json, &len, &handoff, &err) != KVS_OK)
        fail_msg("decode of '%.200s': %s", input ? input : "(none)", err.text);
    if (handoff != want)
        fail_msg("decode of '%.200s': hand-off %d, not %d", input ? input : "(none)", handoff, want);
    assert_int_equal(len, strlen(json));
    return json;
}

__attribute__((unused)) static char *decode(const kvs_connector *c, const char *input, int want)
{
    return decode_bytes(c, input, input ? strlen(input) : 0, want);
}

/* Is it that text? It is freed. */
__attribute__((unused)) static void is_text(char *got, const char *want)
{
    assert_string_equal(got, want);
    kvs_connector_text_free(got);
}

/* A copy that ends where its bytes do, so that reading past them shows. */
__attribute__((unused)) static char *exact(const char *text, size_t len)
{
    char *copy = malloc(len ? len : 1);
    assert_non_null(copy);
    memcpy(copy, text, len);
    return copy;
}

#endif
