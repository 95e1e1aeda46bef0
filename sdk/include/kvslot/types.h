/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file types.h
 * @brief What integrators, backends and the testkit share.
 *
 * Version, statuses, operations, memory types, capabilities, flags, the descriptor and the limits.
 * It is included by <kvslot/kvslot.h> and <kvslot/backend.h>; nobody needs to include it alone. The
 * header needs C17 or C++11, and an LP64 system. All that stands here is there since 0.1.
 */
#ifndef KVSLOT_TYPES_H
#define KVSLOT_TYPES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Version ---- */

/** The release that this header belongs to; kvs_version() tells that of the library that runs. */
#define KVS_VERSION_MAJOR 0
#define KVS_VERSION_MINOR 1
#define KVS_VERSION_PATCH 0
/** The three as text. */
#define KVS_VERSION_TEXT "0.1.0"

/** Number of the interface between host and plugin. A host loads only plugins that were compiled
 *  with its own number. 0: no promise yet, host and plugin have to be of one release.
 *  KVS-REQ-404 */
#define KVS_API 0

/** Marks what leaves a shared object that is compiled with hidden visibility. */
#define KVS_EXPORT __attribute__((visibility("default")))
/** Lets the compiler check the arguments of a function with a printf format; places count from
 *  1. */
#if defined(__GNUC__)
#define KVS_PRINTF(fmt_at, args_at) __attribute__((format(printf, fmt_at, args_at)))
#else
#define KVS_PRINTF(fmt_at, args_at)
#endif

/* ---- Statuses ---- */

/**
 * @name Statuses
 * One list for names, numbers and texts: XX(NAME, number, "text"), from which enum kvs_status,
 * kvs_status_name() and kvs_status_text() are made. 0 is success, 1 is "not finished", every error
 * is negative. Numbers above -100 are NIXL's own; none ever moves. What a status means in a call
 * stands at that call. KVS_AGAIN passes between backend and SDK only: a caller never gets it.
 *
 * KVS-REQ-005 KVS-REQ-012 KVS-REQ-013
 * @{
 */
#define KVS_STATUS_MAP(XX)                                                                                   \
    XX(IN_PROG, 1, "in progress")                                                                            \
    XX(OK, 0, "ok")                                                                                          \
    XX(NOT_POSTED, -1, "not posted yet")                                                                     \
    XX(INVALID_PARAM, -2, "invalid parameter")                                                               \
    XX(BACKEND, -3, "the store or its library failed")                                                       \
    XX(NOT_FOUND, -4, "not found")                                                                           \
    XX(MISMATCH, -5, "length does not match")                                                                \
    XX(NOT_ALLOWED, -6, "not allowed")                                                                       \
    XX(BUSY, -7, "still in use")                                                                             \
    XX(UNKNOWN, -8, "unknown")                                                                               \
    XX(NOT_SUPPORTED, -9, "not supported")                                                                   \
    XX(DISCONNECTED, -10, "store unreachable")                                                               \
    XX(CANCELED, -11, "canceled")                                                                            \
    XX(TIMEOUT, -100, "timed out")                                                                           \
    XX(FULL, -101, "store is full")                                                                          \
    XX(NO_MEMORY, -102, "out of memory")                                                                     \
    XX(IO, -103, "input/output error")                                                                       \
    XX(EXISTS, -104, "key exists and the store writes once")                                                 \
    XX(ACCESS, -105, "access denied")                                                                        \
    XX(TOO_LARGE, -106, "over a limit")                                                                      \
    XX(AGAIN, -107, "nothing taken, offer again")

enum kvs_status {
#define KVS_STATUS_ENUM(name, number, text) KVS_##name = (number),
    KVS_STATUS_MAP(KVS_STATUS_ENUM)
#undef KVS_STATUS_ENUM
};
/** @} */

/* ---- Operations and memory types ---- */

/** What a transfer does, the same for all its descriptors. */
enum kvs_op {
    KVS_READ = 0,   /**< from the store into memory */
    KVS_WRITE = 1,  /**< from memory into the store */
    KVS_QUERY = 2,  /**< is the key there, and how long is its value; moves nothing */
    KVS_REMOVE = 3, /**< delete the key and its value */
};

/** Memory types, by NIXL's numbers. What a backend knows of them, and on which side, is in its
 *  table. */
