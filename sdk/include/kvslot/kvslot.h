/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file kvslot.h
 * For integrators: moves registered memory to and from keys in a store, in asynchronous batches.
 *
 *     kvs_engine *e;
 *     struct kvs_error err;
 *     if (kvs_engine_open("lmdb:/var/cache/kv", NULL, 0, &e, &err) != KVS_OK)
 *         errx(1, "%s", err.text);
 *     kvs_put(e, "key", 3, data, size, &err);
 *     ...
 *     kvs_engine_close(e, KVS_FOREVER, NULL);
 *
 * What holds everywhere
 *  - Functions answer a status (enum kvs_status): 0 is success, KVS_IN_PROG (1) "not finished", errors are
 * negative.
 *  - Where a function takes a `struct kvs_error *`, it is the caller's and may be NULL. On an error it gets
 * the status and a sentence for people; otherwise it is left alone.
 *  - Out pointers are set on success and NULL on failure.
 *  - Buffers stay the caller's. Those of a transfer must stay valid until it has ended and is not held
 *    (kvs_xfer_check); keys, lists and parameters only until the call returns.
 *  - Times are nanoseconds; KVS_MS() and KVS_SEC() make them, KVS_FOREVER means no limit.
 *  - A NULL or foreign handle is KVS_INVALID_PARAM, never a crash; a handle after its release is not valid.
 *  - check, wait, release, post and progress may run done functions of the engine: hold no lock there that
 * one takes.
 *  - After fork(), every call in the child on a handle made before answers KVS_NOT_ALLOWED; close, release
 * and deregister then only free. Since 0.1 for all that stands here.
 */
#ifndef KVSLOT_KVSLOT_H
#define KVSLOT_KVSLOT_H

#include <kvslot/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** An opened backend with its parameters applied. Opaque; any thread. */
typedef struct kvs_engine kvs_engine;
/** A prepared batch of descriptor pairs. Opaque; its calls are the caller's to serialise, but
 * kvs_xfer_cancel. */
typedef struct kvs_xfer kvs_xfer;
struct kvs_backend;
struct kvs_param;

#define KVS_FOREVER UINT64_MAX
#define KVS_MS(n)   ((uint64_t)(n)*1000000u)
#define KVS_SEC(n)  ((uint64_t)(n)*1000000000u)

/** Why a call failed. Never holds a secret. */
struct kvs_error {
    int status;     /**< enum kvs_status */
    char text[508]; /**< one sentence, ends in NUL */
};

/* ---- Library ---- */

/** The running library's version, "0.1.0". Any thread. */
KVS_EXPORT const char *kvs_version(void);
/** A status' name, "NOT_FOUND"; "?" for a number that is none. Static memory. Any thread. */
KVS_EXPORT const char *kvs_status_name(int status);
/** A status' text, "not found"; "unknown status" for a number that is none. Static memory. Any thread. */
KVS_EXPORT const char *kvs_status_text(int status);

/**
 * Where log lines go. fn NULL: to standard error, as at the start. It is called from any thread, also from
 * backends' threads, one call at a time; it must not call back into the SDK. `text` has no newline and is
 * gone after the call. `level` is the highest enum kvs_log_level given out; the environment variable
 * KVSLOT_LOG (error, warn, info, debug, trace) sets it at the start, warn otherwise; -1 leaves it as it is.
 * Any thread; once it has returned, the former fn is not called any more.
 * KVS-REQ-534
 */
KVS_EXPORT void kvs_set_log(void (*fn)(void *arg, int level, const char *text), void *arg, int level);

/** Frees memory that the SDK handed over (kvs_get_alloc). NULL is fine. Any thread.
 *  KVS-REQ-380
 */
KVS_EXPORT void kvs_free(void *p);

/* ---- Backends ---- */

/**
 * Loads a plugin from a file and makes its backend known under its own name. Loading one file twice is fine.
 * @param file  path of a kvslot-NAME.so
 * @param name  out, may be NULL: the backend's name, static memory
 * @return KVS_OK; KVS_NOT_FOUND: no such file; KVS_INVALID_PARAM: not a plugin, another API number, an
 * incomplete table, or a name that another file or registered backend holds already; KVS_ACCESS: its folder
 * is writable by others while the process runs as root or set-uid. Any thread. KVS-REQ-402..KVS-REQ-408,
 * KVS-REQ-411, KVS-REQ-412, KVS-REQ-415, KVS-REQ-438, KVS-REQ-439, KVS- REQ-501
 */
KVS_EXPORT int kvs_plugin_load(const char *file, const char **name, struct kvs_error *err);

