/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What runner and case process say to each other: the configuration, one JSON object on the child's
 * descriptor 3; and the child's reports, one JSON object a line on its descriptor 4.
 */
#ifndef KVSLOT_TESTKIT_WIRE_H
#define KVSLOT_TESTKIT_WIRE_H

#include <jansson.h>
#include <kvslot/kvslot.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WIRE_CONFIG_FD 3
#define WIRE_RESULT_FD 4

/** Names in the place of a case id for the processes that are no cases. */
#define WIRE_NAMES "@names" /* which parameters are secret; opens nothing */
#define WIRE_PROBE "@probe"
#define WIRE_SWEEP "@sweep"

/** The configuration; everything is owned by it, see wire_config_free. */
struct wire_config {
    char *case_id;
    char *target; /* "" : the plugin's own name */
    char *plugin; /* "" : none */
    char *prefix; /* of this case's keys */
    char *role;   /* what a helper of the case is to do; NULL: the case itself */
    char *script; /* what the case that replays a script is to do; else NULL */
    struct kvs_param_value *params;
    size_t nparams;
    uint64_t seed;
    uint64_t timeout_ns;      /* of the process, multiplier included */
    struct kvs_limits limits; /* as the probe found them; zero for the probe */
    uint8_t **keys;           /* to sweep: with their lengths below */
    size_t *key_lens;
    size_t nkeys;
    json_t
        *store; /* "hooks": commands; "variants": arrays of pairs; "restore": run start and resume; or NULL */
};

/** As text, to be freed; keys is an array of hexadecimal strings, or NULL. NULL where a text is not UTF-8 or
 * memory is short. */
char *wire_config_encode(const struct wire_config *cfg, const json_t *keys);
/** KVS_OK, KVS_INVALID_PARAM or KVS_NO_MEMORY. */
int wire_config_decode(const char *text, size_t len, struct wire_config *cfg);
void wire_config_free(struct wire_config *cfg);

json_t *wire_limits_json(const struct kvs_limits *limits);
void wire_limits_read(const json_t *json, struct kvs_limits *limits);

/** Bytes as hexadecimal, to be freed; NULL: no memory. */
char *wire_hex(const void *bytes, size_t len);
/** A JSON string of any bytes: those that are not UTF-8, and control characters but newline and tab, become
 * \xNN. */
json_t *wire_text(const char *text, size_t len);

#endif
