/* SPDX-License-Identifier: Apache-2.0 */
/* The connectors there are, as data. */
#ifndef KVS_CONNECTOR_NAMES_H
#define KVS_CONNECTOR_NAMES_H

#include <kvslot/backend.h>
#include <kvslot/connector.h>
#include <stdbool.h>

/* A text that a prefill request gets. */
struct kvs_fixed {
    const char *name, *json;
};

/* One of the library's own. What is not said is no. */
struct kvs_known {
    const char *name, *help;
    const struct kvs_param *params; /* nparams of them, max_input among them */
    size_t nparams;
    bool is_default;
    bool passes_on;                /* decode (KV) or prefill (EC) carries what was answered */
    bool has_room;                 /* prefill names bootstrap_port and bootstrap_room */
    const struct kvs_fixed *fixed; /* KV: of prefill, up to a NULL name */
};

/* Where a connector is: exactly one of them, or none. */
struct kvs_found {
    const struct kvs_known *known;
    const struct kvs_connector_own *own;
};

struct kvs_found kvs_names_find(int family, const char *name);
/* Says that there is no such connector. */
int kvs_names_unknown(int family, const char *name, struct kvs_error *err);

/* max_input, for connectors of one's own. */
extern const struct kvs_param kvs_max_input;

#endif