/**
 * Makes a backend known that is linked into the program (a static build, a mock). The table must stay valid
 * for the life of the process. Registering the same table again is fine.
 * @return KVS_OK; KVS_INVALID_PARAM: incomplete table, or its name is taken by another. Any thread.
 * KVS-REQ-441
 */
KVS_EXPORT int kvs_backend_register(const struct kvs_backend *backend, struct kvs_error *err);

/**
 * Finds a backend by name or by a target's scheme; loads its plugin if need be: from KVSLOT_PLUGIN_PATH
 * (folders apart by ':'), the install folder, and kvslot/ beside the running library, by the name of the
 * file, nothing else is loaded.
 * @param target   a name or URI
 * @param backend  out: the host's own, complete copy of the table (see <kvslot/backend.h>); static memory
 * @return KVS_OK; KVS_NOT_FOUND: no such backend (the text says where it was looked for, and the nearest
 * name); else as kvs_plugin_load. Any thread. KVS-REQ-439, KVS-REQ-440, KVS-REQ-442
 */
KVS_EXPORT int kvs_backend_find(const char *target, const struct kvs_backend **backend,
                                struct kvs_error *err);

/**
 * Calls each(arg, name, where) for every backend that can be opened by name, in the order of names: the known
 * ones, and the plugin files found, without loading them. `where` is the file, or "built in". Stops when each
 * answers other than 0.
 * @return that answer, or KVS_OK. Any thread.
 * KVS-REQ-442
 */
KVS_EXPORT int kvs_backend_list(int (*each)(void *arg, const char *name, const char *where), void *arg);

/** The SDK's own parameters, which every engine takes beside its backend's; *n of them. Static memory. Any
 * thread. KVS-REQ-500
 */
KVS_EXPORT const struct kvs_param *kvs_sdk_params(size_t *n);

/* ---- Engines ---- */

/** A parameter's name and its value as text. */
struct kvs_param_value {
    const char *name;
    const char *value;
};

/**
 * Opens an engine.
 * @param target   a backend's name ("lmdb"), or a URI ("lmdb:/dir?map_size=1GiB"); never a file
 * @param params   nparams values; NULL where nparams is 0. Order: URI or these, environment, default.
 *                 The value of a secret may be @FILE or @fd:N: it is then read from there, without a final
 * newline.
 * @param engine   out: the caller's, to be closed with kvs_engine_close
 * @return KVS_OK; KVS_NOT_FOUND: no such backend; KVS_INVALID_PARAM: an unknown, malformed, doubly given or
 * missing parameter, or a URI part that nobody takes; else what the backend's open says: KVS_DISCONNECTED,
 *         KVS_ACCESS, KVS_IO, ... Any thread.
 * KVS-REQ-432, KVS-REQ-436, KVS-REQ-457, KVS-REQ-505..KVS-REQ-513, KVS-REQ-519..KVS-REQ-530
 */
KVS_EXPORT int kvs_engine_open(const char *target, const struct kvs_param_value *params, size_t nparams,
                               kvs_engine **engine, struct kvs_error *err);

/**
 * Closes an engine: refuses new posts, cancels what runs, waits until it has ended, and closes the backend.
 * Its registrations go with it. Its transfers that have ended stay valid for check, result and release; post
 * answers NOT_ALLOWED.
 * @param timeout_ns  how long to wait
 * @return KVS_OK: the handle is gone. KVS_BUSY: transfers are still running, held or abandoned (the text says
 *         how many); the engine refuses posts, everything else works, and close may be called again.
 * KVS_INVALID_PARAM: NULL. Any thread, but no other call on the engine may run or follow.
 * KVS-REQ-285..KVS-REQ-287, KVS-REQ-289, KVS-REQ-292, KVS-REQ-418, KVS-REQ-458
 */
KVS_EXPORT int kvs_engine_close(kvs_engine *engine, uint64_t timeout_ns, struct kvs_error *err);

/**
 * Gives an engine up at once, for hosts that cannot fail: as close with no time to wait, and where that
 * answers BUSY the engine and what runs in it are leaked on purpose and logged. The handle is gone. NULL is
 * fine. Any thread. KVS-REQ-288
 */
KVS_EXPORT void kvs_engine_abandon(kvs_engine *engine);

/** The engine's limits and capabilities, as open() left them. Set out->size first. Any thread.
 *  KVS-REQ-428, KVS-REQ-432
 */
