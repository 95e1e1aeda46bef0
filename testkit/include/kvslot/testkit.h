/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file testkit.h
 * @brief The conformance testkit as a library: runs the suite against a backend and gives a verdict.
 *
 *     struct kvs_conform_config cfg;
 *     struct kvs_conform_summary sum = {.size = sizeof sum};
 *     struct kvs_error err;
 *     kvs_conform_config_init(&cfg);
 *     cfg.target = "lmdb:/var/tmp/kv";
 *     cfg.out = stdout;
 *     if (kvs_conform_run(&cfg, &sum, &err) != KVS_OK)
 *         errx(1, "%s", err.text);
 *
 * Each case runs in a process of its own, the program `kvslot-case`, with its own process group, its output
 * captured, and a deadline; so a backend that crashes or hangs costs one case and not the run. The suite
 * touches only keys under a random prefix of the run's own, and removes them, also after a crash, where the
 * store can remove.
 *
 * @since 0.1, as all that stands here
 */
#ifndef KVSLOT_TESTKIT_H
#define KVSLOT_TESTKIT_H

#include <kvslot/kvslot.h>
#include <signal.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How one case ended. */
enum kvs_conform_outcome {
    KVS_CONFORM_PASS = 0,
    KVS_CONFORM_FAIL = 1,
    KVS_CONFORM_SKIPPED = 2,       /**< left out because the caller asked for it, or has waived it */
    KVS_CONFORM_NOT_SUPPORTED = 3, /**< needs a capability or limit that the store says it does not have */
    KVS_CONFORM_CRASH = 4,         /**< died of a signal, or without its report */
    KVS_CONFORM_TIMEOUT = 5,       /**< did not end in its time, and was killed where that was needed */
};

/** What the cases say together. */
enum kvs_conform_verdict {
    KVS_CONFORM_VERDICT_PASS = 0,    /**< every core case is PASS, no other failed, none was skipped */
    KVS_CONFORM_VERDICT_PARTIAL = 1, /**< nothing failed, but a core case is NOT_SUPPORTED, a case was
                                        skipped, or none is PASS */
    KVS_CONFORM_VERDICT_FAIL = 2,    /**< a case is FAIL, CRASH or TIMEOUT */
};

/** Core: what every backend can do (READ, WRITE, QUERY). Extended: what needs a further capability. */
enum kvs_conform_profile {
    KVS_CONFORM_CORE = 0,
    KVS_CONFORM_EXTENDED = 1,
};

/** A case that is known to fail: it is not run, and SKIPPED with the reason until the waiver expires. */
struct kvs_conform_waiver {
    const char *id;      /**< of the case; no glob */
    const char *reason;  /**< a sentence for the report */
    const char *expires; /**< the last day on which it counts, "2027-06-30", UTC */
};

/** Commands for `/bin/sh -c` that do something to the store and come back once it is done; NULL: none. Cases
 *  that need one which is not there are NOT_SUPPORTED. */
struct kvs_conform_hooks {
    const char *start;  /**< starts it, or leaves it alone where it runs; returns when it takes connections */
    const char *stop;   /**< ends it in good order */
    const char *kill;   /**< ends it as a crash does */
    const char *pause;  /**< makes it hang: it keeps its connections, and answers nothing */
    const char *resume; /**< ends a pause, or leaves alone what is not paused */
};

/** Parameters that open the target in another way, in place of those of the same names. What a case looks
 * for: "denied" (open, or the first use, is refused with ACCESS), "unreachable" (no store is there), "full"
 * (a store that takes a few MiB of values at most). */
struct kvs_conform_variant {
    const char *name;                     /**< one of these words */
    const struct kvs_param_value *params; /**< nparams of them */
    size_t nparams;                       /**< how many, at least 1 */
};

/** What to run. Fill it with kvs_conform_config_init(), then set what is needed. All that it points to stays
 *  the caller's and has to be valid until kvs_conform_run() has returned. */
