/* SPDX-License-Identifier: Apache-2.0 */
#include "shrink.h"

bool shrink_take(struct shrink *how, struct script *s, struct script *smaller)
{
    enum shrink_answer answer = SHRINK_STOP;
    if (how->attempts > 0 && !how->over) {
        how->attempts--;
        answer = how->try(how->arg, smaller);
    }
    how->over |= answer == SHRINK_STOP;
    if (answer != SHRINK_FAILS) {
        script_free(smaller);
        return false;
    }
    script_free(s);
    *s = *smaller;
    return true;
}

/* Drops steps in pieces of a size, from the end: what made the store fail is seen late. */
static bool drop_pieces(struct shrink *how, struct script *s, size_t piece)
{
    bool any = false;
    size_t end = s->n;
    while (end > 0 && !how->over) {
        struct script smaller;
        size_t first = end > piece ? end - piece : 0;
        if (end - first == s->n) /* no steps at all is no script that tells anything */
            return any;
        if (!script_copy(&smaller, s, first, end - first)) {
            how->over = true;
            return any;
        }
        any |= shrink_take(how, s, &smaller);
        end = first;
    }
    return any;
}

/* What comes after the step that failed has not run. */
static bool drop_steps(struct shrink *how, struct script *s)
{
    bool any = false;
    for (size_t piece = s->n / 2; piece > 0 && !how->over; piece /= 2)
        any |= drop_pieces(how, s, piece);
    return any;
}

void shrink_script(struct shrink *how, struct script *s)
{
    bool any = true;
    drop_steps(how, s);
    while (any && !how->over) {
        any = shrink_parts(how, s);
        if (any)
            any = drop_steps(how, s);
    }
}