KVS_EXPORT int kvs_engine_limits(const kvs_engine *engine, struct kvs_limits *out);
/** The engine's backend, as kvs_backend_find gives it; NULL for a NULL handle. Any thread. */
KVS_EXPORT const struct kvs_backend *kvs_engine_backend(const kvs_engine *engine);
/** Breaches of the contract by the backend that were caught so far, in all its engines of this process:
 * completions that came twice or too late, a cancel that did not end what it had to, a failing on_deregister.
 * Each is logged. Any thread. KVS-REQ-168, KVS-REQ-268, KVS-REQ-558
 */
KVS_EXPORT uint64_t kvs_engine_violations(const kvs_engine *engine);
/**
 * Makes progress: polls a poll-model backend once, offers waiting batches again, and ends transfers whose
 * time is up. Done functions run inside. Never waits. Not needed beside check, wait and release, which do it
 * too.
 * @return KVS_OK, or KVS_INVALID_PARAM for a NULL handle. Any thread.
 * KVS-REQ-204, KVS-REQ-303, KVS-REQ-305
 */
KVS_EXPORT int kvs_engine_progress(kvs_engine *engine);

/* ---- Memory ---- */

/** A list of descriptors of one memory type. */
struct kvs_dlist {
    const struct kvs_desc *descs; /**< the first */
    size_t count;                 /**< how many */
    size_t stride;                /**< bytes from one to the next; 0: sizeof(struct kvs_desc) */
    uint32_t type;                /**< enum kvs_mem_type */
};

/**
 * Registers memory (local side) or the place of a value (remote side; its address and length are then only a
 * frame for offsets; length 0: whatever the transfer says). Its key is desc->meta_info, or dev_id in decimal
 * if that is empty; meta_info "7" and dev_id 7 are one key.
 * @param type  enum kvs_mem_type
 * @param mem   out: the caller's, to be given back with kvs_mem_deregister, or gone with the engine
 * @return KVS_OK; KVS_NOT_SUPPORTED: the backend has no such memory type; KVS_TOO_LARGE: key over the limit;
 *         KVS_INVALID_PARAM: address + length overflows; KVS_NO_MEMORY; else what the backend's hook says.
 * Any thread. KVS-REQ-053..KVS-REQ-059, KVS-REQ-550
 */
KVS_EXPORT int kvs_mem_register(kvs_engine *engine, uint32_t type, const struct kvs_desc *desc, kvs_mem **mem,
                                struct kvs_error *err);
/** Registers list->count descriptors, all or none: where one fails, those before it are taken back in reverse
 * order and all of mems is NULL. @param mems out: list->count handles. @return as kvs_mem_register. Any
 * thread. KVS-REQ-052, KVS-REQ-556
 */
KVS_EXPORT int kvs_mem_register_list(kvs_engine *engine, const struct kvs_dlist *list, kvs_mem **mems,
                                     struct kvs_error *err);
/**
 * Ends a registration. NULL is fine.
 * @return KVS_OK; KVS_BUSY: prepared transfers use it as local memory (the text says how many);
 * KVS_NOT_FOUND: no registration of this engine. Where the backend's hook fails, that is logged, and the
 * registration goes all the same. Any thread. KVS-REQ-057, KVS-REQ-274, KVS-REQ-554, KVS-REQ-557..KVS-REQ-559
 */
KVS_EXPORT int kvs_mem_deregister(kvs_engine *engine, kvs_mem *mem, struct kvs_error *err);
/** Ends n registrations, all or none: an unknown, doubly named or used one is found before any is touched.
 * @return as above. KVS-REQ-555
 */
KVS_EXPORT int kvs_mem_deregister_list(kvs_engine *engine, kvs_mem *const *mems, size_t n,
                                       struct kvs_error *err);

/* ---- Transfers ---- */

/** A key: any bytes. */
struct kvs_key {
    const void *data;
    size_t len;
};

/**
 * Runs once for each accepted post, when the transfer has ended; with no SDK lock held, on any thread. Inside
 * it the handle may be checked, posted again, released and abandoned; waiting for it is NOT_ALLOWED.
 */
typedef void (*kvs_done_fn)(kvs_xfer *xfer, int status, void *arg);

enum kvs_xfer_flag {
    KVS_XFER_DEFERRED =
        1 << 0, /**< its done function does not run on a backend's or worker thread, but on the SDK's own */
};

