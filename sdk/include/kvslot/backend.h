/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file backend.h
 * @brief The interface between the SDK (the host) and a backend, the code for one store.
 *
 * A backend is one constant table, `struct kvs_backend`, whose functions the host calls. A plugin
 * is a shared object that exports one symbol returning such a table; it links against nothing of
 * kvslot, since everything it needs from the host comes in as a table too (`struct kvs_host`,
 * handed to `load`). In a plugin:
 *
 *     KVS_BACKEND_DEFINE(mystore_backend,
 *                        .name = "mystore", .version = "1.0", .summary = "My store",
 *                        .load = mystore_load, .open = mystore_open, .close = mystore_close,
 *                        .put = mystore_put, .get = mystore_get)
 *
 * A backend is of one of two shapes:
 *
 *  - blocking: `put` and `get` (and `query`, `remove` where the store has them), called on the
 *    SDK's worker threads, one io at a time; what they answer is the io's status;
 *  - async: `submit`, which takes a whole batch and completes each io later, from any thread.
 *
 * What the host has checked before it calls, so that no backend checks it again: that keys are not
 * empty and within the limits, value and batch limits, buffers and lengths, the operation against
 * the capabilities.
 *
 * Threads
 *
 *  - In a serial engine (the default) one function runs at a time, but for poll_fd and map_rc; a
 *    parallel one stands any number of calls at once. The table is one for all engines of a
 *    process, and these are independent of each other: what they share the backend guards by
 *    itself.
 *  - Engines of one process that were opened with the same parameters share the store.
 *  - No function may call an SDK function of <kvslot/kvslot.h>; what a backend needs is in struct
 *    kvs_host.
 *
 * What a backend owes its users
 *
 *  - The status that fits best, and not a more general one; KVS_ACCESS for a failed authentication
 *    or a missing permission, KVS_FULL where there is no room, KVS_EXISTS where a store writes
 *    once. KVS_AGAIN is an answer of submit alone.
 *  - An error within the deadline, never a hang or a crash, where the store is unreachable,
 *    restarted, hung or full; once it is back, the same engine works again.
 *  - In a forked child no engine of the parent's is used. One that is opened there shares no
 *    connection, transaction or lock with those of the parent, and a table of connections that the
 *    process has is empty at the first open.
 *
 * Strings handed in either direction are UTF-8 and end in NUL; keys and values are bytes and do
 * not. Structures only ever grow at their end, and are stepped through by the stride that their
 * owner states.
 *
 * @since 0.1, as all that stands here
 * @par Contract
 * KVS-REQ-006 KVS-REQ-007 KVS-REQ-008 KVS-REQ-009 KVS-REQ-010 KVS-REQ-012 KVS-REQ-081 KVS-REQ-105
 * KVS-REQ-384 KVS-REQ-385 KVS-REQ-387 KVS-REQ-409 KVS-REQ-413 KVS-REQ-433 KVS-REQ-434 KVS-REQ-459
 * KVS-REQ-460
 */
#ifndef KVSLOT_BACKEND_H
#define KVSLOT_BACKEND_H

#include <kvslot/types.h>
#include <sys/uio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Ios and batches ---- */

/**
 * @brief One descriptor pair, as the backend sees it.
 *
 * The host's; reach it only through kvs_batch_io(). What is marked "in" the backend does not
 * change. It may be touched until it is complete, or, in prep and unprep, for the call.
 *
 * KVS-REQ-153 KVS-REQ-157 KVS-REQ-160 KVS-REQ-161 KVS-REQ-357 KVS-REQ-358 KVS-REQ-369 KVS-REQ-410
 * KVS-REQ-416 KVS-REQ-417 KVS-REQ-444
 */
