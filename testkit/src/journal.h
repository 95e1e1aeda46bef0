/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run leaves for the next one to tidy up, should it be killed: a file with its target and its keys,
 * which is locked as long as the run lives.
 */
#ifndef KVSLOT_TESTKIT_JOURNAL_H
#define KVSLOT_TESTKIT_JOURNAL_H

#include <jansson.h>
#include <kvslot/testkit.h>
#include <stdbool.h>

struct journal {
    int fd; /* locked; -1: there is none */
    char *path;
};

/** Starts the notes of a run in the folder; `prefix` is the run's own, and `target` tells targets apart. */
int journal_open(struct journal *j, const char *folder, const char *prefix, const char *target,
                 struct kvs_error *err);
/** Notes a key, in hexadecimal, that list would not find. */
void journal_key(struct journal *j, const char *hex);
/** Ends the notes; `done`: nothing is left to be removed. */
void journal_close(struct journal *j, bool done);

/** Calls sweep(arg, prefix, keys) for each dead run on the target; where that answers true its notes go. */
void journal_sweep(const char *folder, const char *target,
                   bool (*sweep)(void *arg, const char *prefix, json_t *keys), void *arg);

#endif
