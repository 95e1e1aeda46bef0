/* SPDX-License-Identifier: Apache-2.0 */
/* What limits say about capabilities. */
#ifndef KVSLOT_TESTKIT_CAPS_H
#define KVSLOT_TESTKIT_CAPS_H

#include <kvslot/types.h>
#include <stdbool.h>

/** Are all of these enum kvs_cap bits native or emulated. */
bool caps_have(const struct kvs_limits *limits, uint64_t caps);
/** Those of the bits that are native or emulated. */
uint64_t caps_present(const struct kvs_limits *limits, uint64_t caps);
/** "native", "emulated" or "none"; cap is one bit. */
const char *caps_state(const struct kvs_limits *limits, uint64_t cap);
/** Calls each(arg, name, bit) for every capability, in the order of bits. */
void caps_each(void (*each)(void *arg, const char *name, uint64_t cap), void *arg);
/** The names of the bits, apart by commas. */
void caps_names(uint64_t caps, char *to, size_t size);

#endif
