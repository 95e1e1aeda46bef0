/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KVS_WQSKV_ENGINE_H
#define KVS_WQSKV_ENGINE_H

#include "written.h"

#include <kvslot/backend.h>
#include <stdatomic.h>

#define WQSKV_CONFIG_ENV "WDS_BACKEND_CONFIG_PATH"

extern const struct kvs_host *wqskv_host;

/* Private space of an engine. */
struct engine {
    void *ctx;
    struct written written;
    atomic_bool ready; /* the library has answered init with success */
};

/* The table's functions of the same names. */
int wqskv_open(void *eng, void *ctx, struct kvs_limits *limits);
void wqskv_close(void *eng);
int wqskv_prep(void *eng, struct kvs_batch *batch);
void wqskv_unprep(void *eng, struct kvs_batch *batch);
int wqskv_submit(void *eng, struct kvs_batch *batch);

#endif
