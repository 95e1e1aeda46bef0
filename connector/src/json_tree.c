/* SPDX-License-Identifier: Apache-2.0 */
/* Members: appending, and the order of names. */
#include "json.h"

#include <stdlib.h>
#include <string.h>

struct kvs_json *kvs_json_container(struct kvs_arena *arena, enum kvs_json_kind kind)
{
    struct kvs_json *value = kvs_arena_get(arena, sizeof *value);
    if (value)
        *value = (struct kvs_json){.kind = kind};
    return value;
}

void kvs_json_append(struct kvs_json *to, const char *name, size_t name_len, struct kvs_json *value)
{
    value->next = NULL;
    value->name = name;
    value->name_len = name_len;
    value->place = to->count++;
    if (to->first)
        to->last->next = value;
    else
        to->first = value;
    to->last = value;
}

bool kvs_json_put(struct kvs_arena *arena, struct kvs_json *object, const char *name, enum kvs_json_kind kind,
                  const char *text, size_t len)
{
    struct kvs_json *value = kvs_json_container(arena, kind);
    if (!value)
        return false;
    value->text = text;
    value->len = len;
    kvs_json_append(object, name, strlen(name), value);
    return true;
}

int kvs_json_name_order(const struct kvs_json *a, const struct kvs_json *b)
{
    size_t least = a->name_len < b->name_len ? a->name_len : b->name_len;
    int order = least > 0 ? memcmp(a->name, b->name, least) : 0;
    if (order == 0)
        order = (a->name_len > b->name_len) - (a->name_len < b->name_len);
    return order;
}

static int by_name_and_place(const void *a, const void *b)
{
    const struct kvs_json *x = *(struct kvs_json *const *)a, *y = *(struct kvs_json *const *)b;
    int order = kvs_json_name_order(x, y);
    return order ? order : (x->place > y->place) - (x->place < y->place);
}

static bool is_settled(const struct kvs_json *object)
{
    for (const struct kvs_json *m = object->first; m && m->next; m = m->next) {
        if (kvs_json_name_order(m, m->next) >= 0)
            return false;
    }
    return true;
}

struct kvs_json **kvs_json_sorted(struct kvs_arena *arena, const struct kvs_json *object)
{
    struct kvs_json **members = kvs_arena_get(arena, (object->count + 1) * sizeof(struct kvs_json *));
    if (!members)
        return NULL;
    size_t n = 0;
    for (struct kvs_json *m = object->first; m; m = m->next)
        members[n++] = m;
    if (n > 1)
        qsort(members, n, sizeof(struct kvs_json *), by_name_and_place);
    return members;
}

bool kvs_json_settle(struct kvs_arena *arena, struct kvs_json *object)
{
    if (is_settled(object))
        return true;
    struct kvs_json **members = kvs_json_sorted(arena, object);
    if (!members)
        return false;
    uint32_t n = object->count;
    object->first = object->last = NULL;
    object->count = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (i + 1 < n && kvs_json_name_order(members[i], members[i + 1]) == 0)
            continue;
        kvs_json_append(object, members[i]->name, members[i]->name_len, members[i]);
    }
    return true;
}