struct kvs_io {
    /** In: argument for complete_cb, as (void *)(uintptr_t)token. New at every post, so that it
     *  is read in submit or later, not in prep. */
    uint64_t token;
    /** In: the host's copy of the key, prefix applied; there and unchanged until unprep. */
    const void *key;
    /** In: bytes of the key, at least 1. */
    uint32_t key_len;
    /** In: pieces of memory; 0 for QUERY and REMOVE, and for a value of 0 bytes. */
    uint32_t iovcnt;
    /** In: the user's memory. The source of a WRITE is never written, and nothing outside the
     *  pieces ever is. */
    const struct iovec *iov;
    /** In: sum of the pieces' lengths, bytes. */
    uint64_t len;
    /** In: where in the value, bytes, with KVS_IO_RANGED; else 0. */
    uint64_t offset;
    /** Out: bytes of the stored value; ranged READ: bytes found from offset on, at most len. Set
     *  before the io completes; KVS_ACTUAL_UNSET until then. */
    uint64_t actual;
    /** In: enum kvs_io_flag bits. */
    uint32_t flags;
    /** In: place in the user's list. */
    uint32_t index;
    /** In: io_priv bytes of the backend's own, zeroed at prep, kept over re-posts; NULL if
     *  io_priv is 0. */
    void *priv;
    /** In: mem_priv bytes of the local registration; NULL where there is none. */
    void *mem_priv;
};

/** Flags of an io. */
enum kvs_io_flag {
    KVS_IO_RANGED = 1 << 0, /**< READ of len bytes from offset; only where KVS_CAP_RANGE is native */
};

/** A backend that leaves `actual` so says: all of len was moved; of a QUERY: the size is not
 *  known. */
#define KVS_ACTUAL_UNSET (UINT64_MAX - 1)

/**
 * @brief The ios of one posted transfer.
 *
 * The host's; the backend changes nothing in it but *priv. Valid until submit has returned and
 * every io is complete, and not touched afterwards; in put, get, query and remove for the call; and
 * from prep to unprep, it is the same batch at the same place.
 *
 * KVS-REQ-104 KVS-REQ-171 KVS-REQ-172 KVS-REQ-416 KVS-REQ-422
 */
struct kvs_batch {
    uint32_t size;        /**< bytes of this structure in the host */
    uint32_t op;          /**< enum kvs_op; the same for all ios */
    uint32_t count;       /**< number of ios, at least 1 */
    uint32_t io_stride;   /**< bytes from one io to the next */
    struct kvs_io *ios;   /**< the first io; use kvs_batch_io() */
    uint64_t deadline_ns; /**< of this post, on the clock of host->now_ns; 0: none */
    uint64_t ttl_ms;      /**< WRITE: expire after so many milliseconds; 0: never */
    void *priv;           /**< batch_priv bytes, zeroed at prep, kept over re-posts; NULL if that is 0 */
};

/**
 * @brief The io at a place of a batch.
 *
 * @param[in] batch  the batch
 * @param[in] i      from 0 to batch->count - 1
 * @par Threads
 * Any.
 * @return The io, the host's.
 * @since 0.1
 * @par Contract
 * KVS-REQ-410 KVS-REQ-411
 */
static inline struct kvs_io *kvs_batch_io(const struct kvs_batch *batch, uint32_t i)
{
    return (struct kvs_io *)((char *)batch->ios + (size_t)i * batch->io_stride);
}

/* ---- What the host does for a backend ---- */

/**
 * @brief The host's services.
 *
 * Handed to load(); valid for the rest of the process. A function that is added after the first
 * release is there only where `size` covers it. Every function may be called from any thread,
 * unless it says otherwise. `ctx` is what open() was given, and valid from then on until close()
 * has returned. No text that is given may hold a secret.
 *
 * KVS-REQ-414 KVS-REQ-418 KVS-REQ-518
 */
struct kvs_host {
    uint32_t size; /**< bytes of this structure in the host */
    uint32_t api;  /**< KVS_API of the host */

