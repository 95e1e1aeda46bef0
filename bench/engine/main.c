/* SPDX-License-Identifier: Apache-2.0 */
/* bench-engine: what the SDK itself takes, against a loop by hand. */
#include "cases.h"

enum { POST_1, POST_64, POST_MOST, DONE_1, DONE_64, DONE_MOST, POSTS };
static struct post_case posts[POSTS] = {
    [POST_1] = {.count = 1},
    [POST_64] = {.count = 64},
    [POST_MOST] = {.count = MOST},
    [DONE_1] = {.count = 1, .done = true},
    [DONE_64] = {.count = 64, .done = true},
    [DONE_MOST] = {.count = MOST, .done = true},
};

#define PREP(way, order, few) (&(struct prep_case){(few), (way), (order), 0})

#define POST_BENCH(title, which, what, most, n)                                                              \
    {                                                                                                        \
        .name = title, .unit = "ns/" what, .ours = post_ours, .baseline = post_loop, .arg = &posts[which],   \
        .units = (n), .limited = BENCH_VALUE, .limit = (most), .setup = post_setup                           \
    }
#define POST_BENCH_LARGE(title, which)                                                                       \
    {                                                                                                        \
        .name = title, .unit = "ns/descriptor", .ours = post_ours, .baseline = post_loop,                    \
        .arg = &posts[which], .units = MOST, .limited = BENCH_RATIO, .limit = 1.5, .setup = post_setup       \
    }
#define PREP_BENCH(title, way, order, n, most)                                                               \
    {                                                                                                        \
        .name = title, .unit = "ns/descriptor", .ours = prep_ours, .baseline = prep_loop,                    \
        .arg = PREP(way, order, n), .units = (n), .limited = BENCH_VALUE, .limit = (most),                   \
        .setup = prep_setup                                                                                  \
    }
#define RELEASE_BENCH(title, order, n)                                                                       \
    {                                                                                                        \
        .name = title, .unit = "ns/descriptor", .ours = release_ours, .baseline = release_loop,              \
        .arg = PREP(BY_HANDLE, order, n), .units = (n), .setup = prep_setup                                  \
    }

/* The limits: 20 ns a descriptor and 100 ns a batch; 200 ns for one; 1.5 times the loop. */
static const struct bench benches[] = {
    POST_BENCH("post/1", POST_1, "transfer", 200, 1),
    POST_BENCH("post/64", POST_64, "descriptor", 20 + 100 / 64.0, 64),
    POST_BENCH_LARGE("post/65536", POST_MOST),
    POST_BENCH("post-done/1", DONE_1, "transfer", 200, 1),
    POST_BENCH("post-done/64", DONE_64, "descriptor", 20 + 100 / 64.0, 64),
    POST_BENCH_LARGE("post-done/65536", DONE_MOST),
    PREP_BENCH("prep/handle/random/64", BY_HANDLE, RANDOM, 64, 150),
    PREP_BENCH("prep/handle/random/65536", BY_HANDLE, RANDOM, MOST, 150),
    PREP_BENCH("prep/handle/sequence/64", BY_HANDLE, SEQUENCE, 64, 60),
    PREP_BENCH("prep/handle/sequence/65536", BY_HANDLE, SEQUENCE, MOST, 60),
    PREP_BENCH("prep/dev_id/random/64", BY_DEV_ID, RANDOM, 64, 300),
    PREP_BENCH("prep/dev_id/random/65536", BY_DEV_ID, RANDOM, MOST, 300),
    PREP_BENCH("prep/dev_id/sequence/64", BY_DEV_ID, SEQUENCE, 64, 120),
    PREP_BENCH("prep/dev_id/sequence/65536", BY_DEV_ID, SEQUENCE, MOST, 120),
    RELEASE_BENCH("release/random/64", RANDOM, 64),
    RELEASE_BENCH("release/random/65536", RANDOM, MOST),
    RELEASE_BENCH("release/sequence/64", SEQUENCE, 64),
    RELEASE_BENCH("release/sequence/65536", SEQUENCE, MOST),
    {.name = "bytes",
     .unit = "B/descriptor",
     .kind = BENCH_COUNTED,
     .count = count_bytes,
     .limited = BENCH_VALUE,
     .limit = 144,
     .setup = post_setup,
     .arg = &posts[POST_64]},
    {.name = "clock-reads",
     .unit = "/transfer",
     .kind = BENCH_COUNTED,
     .count = count_clock_reads,
     .limited = BENCH_VALUE,
     .limit = 2,
     .setup = post_setup,
     .arg = &posts[DONE_64]},
};

int main(int argc, char **argv)
{
    int rc = bench_main(argc, argv, benches, sizeof benches / sizeof benches[0]);
    for (int i = 0; i < POSTS; i++)
        post_end(&posts[i]);
    world_end();
    return rc;
}
