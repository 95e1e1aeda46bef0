/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file backend.h
 * The interface between the SDK (the host) and a backend, the code for one store.
 *
 * A backend is one constant table, `struct kvs_backend`, whose functions the host calls. A plugin is a shared
 * object that exports one symbol returning such a table; it links against nothing of kvslot, since everything
 * it needs from the host comes in as a table too (`struct kvs_host`, handed to `load`). In a plugin:
 *
 *     KVS_BACKEND_DEFINE(mystore_backend,
 *                        .name = "mystore", .version = "1.0", .summary = "My store",
 *                        .load = mystore_load, .open = mystore_open, .close = mystore_close,
 *                        .put = mystore_put, .get = mystore_get)
 *
 * A backend is of one of two shapes:
 *  - blocking: `put` and `get` (and `query`, `remove` where the store has them), called on the SDK's worker
 *    threads, one io at a time; they return the io's status;
 *  - async: `submit`, which takes a whole batch and completes each io later, from any thread.
 *
 * What the host has checked before it calls, so that no backend checks it again: key lengths and emptiness, value
 * and batch limits, buffers and lengths, the operation against the capabilities.
 *
 * Strings handed in either direction are UTF-8 and end in NUL; keys and values are bytes and do not.
 * Structures only ever grow at their end, and are indexed by the stride that their owner states.
 * Since 0.1.
 */
#ifndef KVSLOT_BACKEND_H
#define KVSLOT_BACKEND_H

#include <kvslot/types.h>
#include <sys/uio.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One descriptor pair, as the backend sees it. Owned by the host; reach it only through kvs_batch_io(). */
struct kvs_io {
    uint64_t token;          /**< in: argument for complete_cb, as (void *)(uintptr_t)token; new at every post */
    const void *key;         /**< in: the host's copy, prefix applied; lives until unprep */
    uint32_t key_len;        /**< in: bytes */
    uint32_t iovcnt;         /**< in: 0 for QUERY and REMOVE, and for a value of 0 bytes */
    const struct iovec *iov; /**< in: the user's memory; the source of a WRITE is never written */
    uint64_t len;            /**< in: sum of the iov's lengths, bytes */
    uint64_t offset;         /**< in: where in the value, with KVS_IO_RANGED; else 0 */
    uint64_t actual;         /**< out: size of the stored value; ranged READ: bytes found from offset, at most len.
                                  The host sets it to KVS_ACTUAL_UNSET before it hands the io over. */
    uint32_t flags;          /**< in: enum kvs_io_flag */
    uint32_t index;          /**< in: place in the user's list */
    void *priv;              /**< io_priv bytes, zeroed at prep, kept over re-posts; NULL if io_priv is 0 */
    void *mem_priv;          /**< mem_priv bytes of the local registration, or NULL */
};

enum kvs_io_flag {
    KVS_IO_RANGED = 1 << 0, /**< READ of len bytes from offset; only where KVS_CAP_RANGE is native */
};

/** A backend that leaves `actual` so says: the whole of len was moved. */
#define KVS_ACTUAL_UNSET (UINT64_MAX - 1)

/** The ios of one posted transfer. Valid until submit has returned and every io is complete. */
struct kvs_batch {
    uint32_t size;        /**< bytes of this structure */
    uint32_t op;          /**< enum kvs_op; the same for all ios */
    uint32_t count;       /**< number of ios, at least 1 */
    uint32_t io_stride;   /**< bytes from one io to the next */
    struct kvs_io *ios;   /**< the first io; use kvs_batch_io() */
    uint64_t deadline_ns; /**< on the clock of host->now_ns; 0: none */
    uint64_t ttl_ms;      /**< WRITE: expire after so many milliseconds; 0: never */
    void *priv;           /**< batch_priv bytes, zeroed at prep, kept over re-posts; NULL if batch_priv is 0 */
};

/** The io at place `i`, 0 <= i < batch->count. Any thread. */
static inline struct kvs_io *kvs_batch_io(const struct kvs_batch *batch, uint32_t i)
{
    return (struct kvs_io *)((char *)batch->ios + (size_t)i * batch->io_stride);
}

