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
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How one case ended. */
enum kvs_conform_outcome {
    KVS_CONFORM_PASS = 0,
    KVS_CONFORM_FAIL = 1,
    KVS_CONFORM_SKIPPED = 2,       /**< left out because the caller asked for it */
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
 *  - KVS_MISMATCH: the verdict is fail.
 *  - KVS_INVALID_PARAM: no case matches the filter, a filter that cannot be, a multiplier below 0; or a
 *    target or parameter that open refuses.
 *  - KVS_NOT_FOUND: no such backend, or no kvslot-case.
 *  - KVS_IO: the report or the table could not be written.
 *  - KVS_NO_MEMORY: of this process.
 *  - else what opening the target failed with.
 */
KVS_EXPORT int kvs_conform_run(const struct kvs_conform_config *cfg, struct kvs_conform_summary *out,
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
