/* SPDX-License-Identifier: Apache-2.0 */
/* Random steps against a model of what a store may answer, shrunk where they fail. */
#include "attempt.h"
#include "execute.h"
#include "generate.h"
#include "kit.h"
#include "shrink.h"
#include <stdlib.h>

#define ATTEMPTS 400
/* Parts of the case's time: of the first attempt and each of its transfers; of each later attempt and its
 * transfers, which do not have to be that patient, since they can only spoil the shrinking; of all of them.
 */
#define FIRST_PART     3
#define FIRST_ONE_PART 6
#define LATER_PART     6
#define LATER_ONE_PART 120
#define ALL_PARTS      2

struct checking {
    struct kit *k;
    struct attempt_limits limits; /* of a later attempt */
    uint64_t end_ns;              /* of all */
    unsigned tries;               /* of one script before it counts as passing: flights do not always meet */
    struct attempt last;          /* the last one that failed */
};

/* A later attempt; keeps how it failed. */
static enum shrink_answer try_script(void *arg, const struct script *s)
{
    struct checking *c = arg;
    for (unsigned i = 0; i < c->tries; i++) {
        struct attempt a;
        if (kit_now() + c->limits.all_ns > c->end_ns)
            return SHRINK_STOP;
        attempt_run(c->k, s, c->limits, &a);
        if (!a.begun) {
            attempt_free(&a);
            return SHRINK_STOP; /* the store itself has suffered: what fails now is another thing */
        }
        if (a.outcome != KVS_CONFORM_PASS) {
            attempt_free(&c->last);
            c->last = a;
            return SHRINK_FAILS;
        }
        attempt_free(&a);
    }
    return SHRINK_PASSES;
}

/* Prints the shortest script, for --replay, and fails. */
static _Noreturn void conclude(struct kit *k, struct checking *c, struct script *s)
{
    struct shrink how = {.try = try_script, .arg = c, .attempts = ATTEMPTS};
    size_t before = s->n;
    shrink_script(&how, s);
    printf(
        "# seed %llu made %zu steps; %zu are left after %zu further tries. Kept as a file, they run again\n"
        "# with --replay FILE in place of --filter and --seed:\n",
        (unsigned long long)kit_seed(k), before, s->n, ATTEMPTS - how.attempts);
    script_print(s, stdout);
    if (c->last.output && c->last.output[0])
        printf("# What the process of these steps has printed:\n%s\n", c->last.output);
    fflush(stdout);
    KIT_FAIL("with seed %llu, after shrinking to %zu of %zu steps, which stand below: %s",
             (unsigned long long)kit_seed(k), s->n, before, c->last.reason ? c->last.reason : "");
}

static void check(struct kit *k, uint32_t about, size_t steps, unsigned tries)
{
    const struct kvs_limits *l = kit_limits(k);
    struct checking c = {.k = k, .tries = tries};
    struct script s;
    uint64_t time_ns = k->cfg->timeout_ns;
    bool limited;
    size_t max_key = kit_max_key(k, &limited), used = kit_prefix_len(k) + sizeof("fff.");
    struct script_shape shape = {.about = about,
                                 .steps = steps,
                                 .overwrite = kit_has(k, KVS_CAP_OVERWRITE),
                                 .query = kit_has(k, KVS_CAP_QUERY),
                                 .remove = kit_has(k, KVS_CAP_REMOVE),
                                 .list = kit_has(k, KVS_CAP_LIST),
                                 .max_value = l->max_value,
                                 .max_batch = l->max_batch,
                                 .max_key = max_key > used ? max_key - used : 0};
    KIT_CHECK(script_generate(&s, kit_seed(k), &shape), "no memory for %zu steps", steps);
    attempt_run(k, &s, (struct attempt_limits){time_ns / FIRST_PART, time_ns / FIRST_ONE_PART}, &c.last);
    if (!c.last.begun)
        KIT_FAIL("the process of the steps %s", c.last.reason ? c.last.reason : "could not begin");
    if (c.last.outcome != KVS_CONFORM_PASS) {
        c.limits = (struct attempt_limits){time_ns / LATER_PART, time_ns / LATER_ONE_PART};
        c.end_ns = kit_now() + time_ns / ALL_PARTS;
        conclude(k, &c, &s);
    }
    attempt_free(&c.last);
    script_free(&s);
}

