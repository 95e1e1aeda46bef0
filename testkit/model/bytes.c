/* SPDX-License-Identifier: Apache-2.0 */
/* The values' bytes. */
#include "running.h"
#include <stdlib.h>

void bytes_fill(const struct script *s, void *to, unsigned value, uint64_t len)
{
    kit_fill_seeded(s->seed, to, len, value);
}

/* How many bytes at the front are those of the value. */
static uint64_t common(const struct script *s, const uint8_t *data, unsigned value, uint64_t len)
{
    uint8_t *want = malloc(len + 1);
    uint64_t n = 0;
    KIT_CHECK(want, "no memory for a value of %llu bytes", (unsigned long long)len);
    bytes_fill(s, want, value, len);
    if (len > 0 && memcmp(data, want, len) == 0)
        n = len;
    while (n < len && data[n] == want[n])
        n++;
    free(want);
    return n;
}

bool bytes_are(const struct script *s, const void *data, unsigned value, uint64_t len)
{
    return common(s, data, value, len) == len;
}

void bytes_origin(const struct script *s, const uint8_t *data, uint64_t len, char *to, size_t size)
{
    uint64_t best = 0;
    unsigned value = 0;
    for (size_t i = 0; i < s->n; i++) {
        const struct step *step = &s->steps[i];
        for (size_t j = 0; step->kind == STEP_WRITE && j < step->nitems; j++) {
            const struct step_item *item = &step->items[j];
            uint64_t n = common(s, data, item->value, len);
            if (n == len) {
                snprintf(to, size, "; the bytes are those of v%u, which step %zu writes to k%u",
                         item->value + 1, i + 1, item->key + 1);
                return;
            }
            if (n > best) {
                best = n;
                value = item->value;
            }
        }
    }
    if (best > 0)
        snprintf(to, size, "; the bytes are no value's: the first %llu are those of v%u",
                 (unsigned long long)best, value + 1);
    else
        snprintf(to, size, "; the bytes are no value's");
}
