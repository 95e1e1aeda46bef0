/* SPDX-License-Identifier: Apache-2.0 */
/* bench-lmdb: what kvslot takes of LMDB's speed. */
#include "cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_KEYS  1024u
#define MOST_BYTES ((size_t)256 << 20)

static bool little;

struct part part_of(const struct lmdb_case *c)
{
    struct part part = {c->size, c->count};
    if (little && part.size > 100)
        part.size = 100;
    if (little && part.count > 3)
        part.count = 3;
    return part;
}

void bench_fail(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

char *space(void)
{
    static char *all;
    if (all == NULL) {
        all = malloc(MOST_BYTES);
        if (all == NULL)
            bench_fail("bench", "no memory");
        memset(all, 'v',
               little ? 1 << 20 : MOST_BYTES); /* so that no page of it is made while it is measured */
    }
    return all;
}

const char *key_at(uint32_t i)
{
    static char keys[MOST_KEYS * ENGINES][KEY + 1];
    if (keys[i][0] == '\0')
        snprintf(keys[i], sizeof keys[i], "%016x",
                 (unsigned)(i * 2654435761u)); /* one to one, and in no order */
    return keys[i];
}

static char base[512];

static void remove_folder(void)
{
    static const char *const parts[] = {"ours-full", "ours-none", "plain-full", "plain-none"};
    static const char *const files[] = {"data.mdb", "lock.mdb", "not-synced"};
    char name[1024];
    for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++) {
        for (size_t f = 0; f < sizeof files / sizeof files[0]; f++) {
            snprintf(name, sizeof name, "%s/%s/%s", base, parts[p], files[f]);
            unlink(name);
        }
        snprintf(name, sizeof name, "%s/%s", base, parts[p]);
        rmdir(name);
    }
    rmdir(base);
}

const char *folder(const char *name, const char *sync)
{
    static char path[1024];
    if (base[0] == '\0') {
        const char *tmp = getenv("TMPDIR");
        snprintf(base, sizeof base, "%s/bench-lmdb-XXXXXX", tmp != NULL ? tmp : ".");
        if (mkdtemp(base) == NULL)
            bench_fail(base, "the folder cannot be made");
        atexit(remove_folder);
    }
    snprintf(path, sizeof path, "%s/%s-%s", base, name, sync);
    if (mkdir(path, 0700) != 0 && access(path, W_OK) != 0)
        bench_fail(path, "the folder cannot be made");
    return path;
}

static bool setup(void *arg, bool small)
{
    struct lmdb_case *c = arg;
    little = small;
    return ours_setup(c) && plain_setup(c);
}

#define KIB 1024u
#define MIB (1024u * 1024u)

/* At least 0.95 of LMDB from 64 KiB on, 0.85 in batches of 64 and more below, 0.6 in batches of one below 4
 * KiB. */
#define LIMIT(size, n) ((size) >= 64 * KIB ? 1 / 0.95 : (n) >= 64 ? 1 / 0.85 : 1 / 0.6)
#define CASE(way, gets, mode, text, bytes, n)                                                                \
    {                                                                                                        \
        .name = way "/" mode "/" text "/" #n, .unit = "ns/batch", .ours = ours_run, .baseline = plain_run,   \
        .arg = &(struct lmdb_case){.sync = mode, .get = (gets), .size = (bytes), .count = (n)}, .units = 1,  \
        .limited = BENCH_RATIO, .limit = LIMIT(bytes, n), .setup = setup                                     \
    }
#define SIZE(way, gets, mode, text, bytes)                                                                   \
    CASE(way, gets, mode, text, bytes, 1), CASE(way, gets, mode, text, bytes, 64),                           \
        CASE(way, gets, mode, text, bytes, 1024)
/* Within 256 MiB. */
#define WAY(way, gets, mode)                                                                                 \
    SIZE(way, gets, mode, "64B", 64), SIZE(way, gets, mode, "1KiB", KIB),                                    \
        SIZE(way, gets, mode, "64KiB", 64 * KIB), CASE(way, gets, mode, "1MiB", MIB, 1),                     \
        CASE(way, gets, mode, "1MiB", MIB, 64), CASE(way, gets, mode, "4MiB", 4 * MIB, 1),                   \
        CASE(way, gets, mode, "4MiB", 4 * MIB, 64)

static const struct bench benches[] = {
    WAY("put", false, "full"),
    WAY("put", false, "none"),
    WAY("get", true, "full"),
    {.name = "engines/full/1KiB/8",
     .unit = "ns/batch",
     .ours = ours_run,
     .baseline = ours_one_run,
     .arg = &(struct lmdb_case){.sync = "full", .several = true, .size = KIB, .count = 8},
     .units = ENGINES,
     .limited = BENCH_RATIO,
     .limit = 1 / 3.0,
     .setup = setup},
};

int main(int argc, char **argv)
{
    return bench_main(argc, argv, benches, sizeof benches / sizeof benches[0]);
}
