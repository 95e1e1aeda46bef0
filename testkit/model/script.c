/* SPDX-License-Identifier: Apache-2.0 */
#include "script.h"
#include <stdlib.h>
#include <string.h>

bool step_is_operation(const struct step *s)
{
    return s->kind <= STEP_REMOVE;
}

void script_init(struct script *s)
{
    memset(s, 0, sizeof(*s));
}

void script_free(struct script *s)
{
    free(s->steps);
    script_init(s);
}

static bool make_room(struct script *s, size_t n)
{
    if (n <= s->room)
        return true;
    struct step *grown = realloc(s->steps, n * sizeof(*grown));
    if (!grown)
        return false;
    s->steps = grown;
    s->room = n;
    return true;
}

bool script_add(struct script *s, const struct step *step)
{
    if (s->n == s->room && !make_room(s, s->room ? 2 * s->room : 64))
        return false;
    s->steps[s->n++] = *step;
    return true;
}

bool script_copy(struct script *to, const struct script *from, size_t first, size_t drop)
{
    *to = *from;
    to->steps = NULL;
    to->n = to->room = 0;
    if (!make_room(to, from->n - drop + 1))
        return false;
    for (size_t i = 0; i < from->n; i++)
        if (i < first || i >= first + drop)
            to->steps[to->n++] = from->steps[i];
    return true;
}

size_t script_keys(const struct script *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++)
        for (size_t j = 0; j < s->steps[i].nitems; j++)
            if (s->steps[i].items[j].key >= n)
                n = s->steps[i].items[j].key + 1;
    return n;
}
