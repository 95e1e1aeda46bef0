/* SPDX-License-Identifier: Apache-2.0 */
/* All cases, in the order in which they run. */
#ifndef KVSLOT_TESTKIT_REGISTRY_H
#define KVSLOT_TESTKIT_REGISTRY_H

#include "case.h"

/** Replays a script; in no list of cases, and found by its id only. */
extern const struct kit_case case_replay;

size_t registry_count(void);
/** The case at place i; NULL past the end. */
const struct kit_case *registry_at(size_t i);
/** NULL where there is none of that id; finds case_replay, too. */
const struct kit_case *registry_find(const char *id);
/** The id that is most like this one. */
const char *registry_nearest(const char *id);
void registry_describe(const struct kit_case *row, struct kvs_conform_case *info);

/** Does a list of ids, globs and `tag:NAME`, apart by commas, name this case. */
bool select_matches(const char *list, const struct kit_case *row);

#endif