    /**
     * Ends one io that submit took; exactly once each time it was taken. Not for the blocking
     * shape, where what put and its like answer ends the io.
     *
     * io->actual is set first, and the io is not touched afterwards. `status` is KVS_OK or the
     * error; KVS_IN_PROG, KVS_NOT_POSTED, KVS_AGAIN and a number that is no status end it as
     * KVS_BACKEND, with the number in the text. A second call for one io is logged and counted, and
     * changes nothing, until the transfer is posted again or released: where a call may come later
     * than that, use complete_cb.
     *
     * Threads: any, also inside submit, poll and cancel, but with no lock held that these, unprep or
     * on_deregister take. Waits for no other call into the backend, also of a serial engine.
     *
     * KVS-REQ-150 KVS-REQ-151 KVS-REQ-152 KVS-REQ-153 KVS-REQ-154 KVS-REQ-162 KVS-REQ-163
     * KVS-REQ-165 KVS-REQ-167 KVS-REQ-168 KVS-REQ-173 KVS-REQ-178 KVS-REQ-180
     */
    void (*complete)(struct kvs_io *io, int status);
    /**
     * The same for a vendor library with callbacks of the form (rc, argument): `token` is the io's,
     * as it was after the post. rc goes through the backend's map_rc, and is never itself taken for
     * a status. Harmless at any later time, however late: a token names one post only.
     *
     * Threads: as complete.
     *
     * KVS-REQ-154 KVS-REQ-160 KVS-REQ-161 KVS-REQ-164 KVS-REQ-169 KVS-REQ-170 KVS-REQ-173
     */
    void (*complete_cb)(int rc, void *token);
    /**
     * Ends all ios that are still open of a batch that submit took, with one status; only while the
     * backend owns all of these. What was set of them before, actual and text, counts.
     *
     * Threads: as complete.
     *
     * KVS-REQ-154 KVS-REQ-155 KVS-REQ-156 KVS-REQ-173 KVS-REQ-181
     */
    void (*complete_rest)(struct kvs_batch *batch, int status);
    /**
     * Gives the io's error a text: one sentence, copied, up to 511 bytes; the last one counts. By
     * whoever owns the io, before it completes. Without it the io has its status' own text.
     *
     * After the io was completed it is logged and counted, and changes nothing.
     *
     * Threads: any, one call for one io at a time.
     *
     * KVS-REQ-181 KVS-REQ-445 KVS-REQ-518
     */
    void (*io_error)(struct kvs_io *io, const char *fmt, ...) KVS_PRINTF(2, 3);
    /**
     * Gives an error of load(), open(), worker_open(), prep(), list() or on_register() a text, and
     * answers `status`, so that a backend can return it; ctx may be NULL in load():
     *
     *     return host->fail(ctx, KVS_ACCESS, "password refused");
     *
     * Threads: the one that the function was called on, before it returns; a text from elsewhere is
     * logged.
     *
     * KVS-REQ-443 KVS-REQ-518
     */
    int (*fail)(void *ctx, int status, const char *fmt, ...) KVS_PRINTF(3, 4);
    /**
     * Writes a log line under the backend's name, where its enum kvs_log_level is asked for. ctx
     * may be NULL.
     *
     * Threads: any, also with locks held.
     *
     * KVS-REQ-518 KVS-REQ-534
     */
    void (*log)(void *ctx, int level, const char *fmt, ...) KVS_PRINTF(3, 4);
    /**
     * Value of a parameter, the backend's own or the SDK's, as text. *out is the host's, ends in
     * NUL, lives until close() has returned, and is NULL (and *len 0) where there is neither a
     * value nor a default. len may be NULL. Answers KVS_OK, or KVS_NOT_FOUND where no parameter has
     * that name.
     *
     * Threads: any, also with locks held.
     *
     * KVS-REQ-418 KVS-REQ-502
     */
    int (*param_str)(void *ctx, const char *name, const char **out, size_t *len);
    /**
     * Value of a number: an int as it is, a size in bytes, a duration in nanoseconds, a bool as 0
     * or 1, an enum as the place of its choice (0 is the first). Answers KVS_OK; KVS_NOT_FOUND,
     * with *out as it was, where no parameter has that name, it is a string, or it has neither
     * value nor default.
     *
     * Threads: any, also with locks held.
     *
     * KVS-REQ-418 KVS-REQ-502
     */
    int (*param_i64)(void *ctx, const char *name, int64_t *out);
    /**
     * The clock of all deadlines, CLOCK_MONOTONIC: nanoseconds.
     *
     * Threads: any, also with locks held.
     *
     * KVS-REQ-422
     */
    uint64_t (*now_ns)(void);
    /**
     * There is something for poll() to do, or a batch that was answered KVS_AGAIN may be offered
     * again. It calls nothing of the backend by itself.
     *
     * Threads: any, also with locks held, until close() has returned.
     *
     * KVS-REQ-123 KVS-REQ-313 KVS-REQ-314
     */
    void (*wake)(void *ctx);
};

