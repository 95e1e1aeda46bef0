/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file kvslot.h
 * @brief For integrators: moves memory to and from keys in a store, in asynchronous batches.
 *
 * One value at a time, each call waiting for the store:
 *
 *     kvs_engine *e;
 *     struct kvs_error err;
 *     if (kvs_engine_open("lmdb:/var/cache/kv", NULL, 0, &e, &err) != KVS_OK)
 *         errx(1, "%s", err.text);
 *     if (kvs_put(e, "block/7", 7, block, sizeof block, &err) != KVS_OK)
 *         warnx("%s", err.text);
 *     kvs_engine_close(e, KVS_FOREVER, NULL);
 *
 * A batch, here of one descriptor, that runs while the caller does something else:
 *
 *     struct kvs_desc memory = {.addr = (uint64_t)(uintptr_t)block, .len = sizeof block};
 *     struct kvs_dlist local = {.descs = &memory, .count = 1, .type = KVS_MEM_DRAM};
 *     struct kvs_key key = {"block/7", 7};
 *     struct kvs_xfer_req req = {.size = sizeof req, .op = KVS_READ, .local = &local,
 *                                .keys = &key, .nkeys = 1};
 *     kvs_xfer *x;
 *     if (kvs_xfer_prep(e, &req, &x, &err) != KVS_OK)
 *         errx(1, "%s", err.text);
 *     int rc = kvs_xfer_post(x);
 *     ...
 *     if (rc == KVS_IN_PROG)
 *         rc = kvs_xfer_wait(x, KVS_FOREVER);
 *     if (rc != KVS_OK)
 *         warnx("%s: %s", kvs_status_name(rc), kvs_xfer_error(x));
 *     kvs_xfer_release(x, KVS_SEC(2));
 *
 * What holds everywhere
 *
 *  - Functions answer a status (enum kvs_status): KVS_OK is 0, KVS_IN_PROG is 1, errors are
 *    negative.
 *  - A handle that is NULL or none of ours is KVS_INVALID_PARAM, never a crash. A handle that was
 *    given back is not valid any more. A library that is built without NDEBUG (the debug preset)
 *    knows all its transfers and engines: there it answers KVS_INVALID_PARAM for one that was given
 *    back, too, and for any other address, with a log line, as long as no new handle has got that
 *    address. Registrations are looked for in their engine in every build.
 *  - A count, stride or length that memory cannot hold is refused before anything is read by it:
 *    KVS_INVALID_PARAM, or KVS_TOO_LARGE for that of a key. KVS-REQ-137 KVS-REQ-138
 *  - `err` is the caller's and may be NULL. On an error it gets the status and a sentence for
 *    people; otherwise it is left alone.
 *  - Out pointers to handles and names are set on success and NULL on failure. What is optional may
 *    be NULL.
 *  - Keys, lists, descriptors, parameters and texts that are handed in stay the caller's and are
 *    not used after the call has returned. The memory of a transfer is: it has to stay valid until
 *    the transfer has ended and is not held (see Time).
 *  - The SDK writes to no memory of the caller but the buffers of READs, within their lengths, and
 *    what out parameters name. The source of a WRITE is only read; it may be mapped read-only.
 *  - A value of no bytes is a value.
 *  - Lengths are bytes. Times are nanoseconds; KVS_MS() and KVS_SEC() make them.
 *
 * Threads
 *
 *  - Calls on different handles may be made from any threads at the same time. Calls on one
 *    transfer are the caller's to serialise, but for kvs_xfer_cancel().
 *  - Done functions of an engine may run inside kvs_xfer_post(), kvs_xfer_check(), kvs_xfer_wait(),
 *    kvs_xfer_wait_any(), kvs_xfer_cancel(), kvs_xfer_release(), kvs_xfer_abandon(),
 *    kvs_engine_progress(), kvs_engine_reap(), kvs_engine_close() and the calls for one key, on the
 *    thread that calls: hold no lock there that a done function takes. One that runs on a thread of
 *    the store's keeps that from its work: where the backend is serial, it prepares, registers and
 *    deregisters nothing, since that waits for a call that may wait for that thread.
 *  - A thread inside a call is not ended with pthread_cancel(): others may wait for what it does.
 *  - An engine has threads of its own once they are needed: workers (parameter `threads`) where its
 *    backend is blocking, and a service thread that ends what is out of time and makes progress
 *    where no caller does. They block all signals but those of a fault, which has to reach its
 *    handler (KVS-REQ-335). With `progress=thread` that thread alone polls a backend that has to be
 *    polled, and callers who wait only sleep.
 *
 * Time
 *
 *  - A post has the engine's `timeout` (30s; 0: no limit). When it passes, what the backend was not
 *    given yet ends KVS_TIMEOUT at once, the backend is asked to cancel the rest, and that has
 *    `cancel_grace` (1s) more to end by itself. What ends OK in the grace is OK; what ends canceled
 *    is KVS_TIMEOUT.
 *  - A transfer with something open even then ends KVS_TIMEOUT and is *held*: the store may still
 *    touch its memory. Until the store lets go of it, post, release and deregistering its memory
 *    answer KVS_BUSY. What completes late changes none of its statuses.
 *  - With `bounce=yes` values are copied through buffers of the SDK, so that the store never has the
 *    caller's memory: a WRITE's may change once post has returned, a READ's is written only when its
 *    descriptor ends KVS_OK, and neither is touched, nor are registrations kept, once the transfer
 *    has ended held or was abandoned. Backends that take registered memory only refuse it.
 *
 * After fork()
 *
 *  - In the child every call on a handle made before answers KVS_NOT_ALLOWED, but for close,
 *    abandon, release and deregister: these succeed, and free what is the child's or leave it to
 *    the end of the process. An engine that is opened in the child works.
 *  - A child that was made inside a done function may return from it where the thread is one of the
 *    program's, and its transfer is not posted again there; on any other thread it calls exec() or
 *    _exit() before it returns.
 *
 * @since 0.1, as all that stands here
 * @par Contract
 * KVS-REQ-107 KVS-REQ-133 KVS-REQ-135 KVS-REQ-136 KVS-REQ-204 KVS-REQ-258 KVS-REQ-259 KVS-REQ-260 KVS-REQ-261
 * KVS-REQ-262 KVS-REQ-263 KVS-REQ-264 KVS-REQ-265 KVS-REQ-266 KVS-REQ-269 KVS-REQ-270 KVS-REQ-271
 * KVS-REQ-275 KVS-REQ-276 KVS-REQ-277 KVS-REQ-294 KVS-REQ-295 KVS-REQ-296 KVS-REQ-360 KVS-REQ-386 KVS-REQ-391
 * KVS-REQ-450 KVS-REQ-451 KVS-REQ-452 KVS-REQ-453 KVS-REQ-454 KVS-REQ-455 KVS-REQ-456 KVS-REQ-458 KVS-REQ-516
 */
#ifndef KVSLOT_KVSLOT_H
#define KVSLOT_KVSLOT_H

#include <kvslot/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** An opened backend with its parameters applied. Opaque. */
typedef struct kvs_engine kvs_engine;
/** A prepared batch of descriptor pairs. Opaque. */
typedef struct kvs_xfer kvs_xfer;
/** See <kvslot/backend.h>. */
struct kvs_backend;
struct kvs_param;

/** A time without limit. */
#define KVS_FOREVER UINT64_MAX
/** Milliseconds, in nanoseconds. */
#define KVS_MS(n) ((uint64_t)(n)*1000000u)
/** Seconds, in nanoseconds. */
#define KVS_SEC(n) ((uint64_t)(n)*1000000000u)

/** Why a call failed. Never holds a secret. The caller's; nothing in it needs to be freed. */
struct kvs_error {
    int status;     /**< enum kvs_status */
    char text[508]; /**< one sentence in UTF-8, ends in NUL */
};

/* ---- Library ---- */

/**
 * @brief The running library's version.
 *
 * @par Threads
 * Any.
 * @return "0.1.0"; static memory.
 * @since 0.1
 */
KVS_EXPORT const char *kvs_version(void);

/**
 * @brief A status' name.
 *
 * @param[in] status  enum kvs_status
 * @par Threads
 * Any.
 * @return "NOT_FOUND"; "?" for a number that is none. Static memory.
 * @since 0.1
 * @par Contract
 * KVS-REQ-005
 */
KVS_EXPORT const char *kvs_status_name(int status);

/**
 * @brief A status' text.
 *
 * @param[in] status  enum kvs_status
 * @par Threads
 * Any.
 * @return "not found"; "unknown status" for a number that is none. Static memory.
 * @since 0.1
 * @par Contract
 * KVS-REQ-005
 */
KVS_EXPORT const char *kvs_status_text(int status);

