/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file types.h
 * What integrators, backends and the testkit share: versions, statuses, operations, memory types,
 * capabilities and the descriptor. It is included by <kvslot/kvslot.h> and <kvslot/backend.h>; nobody needs
 * to include it alone.
 */
#ifndef KVSLOT_TYPES_H
#define KVSLOT_TYPES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Version of the SDK that this header belongs to. kvs_version() tells that of the library that runs. */
#define KVS_VERSION_MAJOR 0
#define KVS_VERSION_MINOR 1
#define KVS_VERSION_PATCH 0
#define KVS_VERSION_TEXT "0.1.0"

/** Number of the interface between host and plugin. 0: no promise yet; host and plugin must be of one release. */
#define KVS_API 0

#define KVS_EXPORT __attribute__((visibility("default")))
#if defined(__GNUC__)
#define KVS_PRINTF(fmt_at, args_at) __attribute__((format(printf, fmt_at, args_at)))
#else
#define KVS_PRINTF(fmt_at, args_at)
#endif

/**
 * @name Statuses
 * One list for names, numbers and texts: XX(name, number, text). Numbers above -100 are NIXL's own.
 * 0 is success, 1 is "not finished", every error is negative. KVS-REQ-005
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

/** What a batch does. The direction is the store's: READ is from the store into memory. */
enum kvs_op {
    KVS_READ = 0,   /**< store to memory */
    KVS_WRITE = 1,  /**< memory to store */
    KVS_QUERY = 2,  /**< is the key there, and how long is its value */
    KVS_REMOVE = 3, /**< forget the key */
};

/** Memory types, by NIXL's numbers; a mask has the bit (1 << number). */
enum kvs_mem_type {
    KVS_MEM_DRAM = 0,
    KVS_MEM_VRAM = 1,
    KVS_MEM_BLOCK = 2,
    KVS_MEM_OBJECT = 3,
    KVS_MEM_FILE = 4,
};
#define KVS_MEM_MASK(type) (1u << (type))

/**
 * @name Capabilities
 * XX(NAME, bit, "name"). For each, a backend declares native (bit in caps_native), none (bit in caps_none) or
 * neither. Neither means emulated by the SDK for QUERY and READ_ATOMIC, and none for every other.
 * @{
 */
#define KVS_CAP_MAP(XX)                                                                                      \
    XX(READ, 0, "read")                   /* READ works                                                   */ \
    XX(WRITE, 1, "write")                 /* WRITE works                                                  */ \
    XX(QUERY, 2, "query")                 /* QUERY works                                                  */ \
    XX(REMOVE, 3, "remove")               /* REMOVE works                                                 */ \
    XX(LIST, 4, "list")                   /* kvs_list works                                               */ \
    XX(RANGE, 5, "range")                 /* READ of a part of a value works                              */ \
    XX(TTL, 6, "ttl")                     /* a value may expire                                           */ \
    XX(OVERWRITE, 7, "overwrite")         /* a key can be written again; without it the store writes once */ \
    XX(SIZE_CHECK, 8, "size_check")       /* a READ of another length is noticed, buffer untouched        */ \
    XX(READ_ATOMIC, 9, "read_atomic")     /* a READ that fails leaves the buffer as it was                */ \
    XX(CANCEL, 10, "cancel")              /* a running transfer can be cancelled                          */ \
    XX(SHARED, 11, "shared")              /* other processes see the store                                */ \
    XX(DURABLE, 12, "durable")            /* values survive close and open                                */ \
    XX(CONSISTENCY, 13, "consistency")    /* a completed WRITE is visible to every later READ             */ \
    XX(QUERY_SIZE, 14, "query_size")      /* QUERY tells the value's size                                 */ \
    XX(QUERY_LOCAL, 15, "query_local")    /* QUERY knows only what this engine wrote                      */

#define KVS_CAP_BIT(name, bit, text) KVS_CAP_##name = (1 << (bit)),
enum kvs_cap { KVS_CAP_MAP(KVS_CAP_BIT) };
#undef KVS_CAP_BIT
/** @} */

/** How many threads may be inside an engine's backend functions at once. */
enum kvs_thread_model {
    KVS_THREADS_SERIAL = 0,   /**< one call at a time in each engine (the safe default) */
    KVS_THREADS_PARALLEL = 1, /**< any number of calls at once */
};

/** Log levels; a message is given out when its level is at most the one asked for. */
enum kvs_log_level {
    KVS_LOG_ERROR = 0,
    KVS_LOG_WARN = 1,
    KVS_LOG_INFO = 2,
    KVS_LOG_DEBUG = 3,
    KVS_LOG_TRACE = 4,
};

/** Flags of an engine or backend, see struct kvs_backend. */
enum kvs_flag {
    KVS_F_SUBMIT_BLOCKS = 1 << 0,      /**< submit may wait: the SDK calls it on a worker */
    KVS_F_COMPLETE_DEFERRED = 1 << 1,  /**< no user code may run on the thread that completes */
    KVS_F_NEEDS_REGISTRATION = 1 << 2, /**< local memory must be registered */
    KVS_F_ONCE_PER_PROCESS = 1 << 3,   /**< one configuration a process, none in a forked child */
    KVS_F_EMULATED = 1 << 4,           /**< not the real store */
    KVS_F_USE_BLOCKING = 1 << 5,       /**< only from open: this engine uses put and get though there is a submit */
    KVS_F_NO_POLL = 1 << 6,            /**< only from open: this engine completes by itself, poll is not called */
};

/** QUERY's size when the store has the key but cannot tell how long its value is. */
#define KVS_SIZE_UNKNOWN UINT64_MAX
/** Most descriptors of one transfer where a backend declares no smaller limit. */
#define KVS_BATCH_DEFAULT 65536u

/** A registration: memory, or the place of a value, made known to an engine. Opaque. */
typedef struct kvs_mem kvs_mem;

/**
 * One piece of memory (local side) or the place of a value (remote side). The structure and all that it points
 * to stay the caller's; the SDK copies what it keeps before the call returns.
 */
struct kvs_desc {
    kvs_mem *mem;          /**< its registration, or NULL */
    uint64_t addr;         /**< local: the address; remote: the registration's address plus the offset */
    uint64_t len;          /**< bytes */
    uint64_t dev_id;       /**< remote, where mem is NULL: which registration; on registering: the key if meta_info is empty */
    const void *meta_info; /**< only on registering: the key, any bytes; NULL or empty: dev_id in decimal */
    uint64_t meta_len;     /**< bytes of meta_info */
};

/** What an engine can do: as its backend declared it, narrowed by the backend's open. 0 in a max field: no limit. */
struct kvs_limits {
    uint32_t size;         /**< bytes of this structure, set by the host */
    uint32_t thread_model; /**< enum kvs_thread_model; open may only tighten it */
    uint32_t min_key;      /**< bytes, prefix included */
    uint32_t max_key;      /**< bytes, prefix included */
    uint64_t max_value;    /**< bytes */
    uint32_t max_batch;    /**< descriptors of one transfer */
    uint32_t max_iov;      /**< pieces of memory in one io */
    uint64_t caps_native;  /**< enum kvs_cap bits */
    uint64_t caps_none;    /**< enum kvs_cap bits */
    uint32_t flags;        /**< enum kvs_flag bits; open may add EMULATED, USE_BLOCKING, NO_POLL */
    uint32_t reserved;
};

#ifdef __cplusplus
}
#endif
#endif