/* ---- Parameters ---- */

/** Kinds of parameters, and how their values are written. KVS-REQ-510 */
enum kvs_param_type {
    KVS_PARAM_STRING = 0,   /**< any text */
    KVS_PARAM_BOOL = 1,     /**< yes, no, true, false, on, off, 1, 0 */
    KVS_PARAM_INT = 2,      /**< decimal, 64 bits, maybe with a minus in front */
    KVS_PARAM_SIZE = 3,     /**< bytes: 4096, 64KiB, 1MiB, 2GiB, 1TiB, 10kB, 10MB, 1GB, 1TB */
    KVS_PARAM_DURATION = 4, /**< 500ms, 30s, 2m, 1h, 10us, 5ns; 0 needs no unit */
    KVS_PARAM_ENUM = 5,     /**< one of choices */
};
/** Flags of a parameter. */
enum kvs_param_flag {
    KVS_PARAM_SECRET = 1 << 0,   /**< never shown; may be given as @FILE or @fd:N. KVS-REQ-511 KVS-REQ-512 */
    KVS_PARAM_REQUIRED = 1 << 1, /**< there must be a value from somewhere */
};

/**
 * @brief A parameter, declared as data; the host parses, checks and documents it.
 *
 * The plugin's, constant for the life of the process.
 *
 * KVS-REQ-412 KVS-REQ-501 KVS-REQ-505 KVS-REQ-506 KVS-REQ-507 KVS-REQ-521
 */
struct kvs_param {
    const char *name; /**< [a-z][a-z0-9_]*, up to 63 characters, none of the SDK's own */
    const char *def;  /**< default, as text; NULL: none */
    const char *env;  /**< environment variable to fall back on; NULL: none */
    /** Part of a URI that fills it: user, password, host, port, path; a part of one variant as
     *  "VARIANT:PART" (unix:path); several apart by spaces; NULL: none. */
    const char *uri;
    const char *help;    /**< one line */
    const char *since;   /**< version of the backend that brought it, or NULL */
    const char *choices; /**< KVS_PARAM_ENUM: the words, apart by '|'; else NULL */
    /** Bounds of a number, in bytes or nanoseconds; both 0: none but the type's own (sizes and
     *  durations are never negative). */
    int64_t min, max;
    uint32_t type;  /**< enum kvs_param_type */
    uint32_t flags; /**< enum kvs_param_flag bits */
};

/* ---- The table ---- */

/** First in every table: "kvslot\n\x1a" as a number. KVS-REQ-403 */
#define KVS_BACKEND_MAGIC UINT64_C(0x6b76736c6f740a1a)

/**
 * @brief A backend.
 *
 * The plugin's; the host reads it once, and works on a complete copy of its own. Required: name,
 * version, open, and `put` with `get`, or `submit`. Every other member may stay 0; what that means
 * stands beside it. `eng` is the engine's private space (engine_priv bytes), `worker` the worker's
 * (worker_priv bytes), both zeroed by the host and NULL where the size is 0. Unless it says
 * otherwise a function returns KVS_OK or an error (enum kvs_status), and does not keep what its
 * arguments point to.
 *
 * KVS-REQ-401 KVS-REQ-402 KVS-REQ-403 KVS-REQ-404 KVS-REQ-405 KVS-REQ-406 KVS-REQ-407 KVS-REQ-408
 * KVS-REQ-411 KVS-REQ-412 KVS-REQ-416 KVS-REQ-428 KVS-REQ-429 KVS-REQ-435 KVS-REQ-448 KVS-REQ-522
 */
struct kvs_backend {
    /* Stamped by KVS_BACKEND_STAMP in the plugin's own source, from the header it was compiled with. */
    uint64_t magic;
    uint32_t size, api;
    uint32_t io_size, batch_size, host_size, param_size;

