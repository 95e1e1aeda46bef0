/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a case is written with. A case runs alone in its process; it may use several threads, and every
 * function here may be called from any of them unless it says otherwise. What a case opens, maps and stores
 * is given back by the kit when the case returns; a failed assertion reports and ends the process at once.
 */
#ifndef KVSLOT_TESTKIT_CASE_H
#define KVSLOT_TESTKIT_CASE_H

#include <kvslot/kvslot.h>
#include <kvslot/testkit.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

struct kit;
struct kvs_param;

/** A row of a topic's table. */
struct kit_case {
    const char *id, *title, *explain, *requirements, *tags;
    uint64_t needs;     /* enum kvs_cap bits that must be native or emulated */
    uint64_t absent;    /* enum kvs_cap bits that must be none */
    uint32_t profile;   /* enum kvs_conform_profile */
    uint32_t timeout_s; /* 0: KIT_TIMEOUT_S */
    bool alone;   /* stops or fills the store: no other case runs beside it, and start and resume follow it */
    bool foreign; /* looks for the keys of others, which the run puts before its first case (foreign.c) */
    bool replays; /* prints a script where it fails, for --replay */
    void (*fn)(struct kit *k);
    /** What a process that kit_process_start has started runs in place of fn; NULL: the case has none. */
    void (*helper)(struct kit *k, const char *role);
};

/** One file of cases. */
struct kit_topic {
    const struct kit_case *cases;
    size_t count;
};
#define KIT_TOPIC(name, table) const struct kit_topic name = {(table), sizeof(table) / sizeof((table)[0])}

#define KIT_TIMEOUT_S 20

/* ---- Assertions (assert.c) ---- */

struct kit_at {
    const char *file, *func;
    int line;
};
#define KIT_HERE ((struct kit_at){__FILE__, __func__, __LINE__})

_Noreturn void kit_fail_at(struct kit_at at, const char *fmt, ...) KVS_PRINTF(2, 3);
/** Ends the case as TIMEOUT, with the states of its threads in the output. */
_Noreturn void kit_hang_at(struct kit_at at, const char *fmt, ...) KVS_PRINTF(2, 3);
/** Ends the case as NOT_SUPPORTED, after cleaning up. On the case's own thread only. */
_Noreturn void kit_not_supported(struct kit *k, const char *fmt, ...) KVS_PRINTF(2, 3);
void kit_status_at(struct kit_at at, const char *expr, int got, int want, const char *text);
void kit_status_in_at(struct kit_at at, const char *expr, int got, const int *want, size_t n,
                      const char *text);
void kit_int_at(struct kit_at at, const char *what, int64_t got, const char *op, int64_t want);
void kit_u64_at(struct kit_at at, const char *what, uint64_t got, uint64_t want);
void kit_bytes_at(struct kit_at at, const char *what, const void *got, const void *want, size_t len);

#define KIT_FAIL(...) kit_fail_at(KIT_HERE, __VA_ARGS__)
#define KIT_CHECK(cond, ...)                                                                                 \
    do {                                                                                                     \
        if (!(cond))                                                                                         \
            kit_fail_at(KIT_HERE, __VA_ARGS__);                                                              \
    } while (0)
