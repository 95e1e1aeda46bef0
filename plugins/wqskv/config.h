/* SPDX-License-Identifier: Apache-2.0 */
/* The library's configuration, a JSON file. */
#ifndef KVS_WQSKV_CONFIG_H
#define KVS_WQSKV_CONFIG_H

#include "shim.h"

struct config {
    struct wqskv_options options; /* its conf and cpus point at the two below */
    char *conf;
    int *cpus;
};

/* Sentences about a file; the first ones, as many as there is room for. */
struct config_text {
    char text[420];
    size_t len;
};

/* Reads the file: a status. *errors says all that is wrong with it; `warn` gets a sentence on each member
 * that nobody knows. */
int config_read(const char *path, struct config *config, struct config_text *errors,
                void (*warn)(void *arg, const char *text), void *arg);
void config_free(struct config *config);

#endif
