/* SPDX-License-Identifier: Apache-2.0 */
/* Connectors that were registered. They are never taken away. */
#ifndef KVS_CONNECTOR_OWN_H
#define KVS_CONNECTOR_OWN_H

#include "json.h"
#include <kvslot/connector.h>

/* NULL: there is none. */
const struct kvs_connector_own *kvs_own_find(const char *name);
/* The one with the first name behind `name`. */
const struct kvs_connector_own *kvs_own_after(const char *name);

/* What its functions leave. */
struct kvs_connector_answer {
    char *json;
    size_t len;
};

/* Calls prefill or, with `input` or `decode`, decode; *json and *len as kvs_json_print(). */
int kvs_own_prefill(const struct kvs_connector_own *own, void *state, char **json, size_t *len,
                    struct kvs_error *err);
int kvs_own_decode(const struct kvs_connector_own *own, void *state, const struct kvs_json *input,
                   char **json, size_t *len, struct kvs_error *err);

#endif