    /* Data. */
    const char *name;               /**< [a-z][a-z0-9_-]*, up to 63; the plugin's file is kvslot-NAME.so */
    const char *version;            /**< of the backend, any text */
    const char *summary;            /**< one line, or NULL */
    const char *schemes;            /**< further schemes, what they set: "rediss?tls=yes valkey"; or NULL */
    const struct kvs_param *params; /**< nparams of them; the array's stride is param_size */
    uint32_t nparams;
    uint32_t thread_model; /**< enum kvs_thread_model; 0: serial */
    uint32_t local_mems;   /**< KVS_MEM_MASK bits the local side may have; 0: DRAM */
    uint32_t remote_mems;  /**< KVS_MEM_MASK bits the remote side may have; 0: DRAM and OBJECT */
    uint32_t flags;        /**< enum kvs_flag, but for those that only open may set */
    uint32_t min_key;      /**< bytes; 0: 1 */
    uint64_t caps_native;  /**< enum kvs_cap bits that the store does by itself */
    uint64_t caps_none;    /**< enum kvs_cap bits that it cannot do; see KVS_CAP_MAP for those in neither */
    uint64_t max_value;    /**< bytes; 0: no limit */
    uint32_t max_key;      /**< bytes; 0: no limit */
    uint32_t max_batch;    /**< descriptors; 0: KVS_BATCH_DEFAULT */
    uint32_t max_iov;      /**< pieces of memory in one io; 0: 1 */
    uint32_t engine_priv;  /**< bytes of private space for each engine */
    uint32_t worker_priv;  /**< for each worker thread of an engine (blocking shape): a connection, say */
    uint32_t mem_priv;     /**< for each registration */
    uint32_t batch_priv;   /**< for each prepared transfer */
    uint32_t io_priv;      /**< for each io of a prepared transfer */
    uint32_t priv_align;   /**< alignment of all of these, a power of 2 up to 4096; 0: 16 */
    uint32_t reserved;     /**< 0 */

    /* ---- Life ---- */

    /**
     * Once a process, before any other function: keep `host`. What it fails with refuses the
     * backend, and a later try calls it again. Not required only for a backend that needs nothing
     * of the host.
     *
     * Threads: the one that loads or registers; no other function of the backend runs. It may not
     * wait for other threads that load backends; what it asks for itself of the calls that find,
     * load, list or register backends, or open an engine, answers KVS_NOT_ALLOWED.
     *
     * KVS-REQ-413 KVS-REQ-415 KVS-REQ-449
     */
    int (*load)(const struct kvs_host *host);
    /**
     * Opens an engine: reads its parameters with host->param_*, checks them, and connects, unless
     * `connect` is lazy; with eager it fails where the store cannot be reached. `limits` comes as
     * declared; open may lower limits, drop capabilities, make it serial, or add KVS_F_EMULATED,
     * KVS_F_USE_BLOCKING and KVS_F_NO_POLL; what it widens is not used. On failure it releases what
     * it took: close is not called. Keeps `ctx` where it needs the host later. Required.
     *
     * Threads: the one that opens the engine; others may be opening engines at the same time, in
     * serial backends too. No done function is known yet: nothing completes here.
     *
     * KVS-REQ-009 KVS-REQ-418 KVS-REQ-431 KVS-REQ-432 KVS-REQ-443 KVS-REQ-503 KVS-REQ-504
     */
    int (*open)(void *eng, void *ctx, struct kvs_limits *limits);
    /**
     * Closes an engine: gives back all that open took. Not required: there is nothing to give back.
     *
     * Threads: the one that closes the engine; nothing of it is in flight, no worker and no
     * registration is left. Once it has returned, no thread of the backend's may use `eng` or
     * `ctx`.
     *
     * KVS-REQ-290 KVS-REQ-292 KVS-REQ-418
     */
    void (*close)(void *eng);

    /* ---- Blocking shape ---- */