/**
 * @brief Sets where log lines go, and which.
 *
 * There is one log for the process. At the start it goes to standard error, at the level that the
 * environment variable KVSLOT_LOG names (error, warn, info, debug, trace), or warn. What `trace=1`
 * asks an engine for is given out at any level, as KVS_LOG_TRACE.
 *
 * @param[in] fn     gets each line: `arg`, the line's enum kvs_log_level, and the text, which has
 *                   no newline and is gone after the call. It is called on any thread, also on
 *                   those of a store's library, one call at a time, and must not call the SDK.
 *                   NULL: standard error.
 * @param[in] arg    for fn; stays the caller's, and has to be valid as long as fn is set
 * @param[in] level  the highest enum kvs_log_level that is given out; negative: as it is
 * @par Threads
 * Any, but not from fn. Once it has returned, the former fn is not called any more.
 * @since 0.1
 * @par Contract
 * KVS-REQ-515 KVS-REQ-531 KVS-REQ-534
 */
KVS_EXPORT void kvs_set_log(void (*fn)(void *arg, int level, const char *text), void *arg, int level);

/**
 * @brief Writes a line to the log, for what is built on the SDK and shares its log.
 *
 * @param[in] level  enum kvs_log_level; nothing happens where the log is not at that level
 * @param[in] who    who speaks; goes before the text
 * @param[in] fmt    as for printf(), with its arguments; what is beyond 1,000 bytes is cut, and control
 *                   characters become spaces
 * @par Threads
 * Any, but not from the function given to kvs_set_log(). Keeps errno.
 * @since 0.1
 * @par Contract
 * KVS-REQ-534
 */
KVS_EXPORT void kvs_log(int level, const char *who, const char *fmt, ...) KVS_PRINTF(3, 4);

/**
 * @brief Frees memory that the SDK handed over: a value from kvs_get_alloc().
 *
 * @param[in] p  the memory, gone afterwards; NULL: nothing happens
 * @par Threads
 * Any.
 * @since 0.1
 * @par Contract
 * KVS-REQ-380
 */
KVS_EXPORT void kvs_free(void *p);

/* ---- Backends ---- */

/**
 * @brief Loads a plugin from a file and makes its backend known under its own name.
 *
 * The file has to be named kvslot-NAME.so after the backend in it, or be a symbolic link to it that
 * is named after one of its schemes. It stays loaded for the rest of the process. Loading one file
 * twice is fine.
 *
 * @param[in]  file  path of the file; without a slash, in the current folder
 * @param[out] name  the backend's name, static memory; may be NULL
 * @param[out] err   may be NULL
 * @par Threads
 * Any. The plugin's load() runs inside.
 * @return
 *  - KVS_OK
 *  - KVS_NOT_FOUND: there is no such file.
 *  - KVS_INVALID_PARAM: it is no plugin or not named as one, has another API number, was compiled
 *    against larger structures of the host's than this one has, has an incomplete table, a
 *    parameter of the SDK's own, or a name that another file or registered backend has already.
 *  - KVS_ACCESS: it cannot be read; or it or its folder is writable by others while the process
 *    runs as root or set-uid.
 *  - KVS_IO, KVS_NO_MEMORY: of this process.
 *  - KVS_NOT_ALLOWED: inside the load() of a backend.
 *  - else what the plugin's load() says.
 * @since 0.1
 * @par Contract
 * KVS-REQ-402 KVS-REQ-403 KVS-REQ-404 KVS-REQ-405 KVS-REQ-406 KVS-REQ-407 KVS-REQ-408 KVS-REQ-411
 * KVS-REQ-412 KVS-REQ-415 KVS-REQ-429 KVS-REQ-438 KVS-REQ-439 KVS-REQ-501
 */
KVS_EXPORT int kvs_plugin_load(const char *file, const char **name, struct kvs_error *err);

/**
 * @brief Makes a backend known that is linked into the program: a static build, a mock.
 *
 * It is checked as a plugin's is. Registering the same table again is fine.
 *
 * @param[in]  backend  the table; stays the caller's, and has to be valid and unchanged for the
 *                      rest of the process, with all that it points to
 * @param[out] err      may be NULL
 * @par Threads
 * Any. The backend's load() runs inside.
 * @return
 *  - KVS_OK
 *  - KVS_INVALID_PARAM: the table is NULL or incomplete, or its name is taken by another.
 *  - KVS_NO_MEMORY: of this process.
 *  - KVS_NOT_ALLOWED: inside the load() of a backend.
 *  - else what the backend's load() says.
 * @since 0.1
 * @par Contract
 * KVS-REQ-402 KVS-REQ-403 KVS-REQ-404 KVS-REQ-405 KVS-REQ-406 KVS-REQ-407 KVS-REQ-408 KVS-REQ-415
 * KVS-REQ-441 KVS-REQ-501
 */
KVS_EXPORT int kvs_backend_register(const struct kvs_backend *backend, struct kvs_error *err);

/**
 * @brief Finds a backend by its name or by the scheme of a target, and loads its plugin if need be.
 *
 * A backend that is not known yet is looked for by the name of the file, kvslot-NAME.so, in the
 * folders of the environment variable KVSLOT_PLUGIN_PATH (apart by ':'), in the install folder, and
 * beside the running library, in kvslot/ and ../lib/kvslot/. The first file of that name counts; no
 * other is loaded.
 *
 * @param[in]  target   a name ("lmdb") or a URI ("lmdb:/dir"), of which only the scheme is looked
 *                      at; never a file
 * @param[out] backend  the host's own, complete copy of the table, static memory (see
 *                      <kvslot/backend.h>); may be NULL
 * @param[out] err      may be NULL
 * @par Threads
 * Any. A plugin's load() may run inside.
 * @return
 *  - KVS_OK
 *  - KVS_NOT_FOUND: there is no such backend. The text says where it was looked for, and the
 *    nearest name.
 *  - KVS_INVALID_PARAM: the target is NULL, empty, malformed or a file; or the file found is no
 *    good plugin.
 *  - else as kvs_plugin_load().
 * @since 0.1
 * @par Contract
 * KVS-REQ-439 KVS-REQ-440 KVS-REQ-442 KVS-REQ-526 KVS-REQ-528 KVS-REQ-529
 */
KVS_EXPORT int kvs_backend_find(const char *target, const struct kvs_backend **backend,
                                struct kvs_error *err);

/**
 * @brief Lists the backends that can be opened by name, in the order of names.
 *
 * These are the known ones, and the plugin files that kvs_backend_find() would look at. Nothing is
 * loaded, so that a file may turn out to be no plugin.
 *
 * @param[in] each  called for each: `arg`, the name, and the file or "built in". Both texts are
 *                  gone after it returns. What it answers other than 0 ends the list. It may call
 *                  the SDK.
 * @param[in] arg   for each; stays the caller's
 * @par Threads
 * Any; each runs on the thread that calls.
 * @return
 *  - KVS_OK: all were listed.
 *  - KVS_INVALID_PARAM: each is NULL.
 *  - KVS_NO_MEMORY: of this process; nothing was listed.
 *  - KVS_NOT_ALLOWED: inside the load() of a backend.
 *  - else what each answered.
 * @since 0.1
 * @par Contract
 * KVS-REQ-439 KVS-REQ-442
 */
KVS_EXPORT int kvs_backend_list(int (*each)(void *arg, const char *name, const char *where), void *arg);

/**
 * @brief The SDK's own parameters, which every engine takes beside its backend's.
 *
 * Among them: `timeout`, `cancel_grace`, `bounce` (see Time), `prefix` (goes before every key; keeps users
 * apart, but is no security boundary), `threads`, `ttl`, `progress`, `connect`, `trace`. Each says what it is
 * in its `help`.
 *
 * @param[out] n  how many; may be NULL
 * @par Threads
 * Any.
 * @return The first of n; static memory.
 * @since 0.1
 * @par Contract
 * KVS-REQ-089 KVS-REQ-500 KVS-REQ-533
 */
KVS_EXPORT const struct kvs_param *kvs_sdk_params(size_t *n);

/* ---- Engines ---- */

/** A parameter's name, and its value as text. Both end in NUL and stay the caller's. */
struct kvs_param_value {
    const char *name;  /**< one of the backend's or the SDK's */
    const char *value; /**< "30s", "1GiB", "yes"; of a secret also "@FILE" or "@fd:N" */
};

/** Declarations of parameters; struct kvs_param is in <kvslot/backend.h>. Stays the caller's. */
struct kvs_param_list {
    const struct kvs_param *params; /**< the first */
    size_t count;                   /**< how many */
    size_t stride; /**< bytes from one to the next, as for a backend's its param_size; 0: what the SDK has */
};

