/* SPDX-License-Identifier: Apache-2.0 */
#include "registry.h"
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

extern const struct kit_topic topic_open, topic_registration, topic_keys, topic_roundtrip, topic_batch,
    topic_missing, topic_size, topic_range, topic_repost, topic_done, topic_query, topic_remove, topic_list,
    topic_overwrite, topic_concurrent, topic_ttl, topic_ending, topic_alloc, topic_prep, topic_fork,
    topic_process, topic_memory, topic_progress, topic_params, topic_secrets, topic_store, topic_expected,
    topic_foreign, topic_model, topic_leaks;

/* The store is itself up to topic_store. */
static const struct kit_topic *const topics[] = {
    &topic_open,    &topic_registration, &topic_keys,      &topic_roundtrip, &topic_batch,  &topic_missing,
    &topic_size,    &topic_prep,         &topic_repost,    &topic_done,      &topic_query,  &topic_alloc,
    &topic_remove,  &topic_list,         &topic_overwrite, &topic_range,     &topic_ttl,    &topic_ending,
    &topic_fork,    &topic_concurrent,   &topic_memory,    &topic_progress,  &topic_params, &topic_secrets,
    &topic_process, &topic_leaks,        &topic_expected,  &topic_foreign,   &topic_model,  &topic_store,
};

size_t registry_count(void)
{
    size_t n = 0;
    for (size_t t = 0; t < sizeof(topics) / sizeof(topics[0]); t++)
        n += topics[t]->count;
    return n;
}

const struct kit_case *registry_at(size_t i)
{
    for (size_t t = 0; t < sizeof(topics) / sizeof(topics[0]); t++) {
        if (i < topics[t]->count)
            return &topics[t]->cases[i];
        i -= topics[t]->count;
    }
    return NULL;
}

const struct kit_case *registry_find(const char *id)
{
    const struct kit_case *row;
    for (size_t i = 0; (row = registry_at(i)) != NULL; i++)
        if (strcmp(row->id, id) == 0)
            return row;
    return strcmp(id, case_replay.id) == 0 ? &case_replay : NULL;
}

/* Edit distance of two short texts. */
static size_t distance(const char *a, const char *b)
{
    size_t row[64], n = strlen(b);
    if (n >= sizeof(row) / sizeof(row[0]))
        return SIZE_MAX;
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 0; a[i]; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < n; j++) {
            size_t change = diagonal + (a[i] != b[j]);
            size_t least = row[j] < row[j + 1] ? row[j] + 1 : row[j + 1] + 1;
            diagonal = row[j + 1];
            row[j + 1] = change < least ? change : least;
        }
    }
    return row[n];
}

const char *registry_nearest(const char *id)
{
    const struct kit_case *row;
    const char *best = "";
    size_t least = SIZE_MAX;
    for (size_t i = 0; (row = registry_at(i)) != NULL; i++) {
        size_t d = distance(id, row->id);
        if (d < least) {
            least = d;
            best = row->id;
        }
    }
    return best;
}

void registry_describe(const struct kit_case *row, struct kvs_conform_case *info)
{
    *info = (struct kvs_conform_case){
        .size = sizeof(*info),
        .id = row->id,
        .title = row->title,
        .explain = row->explain,
        .requirements = row->requirements,
        .tags = row->tags ? row->tags : "",
        .needs = row->needs,
        .profile = row->profile,
        .timeout_ms = 1000 * (row->timeout_s ? row->timeout_s : KIT_TIMEOUT_S),
    };
}

static bool has_tag(const char *tags, const char *tag)
{
    size_t len = strlen(tag);
    for (const char *p = tags ? tags : ""; *p;) {
        size_t n = strcspn(p, " ");
        if (n == len && strncmp(p, tag, n) == 0)
            return true;
        p += n + strspn(p + n, " ");
    }
    return false;
}

bool select_matches(const char *list, const struct kit_case *row)
{
    for (const char *p = list; *p;) {
        char one[128];
        size_t n = strcspn(p, ",");
        snprintf(one, sizeof(one), "%.*s", (int)(n < sizeof(one) ? n : sizeof(one) - 1), p);
        if (strncmp(one, "tag:", 4) == 0 ? has_tag(row->tags, one + 4) : fnmatch(one, row->id, 0) == 0)
            return true;
        p += n + (p[n] == ',');
    }
    return false;
}
