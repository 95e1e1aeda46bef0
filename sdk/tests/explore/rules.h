/* SPDX-License-Identifier: Apache-2.0 */
/* What holds of a scenario; each of these fails where it does not. */
#ifndef KVS_TESTS_EXPLORE_RULES_H
#define KVS_TESTS_EXPLORE_RULES_H

#include "model.h"

/* A call has shown the transfer's end, with rc; in_done: inside its done function. */
void rules_result(struct model_xfer *m, int rc, bool in_done);
/* The done function of all transfers; arg is the model's transfer. */
void rules_done(kvs_xfer *x, int status, void *arg);
/* release has answered OK. */
void rules_given_back(struct model_xfer *m);
/* Nobody can run but by time passing. */
void rules_idle(void);
/* The run is over, with so many violations counted. */
void rules_end(uint64_t violations);

#endif
