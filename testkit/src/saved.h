/* SPDX-License-Identifier: Apache-2.0 */
/* A report that an earlier run has written, read again. It may be anybody's: nothing in it is taken on trust.
 */
#ifndef KVSLOT_TESTKIT_SAVED_H
#define KVSLOT_TESTKIT_SAVED_H

#include <jansson.h>
#include <kvslot/testkit.h>
#include <stdbool.h>

/** Of the reports that are written, and the only one that is read. It grows when a member changes its meaning
 * or goes. */
#define SAVED_FORMAT 1

struct saved {
    const char *file; /* the caller's */
    json_t *root;
    json_t *by_id; /* of its cases */
};

/** Checks all that the functions below, and those who use them, rely on. KVS_OK, KVS_IO, KVS_INVALID_PARAM or
 * KVS_NO_MEMORY; the text names the file, and the line or the member. */
int saved_read(struct saved *s, const char *file, struct kvs_error *err);
/** The same for what is no file; takes root. */
int saved_take(struct saved *s, const char *name, json_t *root, struct kvs_error *err);
void saved_free(struct saved *s);
/** The outcome of that name, or -1. */
int saved_outcome(const char *name);
/** The verdict of that name, or -1. */
int saved_verdict(const char *name);
/** Are these the capabilities, or the limits, of a report? What is wrong goes to err. */
int saved_check_caps(const json_t *caps, struct kvs_error *err);
int saved_check_limits(const json_t *limits, struct kvs_error *err);

#endif
