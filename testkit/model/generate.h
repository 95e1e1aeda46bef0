/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a script from a seed, sized by what a store has said of itself. */
#ifndef KVSLOT_MODEL_GENERATE_H
#define KVSLOT_MODEL_GENERATE_H

#include "script.h"

/* What the steps are about. */
enum script_about {
    ABOUT_SEQUENCES, /* one operation after the other */
    ABOUT_FLIGHTS,   /* many transfers in flight, some canceled */
    ABOUT_REOPENING, /* engines closed and opened in between */
};

struct script_shape {
    uint32_t about; /* enum script_about */
    size_t steps;
    bool overwrite, query, remove, list;
    uint64_t max_value; /* bytes; 0: no limit */
    size_t max_batch;   /* descriptors; 0: no limit */
    size_t max_key;     /* bytes of a key without the prefix */
};

/* False: no memory. The same seed and shape make the same script. */
bool script_generate(struct script *s, uint64_t seed, const struct script_shape *shape);

#endif
