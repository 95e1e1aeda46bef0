/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters that a connector is built with. */
#ifndef KVS_CONNECTOR_PARAMS_H
#define KVS_CONNECTOR_PARAMS_H

#include "names.h"

struct kvs_settings {
    size_t max_input;
    unsigned port;
    bool int_room;
};

/* Reads them all; those of one's own connector are checked, and left to its build function. */
int kvs_settings_read(struct kvs_settings *settings, struct kvs_found found,
                      const struct kvs_param_value *params, size_t nparams, struct kvs_error *err);

#endif
