/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as what a prefill or an encoder answered. What comes out is JSON again, in its one form. */
#include <kvslot/connector.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fail(const char *what, const char *text)
{
    fprintf(stderr, "%s: %s\n", what, text);
    abort();
}

static void ignore(void *arg, int level, const char *text)
{
    (void)arg;
    (void)level;
    (void)text;
}

/* An error has its text, and nothing else. */
static void check_error(int status, const struct kvs_error *err, const char *json)
{
    if (json)
        fail("an error with a result", err->text);
    if (status != KVS_INVALID_PARAM && status != KVS_TOO_LARGE && status != KVS_MISMATCH)
        fail("another status than this input can have", err->text);
    if (err->status != status || err->text[0] == '\0')
        fail("an error without its text", kvs_status_name(status));
    for (const char *p = err->text; *p; p++) {
        if ((unsigned char)*p < 0x20)
            fail("a control character in an error", err->text);
    }
}

static void check_text(const char *json, size_t len)
{
    if (len != strlen(json) || json[0] != '{' || json[len - 1] != '}')
        fail("the result is no object", json);
}

static void decode(const kvs_connector *c, const char *text, size_t size)
{
    struct kvs_error err = {0};
    char *json, *again;
    size_t len, again_len;
    int handoff;
    int status = kvs_connector_decode(c, text, size, &json, &len, &handoff, &err);
    if (status != KVS_OK) {
        check_error(status, &err, json);
        return;
    }
    check_text(json, len);
    if (!strstr(json, "\"do_remote_decode\":false") || !strstr(json, "\"do_remote_prefill\":true"))
        fail("the flags are not there", json);
    if (kvs_connector_decode(c, json, len, &again, &again_len, &handoff, &err) != KVS_OK)
        fail("what came out does not go in", err.text);
    if (len != again_len || memcmp(json, again, len) != 0 || handoff != KVS_HANDOFF_GIVEN)
        fail("what came out comes out otherwise", again);
    kvs_connector_text_free(json);
    kvs_connector_text_free(again);
}

static void encode(const kvs_ec_connector *ec, const char *text, size_t size)
{
    struct kvs_error err = {0};
    kvs_ec_request *r;
    char *json = NULL;
    size_t len;
    if (kvs_ec_request_begin(ec, &r, &err) != KVS_OK)
        fail("begin", err.text);
    int status = kvs_ec_request_merge(r, text, size, &err);
    if (status == KVS_OK)
        status = kvs_ec_request_merge_all(r, text, size, &err);
    if (status == KVS_INVALID_PARAM)
        status = kvs_ec_request_merge(r, text, size, &err); /* twice the same is no conflict */
    if (status == KVS_OK)
        status = kvs_ec_request_prefill(r, &json, &len, &err);
    if (status == KVS_OK)
        check_text(json, len);
    else
        check_error(status, &err, json);
    kvs_connector_text_free(json);
    kvs_ec_request_end(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static kvs_connector *c;
    static kvs_ec_connector *ec;
    struct kvs_error err;
    if (!c) {
        kvs_set_log(ignore, NULL, -1);
        if (kvs_connector_build("kv-nixl", NULL, 0, &c, &err) != KVS_OK ||
            kvs_ec_connector_build("ec-nixl", NULL, 0, &ec, &err) != KVS_OK)
            fail("build", err.text);
    }
    /* In memory that ends where the input does. */
    char *text = malloc(size ? size : 1);
    if (!text)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    decode(c, text, size);
    encode(ec, text, size);
    free(text);
    return 0;
}