/**
 * @brief Reads a value by declarations, as an engine reads its parameters.
 *
 * For programs with parameters of their own, which then have the same forms, and errors that say the same.
 * The lists together are what may be given, say the program's own, the SDK's and a backend's.
 *
 * @param[in]  whose   how the error calls whoever takes the parameters, as in "backend 'lmdb'"; 80 bytes of
 *                     it are shown
 * @param[in]  lists   nlists of them; each declaration has a name. The first one of a name counts
 * @param[in]  nlists  how many
 * @param[in]  given   a name and a value
 * @param[out] number  the value as a number: bytes, nanoseconds, 0 or 1, the place in choices; of a
 *                     KVS_PARAM_STRING 0, and 0 on an error. NULL: only the name is looked for, and the
 *                     value may be NULL. "@FILE" of a secret is not read
 * @param[out] err     may be NULL
 * @par Threads
 * Any.
 * @return
 *  - KVS_OK
 *  - KVS_INVALID_PARAM: none of the declarations has that name, the value is none for it; or whose, given, a
 *    name, or value where number is there, is NULL; or a list is NULL, has a stride that is too small, or
 *    goes beyond the end of memory.
 * @since 0.1
 * @par Contract
 * KVS-REQ-505 KVS-REQ-506 KVS-REQ-509 KVS-REQ-510 KVS-REQ-535
 */
KVS_EXPORT int kvs_param_read(const char *whose, const struct kvs_param_list *lists, size_t nlists,
                              const struct kvs_param_value *given, int64_t *number, struct kvs_error *err);

/**
 * @brief Opens an engine.
 *
 * A parameter has its value from the target or from `params`, else from its environment variable,
 * else from its default. A malformed one is an error, a malformed environment variable a warning.
 * The value of a secret may be @FILE or @fd:N: it is then read from there, without a final newline.
 *
 * @param[in]  target   a backend's name ("lmdb"), or a URI ("lmdb:/dir?map_size=1GiB"); never a
 *                      file
 * @param[in]  params   nparams values; NULL where nparams is 0. Each parameter once, here or in the
 *                      target.
 * @param[in]  nparams  how many
 * @param[out] engine   the caller's, to be given back with kvs_engine_close() or
 *                      kvs_engine_abandon()
 * @param[out] err      may be NULL
 * @par Threads
 * Any. The backend's open() runs inside, and may wait for the store (parameter `connect`).
 * @return
 *  - KVS_OK
 *  - KVS_NOT_FOUND: there is no such backend, or the backend's open says so.
 *  - KVS_INVALID_PARAM: an unknown, malformed, doubly given or missing parameter, a part of the URI
 *    that no parameter takes, a target as in kvs_backend_find(), or a second configuration of a
 *    backend that takes one a process.
 *  - KVS_NOT_ALLOWED: a backend that takes one configuration a process, in a forked child.
 *  - KVS_NOT_SUPPORTED: a `ttl` where the backend cannot let values expire; `bounce=yes` where it
 *    takes registered memory only.
 *  - KVS_NO_MEMORY: of this process; also no descriptor for it.
 *  - KVS_DISCONNECTED, KVS_ACCESS, KVS_IO, ...: what the backend's open says. KVS_BACKEND also
 *    where that is no error.
 * @since 0.1
 * @par Contract
 * KVS-REQ-298 KVS-REQ-427 KVS-REQ-432 KVS-REQ-436 KVS-REQ-456 KVS-REQ-457 KVS-REQ-500 KVS-REQ-505 KVS-REQ-506
 * KVS-REQ-507 KVS-REQ-508 KVS-REQ-509 KVS-REQ-510 KVS-REQ-511 KVS-REQ-512 KVS-REQ-513 KVS-REQ-519 KVS-REQ-520
 * KVS-REQ-521 KVS-REQ-522 KVS-REQ-523 KVS-REQ-524 KVS-REQ-525 KVS-REQ-526 KVS-REQ-528 KVS-REQ-529
 * KVS-REQ-530
 */
KVS_EXPORT int kvs_engine_open(const char *target, const struct kvs_param_value *params, size_t nparams,
                               kvs_engine **engine, struct kvs_error *err);

/**
 * @brief Closes an engine: refuses posts, cancels what runs, waits until it has ended, closes the
 * backend.
 *
 * Who wants the results of what runs waits for it first. Registrations go with the engine.
 * Transfers do not: those that have ended stay valid for check, result and error until they are
 * released.
 *
 * @param[in]  engine      gone afterwards, unless the answer is an error
 * @param[in]  timeout_ns  how long to wait, in nanoseconds; 0: not at all; KVS_FOREVER: without
 *                         limit
 * @param[out] err         may be NULL
 * @par Threads
 * Any. No other thread may be inside a call on the engine, its registrations or its transfers, but
 * for calls from done functions, which may run inside.
 * @return
 *  - KVS_OK
 *  - KVS_BUSY: transfers are still running, held or abandoned; the text says how many. The engine
 *    stays, and close may be called again. From now on post, prep, kvs_list() and the calls for one
 *    key answer KVS_NOT_ALLOWED; all else works.
 *  - KVS_NOT_ALLOWED: inside a done function; nothing has changed.
 *  - KVS_INVALID_PARAM: no valid handle.
 * @since 0.1
 * @par Contract
 * KVS-REQ-285 KVS-REQ-286 KVS-REQ-287 KVS-REQ-289 KVS-REQ-291 KVS-REQ-292 KVS-REQ-418 KVS-REQ-458
 */
KVS_EXPORT int kvs_engine_close(kvs_engine *engine, uint64_t timeout_ns, struct kvs_error *err);

/**
 * @brief Gives an engine up at once, for callers that cannot fail.
 *
 * As kvs_engine_close() with no time to wait; where that does not answer KVS_OK, the engine, its
 * threads and what runs in it are leaked on purpose, a line is logged, and kvs_engine_leaks() counts
 * it. Memory of transfers that run stays in use, and what runs comes to its end in its own time: its
 * done functions may start after the call has returned, on the SDK's threads or the store's. So the
 * local memory, the `arg` of done functions and all that they touch have to stay valid for the rest
 * of the process, or until the transfer has ended, as kvs_xfer_check() and kvs_xfer_release() of it
 * still tell. Who wants no done function any more abandons the transfers first. The library is
 * never unloaded, so that a host's plugin that brought it may be closed afterwards.
 *
 * @param[in] engine  gone afterwards; NULL: nothing happens
 * @par Threads
 * As kvs_engine_close().
 * @since 0.1
 * @par Contract
 * KVS-REQ-288 KVS-REQ-293 KVS-REQ-299
 */
KVS_EXPORT void kvs_engine_abandon(kvs_engine *engine);

/**
 * @brief The engine's limits and capabilities, as the backend's open() left them.
 *
 * @param[in]     engine  the engine
 * @param[in,out] out     the caller's. Set out->size to sizeof *out first; afterwards it is the
 *                        number of bytes that were set.
 * @par Threads
 * Any.
 * @return
 *  - KVS_OK
 *  - KVS_INVALID_PARAM: no valid handle, out is NULL, or its size was not set.
 *  - KVS_NOT_ALLOWED: the engine was opened before a fork.
 * @since 0.1
 * @par Contract
 * KVS-REQ-428 KVS-REQ-432
 */
KVS_EXPORT int kvs_engine_limits(const kvs_engine *engine, struct kvs_limits *out);

/**
 * @brief The engine's backend.
 *
 * @param[in] engine  the engine
 * @par Threads
 * Any.
 * @return As kvs_backend_find() gives it, static memory; NULL for no valid handle.
 * @since 0.1
 */
KVS_EXPORT const struct kvs_backend *kvs_engine_backend(const kvs_engine *engine);

/**
 * @brief How many breaches of the contract by the backend were caught so far, in all its engines of
 * this process.
 *
 * Counted, and logged, are: an io that was completed twice or too late, a submit that failed but
 * completed ios, a native cancel that left ios open after the grace, an on_deregister that failed,
 * and a completion that names no io there ever was: it does not say whose it is, and counts for each
 * backend of the process.
 *
 * @param[in] engine  any engine of the backend
 * @par Threads
 * Any.
 * @return The number; 0 for no valid handle.
 * @since 0.1
 * @par Contract
 * KVS-REQ-164 KVS-REQ-165 KVS-REQ-167 KVS-REQ-168 KVS-REQ-179 KVS-REQ-268 KVS-REQ-557 KVS-REQ-558
 */
KVS_EXPORT uint64_t kvs_engine_violations(const kvs_engine *engine);

/**
 * @brief Makes progress: offers waiting batches again, and polls the backend once if nobody else
 * does.
 *
 * Not needed beside kvs_xfer_check(), kvs_xfer_wait() and kvs_xfer_release(), which do it too; nor
 * for time limits, and where nobody makes progress the service thread does. Never waits for the
 * store. With `progress=thread` it does not poll. Once kvs_engine_fd() was called it is needed: see
 * there.
 *
 * @param[in] engine  the engine
 * @par Threads
 * Any. Done functions may run inside.
 * @return
 *  - KVS_OK
 *  - KVS_INVALID_PARAM: no valid handle.
 *  - KVS_NOT_ALLOWED: the engine was opened before a fork.
 * @since 0.1
 * @par Contract
 * KVS-REQ-122 KVS-REQ-204 KVS-REQ-302 KVS-REQ-303 KVS-REQ-304 KVS-REQ-305 KVS-REQ-309 KVS-REQ-310
 * KVS-REQ-311 KVS-REQ-320 KVS-REQ-321
 */