/** What to prepare. Zero it, set size, then what is needed. */
struct kvs_xfer_req {
    size_t size;                    /**< sizeof(struct kvs_xfer_req) */
    uint32_t op;                    /**< enum kvs_op */
    uint32_t flags;                 /**< enum kvs_xfer_flag */
    const struct kvs_dlist *local;  /**< memory; NULL for QUERY and REMOVE */
    const struct kvs_dlist *remote; /**< places of values; not looked at where keys are given */
    const struct kvs_key *keys;     /**< one key for each descriptor, instead of the remote side; or NULL */
    size_t nkeys;                   /**< how many */
    const uint64_t *offsets; /**< with keys or custom: offsets of ranged READs, one each; or NULL: exact */
    const char *custom;      /**< keys as one newline-separated list ("a\n" is two: "a" and ""); or NULL */
    size_t custom_len;       /**< bytes */
    kvs_done_fn done;        /**< or NULL */
    void *arg;               /**< for done */
};

/**
 * Prepares a transfer: checks everything, resolves keys, allocates all it will need. Nothing is sent.
 * @param xfer  out: the caller's, to be given back with kvs_xfer_release or kvs_xfer_abandon
 * @return KVS_OK; KVS_INVALID_PARAM: counts, lengths, types or addresses do not fit, an empty key, a dev_id
 * that stands for two keys; KVS_NOT_FOUND: dev_id is not registered; KVS_TOO_LARGE: a key, value or batch
 * over a limit; KVS_NOT_SUPPORTED: the backend cannot do it (a ranged WRITE never works); KVS_NOT_ALLOWED:
 * the engine is closing; KVS_NO_MEMORY. The text names the first descriptor that is wrong. Any thread.
 * KVS-REQ-060..KVS-REQ-079, KVS-REQ-082..KVS-REQ-085, KVS-REQ-100..KVS-REQ-107, KVS-REQ-368, KVS-
 * REQ-424, KVS-REQ-426, KVS-REQ-430, KVS-REQ-551..KVS-REQ-553
 */
KVS_EXPORT int kvs_xfer_prep(kvs_engine *engine, const struct kvs_xfer_req *req, kvs_xfer **xfer,
                             struct kvs_error *err);

/**
 * Starts a transfer, or starts it again. Never waits for the store.
 * @return KVS_IN_PROG: accepted; KVS_OK or an error of the store (only without a done function): accepted and
 * ended already; KVS_BUSY: it is running, or held; nothing changed; KVS_NOT_ALLOWED: the engine is closing;
 * else the backend refused it: nothing was sent, no done function runs, and check says what it said before.
 * KVS-REQ-108..KVS-REQ-116, KVS-REQ-120..KVS-REQ-129, KVS-REQ-208, KVS-REQ-209, KVS-REQ-272
 */
KVS_EXPORT int kvs_xfer_post(kvs_xfer *xfer);

/**
 * Where a transfer stands; makes progress.
 * @return KVS_NOT_POSTED; KVS_IN_PROG: an io is still open, or the done function has not returned; else the
 * result: KVS_OK, or the first error by time, as often as asked. KVS_TIMEOUT may mean *held*: the store may
 * still touch its memory; post and release then answer KVS_BUSY until it no longer does.
 * KVS-REQ-130..KVS-REQ-132, KVS-REQ-210, KVS-REQ-215, KVS-REQ-269..KVS-REQ-271, KVS-REQ-305
 */
KVS_EXPORT int kvs_xfer_check(kvs_xfer *xfer);

/** Waits until the transfer has ended, at most timeout_ns. @return KVS_IN_PROG: the wait's time is over,
 * nothing changed; KVS_NOT_ALLOWED: inside its done function; else as kvs_xfer_check. KVS-REQ-214,
 * KVS-REQ-300..KVS-REQ-308
 */
KVS_EXPORT int kvs_xfer_wait(kvs_xfer *xfer, uint64_t timeout_ns);

/** Asks for an early end. A request: the transfer still ends by itself, as CANCELED or otherwise. Any thread,
 * until release begins. @return KVS_OK; KVS_INVALID_PARAM: NULL. KVS-REQ-134, KVS-REQ-254..KVS-REQ-256
 */
KVS_EXPORT int kvs_xfer_cancel(kvs_xfer *xfer);

/**
 * Result of one descriptor.
 * @param index   place in the lists
 * @param status  out: its own status, KVS_IN_PROG while it is open
 * @param bytes   out: READ and WRITE: bytes moved; QUERY: the value's size, KVS_SIZE_UNKNOWN if not known
 * @param text    out: a sentence where there is an error, else ""; valid until the transfer is posted again
 * or released Each out pointer may be NULL. @return KVS_OK; KVS_INVALID_PARAM: NULL handle, or index out of
 * range. KVS-REQ-001..KVS-REQ-003, KVS-REQ-006, KVS-REQ-445
 */
KVS_EXPORT int kvs_xfer_result(kvs_xfer *xfer, size_t index, int *status, uint64_t *bytes, const char **text);
/** The text that belongs to the transfer's own error; "" where there is none. Valid as above.
 *  KVS-REQ-004
 */