    /**
     * Makes a worker ready: a connection, say. What it fails with ends the io that the worker had
     * in hand, and it is called again for the next, with `worker` zeroed again. Not required:
     * workers need nothing.
     *
     * Threads: each worker, before its first io; of a serial engine there is one.
     *
     * KVS-REQ-421 KVS-REQ-533
     */
    int (*worker_open)(void *eng, void *worker);
    /**
     * Undoes worker_open; called only where that succeeded, or where there is none and the worker
     * had an io. Not required: there is nothing to undo.
     *
     * Threads: the same worker, before it ends, which is when the engine closes.
     *
     * KVS-REQ-421
     */
    void (*worker_close)(void *eng, void *worker);
    /**
     * Stores io->len bytes from io->iov under io->key, replacing what was there (write-once stores
     * answer KVS_EXISTS). Afterwards every READ sees them, in every engine of the process and,
     * where KVS_CAP_SHARED is native, in every process. A value is written whole or not at all:
     * readers, concurrent writers and a failure leave the old or the new one, never a mix; of a key
     * that one transfer has twice, one of its values. 0 bytes are a value. Required with get,
     * without submit.
     *
     * Threads: workers; parallel engines: several at once, also with ios of one batch. It may wait
     * for the store, up to batch->deadline_ns, but not for another io. It completes nothing: its
     * answer does. A batch has no other use here than op, deadline_ns and ttl_ms.
     *
     * KVS-REQ-008 KVS-REQ-010 KVS-REQ-358 KVS-REQ-359 KVS-REQ-361 KVS-REQ-362 KVS-REQ-363
     * KVS-REQ-364 KVS-REQ-365 KVS-REQ-366 KVS-REQ-367 KVS-REQ-388 KVS-REQ-420 KVS-REQ-446
     */
    int (*put)(void *eng, void *worker, const struct kvs_batch *batch, struct kvs_io *io);
    /**
     * Fetches the value into io->iov. If its length is not io->len: sets io->actual to the length,
     * writes nothing and returns KVS_OK; the host makes it KVS_MISMATCH. Absent: KVS_NOT_FOUND,
     * nothing written. Ranged: up to len bytes from offset; actual is what was there. A store that
     * cannot tell the length, or not before it writes, has SIZE_CHECK or READ_ATOMIC in caps_none.
     * Required with put, without submit.
     *
     * Threads: as put.
     *
     * KVS-REQ-351 KVS-REQ-352 KVS-REQ-353 KVS-REQ-354 KVS-REQ-356 KVS-REQ-357 KVS-REQ-359
     * KVS-REQ-366 KVS-REQ-389 KVS-REQ-420 KVS-REQ-446
     */
    int (*get)(void *eng, void *worker, const struct kvs_batch *batch, struct kvs_io *io);
    /**
     * Is the key there: KVS_OK with io->actual the size (KVS_SIZE_UNKNOWN if the store cannot
     * tell), KVS_NOT_FOUND, KVS_UNKNOWN if the store cannot say; an error is never KVS_NOT_FOUND.
     * Not required: the host then calls get with len 0 where KVS_CAP_SIZE_CHECK is native; else
     * QUERY is KVS_NOT_SUPPORTED at prep.
     *
     * Threads: as put.
     *
     * KVS-REQ-370 KVS-REQ-371 KVS-REQ-372 KVS-REQ-373 KVS-REQ-420 KVS-REQ-425 KVS-REQ-437
     * KVS-REQ-446
     */
    int (*query)(void *eng, void *worker, const struct kvs_batch *batch, struct kvs_io *io);
    /**
     * Removes the key: KVS_OK, and it is absent; KVS_NOT_FOUND: it was. Not required: REMOVE is
     * then KVS_NOT_SUPPORTED at prep.
     *
     * Threads: as put.
     *
     * KVS-REQ-374 KVS-REQ-375 KVS-REQ-420 KVS-REQ-424 KVS-REQ-446
     */
    int (*remove)(void *eng, void *worker, const struct kvs_batch *batch, struct kvs_io *io);

    /* ---- Async shape ---- */

