/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a model check does, as data: a list of steps that is made from a seed, run, shrunk, printed and read
 * again. As text it has one step a line; README.md shows the form. Every list of steps can be run: one that
 * means nothing where it stands (a wait for what does not run, say) does nothing, so that steps can be
 * dropped one by one.
 */
#ifndef KVSLOT_MODEL_SCRIPT_H
#define KVSLOT_MODEL_SCRIPT_H

#include <kvslot/kvslot.h>
#include <stdbool.h>
#include <stdio.h>

#define SCRIPT_KEYS    64 /* k1 to k64 */
#define SCRIPT_FLIGHTS 16 /* t1 to t16 */
#define SCRIPT_ENGINES 2  /* e1, e2 */
#define SCRIPT_ITEMS   8  /* keys of one step */
#define SCRIPT_STEPS   100000
#define SCRIPT_VALUE   (UINT64_C(1) << 30) /* bytes of a value at most */

enum step_kind {
    STEP_WRITE,
    STEP_READ,
    STEP_QUERY,
    STEP_REMOVE,
    STEP_LIST,
    STEP_WAIT,
    STEP_CANCEL,
    STEP_REGISTER,
    STEP_DEREGISTER,
    STEP_REOPEN,
};

/* Which length a READ asks for: that of the newest value, or not. */
enum step_length { LENGTH_RIGHT, LENGTH_LONGER, LENGTH_SHORTER };

struct step_item {
    unsigned key;    /* from 0 on, as all numbers here: the text counts from 1 */
    unsigned value;  /* WRITE: which bytes */
    uint64_t len;    /* WRITE: how many */
    uint32_t length; /* READ: enum step_length */
};

struct step {
    uint32_t kind;   /* enum step_kind */
    unsigned engine; /* REOPEN: SCRIPT_ENGINES stands for all */
    unsigned flight; /* of an operation: 0 where it is waited for at once, else the place among those in
                        flight, from 1 on; of WAIT and CANCEL: which one, 0 for all */
    size_t nitems;   /* keys: of an operation 1 to SCRIPT_ITEMS, of REGISTER and DEREGISTER 1, else 0 */
    struct step_item items[SCRIPT_ITEMS];
};

struct script {
    uint64_t seed;                 /* of the values' bytes */
    unsigned key_len[SCRIPT_KEYS]; /* bytes of the key without the prefix; 0: its own name */
    bool errors;                   /* operations may fail */
    struct step *steps;
    size_t n, room;
};

bool step_is_operation(const struct step *s); /* WRITE, READ, QUERY, REMOVE */

/* An empty one; script_free gives it back. */
void script_init(struct script *s);
void script_free(struct script *s);
/* Appends a copy of the step. False: no memory. */
bool script_add(struct script *s, const struct step *step);
/* A copy without the `drop` steps from `first` on. False: no memory. */
bool script_copy(struct script *to, const struct script *from, size_t first, size_t drop);

/* Keys that steps name are 0 to this number less one. */
size_t script_keys(const struct script *s);

/* ---- Text (print.c, parse.c) ---- */

void script_print(const struct script *s, FILE *out);
/* The text, to be freed; NULL: no memory. */
char *script_text(const struct script *s);
/* One step, without the newline; cut where it is longer than size. */
void step_text(const struct step *s, char *to, size_t size);
/* KVS_OK, KVS_NO_MEMORY, or KVS_INVALID_PARAM with a sentence that names the line. Blanks and a `|` in front
 * of a line are skipped: a script can be taken from a report as it stands there. *s is empty on failure. */
int script_parse(const char *text, size_t len, struct script *s, struct kvs_error *err);
/* The same of a file, which has a step at least; the sentence names the file, too. KVS_IO where it cannot be
 * read. */
int script_load(const char *file, struct script *s, struct kvs_error *err);

#endif