KVS_EXPORT const char *kvs_xfer_error(kvs_xfer *xfer);
/** How many descriptors it has; 0 for NULL. */
KVS_EXPORT size_t kvs_xfer_count(const kvs_xfer *xfer);

/**
 * Gives a transfer back. NULL is KVS_INVALID_PARAM.
 * @param timeout_ns  how long to wait for one that runs; 0: not at all
 * @return KVS_OK: the handle is gone. KVS_BUSY: it runs or is held: it was asked to cancel, the handle stays
 * valid. KVS-REQ-212, KVS-REQ-250..KVS-REQ-253, KVS-REQ-273, KVS-REQ-458
 */
KVS_EXPORT int kvs_xfer_release(kvs_xfer *xfer, uint64_t timeout_ns);

/**
 * Gives a transfer up, whatever it does; always succeeds, NULL is fine. It is asked to cancel, and freed
 * after its last completion; its memory must stay valid until then, and its registrations stay counted. No
 * done function starts after the call has returned; one that runs on another thread is waited for.
 * KVS-REQ-213, KVS-REQ-278..KVS-REQ-283
 */
KVS_EXPORT void kvs_xfer_abandon(kvs_xfer *xfer);

/* ---- One key at a time; each waits ---- */

/** Stores len bytes under a key. data may be NULL where len is 0. @return KVS_OK; KVS_EXISTS: write-once
 * store; KVS_FULL; KVS_TIMEOUT; KVS_INVALID_PARAM: empty key; KVS_TOO_LARGE: key or value over the limit;
 * else the store's. Any thread. KVS-REQ-390
 */
KVS_EXPORT int kvs_put(kvs_engine *engine, const void *key, size_t key_len, const void *data, uint64_t len,
                       struct kvs_error *err);
/** Fetches a value of exactly len bytes. @return KVS_OK; KVS_NOT_FOUND; KVS_MISMATCH: its length is another
 * (in the text), the buffer is as it was; else as kvs_put. Any thread. KVS-REQ-350, KVS-REQ-352, KVS-REQ-378,
 * KVS-REQ-390
 */
KVS_EXPORT int kvs_get(kvs_engine *engine, const void *key, size_t key_len, void *data, uint64_t len,
                       struct kvs_error *err);
/** Fetches a value of any length up to max. @param data out: to be freed with kvs_free; never NULL on
 * success, also for an empty value. @param len out: bytes. @return KVS_OK; KVS_TOO_LARGE: longer than max;
 * KVS_NOT_SUPPORTED: the store cannot tell sizes; KVS_MISMATCH: its size changed 8 times meanwhile; else as
 * kvs_get. Any thread. KVS-REQ-379..KVS-REQ-382
 */
KVS_EXPORT int kvs_get_alloc(kvs_engine *engine, const void *key, size_t key_len, uint64_t max, void **data,
                             uint64_t *len, struct kvs_error *err);
/** Is a key there. @param size out, may be NULL: bytes, KVS_SIZE_UNKNOWN if the store cannot tell. @return
 * KVS_OK: yes; KVS_NOT_FOUND: no; KVS_UNKNOWN: the store cannot say; KVS_NOT_SUPPORTED; else an error. Any
 * thread. KVS-REQ-376, KVS-REQ-377, KVS-REQ-390
 */
KVS_EXPORT int kvs_query(kvs_engine *engine, const void *key, size_t key_len, uint64_t *size,
                         struct kvs_error *err);
/** Removes a key. @return KVS_OK; KVS_NOT_FOUND: it was not there; KVS_NOT_SUPPORTED; else an error. Any
 * thread. KVS-REQ-376, KVS-REQ-377, KVS-REQ-390
 */
KVS_EXPORT int kvs_remove(kvs_engine *engine, const void *key, size_t key_len, struct kvs_error *err);
/** Calls each(arg, key, len, size) for every key that starts with prefix, in no order, until it answers other
 * than 0; the engine's own prefix is taken off, and keys outside it are not seen. `key` is gone after each
 * returns; each must not call into the engine. @return KVS_OK; each's answer; KVS_NOT_SUPPORTED; else an
 * error. Any thread. KVS-REQ-086, KVS-REQ-087
 */
KVS_EXPORT int kvs_list(kvs_engine *engine, const void *prefix, size_t prefix_len,
                        int (*each)(void *arg, const void *key, size_t len, uint64_t size), void *arg,
                        struct kvs_error *err);

#ifdef __cplusplus
}
#endif
#endif