/**
 * What the host does for a backend. Handed to load(); valid for the rest of the process. A function added after
 * the first release is there only where `size` covers it. Every function may be called from any thread unless it
 * says otherwise. `ctx` is what open() was given.
 */
struct kvs_host {
    uint32_t size; /**< bytes of this structure in the host */
    uint32_t api;  /**< KVS_API of the host */

    /**
     * Ends one io. Set io->actual first. status: KVS_OK, or the error; KVS_IN_PROG, KVS_AGAIN and a number that is
     * no status end it as KVS_BACKEND with the number in the text. Exactly once an io, for each time it was taken by
     * submit; from any thread, also inside submit, poll or cancel, but with no lock held that these take. The io
     * must not be touched afterwards. A second call for one io is logged and counted, and changes nothing.
     */
    void (*complete)(struct kvs_io *io, int status);
    /**
     * The same for a vendor library with callbacks of the form (rc, argument): the argument is the io's token. rc
     * goes through the backend's map_rc. Harmless at any later time, however late: a token names one post only.
     */
    void (*complete_cb)(int rc, void *token);
    /** Ends all ios of the batch that are still open, with one status; only while the backend owns all of them. */
    void (*complete_rest)(struct kvs_batch *batch, int status);
    /** Gives the io's error a text (one sentence, copied; the last one counts); before the io completes. */
    void (*io_error)(struct kvs_io *io, const char *fmt, ...) KVS_PRINTF(2, 3);
    /** Gives an error of open(), worker_open(), list() or on_register() a text; answers `status`, so that a backend can
     *  return it: `return host->fail(ctx, KVS_ACCESS, "password refused");`. ctx may be NULL in load(). */
    int (*fail)(void *ctx, int status, const char *fmt, ...) KVS_PRINTF(3, 4);
    /** Writes a log line (enum kvs_log_level) under the backend's name; ctx may be NULL. */
    void (*log)(void *ctx, int level, const char *fmt, ...) KVS_PRINTF(3, 4);
    /**
     * Value of a parameter, the backend's own or the SDK's, as text. *out ends in NUL, lives until close() has
     * returned, and is NULL (len 0) where there is neither a value nor a default. len may be NULL.
     * @return KVS_OK, or KVS_NOT_FOUND where no parameter has that name.
     */
    int (*param_str)(void *ctx, const char *name, const char **out, size_t *len);
    /**
     * Value of a number: an int as it is, a size in bytes, a duration in nanoseconds, a bool as 0 or 1, an enum as the
     * place of its choice (0 is the first).
     * @return KVS_OK; KVS_NOT_FOUND where no parameter has that name, it is a string, or it has neither value nor default.
     */
    int (*param_i64)(void *ctx, const char *name, int64_t *out);
    /** The clock of all deadlines: nanoseconds, monotonic. */
    uint64_t (*now_ns)(void);
    /** There is something for poll() to do, or a batch answered with KVS_AGAIN may be offered again. */
    void (*wake)(void *ctx);
};

/** Kinds of parameters. */
enum kvs_param_type {
    KVS_PARAM_STRING = 0,
    KVS_PARAM_BOOL = 1,     /**< yes, no, true, false, on, off, 1, 0 */
    KVS_PARAM_INT = 2,      /**< decimal */
    KVS_PARAM_SIZE = 3,     /**< bytes: 4096, 64KiB, 1MiB, 2GiB, 1TiB, 10kB, 10MB */
    KVS_PARAM_DURATION = 4, /**< 500ms, 30s, 2m, 1h, 10us, 5ns; 0 needs no unit */
    KVS_PARAM_ENUM = 5,     /**< one of choices */
};
enum kvs_param_flag {
    KVS_PARAM_SECRET = 1 << 0,   /**< never shown; may be given as @FILE or @fd:N */
    KVS_PARAM_REQUIRED = 1 << 1, /**< there must be a value from somewhere */
};