enum kvs_mem_type {
    KVS_MEM_DRAM = 0,   /**< the process' own memory; what a backend has that names no type */
    KVS_MEM_VRAM = 1,   /**< memory of a device */
    KVS_MEM_BLOCK = 2,  /**< a block device */
    KVS_MEM_OBJECT = 3, /**< an object of a store */
    KVS_MEM_FILE = 4,   /**< a file */
};
/** A memory type's bit in a mask of types. */
#define KVS_MEM_MASK(type) (1u << (type))

/* ---- Capabilities, threads, flags ---- */

/**
 * @name Capabilities
 * One list: XX(NAME, bit, "name"). A backend declares each as native (its bit in caps_native), as
 * none (its bit in caps_none), or not at all. READ and WRITE that are not declared are native, and
 * so are QUERY, REMOVE and LIST where the function for them is there (QUERY and REMOVE: in the
 * blocking shape). What is then still open is none, but for QUERY of a blocking backend with a
 * native SIZE_CHECK: the SDK emulates it, and QUERY_SIZE, by a READ of no bytes. A capability that
 * is in neither mask of an engine's or a found backend's limits is emulated.
 *
 *  - READ, WRITE, QUERY, REMOVE: the operation works.
 *  - LIST: kvs_list() works.
 *  - RANGE: READ of a part of a value works.
 *  - TTL: a value may expire (parameter `ttl`).
 *  - OVERWRITE: a key can be written again; without it the store writes once and answers
 *    KVS_EXISTS.
 *  - SIZE_CHECK: a READ of another length than the value's is noticed.
 *  - READ_ATOMIC: a READ that fails leaves the buffer as it was. With `bounce=yes` the SDK emulates
 *    it.
 *  - CANCEL: a running transfer can be cancelled, and then ends within `cancel_grace`.
 *  - SHARED: other processes see the store.
 *  - DURABLE: values survive close and open.
 *  - CONSISTENCY: a completed WRITE is visible to every later READ, also after a failover of the
 *    store.
 *  - QUERY_SIZE: QUERY tells the value's size.
 *  - QUERY_LOCAL: QUERY knows only what this engine wrote, and answers KVS_UNKNOWN for all else.
 *
 * KVS-REQ-351 KVS-REQ-352 KVS-REQ-353 KVS-REQ-354 KVS-REQ-361 KVS-REQ-362 KVS-REQ-363 KVS-REQ-388
 * KVS-REQ-425 KVS-REQ-428 KVS-REQ-437
 * @{
 */
#define KVS_CAP_MAP(XX)                                                                                      \
    XX(READ, 0, "read")                                                                                      \
    XX(WRITE, 1, "write")                                                                                    \
    XX(QUERY, 2, "query")                                                                                    \
    XX(REMOVE, 3, "remove")                                                                                  \
    XX(LIST, 4, "list")                                                                                      \
    XX(RANGE, 5, "range")                                                                                    \
    XX(TTL, 6, "ttl")                                                                                        \
    XX(OVERWRITE, 7, "overwrite")                                                                            \
    XX(SIZE_CHECK, 8, "size_check")                                                                          \
    XX(READ_ATOMIC, 9, "read_atomic")                                                                        \
    XX(CANCEL, 10, "cancel")                                                                                 \
    XX(SHARED, 11, "shared")                                                                                 \
    XX(DURABLE, 12, "durable")                                                                               \
    XX(CONSISTENCY, 13, "consistency")                                                                       \
    XX(QUERY_SIZE, 14, "query_size")                                                                         \
    XX(QUERY_LOCAL, 15, "query_local")

#define KVS_CAP_BIT(name, bit, text) KVS_CAP_##name = (1 << (bit)),
enum kvs_cap { KVS_CAP_MAP(KVS_CAP_BIT) };
#undef KVS_CAP_BIT
/** @} */

/** How many threads may be inside an engine's backend functions at once. KVS-REQ-433 KVS-REQ-434 */
enum kvs_thread_model {
    KVS_THREADS_SERIAL = 0,   /**< one call at a time in each engine, and one worker (the safe default) */
    KVS_THREADS_PARALLEL = 1, /**< any number of calls at once */
};

/** Log levels; a message is given out when its level is at most the one asked for, see
 *  kvs_set_log(). */
enum kvs_log_level {
    KVS_LOG_ERROR = 0, /**< something failed, or a backend broke the contract */
    KVS_LOG_WARN = 1,  /**< something was put aside, or will surprise; the level at the start */
    KVS_LOG_INFO = 2,
    KVS_LOG_DEBUG = 3,
    KVS_LOG_TRACE = 4, /**< also the level of the lines that `trace=1` asks for */
};

