/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a store may hold and answer: for each key a set of states, of which one is the store's, and what is on
 * its way to it. It knows no engine: whoever carries operations out tells it when each begins and how it has
 * ended, and is told whether a correct store can do that.
 *
 * Rules, for the operations on one key:
 *  - Each takes effect, or sees the state, once between its begin and its end. KVS-REQ-361 KVS-REQ-365
 *  - A WRITE or REMOVE that failed or was canceled may take effect at any time from its begin on, also long
 *    after its end, or never: its state stays possible for good. KVS-REQ-364
 *  - What one that is OK has left, nothing that ended before its begin can come after. KVS-REQ-361
 * KVS-REQ-374
 *  - A READ sees a whole value. KVS-REQ-366
 */
#ifndef KVSLOT_MODEL_MODEL_H
#define KVSLOT_MODEL_MODEL_H

#include <kvslot/kvslot.h>
#include <stdbool.h>
#include <stddef.h>

/* The key's value, or that it has none. */
struct model_state {
    bool present;
    unsigned value; /* which bytes */
    uint64_t len;
    uint64_t ended; /* when the operation that made it ended; MODEL_OPEN: it may still take effect */
};
#define MODEL_OPEN UINT64_MAX

struct model_set {
    struct model_state *states;
    size_t n, room;
};

/* One descriptor of an operation. The caller owns it and keeps it where it is from begin to end. */
struct model_io {
    uint32_t op; /* enum kvs_op */
    unsigned key, value;
    uint64_t len;  /* WRITE: of the value; READ: of the buffer */
    bool canceled; /* set by the caller, before the end */
    /* The model's own: */
    uint64_t begun;
    struct model_set seen; /* states that it may have met */
    bool alone;            /* nothing else changed the key meanwhile */
    struct model_io *next; /* among those of its key that are on their way */
};

/* How it ended. */
struct model_result {
    int status;
    uint64_t bytes; /* READ: moved; QUERY: the size */
    bool listed;    /* QUERY: by a list, which need not know sizes */
    /* READ: are the len bytes that were read those of that value. */
    bool (*is)(void *arg, unsigned value, uint64_t len);
    void *arg;
};

/* What the store has said of itself. */
struct model_rules {
    bool overwrite, size_check, query_size, query_local;
    bool errors; /* operations may fail */
};

struct model {
    struct model_rules rules;
    uint64_t now; /* counts begins and ends */
    size_t nkeys;
    struct model_key {
        struct model_set states;
        struct model_io *running;
    } * keys;
    bool broken; /* memory was short: nothing that it says counts */
};

/* All keys absent. False: no memory. model_free either way. */
bool model_init(struct model *m, size_t nkeys, const struct model_rules *rules);
void model_free(struct model *m);
void model_begin(struct model *m, struct model_io *io);
/* True where a correct store can have ended so. Else a sentence in why, such as "gives NOT_FOUND, where ...".
 * The io is the caller's again. */
bool model_end(struct model *m, struct model_io *io, const struct model_result *r, char *why, size_t size);
/* Everything was closed; nothing is on its way. `kept`: the store keeps its values then. */
void model_reopened(struct model *m, bool kept);
/* The length of the value that was written last, of those that the key may have; 1 where it can have none. */
uint64_t model_length(const struct model *m, unsigned key);

#endif