struct kvs_conform_config {
    size_t size;             /**< sizeof(struct kvs_conform_config) */
    const char *target;      /**< a backend's name or a URI; may be NULL where plugin_file is given */
    const char *plugin_file; /**< a kvslot-NAME.so, loaded first; or NULL */
    /** nparams parameters, as for kvs_engine_open(); a secret's @fd:N is read once. */
    const struct kvs_param_value *params;
    size_t nparams;            /**< how many */
    const char *filter;        /**< ids, globs (`keys.*`), tags (`tag:timing`), apart by commas; NULL: all */
    const char *skip;          /**< the same form: these are SKIPPED; NULL: none */
    unsigned jobs;             /**< cases at once; 0: 1 */
    double timeout_multiplier; /**< of every time limit, greater than 0; 0: 1 */
    uint64_t seed;             /**< of all random bytes; 0: one is drawn, and printed */
    unsigned repeat;           /**< rounds of each case, until one is not PASS; 0: 1 */
    const char *json_file;     /**< where the JSON report goes; NULL: nowhere */
    /** kvslot-case, or a program around kvs_conform_case_main(); NULL: the kvslot-case that is beside the
     *  running library or program. */
    const char *case_program;
    FILE *out; /**< where the table goes; NULL: nowhere */
    /** 1: all cases again and again, until one fails; `repeat` above 1 is then the most rounds. */
    int until_fail;
    const struct kvs_conform_waiver *waivers;   /**< nwaivers of them */
    size_t nwaivers;                            /**< how many */
    struct kvs_conform_hooks hooks;             /**< what the run may do to the store */
    const struct kvs_conform_variant *variants; /**< nvariants of them */
    size_t nvariants;                           /**< how many */
    const char *junit_file;                     /**< where the report goes as JUnit XML; NULL: nowhere */
    /** A folder of the user's own where a run notes its keys as long as it runs, so that the next run on the
     * same target removes what one that was killed has left. Made when missing; NULL: no notes. */
    const char *state_dir;
    /** Once it is not 0 (a signal's handler may set it), the run ends: what runs is killed, its keys are
     * removed, and what did not run is SKIPPED. NULL: nothing ends it. */
    const volatile sig_atomic_t *stop;
    int strict; /**< 1: a verdict of partial is KVS_MISMATCH too */
    /** What the store is expected to be able to do, for the case expected.capabilities, which then always
     * runs. A file of lines: a capability and `native`, `emulated` or `none`; `emulated` and `yes` or `no`;
     * `thread_model` and `serial` or `parallel`; a limit (`max_value`) and a number. What it does not name
     * may be anything; `#` begins a comment. NULL: nothing is expected. */
    const char *expect_file;
    /** A script of steps, such as a case of the tag `model` prints where it fails: it is run alone, and
     * filter and skip do not count. NULL: none. */
    const char *replay_file;
    const char *html_file; /**< where the report goes as a page for people; NULL: nowhere */
    /** The file that all this was read from, for the line that runs a failed case again; set by
     * kvs_conform_config_read(). NULL: there is none. */
    const char *config_file;
};

/** What came out. Set size before the call. */
struct kvs_conform_summary {
    size_t size;          /**< sizeof(struct kvs_conform_summary) */
    uint32_t verdict;     /**< enum kvs_conform_verdict */
    uint32_t total;       /**< cases that were selected: the sum of those below */
    uint32_t counts[6];   /**< by enum kvs_conform_outcome */
    int conformant;       /**< 1: a pass of the whole suite on a store that is not EMULATED; else 0 */
    uint64_t seed;        /**< the seed that was used */
    uint64_t duration_ms; /**< of the whole run */
};

/** One case of the suite. Its strings are static memory. */
struct kvs_conform_case {
    size_t size;              /**< sizeof(struct kvs_conform_case) of the library */
    const char *id;           /**< "roundtrip.odd_sizes" */
    const char *title;        /**< one line */
    const char *explain;      /**< what it does, and what a failure means */
    const char *requirements; /**< ids of docs/contract.md, apart by spaces */
    const char *tags;         /**< words, apart by spaces; "" where there are none */
    uint64_t needs;           /**< enum kvs_cap bits without which it is NOT_SUPPORTED */
    uint32_t profile;         /**< enum kvs_conform_profile */
    uint32_t timeout_ms;      /**< its deadline, before the multiplier */
};

/**
 * @brief Zeroes a configuration and sets its size.
 *
 * @param[out] cfg  the caller's
 * @par Threads
 * Any.
 */
