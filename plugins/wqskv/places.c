/* SPDX-License-Identifier: Apache-2.0 */
#include "places.h"

#include <stdbool.h>
#include <string.h>

struct walk {
    const char *at, *end;
    unsigned line;
};

static void skip_string(struct walk *w)
{
    for (w->at++; w->at < w->end && *w->at != '"'; w->at++)
        if (*w->at == '\\')
            w->at++;
    w->at++;
}

static void skip_space(struct walk *w)
{
    for (; w->at < w->end && strchr(" \t\r\n", *w->at) != NULL && *w->at != '\0'; w->at++)
        w->line += *w->at == '\n';
}

/* To the comma or brace behind it. */
static void skip_value(struct walk *w)
{
    for (int depth = 0; w->at < w->end;) {
        char c = *w->at;
        if (depth == 0 && (c == ',' || c == '}'))
            return;
        if (c == '"') {
            skip_string(w);
            continue;
        }
        depth += (c == '{' || c == '[') - (c == '}' || c == ']');
        w->line += c == '\n';
        w->at++;
    }
}

size_t places_find(const char *text, size_t len, struct place *places, size_t max)
{
    struct walk w = {text, text + len, 1};
    size_t n = 0;
    skip_space(&w);
    w.at++; /* { */
    for (skip_space(&w); w.at < w.end && *w.at == '"'; skip_space(&w)) {
        struct place place = {w.line, NULL, 0};
        skip_string(&w);
        skip_space(&w);
        w.at++; /* : */
        skip_space(&w);
        place.text = w.at;
        skip_value(&w);
        place.len = (size_t)(w.at - place.text);
        while (place.len > 0 && strchr(" \t\r\n", place.text[place.len - 1]) != NULL)
            place.len--;
        if (n < max)
            places[n] = place;
        n++;
        w.at++; /* , or } */
    }
    return n;
}