static void model_sequential(struct kit *k)
{
    check(k, ABOUT_SEQUENCES, 500, 1);
}

static void model_concurrent(struct kit *k)
{
    check(k, ABOUT_FLIGHTS, 1000, 3);
}

static void model_reopen(struct kit *k)
{
    check(k, ABOUT_REOPENING, 300, 2);
}

static void model_replay(struct kit *k)
{
    struct script s;
    struct kvs_error err = {0};
    const char *text = k->cfg->script;
    KIT_CHECK(text, "there is no script");
    KIT_STATUS_ERR(script_parse(text, strlen(text), &s, &err), KVS_OK, &err);
    model_execute(k, &s, kit_wait_ns(k));
    script_free(&s);
}

/* Ends with the time that shrinking may take, and what is left for the removal of the keys. */
#define MODEL_TIMEOUT_S 60

static const struct kit_case cases[] = {
    {.id = "model.sequential",
     .title = "Random operations, one after the other, answer as a model does",
     .explain = "Writes, reads, queries, removes, lists, registers and deregisters a few keys through two "
                "engines in an order that the seed makes, with values and keys of all lengths that the store "
                "declares; each answer is one that a correct store can give. On a failure the steps are "
                "shrunk, and the shortest that fail are printed, for --replay.",
     .requirements = "KVS-REQ-361 KVS-REQ-357 KVS-REQ-359 KVS-REQ-370 KVS-REQ-371 KVS-REQ-374 KVS-REQ-375 "
                     "KVS-REQ-088 KVS-REQ-081",
     .tags = "model",
     .timeout_s = MODEL_TIMEOUT_S,
     .replays = true,
     .fn = model_sequential,
     .helper = attempt_helper},
    {.id = "model.concurrent",
     .title = "Random operations, many in flight, answer as a model does",
     .explain =
         "As model.sequential with up to 16 transfers in flight, some of them canceled: each answer is "
         "one that some order of what was in flight explains, no value is torn, and a WRITE or "
         "REMOVE that was canceled has left the old state or the new one.",
     .requirements = "KVS-REQ-361 KVS-REQ-364 KVS-REQ-365 KVS-REQ-366 KVS-REQ-367 KVS-REQ-150 KVS-REQ-257 "
                     "KVS-REQ-374",
     .tags = "model concurrency",
     .timeout_s = MODEL_TIMEOUT_S,
     .replays = true,
     .fn = model_concurrent,
     .helper = attempt_helper},
    {.id = "model.reopen",
     .title = "Random operations between closing and opening answer as a model does",
     .explain =
         "As model.sequential with engines that are closed and opened in between, one or both of them. "
         "What was removed or overwritten does not come back; with the capability durable nothing is "
         "lost.",
     .requirements = "KVS-REQ-361 KVS-REQ-374 KVS-REQ-387 KVS-REQ-388",
     .tags = "model durability",
     .timeout_s = MODEL_TIMEOUT_S,
     .replays = true,
     .fn = model_reopen,
     .helper = attempt_helper},
};
KIT_TOPIC(topic_model, cases);

const struct kit_case case_replay = {
    .id = "model.replay",
    .title = "The steps of a script answer as a model does",
    .explain = "Runs the script of --replay FILE in the case's own process. It is in no run without that.",
    .requirements = "KVS-REQ-361 KVS-REQ-364",
    .tags = "model",
    .timeout_s = MODEL_TIMEOUT_S,
    .fn = model_replay,
};
