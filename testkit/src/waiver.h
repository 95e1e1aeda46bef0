/* SPDX-License-Identifier: Apache-2.0 */
/* Cases that are known to fail. */
#ifndef KVSLOT_TESTKIT_WAIVER_H
#define KVSLOT_TESTKIT_WAIVER_H

#include "case.h"

/** Each waiver names a case, gives a reason and a day that there is. */
int waivers_check(const struct kvs_conform_waiver *waivers, size_t n, struct kvs_error *err);
/** The waiver of a case that counts today; NULL where there is none. */
const struct kvs_conform_waiver *waiver_of(const struct kvs_conform_waiver *waivers, size_t n,
                                           const char *id);
/** Is its last day over. */
bool waiver_expired(const struct kvs_conform_waiver *w);

#endif
