/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KVSLOT_ROGUE_REGISTER_H
#define KVSLOT_ROGUE_REGISTER_H

#include <kvslot/kvslot.h>

/** Makes rogue, rogue-minimal, rogue-no-query and rogue-small known. */
int kvs_rogues_register(const char *target, struct kvs_error *err);

#endif
