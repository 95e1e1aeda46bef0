/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a case's process; cases see it through case.h only. */
#ifndef KVSLOT_TESTKIT_KIT_H
#define KVSLOT_TESTKIT_KIT_H

#include "case.h"
#include "wire.h"

/** Exit code of a process that reported FAIL or TIMEOUT; no signal and no sanitizer gives it. */
#define KIT_EXIT_FAILED 100

#define KIT_MAX_ENGINES 64

struct kit_mapping {
    void *map;
    size_t len;
    struct kit_mapping *next;
};

struct kit_stored {
    struct kit_stored *next;
    size_t len;
    uint8_t data[];
};

struct kit {
    const struct kit_case *row;
    const struct wire_config *cfg;
    const char *target; /* cfg's, or the name of the plugin that was loaded */
    uint64_t deadline_ns;
    size_t user_prefix_len;               /* bytes that the engine's own prefix takes from each key */
    pthread_mutex_t lock;                 /* guards all below */
    kvs_engine *engines[KIT_MAX_ENGINES]; /* open ones; NULL: free place */
    struct kit_mapping *mappings;
    struct kit_stored *keys; /* to be removed, last made first */
};

/** The result pipe, for assertions that have no kit at hand. Set once before the case starts, then only read.
 */
void report_to(int fd);
/** Writes one line to the result pipe. Any thread. */
void report_line(const char *line);
/** Reports an outcome; the first one counts, and a second caller never returns. */
void report_outcome(uint32_t outcome, const char *text);
/** Tells the runner that a key may be in the store from now on. */
void report_key(const void *key, size_t len);

/** Loads what the configuration names and finds the case's target. */
int kit_begin(struct kit *k, const struct wire_config *cfg, const struct kit_case *row,
              struct kvs_error *err);
/** Closes engines, removes keys, gives memory back; what fails is the case's failure. */
void kit_end(struct kit *k);
/** The target's parameters, with one (NULL: none) given another value. */
int kit_engine_open(const struct wire_config *cfg, const char *target, const char *name, const char *value,
                    kvs_engine **e, struct kvs_error *err);
/** Has the kit close it, if the case does not. */
void kit_remember(struct kit *k, kvs_engine *e);
/** Runs a hook, where there is one. KVS_OK, or KVS_BACKEND and a sentence. */
int hook_run(const struct wire_config *cfg, const char *name, uint64_t wait_ns, struct kvs_error *err);
/** Closes what the case left open. */
void kit_engines_end(struct kit *k);
void kit_keys_end(struct kit *k);
void kit_memory_end(struct kit *k);

/** Removes keys, with REMOVE batches; NOT_FOUND is fine. KVS_OK, or the first error with its text. */
int sweep_keys(kvs_engine *e, const struct kit_key *keys, size_t n, uint64_t wait_ns, struct kvs_error *err);
/** Removes all keys under a prefix, found by list. */
int sweep_prefix(kvs_engine *e, const char *prefix, uint64_t wait_ns, struct kvs_error *err);

#endif