KVS_EXPORT int kvs_engine_progress(kvs_engine *engine);

/* ---- Statistics ---- */

/** Buckets of a histogram of latencies, four to each power of two nanoseconds: 0, 1, 2, 3, 4, 5, 6,
 *  7, 8-9, 10-11, 12-13, 14-15, 16-19, ... See kvs_latency_floor(). KVS-REQ-603 */
#define KVS_LATENCY_BUCKETS 160
/** Places of the arrays that have one for each status. */
#define KVS_STATUS_SLOTS 32
/** The place of a status that is 0 or negative in them. */
#define KVS_STATUS_SLOT(status) ((status) > -100 ? -(status) : -(status)-84)

/** Posts of one operation that have ended. A post that was refused is none. */
struct kvs_op_stats {
    uint64_t transfers; /**< how many; also those that ended held. KVS-REQ-600 */
    uint64_t ios;       /**< their descriptors */
    uint64_t bytes;     /**< READ and WRITE: moved by those descriptors of them that ended OK */
    uint64_t ns;        /**< their latencies, summed: from post to the last completion */
    uint64_t latency[KVS_LATENCY_BUCKETS]; /**< how many had a latency of each bucket */
};

/** What an engine has counted since it was opened. */
struct kvs_stats {
    size_t size;               /**< bytes of this structure; set by the caller */
    struct kvs_op_stats op[4]; /**< by enum kvs_op */
    /** Posts that have ended, by KVS_STATUS_SLOT() of the transfer's status. */
    uint64_t ended[KVS_STATUS_SLOTS];
    /** Their descriptors that failed, by KVS_STATUS_SLOT(). What QUERY and REMOVE answer without
     *  making it the transfer's status, NOT_FOUND and UNKNOWN, is no failure. KVS-REQ-601 */
    uint64_t io_errors[KVS_STATUS_SLOTS];
    uint64_t abandoned;      /**< transfers that ran, or were held, when they were abandoned */
    uint64_t held_transfers; /**< transfers that are held or abandoned now. KVS-REQ-604 */
    uint64_t held_bytes;     /**< the callers' memory that these keep in use; see struct kvs_leaks */
    uint64_t violations;     /**< as kvs_engine_violations() */
};

/**
 * @brief What an engine has counted: transfers, descriptors, bytes, failures, latencies, memory
 * held.
 *
 * A transfer is counted once for each accepted post, before its end is seen by check, wait or its
 * done function. Counting costs a transfer some nanoseconds, and a descriptor nothing.
 *
 * @param[in]     engine  the engine
 * @param[in,out] out     the caller's. Set out->size to sizeof *out first; afterwards it is the
 *                        number of bytes that were set.
 * @par Threads
 * Any, also inside done functions.
 * @return
 *  - KVS_OK
 *  - KVS_INVALID_PARAM: no valid handle, out is NULL, or its size was not set.
 *  - KVS_NOT_ALLOWED: the engine was opened before a fork.
 * @since 0.1
 * @par Contract
 * KVS-REQ-600 KVS-REQ-601 KVS-REQ-602 KVS-REQ-603 KVS-REQ-604 KVS-REQ-605
 */
KVS_EXPORT int kvs_engine_stats(const kvs_engine *engine, struct kvs_stats *out);

/**
 * @brief The least latency, in nanoseconds, that a bucket of a histogram counts.
 *
 * Its largest is one less than the next bucket's least; the last bucket, from about 32 minutes on,
 * has no end.
 *
 * @param[in] bucket  its place, from 0
 * @par Threads
 * Any.
 * @return Nanoseconds; UINT64_MAX where there is no such bucket.
 * @since 0.1
 * @par Contract
 * KVS-REQ-603
 */
KVS_EXPORT uint64_t kvs_latency_floor(unsigned bucket);

/**
 * @brief The time within which a share of the transfers ended, by a histogram.
 *
 * Exact below 8 ns, else up to a quarter too large: it is the largest latency of the bucket that
 * the transfer at that share is in.
 *
 * @param[in] latency  KVS_LATENCY_BUCKETS counts: of struct kvs_op_stats, or differences or sums of
 *                     such
 * @param[in] share    0.5 for the median, 0.99, ...; below 0 is taken for 0, above 1 for 1
 * @par Threads
 * Any.
 * @return Nanoseconds; 0 where nothing is counted or latency is NULL; UINT64_MAX in the last
 * bucket.
 * @since 0.1
 * @par Contract
 * KVS-REQ-603
 */
KVS_EXPORT uint64_t kvs_latency_quantile(const uint64_t *latency, double share);

/** Flags of a piece of memory that kvs_engine_held() gives. */
enum kvs_held_flag {
    /** Its own descriptor is still open: the store may touch it at any moment. Without the flag it
     *  is only that its transfer has others that are. */
    KVS_HELD_OPEN = 1 << 0,
    KVS_HELD_ABANDONED = 1 << 1, /**< of an abandoned transfer; without it, of one that is held */
};

/** A piece of memory that a held or abandoned transfer keeps in use. */
struct kvs_held {
    uint64_t addr;   /**< the first byte */
    uint64_t len;    /**< bytes, never 0 */
    uint64_t age_ns; /**< nanoseconds since the transfer was posted */
    uint32_t op;     /**< KVS_READ: the store may write to it. KVS_WRITE: it may read it. */
    uint32_t flags;  /**< enum kvs_held_flag bits */
};

/**
 * @brief Lists all memory of transfers that are held or abandoned and have not come to their end.
 *
 * What is listed has to stay valid; what is not listed may be freed or used again, as far as held
 * and abandoned transfers go. Memory that two descriptors name is listed twice. With `bounce=yes`
 * nothing is listed: what is held are buffers of the SDK.
 *
 * @param[in] engine  the engine
 * @param[in] each    called for each piece: `arg`, and the piece, which is gone after it returns.
 *                    What it answers other than 0 ends the list. It may call the SDK.
 * @param[in] arg     for each; stays the caller's
 * @par Threads
 * Any; each runs on the thread that calls, with no lock held. The list is as it was at one moment
 * of the call.
 * @return
 *  - KVS_OK: all were listed.
 *  - KVS_INVALID_PARAM: no valid handle, or each is NULL.
 *  - KVS_NOT_ALLOWED: the engine was opened before a fork.
 *  - KVS_NO_MEMORY: of this process; nothing was listed.
 *  - else what each answered.
 * @since 0.1
 * @par Contract
 * KVS-REQ-284
 */
KVS_EXPORT int kvs_engine_held(kvs_engine *engine, int (*each)(void *arg, const struct kvs_held *memory),
                               void *arg);

/** What kvs_engine_abandon() has leaked in this process. */
struct kvs_leaks {
    size_t size;        /**< bytes of this structure; set by the caller */
    uint64_t engines;   /**< engines that could not be closed at once */
    uint64_t transfers; /**< transfers that ran, were held or abandoned in them at that moment */
    /** The callers' memory that these keep in use: all the local memory of each that the store has anything
     * of. With `bounce=yes` only that of a READ which is neither held nor abandoned: its value may come. */
    uint64_t bytes;
};

/**
 * @brief How much kvs_engine_abandon() has leaked so far, in all engines of this process.
 *
 * @param[in,out] out  the caller's. Set out->size to sizeof *out first; afterwards it is the number
 *                     of bytes that were set.
 * @par Threads
 * Any.
 * @return
 *  - KVS_OK
 *  - KVS_INVALID_PARAM: out is NULL, or its size was not set.
 * @since 0.1
 * @par Contract
 * KVS-REQ-293
 */
KVS_EXPORT int kvs_engine_leaks(struct kvs_leaks *out);

/**
 * @brief The engine's own descriptor, for poll(), epoll and the like. Readable: make progress.
 *
 * It turns readable when transfers have ended, on whichever thread; while kvs_engine_reap() has one
 * to give; when the backend wants to be polled; when a time limit passes; and when a done function,
 * a batch that waits or a cancel is due. The caller then owes a kvs_engine_progress(), and after it
 * looks at its transfers; both may find nothing. Who does no more than that gets every end and
 * every time limit:
 *
 *     struct pollfd p = {.events = POLLIN};
 *     kvs_engine_fd(e, &p.fd);
 *     while (poll(&p, 1, -1) >= 0 && kvs_engine_progress(e) == KVS_OK)
 *         look_at_transfers();
 *
 * From the first call on, for the rest of the engine's life, its service thread does nothing: it
 * neither polls nor ends what is out of time, and done functions that would run on it run inside
 * kvs_engine_progress(). Whoever waits, in kvs_xfer_wait(), in kvs_xfer_wait_any(), in
 * kvs_engine_reap(), in the calls for one key or in release and close, does that work meanwhile,
 * also for what others post after he began to wait; kvs_xfer_check() does not. With `progress=thread` the
 * service thread goes on with all its work; the descriptor then only says that there is something to look at,
 * and kvs_engine_progress() that it was seen.
 *
 * It is readable at once after the first call. What kvs_engine_progress() has seen does not make
 * it readable again: where several threads sleep on it, whoever calls that looks for them all.
 *
 * @param[in]  engine  the engine
 * @param[out] fd      the descriptor, the same at each call; -1 on failure. It stays the engine's,
 *                     which closes it at kvs_engine_close(); only to be slept on.
 * @par Threads
 * Any. The first call waits for the service thread to stop polling.
 * @return
 *  - KVS_OK
 *  - KVS_NO_MEMORY: no memory or descriptor for it.
 *  - KVS_INVALID_PARAM: no valid handle, or fd is NULL.
 *  - KVS_NOT_ALLOWED: the engine was opened before a fork.
 * @since 0.1
 * @par Contract
 * KVS-REQ-315 KVS-REQ-316 KVS-REQ-317 KVS-REQ-318 KVS-REQ-319 KVS-REQ-320 KVS-REQ-321 KVS-REQ-330
 * KVS-REQ-331 KVS-REQ-332 KVS-REQ-333 KVS-REQ-334
 */
