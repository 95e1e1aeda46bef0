/* SPDX-License-Identifier: Apache-2.0 */
/* Where the members of a JSON object stand in its text, which the JSON library does not tell. */
#ifndef KVS_WQSKV_PLACES_H
#define KVS_WQSKV_PLACES_H

#include <stddef.h>

struct place {
    unsigned line;    /* of the name, from 1 */
    const char *text; /* of the value, as it stands there */
    size_t len;
};

/* Fills up to `max` places, in the order of the text, and answers how many members there are. The text is
 * known to be one JSON object. */
size_t places_find(const char *text, size_t len, struct place *places, size_t max);

#endif