KVS_EXPORT void kvs_conform_config_init(struct kvs_conform_config *cfg);

/** What kvs_conform_config_read() has read. */
struct kvs_conform_file;

/**
 * @brief Fills a configuration from a file, which is a JSON object.
 *
 * Its members are those of struct kvs_conform_config under their own names, and none is needed: target,
 * plugin_file, params (an object), filter, skip, jobs, timeout_multiplier, seed (a number, or a string for
 * those above 2^53), repeat, until_fail, strict, expect_file, json_file, junit_file, html_file, case_program,
 * state_dir, replay_file, hooks (an object), variants (an object of objects) and waivers (an array of
 * objects). Files are taken from where the process is, not from where the file is.
 *
 *     {
 *       "target": "redis://localhost:6379",
 *       "params": {"timeout": "5s"},
 *       "hooks": {"stop": "systemctl stop redis", "start": "systemctl start redis"},
 *       "variants": {"denied": {"password": "wrong"}, "unreachable": {"port": "1"}},
 *       "waivers": [{"id": "ttl.expires", "reason": "the proxy drops EXPIRE", "expires": "2027-06-30"}]
 *     }
 *
 * @param[in]     file  its name
 * @param[in,out] cfg   the caller's, initialised; members that the file does not have stay as they are
 * @param[out]    out   what cfg then points to, to be given back with kvs_conform_file_free(); NULL on
 * failure
 * @param[out]    err   may be NULL
 * @par Threads
 * Any.
 * @return
 *  - KVS_OK
 *  - KVS_IO: the file cannot be read.
 *  - KVS_INVALID_PARAM: it is not such an object; the text names the line or the member. cfg is as it was.
 *  - KVS_NO_MEMORY
 */
KVS_EXPORT int kvs_conform_config_read(const char *file, struct kvs_conform_config *cfg,
                                       struct kvs_conform_file **out, struct kvs_error *err);

/**
 * @brief Gives back what was read from a configuration file.
 *
 * @param[in] file  from kvs_conform_config_read(), no longer pointed to by a configuration in use; may be
 * NULL
 * @par Threads
 * Any.
 */
KVS_EXPORT void kvs_conform_file_free(struct kvs_conform_file *file);

/**
 * @brief Runs the cases and waits for them.
 *
 * Before the first one the target is opened once, in a process of its own: what that fails with is this
 * call's answer. It starts children and waits for them by their ids; SIGCHLD must not be ignored. Secrets go
 * to the children through a pipe, and stand in no table, report or reproduce line.
 *
 * @param[in]     cfg  what to run; stays the caller's
 * @param[in,out] out  the caller's, its size set; filled when cases ran, whatever the answer; may be NULL
 * @param[out]    err  may be NULL
 * @par Threads
 * Any; several runs at once are fine.
 * @return
 *  - KVS_OK: the verdict is pass or partial; `out` says which.
 *  - KVS_MISMATCH: the verdict is fail, or, with `strict`, partial.
 *  - KVS_CANCELED: `stop` was set, and no case had failed.
 *  - KVS_INVALID_PARAM: no case matches the filter, a filter that cannot be, a multiplier below 0; a
 *    script with an error, whose line the text names; or a target or parameter that open refuses.
 *  - KVS_NOT_FOUND: no such backend, or no kvslot-case.
 *  - KVS_IO: the report or the table could not be written, or replay_file not be read.
 *  - KVS_NO_MEMORY: of this process.
 *  - else what opening the target failed with.
 */
KVS_EXPORT int kvs_conform_run(const struct kvs_conform_config *cfg, struct kvs_conform_summary *out,
                               struct kvs_error *err);

/**
 * @brief Shows that the suite can fail: runs each rogue that the kit carries, a store with one deliberate
 * defect, against the case that must catch it, and correct stores against the whole suite.
 *
 * @param[in]  cfg     of its members these count: filter (names of rogues, globs, apart by commas), jobs
 * (rogues at once), timeout_multiplier, seed, case_program, out, stop
 * @param[out] total   how many rogues ran; may be NULL
 * @param[out] caught  how many of them were caught, or passed where they have no defect; may be NULL
 * @param[out] err     may be NULL
 * @par Threads
 * Any.
 * @return
 *  - KVS_OK: all were caught, and what has no defect passes.
 *  - KVS_MISMATCH: not all; the table in `out` says which.
 *  - KVS_INVALID_PARAM: no rogue matches the filter.
 *  - KVS_IO: no folder for its files, or the table could not be written.
 *  - KVS_NO_MEMORY
 */