KVS_EXPORT int kvs_engine_fd(kvs_engine *engine, int *fd);

/**
 * @brief Gives the transfers that have ended, of those prepared with KVS_XFER_REAP.
 *
 * Each post that has ended, well or not or held, is given once, in the order of the ends. Release
 * and abandon take a transfer off the list, and so does a post that is accepted: who posts it again
 * knows that it had ended. What is given is the caller's as before; kvs_xfer_check() has its
 * result. Makes progress as kvs_engine_progress().
 *
 * @param[in]  engine      the engine
 * @param[out] xfers       room for max handles; the caller's. Those that are given are no new ones
 *                         and need no release of their own.
 * @param[in]  max         most to give, at least 1
 * @param[in]  timeout_ns  how long to wait for the first, in nanoseconds; 0: not at all
 * @param[out] n           how many were given; 0 unless the answer is KVS_OK
 * @par Threads
 * Any, also several at once: each end is given to one of them. Done functions may run inside. No
 * other thread may be about to release what may be given here.
 * @return
 *  - KVS_OK: n were given, at least 1.
 *  - KVS_IN_PROG: there was none in this time.
 *  - KVS_NOT_ALLOWED: with a timeout inside a done function; or the engine was opened before a
 *    fork.
 *  - KVS_INVALID_PARAM: no valid handle, xfers or n is NULL, or max is 0.
 * @since 0.1
 * @par Contract
 * KVS-REQ-214 KVS-REQ-301 KVS-REQ-305 KVS-REQ-322 KVS-REQ-323 KVS-REQ-324 KVS-REQ-327 KVS-REQ-329
 */
KVS_EXPORT int kvs_engine_reap(kvs_engine *engine, kvs_xfer **xfers, size_t max, uint64_t timeout_ns,
                               size_t *n);

/* ---- Memory ---- */

/** A list of descriptors of one memory type. All of it stays the caller's. KVS-REQ-052 */
struct kvs_dlist {
    const struct kvs_desc *descs; /**< the first */
    size_t count;                 /**< how many */
    size_t stride;                /**< bytes from one to the next; 0: sizeof(struct kvs_desc) */
    uint32_t type;                /**< enum kvs_mem_type of them all */
};

/**
 * @brief Registers memory (local side), or the place of a value (remote side).
 *
 * The key of a registration is desc->meta_info, or its dev_id in decimal if that is empty:
 * meta_info "7" and dev_id 7 are one key. Of the remote side, address and length are only a frame
 * for offsets: a descriptor that covers all of it is the whole value, any other a range; length 0:
 * whatever a transfer says, at offset 0.
 *
 * @param[in]  engine  the engine
 * @param[in]  type    enum kvs_mem_type
 * @param[in]  desc    what to register; its mem is not looked at. Its memory stays the caller's,
 *                     and has to be valid as long as the registration is there.
 * @param[out] mem     the caller's, to be given back with kvs_mem_deregister(); gone with the
 *                     engine
 * @param[out] err     may be NULL
 * @par Threads
 * Any. The backend's on_register() runs inside.
 * @return
 *  - KVS_OK
 *  - KVS_NOT_SUPPORTED: the backend has no such memory type.
 *  - KVS_TOO_LARGE: the key, prefix included, is longer than the backend takes.
 *  - KVS_INVALID_PARAM: a NULL pointer, no valid handle, or address plus length overflows.
 *  - KVS_NO_MEMORY: of this process.
 *  - KVS_NOT_ALLOWED: the engine was opened before a fork.
 *  - else what the backend's on_register() says.
 * @since 0.1
 * @par Contract
 * KVS-REQ-053 KVS-REQ-054 KVS-REQ-055 KVS-REQ-056 KVS-REQ-058 KVS-REQ-059 KVS-REQ-550 KVS-REQ-556
 */
KVS_EXPORT int kvs_mem_register(kvs_engine *engine, uint32_t type, const struct kvs_desc *desc, kvs_mem **mem,
                                struct kvs_error *err);

/**
 * @brief Registers a list of descriptors, all or none.
 *
 * Where one fails, those before it are taken back in reverse order.
 *
 * @param[in]  engine  the engine
 * @param[in]  list    what to register, at least one
 * @param[out] mems    list->count handles, each as from kvs_mem_register(); all NULL on failure
 * @param[out] err     may be NULL
 * @par Threads
 * Any. The backend's on_register() runs inside.
 * @return As kvs_mem_register(); KVS_INVALID_PARAM also where the list is empty or its stride is
 * shorter than a descriptor.
 * @since 0.1
 * @par Contract
 * KVS-REQ-052 KVS-REQ-053 KVS-REQ-054 KVS-REQ-055 KVS-REQ-056 KVS-REQ-550 KVS-REQ-556
 */
KVS_EXPORT int kvs_mem_register_list(kvs_engine *engine, const struct kvs_dlist *list, kvs_mem **mems,
                                     struct kvs_error *err);

/**
 * @brief Ends a registration.
 *
 * Others with the same dev_id stay. Prepared transfers that have their keys from it go on: they
 * have copies. Where the backend's on_deregister() fails, that is logged and counted, and the
 * registration goes all the same.
 *
 * @param[in]  engine  the engine
 * @param[in]  mem     gone afterwards, unless the answer is an error; NULL: nothing happens
 * @param[out] err     may be NULL
 * @par Threads
 * Any. The backend's on_deregister() runs inside.
 * @return
 *  - KVS_OK; also in a forked child, where nothing is told to the backend.
 *  - KVS_BUSY: prepared transfers have it as local memory, also held and abandoned ones (not with
 *    `bounce=yes`); the text says how many. Release them first.
 *  - KVS_NOT_FOUND: it is no registration of this engine.
 *  - KVS_INVALID_PARAM: no valid handle of an engine.
 * @since 0.1
 * @par Contract
 * KVS-REQ-057 KVS-REQ-274 KVS-REQ-283 KVS-REQ-296 KVS-REQ-550 KVS-REQ-552 KVS-REQ-554 KVS-REQ-557 KVS-REQ-558
 * KVS-REQ-559
 */
KVS_EXPORT int kvs_mem_deregister(kvs_engine *engine, kvs_mem *mem, struct kvs_error *err);

/**
 * @brief Ends n registrations, all or none.
 *
 * One that is unknown, named twice or in use is found before any is touched.
 *
 * @param[in]  engine  the engine
 * @param[in]  mems    n handles, of which any may be NULL; the array stays the caller's
 * @param[in]  n       how many; 0: nothing happens
 * @param[out] err     may be NULL
 * @par Threads
 * Any. The backend's on_deregister() runs inside.
 * @return As kvs_mem_deregister(); KVS_NOT_FOUND also where one is named twice.
 * @since 0.1
 * @par Contract
 * KVS-REQ-554 KVS-REQ-555 KVS-REQ-557 KVS-REQ-558 KVS-REQ-559
 */
KVS_EXPORT int kvs_mem_deregister_list(kvs_engine *engine, kvs_mem *const *mems, size_t n,
                                       struct kvs_error *err);

/* ---- Transfers ---- */

/** A key: any bytes, at least one. They stay the caller's. */
struct kvs_key {
    const void *data; /**< the first */
    size_t len;       /**< how many */
};

