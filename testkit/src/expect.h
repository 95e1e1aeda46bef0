/* SPDX-License-Identifier: Apache-2.0 */
/* What a store is expected to be able to do, from a file beside its backend. */
#ifndef KVSLOT_TESTKIT_EXPECT_H
#define KVSLOT_TESTKIT_EXPECT_H

#include <jansson.h>
#include <kvslot/kvslot.h>

/** The case that judges by it. */
#define EXPECT_CASE "expected.capabilities"

/** Reads lines `NAME VALUE` into an object. KVS_OK, KVS_IO, KVS_INVALID_PARAM or KVS_NO_MEMORY; the text
 * names the file and the line. */
int expect_read(const char *file, json_t **out, struct kvs_error *err);
/** What is otherwise than expected, as a part of a sentence; how many things that are. */
size_t expect_differences(const json_t *expected, const struct kvs_limits *limits, char *text, size_t size);

#endif