    /**
     * Takes the whole batch (KVS_OK: every io completes exactly once, maybe already), or nothing:
     * KVS_AGAIN (it is offered again, and nothing of it may complete) or an error (it is refused,
     * and no completion may ever come). What put, get, query and remove say of their ios holds for
     * those of the batch's op. Required without put and get. With them it is the one that is used,
     * unless open adds KVS_F_USE_BLOCKING.
     *
     * Threads: any that posts, or makes progress (checks, waits, releases, closes), and the SDK's
     * own; parallel engines: several at once, with different batches. It never waits, unless
     * KVS_F_SUBMIT_BLOCKS is set: then workers call it.
     *
     * KVS-REQ-012 KVS-REQ-104 KVS-REQ-105 KVS-REQ-109 KVS-REQ-117 KVS-REQ-118 KVS-REQ-119
     * KVS-REQ-150 KVS-REQ-160 KVS-REQ-171 KVS-REQ-172 KVS-REQ-423
     */
    int (*submit)(void *eng, struct kvs_batch *batch);
    /**
     * A request to end the batch soon; every io still completes exactly once, KVS_CANCELED or
     * otherwise. It may come more than once, and race with completions, also with the last: the
     * batch is valid for the call. Called only after submit took the batch, and only where
     * KVS_CAP_CANCEL is native, which promises that all ios end within `cancel_grace`; then it is
     * required in the async shape. Not required else: what runs ends by itself.
     *
     * Threads: any that cancels, releases, abandons, posts or closes, and the SDK's own at a
     * deadline; parallel engines: several at once, also for one batch, and beside submit and poll.
     * It never waits.
     *
     * KVS-REQ-255 KVS-REQ-256 KVS-REQ-257 KVS-REQ-260 KVS-REQ-267 KVS-REQ-268
     */
    void (*cancel)(void *eng, struct kvs_batch *batch);
    /**
     * Makes progress: completes up to max_events ios without waiting and returns how many, or an
     * error, which ends no io: those that it concerns the backend completes with it. With it the
     * store makes progress only when called. Both or neither of poll and poll_fd. Not required: the
     * backend completes by itself.
     *
     * Threads: any that checks, waits, releases, makes progress or closes, and the SDK's own; one
     * at a time for each engine, in parallel engines too, but there beside submit and cancel.
     *
     * KVS-REQ-302 KVS-REQ-303 KVS-REQ-304 KVS-REQ-312 KVS-REQ-314
     */
    int (*poll)(void *eng, int max_events);
    /**
     * A descriptor that is readable when poll has something to do that wake did not announce, or -1
     * for none at the moment: poll is then called every millisecond. It stays the backend's. Both
     * or neither of poll and poll_fd.
     *
     * Threads: the one that has just called poll; also beside submit and cancel of a serial engine.
     * It never waits.
     *
     * KVS-REQ-306 KVS-REQ-313 KVS-REQ-408
     */
    int (*poll_fd)(void *eng);

    /* ---- Both shapes ---- */

    /**
     * Pre-formats a batch; keys are final, tokens and the deadline are not there yet. Its failure
     * is that of kvs_xfer_prep(), and unprep is not called. Not required: there is nothing to
     * format.
     *
     * Threads: any that prepares a transfer; parallel engines: several at once. It completes
     * nothing.
     *
     * KVS-REQ-419 KVS-REQ-551
     */
    int (*prep)(void *eng, struct kvs_batch *batch);
    /**
     * Undoes a prep that succeeded, once, before the transfer's memory goes; never while an io is
     * open. Not required: there is nothing to undo.
     *
     * Threads: any that releases, abandons or closes; and of an abandoned transfer the one that
     * completes its last io: once it is out of the backend, or, where it is a thread of the store's
     * library, below host->complete.
     *
     * KVS-REQ-291 KVS-REQ-444
     */
    void (*unprep)(void *eng, struct kvs_batch *batch);