/**
 * @brief Runs once for each accepted post, when the transfer has ended.
 *
 * Inside it the transfer may be checked, posted again, released and abandoned, and calls on others
 * may be made; but whatever waits answers KVS_NOT_ALLOWED: kvs_xfer_wait(), kvs_xfer_wait_any(),
 * kvs_engine_reap() with a timeout, the calls for one key, kvs_engine_close(). Release does not wait there.
 * Where it may release or abandon its transfer, no other thread uses the handle after post.
 *
 * @param[in] xfer    the transfer
 * @param[in] status  its result, as kvs_xfer_check() gives it
 * @param[in] arg     of the request; stays the caller's
 * @par Threads
 * With no lock of the SDK held, and never inside a call of the backend's: on the thread that
 * completed the last io (a worker, or one of the store's library, which it holds up), on one that
 * makes a call on the engine, or, with KVS_XFER_DEFERRED, on the SDK's own instead of the first
 * two.
 * @since 0.1
 * @par Contract
 * KVS-REQ-200 KVS-REQ-201 KVS-REQ-202 KVS-REQ-203 KVS-REQ-205 KVS-REQ-207 KVS-REQ-209 KVS-REQ-210
 * KVS-REQ-211 KVS-REQ-212 KVS-REQ-213 KVS-REQ-214 KVS-REQ-215 KVS-REQ-216
 */
typedef void (*kvs_done_fn)(kvs_xfer *xfer, int status, void *arg);

/** Flags of a request. */
enum kvs_xfer_flag {
    /** A done function that would run on a worker or a thread of the store's library runs on the
     *  SDK's service thread instead. KVS-REQ-207 */
    KVS_XFER_DEFERRED = 1 << 0,
    /** kvs_engine_reap() gives the transfer each time it has ended. Not with a done function.
     *  KVS-REQ-322 KVS-REQ-328 */
    KVS_XFER_REAP = 1 << 1,
};

/**
 * @brief What to prepare. Zero it, set size, then what is needed.
 *
 * All that it points to stays the caller's and is not used after kvs_xfer_prep() has returned, but
 * for `arg` and the memory that the local descriptors name.
 */
struct kvs_xfer_req {
    size_t size;    /**< sizeof(struct kvs_xfer_req) */
    uint32_t op;    /**< enum kvs_op */
    uint32_t flags; /**< enum kvs_xfer_flag bits */
    /** READ and WRITE: the memory. QUERY and REMOVE: NULL. */
    const struct kvs_dlist *local;
    /** The places of the values, pair by pair with local. Not looked at where keys or custom is
     *  there. */
    const struct kvs_dlist *remote;
    /** One key for each descriptor, instead of remote; or NULL. */
    const struct kvs_key *keys;
    /** How many keys; 0 where keys is NULL. */
    size_t nkeys;
    /** READ with keys or custom: where in its value each descriptor begins, in bytes; all are
     *  then ranged. NULL: each descriptor is its whole value. Ignored for QUERY and REMOVE. */
    const uint64_t *offsets;
    /** The keys as one list with newlines between them ("a\nb" is two), instead of keys and
     *  remote; or NULL. */
    const char *custom;
    size_t custom_len; /**< bytes of custom */
    kvs_done_fn done;  /**< or NULL */
    void *arg;         /**< for done; stays the caller's, and has to be valid as long as done may run */
};

/**
 * @brief Prepares a transfer: checks everything, resolves keys, allocates all that it will need.
 *
 * Nothing is sent. The transfer may then be posted any number of times. Keys are copied, so the
 * registrations that they came from may go; those of the local side are counted until the transfer
 * is released.
 *
 * @param[in]  engine  the engine
 * @param[in]  req     what to prepare; stays the caller's
 * @param[out] xfer    the caller's, to be given back with kvs_xfer_release() or kvs_xfer_abandon()
 * @param[out] err     may be NULL; the text names the first descriptor that is wrong
 * @par Threads
 * Any. The backend's prep() runs inside.
 * @return
 *  - KVS_OK
 *  - KVS_INVALID_PARAM: what is given does not fit together: a NULL pointer, a count of 0, counts
 *    that differ, lengths of a pair that differ, a descriptor outside its registration or of
 *    another type, a mem that is no registration of this engine, an empty key or one below the
 *    backend's least, a dev_id that stands for two keys, a local list with QUERY or REMOVE,
 *    unregistered memory where the backend needs it registered, unknown flags, KVS_XFER_REAP with
 *    a done function.
 *  - KVS_NOT_FOUND: a dev_id that is not registered with this memory type.
 *  - KVS_TOO_LARGE: a key (prefix included), a value or the batch is over a limit of the engine.
 *  - KVS_NOT_SUPPORTED: the backend has no such operation, memory type or ranged READ, or local
 *    memory is not DRAM and `bounce` is yes. A ranged WRITE never works.
 *  - KVS_NOT_ALLOWED: the engine is closing, or was opened before a fork.
 *  - KVS_NO_MEMORY: of this process.
 *  - else what the backend's prep() says.
 * @since 0.1
 * @par Contract
 * KVS-REQ-011 KVS-REQ-060 KVS-REQ-061 KVS-REQ-062 KVS-REQ-063 KVS-REQ-064 KVS-REQ-065 KVS-REQ-066
 * KVS-REQ-067 KVS-REQ-068 KVS-REQ-069 KVS-REQ-070 KVS-REQ-071 KVS-REQ-072 KVS-REQ-073 KVS-REQ-074
 * KVS-REQ-075 KVS-REQ-076 KVS-REQ-077 KVS-REQ-078 KVS-REQ-079 KVS-REQ-080 KVS-REQ-082 KVS-REQ-083
 * KVS-REQ-084 KVS-REQ-085 KVS-REQ-100 KVS-REQ-101 KVS-REQ-102 KVS-REQ-103 KVS-REQ-106 KVS-REQ-368
 * KVS-REQ-328 KVS-REQ-392 KVS-REQ-419 KVS-REQ-424 KVS-REQ-426 KVS-REQ-430 KVS-REQ-551 KVS-REQ-552
 * KVS-REQ-553 KVS-REQ-560 KVS-REQ-561
 */
KVS_EXPORT int kvs_xfer_prep(kvs_engine *engine, const struct kvs_xfer_req *req, kvs_xfer **xfer,
                             struct kvs_error *err);

/**
 * @brief Starts a transfer, or starts it again. Never waits for the store.
 *
 * Its memory has to stay valid until it has ended and is not held; meanwhile that of a WRITE must
 * not change, and what is in that of a READ means nothing. Posting again allocates nothing and
 * leaves nothing of the earlier post. A batch that the backend cannot take now waits in the SDK,
 * with later posts behind it.
 *
 * Inside a done function a post is kept until that has returned, and answers KVS_IN_PROG; an error
 * of the backend is then the transfer's result.
 *
 * @param[in] xfer  the transfer
 * @par Threads
 * Any, one call on the transfer at a time. Done functions may run inside.
 * @return
 *  - KVS_IN_PROG: accepted. With a done function or KVS_XFER_REAP always this, also where the
 *    transfer has ended already.
 *  - KVS_OK, or the transfer's error: accepted, and ended already.
 *  - KVS_BUSY: it is running, or held; nothing has changed.
 *  - KVS_NOT_ALLOWED: the engine is closing, the transfer was released inside its done function, a
 *    registration of its memory has gone while it was held, or the engine was opened before a fork.
 *  - KVS_INVALID_PARAM: no valid handle.
 *  - else refused, by the backend, or with KVS_NO_MEMORY for want of a thread: nothing was sent, no
 *    done function runs, and check says what it said before.
 * @since 0.1
 * @par Contract
 * KVS-REQ-013 KVS-REQ-104 KVS-REQ-108 KVS-REQ-110 KVS-REQ-111 KVS-REQ-112 KVS-REQ-113 KVS-REQ-114
 * KVS-REQ-115 KVS-REQ-116 KVS-REQ-120 KVS-REQ-121 KVS-REQ-122 KVS-REQ-123 KVS-REQ-124 KVS-REQ-125
 * KVS-REQ-126 KVS-REQ-127 KVS-REQ-128 KVS-REQ-129 KVS-REQ-208 KVS-REQ-209 KVS-REQ-211 KVS-REQ-258
 * KVS-REQ-272 KVS-REQ-294 KVS-REQ-297
 */
KVS_EXPORT int kvs_xfer_post(kvs_xfer *xfer);

/**
 * @brief Says where a transfer stands, and makes progress.
 *
 * What QUERY and REMOVE found of single keys is no error of the transfer: see kvs_xfer_result().
 *
 * @param[in] xfer  the transfer
 * @par Threads
 * Any, one call on the transfer at a time. Done functions may run inside.
 * @return
 *  - KVS_NOT_POSTED: it was never posted.
 *  - KVS_IN_PROG: an io is still open, or (outside it) the done function has not returned.
 *  - KVS_OK: every io is.
 *  - KVS_TIMEOUT: out of time; it may be held, which post and release tell. As often as asked,
 *    until posted again.
 *  - KVS_CANCELED: by kvs_xfer_cancel(), release, or close of the engine.
 *  - KVS_INVALID_PARAM: no valid handle. KVS_NOT_ALLOWED: the engine was opened before a fork.
 *  - else the error of the descriptor that failed first by time, as often as asked.
 * @since 0.1
 * @par Contract
 * KVS-REQ-004 KVS-REQ-130 KVS-REQ-131 KVS-REQ-132 KVS-REQ-210 KVS-REQ-215 KVS-REQ-262 KVS-REQ-263
 * KVS-REQ-264 KVS-REQ-265 KVS-REQ-266 KVS-REQ-269 KVS-REQ-271 KVS-REQ-305 KVS-REQ-376
 */