KVS_EXPORT int kvs_conform_self_test(const struct kvs_conform_config *cfg, uint32_t *total, uint32_t *caught,
                                     struct kvs_error *err);

/**
 * @brief Compares two JSON reports: prints what differs, and answers whether the second one is worse.
 *
 * Worse are: a lower verdict; a PASS that is something else or gone; an outcome that has become FAIL, CRASH
 * or TIMEOUT, also of a new case; a capability lost; a limit that leaves less; with a ratio, a passing case
 * whose time has grown by more than that factor and by 100 ms or more. Without one, such times are shown
 * beyond a factor of 3, and are not worse, since the reports may be of two machines.
 *
 * @param[in]  before      the first report's file
 * @param[in]  after       the second one's
 * @param[in]  time_ratio  of times, above 1; 0: times are never worse
 * @param[in]  out         where the table goes; stays the caller's, and open; NULL: nowhere
 * @param[out] err         may be NULL
 * @par Threads
 * Any.
 * @return
 *  - KVS_OK: the second one is not worse.
 *  - KVS_MISMATCH: it is.
 *  - KVS_IO: a file cannot be read, or the table not be written.
 *  - KVS_INVALID_PARAM: a file is no report, or one of a format that this release does not know; or the ratio
 * cannot be. The text names file and line or member.
 *  - KVS_NO_MEMORY
 */
KVS_EXPORT int kvs_conform_compare(const char *before, const char *after, double time_ratio, FILE *out,
                                   struct kvs_error *err);

/**
 * @brief Lists the cases of the suite, in the order in which they run.
 *
 * @param[in] each  called for each case: `arg` and the case, which is gone after it returns; its strings are
 *                  not. What it answers other than 0 ends the list.
 * @param[in] arg   for each; stays the caller's
 * @par Threads
 * Any; each runs on the thread that calls.
 * @return
 *  - KVS_OK: all were listed.
 *  - else what each answered.
 */
KVS_EXPORT int kvs_conform_list(int (*each)(void *arg, const struct kvs_conform_case *info), void *arg);

/**
 * @brief Prints a case: title, what it does, what a failure means, requirements, capabilities.
 *
 * @param[in]  id   the case
 * @param[in]  out  where to; stays the caller's, and open
 * @param[out] err  may be NULL
 * @par Threads
 * Any.
 * @return
 *  - KVS_OK
 *  - KVS_NOT_FOUND: there is no such case; the text names the nearest.
 *  - KVS_IO: `out` could not be written.
 */
KVS_EXPORT int kvs_conform_explain(const char *id, FILE *out, struct kvs_error *err);

/**
 * @brief A verdict's name.
 *
 * @param[in] verdict  enum kvs_conform_verdict
 * @par Threads
 * Any.
 * @return "pass", "partial", "fail"; "?" for a number that is none. Static memory.
 */
KVS_EXPORT const char *kvs_conform_verdict_name(uint32_t verdict);

/**
 * @brief An outcome's name.
 *
 * @param[in] outcome  enum kvs_conform_outcome
 * @par Threads
 * Any.
 * @return "PASS", "NOT_SUPPORTED"; "?" for a number that is none. Static memory.
 */
KVS_EXPORT const char *kvs_conform_outcome_name(uint32_t outcome);

/**
 * @brief The main function of kvslot-case.
 *
 * A backend that is linked into a program instead of being a plugin is tested through a program of its own,
 * given as case_program:
 *
 *     int main(int argc, char **argv)
 *     {
 *         kvs_backend_register(&my_backend, NULL);
 *         return kvs_conform_case_main(argc, argv);
 *     }
 *
 * It needs the pipes that kvs_conform_run() makes, and says so where they are missing.
 *
 * @param[in] argc  main's
 * @param[in] argv  main's
 * @par Threads
 * The first of the process.
 * @return What main returns.
 */
KVS_EXPORT int kvs_conform_case_main(int argc, char **argv);

#ifdef __cplusplus
}
#endif
#endif
