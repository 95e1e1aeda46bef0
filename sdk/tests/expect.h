/* SPDX-License-Identifier: Apache-2.0 */
/* What the unit tests of the SDK share: cmocka, and assertions that show an error's text. */
#ifndef KVS_TESTS_EXPECT_H
#define KVS_TESTS_EXPECT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <kvslot/kvslot.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void expect_status_at(int rc, int want, const struct kvs_error *err, const char *file, int line)
{
    if (rc == want && (want >= 0 || err->status == want))
        return;
    print_error("%s:%d: got %s, wanted %s; error: %s '%s'\n", file, line, kvs_status_name(rc),
                kvs_status_name(want), kvs_status_name(err->status), err->text);
    _fail(file, line);
}

/* The call answered `want`; an error is also in the structure. */
#define expect_status(rc, want, err) expect_status_at((rc), (want), (err), __FILE__, __LINE__)

static inline void expect_text_at(const char *text, const char *part, int want, const char *file, int line)
{
    if ((strstr(text, part) != NULL) == want)
        return;
    print_error("%s:%d: '%s' is %s '%s'\n", file, line, part, want ? "not in" : "in", text);
    _fail(file, line);
}

#define expect_text(text, part)    expect_text_at((text), (part), 1, __FILE__, __LINE__)
#define expect_no_text(text, part) expect_text_at((text), (part), 0, __FILE__, __LINE__)

/* Makes a folder of the test's own; `path` gets its name. */
static inline void make_folder(char *path, size_t size)
{
    const char *base = getenv("TMPDIR");
    snprintf(path, size, "%s/kvslot-XXXXXX", base ? base : "/tmp");
    assert_non_null(mkdtemp(path));
}

/* A seeded generator, so that a failure comes again. */
static inline uint32_t next_random(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*seed >> 33);
}

#endif