KVS_EXPORT int kvs_xfer_check(kvs_xfer *xfer);

/**
 * @brief Waits until a transfer has ended.
 *
 * @param[in] xfer        the transfer
 * @param[in] timeout_ns  how long at most, in nanoseconds; 0: as kvs_xfer_check(); KVS_FOREVER:
 *                        until it has ended, which the engine's `timeout` bounds
 * @par Threads
 * Any, one call on the transfer at a time. Done functions may run inside, also of other transfers.
 * @return
 *  - KVS_IN_PROG: this wait's time is over; the transfer goes on.
 *  - KVS_NOT_ALLOWED: inside a done function, of whichever transfer.
 *  - else as kvs_xfer_check(); at once, where it was never posted or has ended.
 * @since 0.1
 * @par Contract
 * KVS-REQ-175 KVS-REQ-176 KVS-REQ-214 KVS-REQ-300 KVS-REQ-301 KVS-REQ-302 KVS-REQ-303 KVS-REQ-304
 * KVS-REQ-305 KVS-REQ-306 KVS-REQ-307 KVS-REQ-308
 */
KVS_EXPORT int kvs_xfer_wait(kvs_xfer *xfer, uint64_t timeout_ns);

/**
 * @brief Waits until at least one of several transfers has ended. Changes none of them.
 *
 * One that was never posted does not run, and counts as ended, as in kvs_xfer_wait().
 *
 * @param[in]  xfers       n transfers of one engine; NULL among them is left out, so that a caller
 *                         can put it in the place of those it is done with. The array stays the
 *                         caller's.
 * @param[in]  n           how many
 * @param[in]  timeout_ns  how long at most, in nanoseconds; 0: look once, and make progress;
 *                         KVS_FOREVER: until one has ended
 * @param[out] index       the place of the first one in the array that has ended; left alone unless
 *                         the answer is KVS_OK; may be NULL
 * @par Threads
 * Any, and any number at once, of the same transfers too, also beside kvs_xfer_wait(); no other
 * call on one of them but kvs_xfer_cancel(). Done functions may run inside, also of other
 * transfers.
 * @return
 *  - KVS_OK: one has ended, well or not: kvs_xfer_check() has its result.
 *  - KVS_IN_PROG: this wait's time is over; all go on.
 *  - KVS_NOT_ALLOWED: inside a done function, of whichever transfer; or the engine was opened
 *    before a fork.
 *  - KVS_INVALID_PARAM: xfers is NULL or has no transfer, one of them is no valid handle, or they
 *    are of different engines.
 * @since 0.1
 * @par Contract
 * KVS-REQ-214 KVS-REQ-300 KVS-REQ-301 KVS-REQ-302 KVS-REQ-305 KVS-REQ-306 KVS-REQ-308 KVS-REQ-325
 * KVS-REQ-326
 */
KVS_EXPORT int kvs_xfer_wait_any(kvs_xfer *const *xfers, size_t n, uint64_t timeout_ns, size_t *index);

/**
 * @brief Asks for an early end.
 *
 * What the backend was not given yet ends KVS_CANCELED at once. For the rest this is a request: it
 * ends in its own time, as KVS_CANCELED or otherwise. A transfer that does not run is left alone.
 *
 * @param[in] xfer  the transfer
 * @par Threads
 * Any, also beside other calls on the transfer, until release or abandon begins. Done functions may
 * run inside.
 * @return
 *  - KVS_OK
 *  - KVS_INVALID_PARAM: no valid handle.
 *  - KVS_NOT_ALLOWED: the engine was opened before a fork.
 * @since 0.1
 * @par Contract
 * KVS-REQ-125 KVS-REQ-134 KVS-REQ-254 KVS-REQ-255 KVS-REQ-256
 */
KVS_EXPORT int kvs_xfer_cancel(kvs_xfer *xfer);

/**
 * @brief The result of one descriptor.
 *
 * @param[in]  xfer    the transfer
 * @param[in]  index   the descriptor's place in the lists, from 0
 * @param[out] status  its own status; KVS_NOT_POSTED before the first post, KVS_IN_PROG while it is
 *                     open; may be NULL. QUERY: KVS_NOT_FOUND, or KVS_UNKNOWN where the store
 *                     cannot say. REMOVE: KVS_NOT_FOUND where there was none. READ: KVS_MISMATCH
 *                     where the value has another length, or ends inside the range.
 * @param[out] bytes   READ and WRITE: bytes moved; QUERY: the value's size in bytes,
 *                     KVS_SIZE_UNKNOWN if not known; else, and on an error, 0; may be NULL
 * @param[out] text    a sentence where the status is negative, else ""; the SDK's, valid until the
 *                     transfer is posted again or given back; may be NULL
 * @par Threads
 * Any, one call on the transfer at a time.
 * @return
 *  - KVS_OK
 *  - KVS_INVALID_PARAM: no valid handle, or there is no such descriptor; the out parameters are
 *    left alone.
 *  - KVS_NOT_ALLOWED: the engine was opened before a fork.
 * @since 0.1
 * @par Contract
 * KVS-REQ-001 KVS-REQ-002 KVS-REQ-003 KVS-REQ-006 KVS-REQ-170 KVS-REQ-178 KVS-REQ-264 KVS-REQ-275
 * KVS-REQ-350 KVS-REQ-355 KVS-REQ-376 KVS-REQ-445 KVS-REQ-446
 */
KVS_EXPORT int kvs_xfer_result(kvs_xfer *xfer, size_t index, int *status, uint64_t *bytes, const char **text);

/**
 * @brief The text that belongs to what kvs_xfer_check() says.
 *
 * @param[in] xfer  the transfer
 * @par Threads
 * Any, one call on the transfer at a time.
 * @return A sentence where the status is negative, else "" (also while it runs, and for no valid
 * handle). The SDK's, valid until the transfer is posted again or given back.
 * @since 0.1
 * @par Contract
 * KVS-REQ-004 KVS-REQ-516
 */
KVS_EXPORT const char *kvs_xfer_error(kvs_xfer *xfer);

/**
 * @brief How many descriptors a transfer has.
 *
 * @param[in] xfer  the transfer
 * @par Threads
 * Any.
 * @return The number; 0 for no valid handle.
 * @since 0.1
 */
KVS_EXPORT size_t kvs_xfer_count(const kvs_xfer *xfer);

/**
 * @brief Gives a transfer back. One that runs is asked to cancel.
 *
 * A held one is not waited for: try again later, or abandon it.
 *
 * @param[in] xfer        gone afterwards, unless the answer is an error
 * @param[in] timeout_ns  how long to wait for one that runs, in nanoseconds; 0: not at all. Inside
 *                        a done function it never waits.
 * @par Threads
 * Any, one call on the transfer at a time. Done functions may run inside. Inside its own done
 * function the transfer goes when that returns.
 * @return
 *  - KVS_OK; also in a forked child.
 *  - KVS_BUSY: it still runs, is held, or was just posted inside its done function. The handle
 *    stays valid.
 *  - KVS_INVALID_PARAM: no valid handle.
 * @since 0.1
 * @par Contract
 * KVS-REQ-174 KVS-REQ-212 KVS-REQ-250 KVS-REQ-251 KVS-REQ-252 KVS-REQ-253 KVS-REQ-273 KVS-REQ-276
 * KVS-REQ-305 KVS-REQ-458
 */
KVS_EXPORT int kvs_xfer_release(kvs_xfer *xfer, uint64_t timeout_ns);

/**
 * @brief Gives a transfer up, whatever it does. Always succeeds.
 *
 * One that runs is asked to cancel, and freed after its last completion: until then its memory has
 * to stay valid, and its registrations stay counted (neither with `bounce=yes`). kvs_engine_close() answers
 * KVS_BUSY for as long. No done function of it starts after the call has returned.
 *
 * @param[in] xfer  gone afterwards; NULL: nothing happens
 * @par Threads
 * Any, one call on the transfer at a time. A done function of it that runs on another thread is
 * waited for: hold no lock that it takes. Done functions of others may run inside.
 * @since 0.1
 * @par Contract
 * KVS-REQ-213 KVS-REQ-278 KVS-REQ-279 KVS-REQ-280 KVS-REQ-281 KVS-REQ-282 KVS-REQ-283 KVS-REQ-458
 */
KVS_EXPORT void kvs_xfer_abandon(kvs_xfer *xfer);

/* ---- One key at a time ---- */