/** A parameter, declared as data; the host parses, checks and documents it. */
struct kvs_param {
    const char *name;    /**< [a-z][a-z0-9_]*, none of the SDK's own */
    const char *def;     /**< default, as text; NULL: none */
    const char *env;     /**< environment variable to fall back on, or NULL */
    const char *uri;     /**< part of a URI that fills it: user, password, host, port, path; a part of one variant as
                              "VARIANT:PART" (unix:path); several apart by spaces; or NULL */
    const char *help;    /**< one line */
    const char *since;   /**< version of the backend that brought it, or NULL */
    const char *choices; /**< KVS_PARAM_ENUM: the words, apart by '|'; else NULL */
    int64_t min, max;    /**< of a number (in bytes, nanoseconds); both 0: no bounds but the type's own (sizes and
                              durations are never negative) */
    uint32_t type;       /**< enum kvs_param_type */
    uint32_t flags;      /**< enum kvs_param_flag */
};

#define KVS_BACKEND_MAGIC UINT64_C(0x6b76736c6f740a1a) /* "kvslot\n\x1a" */

/**
 * A backend. Required: name, version, open, and `put` with `get`, or `submit`. Every other member may stay 0; what
 * that means stands beside it. `eng` is the engine's private space (engine_priv bytes), `worker` the worker's
 * (worker_priv bytes), both zeroed by the host and NULL where the size is 0. Unless it says otherwise a function
 * returns KVS_OK or an error (enum kvs_status).
 */
struct kvs_backend {
    /* Stamped by KVS_BACKEND_STAMP in the plugin's own source, from the header it was compiled with. */
    uint64_t magic;
    uint32_t size, api;
    uint32_t io_size, batch_size, host_size, param_size;

    /* Data. */
    const char *name;               /**< [a-z][a-z0-9_-]*; the plugin's file is kvslot-NAME.so */
    const char *version;            /**< of the backend, any text */
    const char *summary;            /**< one line, or NULL */
    const char *schemes;            /**< further URI schemes and what they set: "rediss?tls=yes valkey"; or NULL */
    const struct kvs_param *params; /**< nparams of them; the array's stride is param_size */
    uint32_t nparams;
    uint32_t thread_model; /**< enum kvs_thread_model; 0: serial */
    uint32_t local_mems;   /**< KVS_MEM_MASK bits the local side may have; 0: DRAM */
    uint32_t remote_mems;  /**< KVS_MEM_MASK bits the remote side may have; 0: DRAM */
    uint32_t flags;        /**< enum kvs_flag */
    uint32_t min_key;      /**< bytes; 0: 1 */
    uint64_t caps_native;  /**< enum kvs_cap bits that the store does by itself */
    uint64_t caps_none;    /**< enum kvs_cap bits that it cannot do */
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
    uint32_t reserved;

    /** Once a process, before anything else: keep `host`. Not required only for a backend that needs nothing of it. */
    int (*load)(const struct kvs_host *host);
    /** Opens an engine: reads its parameters with host->param_*, connects unless connect=lazy. `limits` comes as
     *  declared; open may lower limits, drop capabilities, make it serial, or add KVS_F_EMULATED. On failure it
     *  releases what it took: close is not called. Required. */
    int (*open)(void *eng, void *ctx, struct kvs_limits *limits);
    /** Closes an engine; nothing of it is in flight and no worker is left. Not required. */
    void (*close)(void *eng);

    /** Blocking shape: called on each worker thread before its first io; what it fails with ends the io that the
     *  worker had in hand, and it is called again for the next. Not required. */
    int (*worker_open)(void *eng, void *worker);
    /** On the same thread, before it ends; only if worker_open succeeded or there is none. Not required. */
    void (*worker_close)(void *eng, void *worker);
    /** Stores io->len bytes from io->iov under io->key, replacing what was there (write-once stores answer KVS_EXISTS). */
    int (*put)(void *eng, void *worker, const struct kvs_batch *batch, struct kvs_io *io);
    /** Fetches the value into io->iov. If its length is not io->len: sets io->actual to the length, writes nothing and
     *  returns KVS_OK; the host makes it KVS_MISMATCH. Absent: KVS_NOT_FOUND, nothing written. Ranged: up to len
     *  bytes from offset; actual is what was there. */
    int (*get)(void *eng, void *worker, const struct kvs_batch *batch, struct kvs_io *io);
    /** Is the key there: KVS_OK with io->actual the size (KVS_SIZE_UNKNOWN if the store cannot tell), KVS_NOT_FOUND,
     *  KVS_UNKNOWN if the store cannot say. Not required: the host then calls get with len 0 (needs SIZE_CHECK). */
    int (*query)(void *eng, void *worker, const struct kvs_batch *batch, struct kvs_io *io);
    /** Removes the key: KVS_OK, or KVS_NOT_FOUND. Not required: REMOVE is then KVS_NOT_SUPPORTED at prep. */
    int (*remove)(void *eng, void *worker, const struct kvs_batch *batch, struct kvs_io *io);

