/* SPDX-License-Identifier: Apache-2.0 */
/* A script that is being carried out, as execute.c and transfer.c share it. One thread. */
#ifndef KVSLOT_MODEL_RUNNING_H
#define KVSLOT_MODEL_RUNNING_H

#include "case.h"
#include "model.h"
#include "script.h"

/* One transfer from its post to its release. */
struct flight {
    kvs_xfer *x; /* NULL: the place is free */
    size_t step; /* its number */
    unsigned engine;
    size_t n;
    struct model_io ios[SCRIPT_ITEMS];
    struct kit_buf bufs[SCRIPT_ITEMS];
    kvs_mem *mems[SCRIPT_ITEMS]; /* registrations of those, or NULL */
};

struct running {
    struct kit *k;
    const struct script *script;
    struct model model;
    size_t nkeys;
    struct kit_key keys[SCRIPT_KEYS];
    kvs_engine *engines[SCRIPT_ENGINES]; /* NULL: not opened yet */
    kvs_mem *places[SCRIPT_ENGINES][SCRIPT_KEYS];
    struct flight flights[SCRIPT_FLIGHTS + 1]; /* place 0 is that of operations that are waited for at once */
    size_t step;                               /* the one that runs */
    uint64_t wait_ns;                          /* for one transfer */
};

/** The engine, opened where it is not yet. */
kvs_engine *running_engine(struct running *r, unsigned engine);
/** Fails, or ends as TIMEOUT, with the step's number and text in front. */
_Noreturn void running_fail_at(struct kit_at at, const struct running *r, size_t step, const char *fmt, ...)
    KVS_PRINTF(4, 5);
_Noreturn void running_hang_at(struct kit_at at, const struct running *r, size_t step, const char *fmt, ...)
    KVS_PRINTF(4, 5);
#define running_fail(...) running_fail_at(KIT_HERE, __VA_ARGS__)
#define running_hang(...) running_hang_at(KIT_HERE, __VA_ARGS__)

/* transfer.c */
/** Posts the operation of the step that runs. */
void flight_post(struct running *r, struct flight *f);
/** Waits for its end, and has it judged; a free place is fine. */
void flight_finish(struct running *r, struct flight *f);
void flight_cancel(struct running *r, struct flight *f);

/* bytes.c */
/** Are these the bytes of that value. */
bool bytes_are(const struct script *s, const void *data, unsigned value, uint64_t len);
/** Whose bytes they are, as a sentence's end. */
void bytes_origin(const struct script *s, const uint8_t *data, uint64_t len, char *to, size_t size);
void bytes_fill(const struct script *s, void *to, unsigned value, uint64_t len);

#endif