/**
 * @brief Stores a value under a key, and waits.
 *
 * The four calls for one key are a transfer of one descriptor in DRAM each, registered for the call
 * where the backend needs that, and for as long as the store may hold it. They take as long as the
 * engine's `timeout` and `cancel_grace` allow.
 *
 * @param[in]  engine   the engine
 * @param[in]  key      any bytes; stays the caller's
 * @param[in]  key_len  bytes, at least 1
 * @param[in]  data     the value; may be NULL where len is 0. Stays the caller's, but after
 *                      KVS_TIMEOUT the store may go on reading it until kvs_engine_close() has
 *                      answered KVS_OK, unless `bounce` is yes.
 * @param[in]  len      bytes
 * @param[out] err      may be NULL
 * @par Threads
 * Any. Done functions may run inside.
 * @return
 *  - KVS_OK: the value is there, in place of any other.
 *  - KVS_EXISTS: the key is there, and the store writes once.
 *  - KVS_FULL: the store has no room.
 *  - KVS_TIMEOUT: no answer in time. The value may be there, may come yet, or may not.
 *  - KVS_TOO_LARGE: key (prefix included) or value is over a limit of the engine.
 *  - KVS_INVALID_PARAM: an empty key or one below the backend's least, a NULL pointer, or no valid
 *    handle.
 *  - KVS_NOT_SUPPORTED: the backend has no WRITE, or does not take DRAM.
 *  - KVS_NOT_ALLOWED: inside a done function, the engine is closing or was opened before a fork; or
 *    the store's.
 *  - KVS_NO_MEMORY: of this process.
 *  - KVS_DISCONNECTED, KVS_ACCESS, KVS_IO, KVS_BACKEND, ...: what the store says.
 * @since 0.1
 * @par Contract
 * KVS-REQ-360 KVS-REQ-386 KVS-REQ-390 KVS-REQ-562
 */
KVS_EXPORT int kvs_put(kvs_engine *engine, const void *key, size_t key_len, const void *data, uint64_t len,
                       struct kvs_error *err);

/**
 * @brief Fetches a value of exactly len bytes, and waits.
 *
 * @param[in]  engine   the engine
 * @param[in]  key      any bytes; stays the caller's
 * @param[in]  key_len  bytes, at least 1
 * @param[out] data     the buffer; may be NULL where len is 0. Stays the caller's, but after
 *                      KVS_TIMEOUT the store may still write to it until kvs_engine_close() has
 *                      answered KVS_OK, unless `bounce` is yes.
 * @param[in]  len      bytes
 * @param[out] err      may be NULL
 * @par Threads
 * Any. Done functions may run inside.
 * @return
 *  - KVS_OK: the buffer has the value.
 *  - KVS_NOT_FOUND: there is no such key. The buffer is as it was where the engine has READ_ATOMIC.
 *  - KVS_MISMATCH: the value has another length, which the text says. The buffer is as it was where
 *    the engine has READ_ATOMIC; without SIZE_CHECK it may go unnoticed.
 *  - KVS_TIMEOUT: no answer in time.
 *  - KVS_NOT_SUPPORTED: the backend has no READ, or does not take DRAM.
 *  - else as kvs_put(). After any error but those above the buffer may hold anything.
 * @since 0.1
 * @par Contract
 * KVS-REQ-350 KVS-REQ-352 KVS-REQ-353 KVS-REQ-360 KVS-REQ-378 KVS-REQ-386 KVS-REQ-390
 */
KVS_EXPORT int kvs_get(kvs_engine *engine, const void *key, size_t key_len, void *data, uint64_t len,
                       struct kvs_error *err);

/**
 * @brief Fetches a value of any length up to max, and waits.
 *
 * It asks for the size and then for that many bytes, up to 8 times while the size changes, each
 * with the time that the engine allows.
 *
 * @param[in]  engine   the engine
 * @param[in]  key      any bytes; stays the caller's
 * @param[in]  key_len  bytes, at least 1
 * @param[in]  max      most bytes
 * @param[out] data     the caller's, to be freed with kvs_free(). Never NULL on success, also for a
 *                      value of no bytes; NULL on failure.
 * @param[out] len      bytes; 0 on failure
 * @param[out] err      may be NULL
 * @par Threads
 * Any. Done functions may run inside.
 * @return
 *  - KVS_OK
 *  - KVS_NOT_FOUND: there is no such key.
 *  - KVS_UNKNOWN: the store cannot say whether there is.
 *  - KVS_TOO_LARGE: the value has more than max bytes, or the key is over a limit of the engine.
 *  - KVS_NOT_SUPPORTED: the backend has no QUERY, or it does not tell sizes; or as kvs_get().
 *  - KVS_MISMATCH: the size changed each time.
 *  - KVS_TIMEOUT: no answer in time. Memory that the store may still write to is the SDK's.
 *  - else as kvs_get().
 * @since 0.1
 * @par Contract
 * KVS-REQ-379 KVS-REQ-380 KVS-REQ-381 KVS-REQ-382 KVS-REQ-386 KVS-REQ-562
 */
KVS_EXPORT int kvs_get_alloc(kvs_engine *engine, const void *key, size_t key_len, uint64_t max, void **data,
                             uint64_t *len, struct kvs_error *err);

/**
 * @brief Asks whether a key is there, and waits.
 *
 * @param[in]  engine   the engine
 * @param[in]  key      any bytes; stays the caller's
 * @param[in]  key_len  bytes, at least 1
 * @param[out] size     the value's bytes, KVS_SIZE_UNKNOWN if the store cannot tell; 0 unless the
 *                      answer is KVS_OK; may be NULL
 * @param[out] err      may be NULL
 * @par Threads
 * Any. Done functions may run inside.
 * @return
 *  - KVS_OK: it is there.
 *  - KVS_NOT_FOUND: it is not.
 *  - KVS_UNKNOWN: the store cannot say.
 *  - KVS_NOT_SUPPORTED: the backend has no QUERY, and the SDK cannot emulate it.
 *  - KVS_TIMEOUT: no answer in time.
 *  - else as kvs_put(); an error is never KVS_NOT_FOUND.
 * @since 0.1
 * @par Contract
 * KVS-REQ-376 KVS-REQ-377 KVS-REQ-386 KVS-REQ-390 KVS-REQ-425 KVS-REQ-426
 */
KVS_EXPORT int kvs_query(kvs_engine *engine, const void *key, size_t key_len, uint64_t *size,
                         struct kvs_error *err);

/**
 * @brief Removes a key and its value, and waits.
 *
 * @param[in]  engine   the engine
 * @param[in]  key      any bytes; stays the caller's
 * @param[in]  key_len  bytes, at least 1
 * @param[out] err      may be NULL
 * @par Threads
 * Any. Done functions may run inside.
 * @return
 *  - KVS_OK: it was there, and is no more.
 *  - KVS_NOT_FOUND: it was not there.
 *  - KVS_NOT_SUPPORTED: the backend has no REMOVE.
 *  - KVS_TIMEOUT: no answer in time; the key may be gone, may go yet, or may stay.
 *  - else as kvs_put().
 * @since 0.1
 * @par Contract
 * KVS-REQ-376 KVS-REQ-377 KVS-REQ-386 KVS-REQ-390 KVS-REQ-424
 */
KVS_EXPORT int kvs_remove(kvs_engine *engine, const void *key, size_t key_len, struct kvs_error *err);

/**
 * @brief Lists the keys that start with a prefix, in no order.
 *
 * The engine's own `prefix` goes before the one given and is taken off the keys: keys outside it
 * are not seen. The backend does the work on the thread that calls; the engine's `timeout` is its
 * deadline, which it has to keep by itself.
 *
 * @param[in]  engine      the engine
 * @param[in]  prefix      any bytes; NULL where prefix_len is 0. Stays the caller's.
 * @param[in]  prefix_len  bytes; 0: all keys
 * @param[in]  each        called for each key: `arg`, the key, its bytes, and the bytes of its
 *                         value (KVS_SIZE_UNKNOWN if the store does not tell). The key is gone
 *                         after it returns. What it answers other than 0 ends the list; positive
 *                         numbers cannot be taken for an error. It must not call the SDK with this
 *                         engine.
 * @param[in]  arg         for each; stays the caller's
 * @param[out] err         may be NULL
 * @par Threads
 * Any; each runs on the thread that calls. The other calls into a serial backend wait for it.
 * @return
 *  - KVS_OK: all were listed.
 *  - KVS_NOT_SUPPORTED: the backend cannot list keys.
 *  - KVS_NOT_ALLOWED: the engine is closing, or was opened before a fork.
 *  - KVS_INVALID_PARAM: no valid handle, each is NULL, or prefix is and its length is not 0.
 *  - KVS_TOO_LARGE: the prefix, with the engine's, is longer than any key can be.
 *  - KVS_NO_MEMORY: of this process.
 *  - else what each answered, or the backend's error.
 * @since 0.1
 * @par Contract
 * KVS-REQ-086 KVS-REQ-087 KVS-REQ-089
 */
KVS_EXPORT int kvs_list(kvs_engine *engine, const void *prefix, size_t prefix_len,
                        int (*each)(void *arg, const void *key, size_t len, uint64_t size), void *arg,
                        struct kvs_error *err);

#ifdef __cplusplus
}
#endif
#endif