    /**
     * A registration of a memory type (enum kvs_mem_type) is being made: `desc` has the address, the
     * length, dev_id, and in meta_info the key, without prefix. Its failure refuses the registration. Not
     * required: the backend need not know.
     *
     * Threads: any that registers; parallel engines: several at once.
     *
     * KVS-REQ-416 KVS-REQ-443 KVS-REQ-556
     */
    int (*on_register)(void *eng, void *mem_priv, uint32_t type, const struct kvs_desc *desc);
    /**
     * A registration goes; no prepared transfer has it as local memory. A failure is logged and
     * counted; the registration goes all the same. Not required: there is nothing to do.
     *
     * Threads: any that deregisters, and the one that closes the engine, for all that are left.
     *
     * KVS-REQ-557 KVS-REQ-558 KVS-REQ-559
     */
    int (*on_deregister)(void *eng, void *mem_priv);
    /**
     * Calls each(arg, key, len, size) for every key that starts with the `len` bytes of `prefix`,
     * and for no other, until each answers other than 0; that number is then list's answer. The key
     * is the backend's and need not outlive the call; size is in bytes, or KVS_SIZE_UNKNOWN. Ends
     * by deadline_ns (0: none) with KVS_TIMEOUT. Required where KVS_CAP_LIST is native. Not
     * required else: kvs_list() is KVS_NOT_SUPPORTED.
     *
     * Threads: any that lists; it may wait for the store. `each` runs code of the user's, which
     * does not call back into the engine; no lock that other functions need should be held over it.
     *
     * KVS-REQ-088 KVS-REQ-443 KVS-REQ-447
     */
    int (*list)(void *eng, const void *prefix, size_t len,
                int (*each)(void *arg, const void *key, size_t len, uint64_t size), void *arg,
                uint64_t deadline_ns);
    /**
     * Translates a vendor's number for complete_cb into a status; KVS_BACKEND for one that it does
     * not know. Not required: 0 is KVS_OK, all others KVS_BACKEND.
     *
     * Threads: any that calls complete_cb, at any time, beside all other functions, also of a
     * serial engine.
     *
     * KVS-REQ-169 KVS-REQ-170
     */
    int (*map_rc)(int vendor_rc);
};

/* ---- Exporting it ---- */

/** The first members of a table, as the source that includes this header was compiled.
 *  KVS-REQ-401 */
#define KVS_BACKEND_STAMP                                                                                    \
    .magic = KVS_BACKEND_MAGIC, .size = sizeof(struct kvs_backend), .api = KVS_API,                          \
    .io_size = sizeof(struct kvs_io), .batch_size = sizeof(struct kvs_batch),                                \
    .host_size = sizeof(struct kvs_host), .param_size = sizeof(struct kvs_param)

/** The one symbol of a plugin: returns its table, constant for the life of the process.
 *  KVS-REQ-400 */
typedef const struct kvs_backend *(*kvs_backend_entry_fn)(void);
/** That symbol's name. */
#define KVS_BACKEND_ENTRY "kvs_backend_entry"

/** Exports the plugin's entry symbol, for a table defined in another source. KVS-REQ-400 */
#define KVS_BACKEND_EXPORT(table)                                                                            \
    KVS_EXPORT const struct kvs_backend *kvs_backend_entry(void);                                            \
    KVS_EXPORT const struct kvs_backend *kvs_backend_entry(void)                                             \
    {                                                                                                        \
        return &(table);                                                                                     \
    }

/**
 * Defines the table `ident` from designated initialisers, stamped, and exports it. With
 * KVS_BACKEND_STATIC defined the table has external linkage and nothing is exported: the program
 * hands &ident to kvs_backend_register(). For C: C++11 has no designated initialisers.
 *
 * KVS-REQ-400 KVS-REQ-401
 */
#ifdef KVS_BACKEND_STATIC
#define KVS_BACKEND_DEFINE(ident, ...)                                                                       \
    extern const struct kvs_backend ident;                                                                   \
    const struct kvs_backend ident = {KVS_BACKEND_STAMP, __VA_ARGS__};
#else
#define KVS_BACKEND_DEFINE(ident, ...)                                                                       \
    static const struct kvs_backend ident = {KVS_BACKEND_STAMP, __VA_ARGS__};                                \
    KVS_BACKEND_EXPORT(ident)
#endif

#ifdef __cplusplus
}
#endif
#endif