/** The status of a call; the call is made once. */
#define KIT_STATUS(call, want) kit_status_at(KIT_HERE, #call, (call), (want), NULL)
/** The same with the text that the call put into *err, a struct kvs_error. */
#define KIT_STATUS_ERR(call, want, err)                                                                      \
    do {                                                                                                     \
        int kit_got = (call);                                                                                \
        kit_status_at(KIT_HERE, #call, kit_got, (want), kit_got < 0 ? (err)->text : NULL);                   \
    } while (0)
/** One of several statuses: KIT_STATUS_IN(call, KVS_OK, KVS_BUSY). */
#define KIT_STATUS_IN(call, ...)                                                                             \
    do {                                                                                                     \
        static const int kit_want[] = {__VA_ARGS__};                                                         \
        kit_status_in_at(KIT_HERE, #call, (call), kit_want, sizeof(kit_want) / sizeof(kit_want[0]), NULL);   \
    } while (0)
#define KIT_EQ(got, want)         kit_int_at(KIT_HERE, #got, (int64_t)(got), "==", (int64_t)(want))
#define KIT_GE(got, want)         kit_int_at(KIT_HERE, #got, (int64_t)(got), ">=", (int64_t)(want))
#define KIT_EQ_U64(got, want)     kit_u64_at(KIT_HERE, #got, (got), (want))
#define KIT_BYTES(got, want, len) kit_bytes_at(KIT_HERE, #got, (got), (want), (len))

/* ---- The run (kit.c) ---- */

uint64_t kit_seed(const struct kit *k);
/** A number drawn from the run's prefix: another in each run, the same in each process of a case. */
uint64_t kit_run_number(const struct kit *k);
/** Longest that a case waits for one thing: half of its time, and at most until shortly before its deadline,
 * so that it can still say for what. */
uint64_t kit_wait_ns(const struct kit *k);
/** Monotonic. */
uint64_t kit_now(void);

/* ---- Engines (engine.c) ---- */

/** Opens the run's target; its failure is the case's. The kit closes it, if the case does not. */
kvs_engine *kit_open(struct kit *k);
/** The same with one parameter set to another value; KVS_OK or the error. */
int kit_open_with(struct kit *k, const char *name, const char *value, kvs_engine **e, struct kvs_error *err);
/** Opens the target's backend with another folder, and create= (NULL: its default), as its parameters path
 * and create. */
int kit_open_folder(struct kit *k, const char *path, const char *create, kvs_engine **e,
                    struct kvs_error *err);
/** Closes an engine now, and asserts that it closes. */
void kit_close_at(struct kit_at at, struct kit *k, kvs_engine *e);
#define kit_close(k, e) kit_close_at(KIT_HERE, (k), (e))
/** Does the run set that parameter: by name, or by a part of its URI that fills it. */
bool kit_is_given(const struct kit *k, const struct kvs_param *p);
/** Ends the case as NOT_SUPPORTED where the process can have one configuration only. */
void kit_needs_two_configurations(struct kit *k);
/** The case has closed or abandoned the engine itself. */
void kit_forget(struct kit *k, kvs_engine *e);
/** The limits of the target, as the kit's own look at it found them. */
const struct kvs_limits *kit_limits(const struct kit *k);
/** Is the capability native or emulated. */
bool kit_has(const struct kit *k, uint64_t cap);
/** A memory type that the backend takes for places of values. */
uint32_t kit_remote_type(kvs_engine *e);
/** `want`, or the largest value that the store takes if that is less. */
uint64_t kit_value_size(const struct kit *k, uint64_t want);
/** `want`, or the largest batch that the engine takes if that is less. */
size_t kit_batch_size(const struct kit *k, size_t want);

/* ---- The store itself (hooks.c) ---- */

/** Ends the case as NOT_SUPPORTED where the run has no such hook: start, stop, kill, pause, resume. */
void kit_needs_hook(struct kit *k, const char *name);
/** Runs it; asserts success. */
void kit_hook_at(struct kit_at at, struct kit *k, const char *name);
#define kit_hook(k, name) kit_hook_at(KIT_HERE, (k), (name))
/** Ends the case as NOT_SUPPORTED where the run has no such variant: denied, unreachable, full. */
void kit_needs_variant(struct kit *k, const char *name);
/** Opens the target with the variant's parameters, and with one more (NULL: none); KVS_OK or the error. */
int kit_open_variant(struct kit *k, const char *variant, const char *name, const char *value, kvs_engine **e,
                     struct kvs_error *err);

/* ---- Keys (keys.c) ---- */

#define KIT_KEY_MAX 4096
struct kit_key {
    size_t len;
    const uint8_t *data; /* owned by the kit */
};
/** The run's prefix and the name (printf). The key is removed when the case ends. */
struct kit_key kit_key(struct kit *k, const char *fmt, ...) KVS_PRINTF(2, 3);
/** The run's prefix and any bytes. */
struct kit_key kit_key_bytes(struct kit *k, const void *bytes, size_t len);
/** A key of exactly len bytes in all; len must be at least kit_prefix_len(). `fill` tells keys of one length
 * apart. */
struct kit_key kit_key_of_len(struct kit *k, size_t len, char fill);
/** Exactly these bytes: the case's own care that no one else has that key. */
struct kit_key kit_key_raw(struct kit *k, const void *bytes, size_t len);
const char *kit_prefix(const struct kit *k);
size_t kit_prefix_len(const struct kit *k);
/** Do the run's own parameters set the engine's prefix. */
bool kit_has_prefix(const struct kit *k);
/** Longest key that a caller may give, its own prefix parameter taken off; at most KIT_KEY_MAX where there is
 * no limit. */
size_t kit_max_key(const struct kit *k, bool *limited);

/* ---- Keys of others (foreign.c) ---- */

#define KIT_FOREIGN     4
#define KIT_FOREIGN_PUT "put" /* the role of the process that puts them */
/** The i-th of KIT_FOREIGN keys outside the run's prefix, as near to it as can be; the same in every process
 * of a run. */
struct kit_key kit_foreign_key(struct kit *k, size_t i);
/** Has the run put them already. */
bool kit_foreign_waits(const struct kit *k);

/* ---- Expectations (kit.c) ---- */

bool kit_has_expectation(const struct kit *k);
/** What is otherwise than expected, as a sentence; how many things that are. */
size_t kit_unexpected(const struct kit *k, char *text, size_t size);

/* ---- What can leak (growth.c) ---- */

/** Of this process; memory in bytes. */
struct kit_usage {
    int64_t descriptors, threads, mapped, used;
};
struct kit_usage kit_usage(void);
/** Do `mapped` and `used` mean anything: tools that replace malloc map memory for themselves, and find leaks
 * better. */
bool kit_usage_has_memory(void);
/** Waits until the process has no more descriptors and threads than that; false: it still has at the end. */
bool kit_usage_settles(int64_t descriptors, int64_t threads, uint64_t wait_ns);

/* ---- Other processes (process.c) ---- */

/** A further process of the case, of the same target, seed and prefix; keys are the case's to have made. */
struct kit_process {
    int pid;
    int words;      /* what it says comes here */
    char line[512]; /* what has come of the next line */
    size_t len;
};
/** Starts one that runs the row's helper with that role. */
void kit_process_start_at(struct kit_at at, struct kit *k, struct kit_process *p, const char *role);
#define kit_process_start(k, p, role) kit_process_start_at(KIT_HERE, (k), (p), (role))
/** In the helper: says a number, from 0 on. */
void kit_process_say(uint64_t number);
/** The next number that it says, bounded; -1 once it has ended. What it asserts is the case's failure. */
int64_t kit_process_hear_at(struct kit_at at, struct kit *k, struct kit_process *p);
#define kit_process_hear(k, p) kit_process_hear_at(KIT_HERE, (k), (p))
/** Kills it at once. */
void kit_process_kill(struct kit_process *p);
/** Waits for its end, bounded; asserts that it ended well, unless it was killed. */
void kit_process_end_at(struct kit_at at, struct kit *k, struct kit_process *p, bool killed);
#define kit_process_end(k, p, killed) kit_process_end_at(KIT_HERE, (k), (p), (killed))

/* ---- Memory (memory.c) ---- */

enum kit_place {
    KIT_AT_END,   /* the byte after the last one is in a page that cannot be touched */
    KIT_AT_START, /* the byte before the first one is */
};
struct kit_buf {
    uint8_t *data;
    size_t len;
    uint8_t *map; /* with its two guard pages */
    size_t map_len;
};
struct kit_buf kit_buf(struct kit *k, size_t len, enum kit_place place);
/** At `skew` bytes after a page's start, with a canary on both sides. */
struct kit_buf kit_buf_skewed(struct kit *k, size_t len, size_t skew);
/** Gives it back before the case ends. */
void kit_buf_free(struct kit *k, struct kit_buf *b);
/** Makes it read-only. */
void kit_buf_protect(const struct kit_buf *b);
/** Puts other memory in its place, with the poison in it. */
void kit_buf_remap(const struct kit_buf *b);
/** Takes its memory away: whoever touches it gets SIGSEGV. */
void kit_buf_forbid(const struct kit_buf *b);
/** Deterministic bytes of the seed, `salt` tells values apart. */
void kit_fill(const struct kit *k, void *to, size_t len, uint64_t salt);
/** The same of a seed of the case's own. */
void kit_fill_seeded(uint64_t seed, void *to, size_t len, uint64_t salt);
/** Fills it with a pattern that no kit_fill gives in more than a few bytes. */
void kit_poison(const struct kit_buf *b);
/** Asserts that the bytes from `from` on are still the poison. */
void kit_poisoned_at(struct kit_at at, const char *what, const struct kit_buf *b, size_t from);
#define kit_poisoned(b, from) kit_poisoned_at(KIT_HERE, #b, (b), (from))
/** Asserts that nothing around the buffer was written. */
void kit_around_at(struct kit_at at, const char *what, const struct kit_buf *b);
#define kit_around(b) kit_around_at(KIT_HERE, #b, (b))
/** The descriptor of a local buffer; with a registration where the backend needs one, which goes with the
 * engine. */
struct kvs_desc kit_local(kvs_engine *e, const void *data, size_t len);
/** A buffer at its end, filled by kit_fill. */
struct kit_buf kit_value(struct kit *k, size_t len, uint64_t salt);

/* ---- Transfers (transfer.c) ---- */

/** One pair: a key, and memory (unregistered). */
struct kit_item {
    struct kit_key key;
    void *data;
    uint64_t len;
};
/** Prepares n items with per-transfer keys; asserts success. The case releases it. */
kvs_xfer *kit_prep_at(struct kit_at at, struct kit *k, kvs_engine *e, uint32_t op,
                      const struct kit_item *items, size_t n, const uint64_t *offsets, kvs_done_fn done,
                      void *arg);
#define kit_prep(k, e, op, items, n) kit_prep_at(KIT_HERE, (k), (e), (op), (items), (n), NULL, NULL, NULL)
/** The same and what prep answers; *x NULL unless KVS_OK. */
int kit_try_prep(struct kit *k, kvs_engine *e, uint32_t op, const struct kit_item *items, size_t n,
                 const uint64_t *offsets, kvs_xfer **x, struct kvs_error *err);
/** Posts; asserts that it was accepted (a failed result is accepted too where the transfer ended inside
 * post). */
void kit_post_at(struct kit_at at, kvs_xfer *x);
#define kit_post(x) kit_post_at(KIT_HERE, (x))
/** Waits, bounded; answers the result. */
int kit_wait_at(struct kit_at at, struct kit *k, kvs_xfer *x);
#define kit_wait(k, x) kit_wait_at(KIT_HERE, (k), (x))
/** Releases one that has ended; asserts that it goes. */
void kit_release_at(struct kit_at at, kvs_xfer *x);
#define kit_release(x) kit_release_at(KIT_HERE, (x))
/** post and wait. */
int kit_run_at(struct kit_at at, struct kit *k, kvs_xfer *x);
#define kit_run(k, x) kit_run_at(KIT_HERE, (k), (x))
/** post and wait; asserts the result, and shows the transfer's text where it is another. */
void kit_ends_at(struct kit_at at, struct kit *k, kvs_xfer *x, int want);
#define kit_ends(k, x, want) kit_ends_at(KIT_HERE, (k), (x), (want))
/** The status of one descriptor. */
int kit_result(kvs_xfer *x, size_t i);
/** The byte count of one descriptor. */
uint64_t kit_result_bytes(kvs_xfer *x, size_t i);

/** WRITE of one value; asserts OK. */
void kit_put_at(struct kit_at at, struct kit *k, kvs_engine *e, struct kit_key key, const void *data,
                size_t len);
#define kit_put(k, e, key, data, len) kit_put_at(KIT_HERE, (k), (e), (key), (data), (len))
/** READ of one value into guarded, poisoned memory; asserts OK, then the bytes. */
void kit_expect_at(struct kit_at at, struct kit *k, kvs_engine *e, struct kit_key key, const void *want,
                   size_t len);
#define kit_expect(k, e, key, want, len) kit_expect_at(KIT_HERE, (k), (e), (key), (want), (len))
/** READ of len bytes into the buffer; the result. */
int kit_read_at(struct kit_at at, struct kit *k, kvs_engine *e, struct kit_key key, struct kit_buf *to);
#define kit_read(k, e, key, to) kit_read_at(KIT_HERE, (k), (e), (key), (to))

/* ---- Threads (threads.c) ---- */

/** Runs fn(k, arg, i) on n threads at once and joins them, bounded. */
void kit_threads(struct kit *k, size_t n, void (*fn)(struct kit *k, void *arg, size_t i), void *arg);
/** Something that happens a number of times, to wait for. */
struct kit_event {
    pthread_mutex_t lock;
    pthread_cond_t cond;
    unsigned count; /* by lock */
};
void kit_event_init(struct kit_event *ev);
void kit_event_destroy(struct kit_event *ev);
void kit_event_signal(struct kit_event *ev);
unsigned kit_event_count(struct kit_event *ev);
/** Waits until it has happened n times, bounded; drives the progress of e meanwhile (NULL: of none). */
void kit_event_await_at(struct kit_at at, struct kit *k, struct kit_event *ev, unsigned n, kvs_engine *e);
#define kit_event_await(k, ev, n, e) kit_event_await_at(KIT_HERE, (k), (ev), (n), (e))

#endif