/** Flags of a backend's table and of an engine's limits. */
enum kvs_flag {
    /** submit may wait: the SDK calls it on a worker. KVS-REQ-109 KVS-REQ-423 */
    KVS_F_SUBMIT_BLOCKS = 1 << 0,
    /** No user code may run on the thread that completes: done functions of transfers that end
     *  on a worker or a thread of the store's library run on the SDK's service thread.
     *  KVS-REQ-206 */
    KVS_F_COMPLETE_DEFERRED = 1 << 1,
    /** Local memory has to be registered; a descriptor without registration is
     *  KVS_INVALID_PARAM. KVS-REQ-066 */
    KVS_F_NEEDS_REGISTRATION = 1 << 2,
    /** One configuration (of the backend's own parameters) a process, and no engine in a forked
     *  child: of a process that had loaded it, or had opened an engine of any backend. KVS-REQ-436
     * KVS-REQ-457 */
    KVS_F_ONCE_PER_PROCESS = 1 << 3,
    /** Not the real store; conformance reports then say so. KVS-REQ-435 */
    KVS_F_EMULATED = 1 << 4,
    /** Only from open: this engine uses put and get though there is a submit. Without both it
     *  has no effect. */
    KVS_F_USE_BLOCKING = 1 << 5,
    /** Only from open: this engine completes by itself, poll and poll_fd are not called. */
    KVS_F_NO_POLL = 1 << 6,
};

/* ---- Numbers ---- */

/** QUERY's size, in bytes, when the store has the key but cannot tell how long its value is.
 *  KVS-REQ-370 */
#define KVS_SIZE_UNKNOWN UINT64_MAX
/** Most descriptors of one transfer where a backend declares no limit of its own. KVS-REQ-105 */
#define KVS_BATCH_DEFAULT 65536u

/* ---- Descriptors and limits ---- */

/** A registration: memory, or the place of a value, made known to an engine. Opaque; see
 *  kvs_mem_register(). */
typedef struct kvs_mem kvs_mem;

/**
 * @brief One piece of memory (local side), or the place of a value (remote side).
 *
 * The structure and all that it points to stay the caller's; the SDK copies what it keeps before
 * the call returns. Zero what is not needed.
 *
 * KVS-REQ-050 KVS-REQ-051 KVS-REQ-058 KVS-REQ-059 KVS-REQ-067 KVS-REQ-068
 */
struct kvs_desc {
    /** Its registration; NULL: none (local side), or the one found by memory type and dev_id
     *  (remote side). Not looked at on registering. */
    kvs_mem *mem;
    /** Local side: the address. Remote side: the registration's address plus the offset in
     *  bytes. */
    uint64_t addr;
    /** Bytes. On registering the remote side, 0: as many as a transfer says. */
    uint64_t len;
    /** On registering: a number to find it by, which any number of registrations may share, and
     *  its key, in decimal, where meta_info is empty. On the remote side, where mem is NULL:
     *  which registration. */
    uint64_t dev_id;
    /** Only on registering: the key, any bytes; NULL or empty: dev_id in decimal. */
    const void *meta_info;
    /** Bytes of meta_info. */
    uint64_t meta_len;
};

/**
 * @brief What an engine can do: what its backend declared, narrowed by the backend's open().
 *
 * 0 in a max field: no limit. The SDK checks all of it before it calls the backend.
 *
 * KVS-REQ-011 KVS-REQ-430 KVS-REQ-431 KVS-REQ-432
 */
struct kvs_limits {
    uint32_t size;         /**< bytes of this structure; set by whoever hands it over */
    uint32_t thread_model; /**< enum kvs_thread_model; open may make it serial */
    uint32_t min_key;      /**< bytes, prefix included; at least 1; open may raise it */
    uint32_t max_key;      /**< bytes, prefix included; open may lower it, as all max fields */
    uint64_t max_value;    /**< bytes */
    uint32_t max_batch;    /**< descriptors of one transfer; never 0 */
    uint32_t max_iov;      /**< pieces of memory in one io; never 0. The SDK uses 1. */
    uint64_t caps_native;  /**< enum kvs_cap bits that the store does; open may drop some */
    uint64_t caps_none;    /**< enum kvs_cap bits that are not there; those in neither are emulated */
    uint32_t flags;        /**< enum kvs_flag bits; open may add EMULATED, USE_BLOCKING, NO_POLL */
    uint32_t reserved;     /**< 0 */
};

#ifdef __cplusplus
}
#endif
#endif
