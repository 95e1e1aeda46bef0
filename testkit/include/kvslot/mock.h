/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file mock.h
 * @brief For tests: steers the mock, the in-memory backend that libkvslot-testkit carries.
 *
 *     kvs_mock_register(NULL);
 *     kvs_engine_open("mock:a?model=thread&hold=yes", NULL, 0, &engine, NULL);
 *     kvs_xfer_post(xfer);
 *     kvs_mock_wait_held("a", 1, KVS_SEC(5));   // the io is with the store, and stays there
 *     kvs_mock_let_go("a", 1);                  // now it completes
 *
 * What all functions share
 *  - `name` is the store's, the parameter `name` of the engines that use it; NULL is "default". All engines
 *    of the process with one name share one store. A store that is not there yet is made.
 *  - A store lives until the process ends: values survive kvs_engine_close. kvs_mock_reset() empties it.
 *    A forked child starts without stores.
 *  - They reach the mock of libkvslot-testkit only, not one that was loaded from a plugin file.
 *  - Any thread, but not from inside a function that the mock calls.
 *
 * @since 0.1, as all that stands here
 */
#ifndef KVSLOT_MOCK_H
#define KVSLOT_MOCK_H

#include <kvslot/kvslot.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Makes the mock known as "mock". Calling it again is fine.
 * @return as kvs_backend_register()
 */
KVS_EXPORT int kvs_mock_register(struct kvs_error *err);

/**
 * Lets the n ios go that have been held longest (hold=yes), in the order in which they came; SIZE_MAX: all
 * that are held now. They complete on the way of their engine's model: inline: before this call returns;
 * thread: on the engine's thread; poll: in its next poll; blocking: on the worker that holds it.
 * @return how many were let go
 */
KVS_EXPORT size_t kvs_mock_let_go(const char *name, size_t n);

/**
 * Waits until at least n ios are held.
 * @return KVS_OK; KVS_TIMEOUT: there were fewer all the time; KVS_NO_MEMORY
 */
KVS_EXPORT int kvs_mock_wait_held(const char *name, size_t n, uint64_t timeout_ns);

/** What a store has seen since it was made or reset. */
struct kvs_mock_counts {
    size_t size;            /**< sizeof(struct kvs_mock_counts), set by the caller */
    uint64_t ios;           /**< ios that the backend has taken, whatever became of them */
    uint64_t puts;          /**< those that the store has carried out: WRITE, */
    uint64_t gets;          /**< READ, also of absent keys and of another length, */
    uint64_t queries;       /**< QUERY, */
    uint64_t removes;       /**< REMOVE */
    uint64_t bytes;         /**< bytes copied from and to user memory */
    uint64_t submits;       /**< calls of submit, */
    uint64_t cancels;       /**< cancel, */
    uint64_t preps;         /**< prep, */
    uint64_t unpreps;       /**< unprep, */
    uint64_t registers;     /**< on_register, */
    uint64_t deregisters;   /**< on_deregister, */
    uint64_t worker_opens;  /**< worker_open (blocking), */
    uint64_t worker_closes; /**< worker_close (blocking) */
    uint64_t engines;       /**< engines that are open now */
    uint64_t held;          /**< ios that are held now */
};

/**
 * Tells what a store has seen.
 * @param[in,out] out  the caller's, its size set; as many bytes of it are filled
 * @return KVS_OK; KVS_INVALID_PARAM: out is NULL, or its size 0; KVS_NO_MEMORY
 */
KVS_EXPORT int kvs_mock_get_counts(const char *name, struct kvs_mock_counts *out);

/** Where a fault can be set. */
enum kvs_mock_point {
    KVS_MOCK_IO = 0,          /**< an io: it ends with the status, and the store has not seen it */
    KVS_MOCK_SUBMIT = 1,      /**< submit: it takes nothing and answers the status */
    KVS_MOCK_PREP = 2,        /**< prep answers the status */
    KVS_MOCK_REGISTER = 3,    /**< on_register answers the status */
    KVS_MOCK_DEREGISTER = 4,  /**< on_deregister answers the status */
    KVS_MOCK_WORKER_OPEN = 5, /**< worker_open answers the status */
    KVS_MOCK_POINTS = 6,      /**< how many there are */
};

/**
 * Sets a fault, in place of a former one at the same point: the next `after` are as usual, the `count` behind
 * them fail. Ios are counted in the order in which they come to the store.
 * @param count   0: no fault; UINT64_MAX: all
 * @param status  any number, also one that is no status; KVS_OK at KVS_MOCK_IO: the io ends well though
 *                nothing was done
 * @return KVS_OK; KVS_INVALID_PARAM: no such point; KVS_NO_MEMORY
 */
KVS_EXPORT int kvs_mock_set_fault(const char *name, enum kvs_mock_point point, uint64_t after, uint64_t count,
                                  int status);

/** How an io is completed once more. */
enum kvs_mock_again {
    KVS_MOCK_BY_TOKEN = 0, /**< with complete_cb and its token: whenever */
    KVS_MOCK_BY_IO = 1, /**< with complete and the io: while its transfer is not released or posted again */
};

/**
 * Breaks the contract on purpose: completes the io that ended last in this store once more.
 * @param status  the status it is given
 * @return KVS_OK; KVS_NOT_FOUND: no io has ended here; KVS_NO_MEMORY
 */
KVS_EXPORT int kvs_mock_complete_again(const char *name, enum kvs_mock_again how, int status);

/** Calls the host's wake for each engine that is open in the store; none may be closed meanwhile. */
KVS_EXPORT void kvs_mock_wake(const char *name);

/** Forgets the store's values, counts and faults. Its engines stay open; ios that are held stay held. */
KVS_EXPORT void kvs_mock_reset(const char *name);

#ifdef __cplusplus
}
#endif
#endif