    /** Async shape: takes the whole batch (KVS_OK: every io completes exactly once, maybe already), or nothing:
     *  KVS_AGAIN (it is offered again) or an error (no completion may come). It never waits, unless SUBMIT_BLOCKS. */
    int (*submit)(void *eng, struct kvs_batch *batch);
    /** A request to end the batch soon: idempotent, may race with its completions; every io still completes exactly
     *  once. Not called for a batch that is complete. Required where KVS_CAP_CANCEL is native in the async shape. */
    void (*cancel)(void *eng, struct kvs_batch *batch);
    /** Makes progress: completes up to max_events ios without waiting and returns how many, or an error. With it the
     *  store makes progress only when called. Both or neither of poll and poll_fd. */
    int (*poll)(void *eng, int max_events);
    /** A descriptor that is readable when poll has something to do, or -1 for now none; owned by the backend. */
    int (*poll_fd)(void *eng);
    /** Pre-formats a batch; keys are final. Its failure is prep's. Not required. */
    int (*prep)(void *eng, struct kvs_batch *batch);
    /** Undoes prep, before the transfer's memory goes; never while an io is open. Not required. */
    void (*unprep)(void *eng, struct kvs_batch *batch);

    /** A registration is being made; desc has the address, length and key. Its failure refuses it. Not required. */
    int (*on_register)(void *eng, void *mem_priv, const struct kvs_desc *desc);
    /** It goes. A failure is logged and counted; the registration goes all the same. Not required. */
    int (*on_deregister)(void *eng, void *mem_priv);
    /** Calls each(arg, key, len, size) for every key that starts with prefix (size may be KVS_SIZE_UNKNOWN), until each
     *  answers other than 0; that number is then list's answer. Required where KVS_CAP_LIST is native. */
    int (*list)(void *eng, const void *prefix, size_t len,
                int (*each)(void *arg, const void *key, size_t len, uint64_t size), void *arg, uint64_t deadline_ns);
    /** Translates a vendor's number for complete_cb. A number it does not know: KVS_BACKEND. Not required: 0 is
     *  KVS_OK, all others KVS_BACKEND. */
    int (*map_rc)(int vendor_rc);
};

/** The first members of a table, as the source that includes this header was compiled. */
#define KVS_BACKEND_STAMP                                                                                    \
    .magic = KVS_BACKEND_MAGIC, .size = sizeof(struct kvs_backend), .api = KVS_API,                          \
    .io_size = sizeof(struct kvs_io), .batch_size = sizeof(struct kvs_batch),                                \
    .host_size = sizeof(struct kvs_host), .param_size = sizeof(struct kvs_param)

/** The one symbol of a plugin: returns its table, constant for the life of the process. */
typedef const struct kvs_backend *(*kvs_backend_entry_fn)(void);
#define KVS_BACKEND_ENTRY "kvs_backend_entry"

/** Exports the plugin's entry symbol, for a table defined in another source. */
#define KVS_BACKEND_EXPORT(table)                                                                            \
    KVS_EXPORT const struct kvs_backend *kvs_backend_entry(void);                                            \
    KVS_EXPORT const struct kvs_backend *kvs_backend_entry(void)                                             \
    {                                                                                                        \
        return &(table);                                                                                     \
    }

/**
 * Defines the table `ident` from designated initialisers, stamped, and exports it. With KVS_BACKEND_STATIC defined
 * the table has external linkage and nothing is exported: the program hands &ident to kvs_backend_register().
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
