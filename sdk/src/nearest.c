/* SPDX-License-Identifier: Apache-2.0 */
#include "nearest.h"

#include <string.h>

#define LONGEST    63
#define MOST_EDITS 2

/* Edits (insert, delete, replace, swap of neighbours) from a to b; both at most LONGEST long. */
static unsigned edits(const char *a, size_t alen, const char *b, size_t blen)
{
    unsigned rows[3][LONGEST + 1];
    for (size_t j = 0; j <= blen; j++)
        rows[0][j] = (unsigned)j;
    for (size_t i = 1; i <= alen; i++) {
        unsigned *now = rows[i % 3], *before = rows[(i + 2) % 3], *older = rows[(i + 1) % 3];
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= blen; j++) {
            unsigned best = before[j - 1] + (a[i - 1] != b[j - 1]);
            if (before[j] + 1 < best)
                best = before[j] + 1;
            if (now[j - 1] + 1 < best)
                best = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && older[j - 2] + 1 < best)
                best = older[j - 2] + 1;
            now[j] = best;
        }
    }
    return rows[alen % 3][blen];
}

void kvs_nearest_offer(struct kvs_nearest *nearest, const char *name, size_t len)
{
    size_t wanted = strlen(nearest->wanted), common = len < wanted ? len : wanted;
    if (len == 0 || len > LONGEST || wanted == 0 || wanted > LONGEST)
        return;
    unsigned score = edits(nearest->wanted, wanted, name, len);
    /* Two edits make anything of a name of two letters. */
    if (score > MOST_EDITS || score >= common) {
        if (common < 2 || memcmp(nearest->wanted, name, common) != 0)
            return;
        score = MOST_EDITS + 1;
    }
    if (nearest->best[0] && score >= nearest->score)
        return;
    memcpy(nearest->best, name, len);
    nearest->best[len] = '\0';
    nearest->score = score;
}
