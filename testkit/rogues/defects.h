/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The defects that the rogue can have: its parameter `defect` picks one. A row: the name; the requirement
 * that it breaks, the case that must catch it, with which outcome and which words in the reason; the time
 * multiplier with which the case runs; what it does wrong.
 */
#ifndef KVSLOT_ROGUE_DEFECTS_H
#define KVSLOT_ROGUE_DEFECTS_H

#include <kvslot/backend.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The blocking shape. */
#define DEFECTS_BLOCKING(XX)                                                                                 \
    XX(lost_write, "KVS-REQ-361", "roundtrip.one_byte", FAIL, "READ is NOT_FOUND", 1,                        \
       "WRITE is OK and stores nothing")                                                                     \
    XX(stale_read, "KVS-REQ-361", "overwrite.sizes", FAIL, "", 1,                                            \
       "WRITE of a key that exists is OK and changes nothing")                                               \
    XX(write_once_ok, "KVS-REQ-008", "write_once.exists", FAIL, "not EXISTS", 1,                             \
       "write-once, and OK instead of EXISTS")                                                               \
    XX(exists_is_backend, "KVS-REQ-007", "write_once.exists", FAIL, "not EXISTS", 1,                         \
       "write-once, and BACKEND, not EXISTS")                                                                \
    XX(source_written, "KVS-REQ-358", "roundtrip.read_only_source", CRASH, "SIGSEGV", 1,                     \
       "writes into the source")                                                                             \
    XX(short_read, "KVS-REQ-361", "roundtrip.odd_sizes", FAIL, "differs", 1,                                 \
       "moves one byte too few and says OK")                                                                 \
    XX(no_size_check, "KVS-REQ-354", "size.shorter", FAIL, "not MISMATCH", 1,                                \
       "a READ of another length is OK")                                                                     \
    XX(actual_not_set, "KVS-REQ-351", "size.longer", FAIL, "not MISMATCH", 1,                                \
       "does not say the stored length")                                                                     \
    XX(mismatch_touches, "KVS-REQ-353", "size.longer", FAIL, "was written", 1,                               \
       "MISMATCH after writing into the buffer")                                                             \
    XX(wrong_length, "KVS-REQ-389", "size.shorter", FAIL, "stored length", 1,                                \
       "says a stored length that is one too much")                                                          \
    XX(missing_is_ok, "KVS-REQ-007", "missing.read", FAIL, "not NOT_FOUND", 1,                               \
       "READ of an absent key is OK")                                                                        \
    XX(missing_is_error, "KVS-REQ-007", "missing.read", FAIL, "BACKEND", 1,                                  \
       "READ of an absent key is BACKEND")                                                                   \
    XX(error_is_ok, "KVS-REQ-364", "batch.of_1024", FAIL, "NOT_FOUND", 1,                                    \
       "has no room for 500 values, and says OK")                                                            \
    XX(empty_is_absent, "KVS-REQ-359", "roundtrip.empty", FAIL, "NOT_FOUND", 1,                              \
       "an empty value is NOT_FOUND")                                                                        \
    XX(crash_on_empty, "KVS-REQ-359", "roundtrip.empty", CRASH, "SIGSEGV", 1, "dies reading an empty value") \
    XX(buffer_touched, "KVS-REQ-352", "missing.untouched", FAIL, "was written", 1,                           \
       "NOT_FOUND after writing into the buffer")                                                            \
    XX(writes_past_end, "KVS-REQ-357", "roundtrip.odd_sizes", CRASH, "SIGSEGV", 1,                           \
       "writes one byte past the buffer")                                                                    \
    XX(writes_before, "KVS-REQ-357", "roundtrip.guarded_front", CRASH, "SIGSEGV", 1,                         \
       "writes one byte before the buffer")                                                                  \
    XX(offset_ignored, "KVS-REQ-356", "range.parts", FAIL, "differs", 1, "a ranged READ begins at 0")        \
    XX(range_past_end_ok, "KVS-REQ-356", "range.past_end", FAIL, "MISMATCH", 1,                              \
       "a ranged READ past the end is said whole")                                                           \
    XX(key_cut_at_nul, "KVS-REQ-081", "keys.binary", FAIL, "differs", 1, "keys end at a NUL")                \
    XX(key_cut_at_64, "KVS-REQ-081", "keys.longest", FAIL, "differs", 1, "keys end after 64 bytes")          \
    XX(key_is_prefix, "KVS-REQ-081", "keys.nested", FAIL, "", 1, "a key is found by its beginning")          \
    XX(key_case_folded, "KVS-REQ-081", "keys.every_byte", FAIL, "differs", 1,                                \
       "capital letters are taken for small ones")                                                           \
    XX(query_lies, "KVS-REQ-371", "query.absent", FAIL, "NOT_FOUND", 1, "QUERY of an absent key is OK")      \
    XX(wrong_query_size, "KVS-REQ-370", "query.present", FAIL, "size", 1, "QUERY says one byte too many")    \
    XX(unknown_is_absent, "KVS-REQ-372", "query.follows", FAIL, "not UNKNOWN", 1,                            \
       "query_local, and NOT_FOUND for UNKNOWN")                                                             \
    XX(claims_query_local, "KVS-REQ-437", "query.follows", FAIL, "not UNKNOWN", 1,                           \
       "query_local, and it asks the store")                                                                 \
    XX(remove_lies, "KVS-REQ-374", "remove.present", FAIL, "not NOT_FOUND", 1,                               \
       "REMOVE is OK and the key stays")                                                                     \
    XX(remove_absent_ok, "KVS-REQ-375", "remove.absent", FAIL, "not NOT_FOUND", 1,                           \
       "REMOVE of an absent key is OK")                                                                      \
    XX(removes_neighbours, "KVS-REQ-374", "remove.present", FAIL, "", 1,                                     \
       "REMOVE takes all keys that begin so")                                                                \
    XX(removes_strangers, "KVS-REQ-081", "foreign.untouched", FAIL, "is NOT_FOUND now", 1,                   \
       "REMOVE takes the keys of others, too")                                                               \
    XX(changes_strangers, "KVS-REQ-081", "foreign.untouched", FAIL, "has changed", 1,                        \
       "WRITE changes a value of others")                                                                    \
    XX(list_ignores_prefix, "KVS-REQ-088", "list.prefix", FAIL, "", 1,                                       \
       "list gives keys that begin otherwise")                                                               \
    XX(list_misses_one, "KVS-REQ-088", "list.prefix", FAIL, "given 0 times", 1,                              \
       "list leaves the first key out")                                                                      \
    XX(list_goes_on, "KVS-REQ-447", "list.deadline", FAIL, "goes on", 1, "list goes on after its deadline")  \
    XX(torn_write, "KVS-REQ-366", "concurrent.readers", FAIL, "mix", 1, "a reader sees half of a new value") \
    XX(torn_writers, "KVS-REQ-365", "concurrent.writers", FAIL, "mix", 1,                                    \
       "two writers leave half a value each")                                                                \
    XX(not_parallel, "KVS-REQ-434", "concurrent.one_engine", FAIL, "", 1,                                    \
       "parallel, and puts share a place for the key")                                                       \
    XX(own_store, "KVS-REQ-387", "open.two_engines", FAIL, "NOT_FOUND", 1,                                   \
       "each engine has a store of its own")                                                                 \
    XX(lost_on_reopen, "KVS-REQ-388", "open.durable", FAIL, "NOT_FOUND", 1,                                  \
       "durable, and values go with the last engine")                                                        \
    XX(claims_durable, "KVS-REQ-388", "process.crash", FAIL, "NOT_FOUND", 1,                                 \
       "durable, and values go with the process")                                                            \
    XX(claims_shared, "KVS-REQ-362", "process.visible", FAIL, "NOT_FOUND", 1,                                \
       "shared, and each process has its own store")                                                         \
    XX(claims_ttl, "KVS-REQ-361", "ttl.expires", FAIL, "still there", 0.2, "ttl, and values stay")           \
    XX(claims_value, "KVS-REQ-007", "size.largest", FAIL, "TOO_LARGE", 1,                                    \
       "its limit is 1 MiB, and it refuses 600,000 bytes")                                                   \
    XX(claims_batch, "KVS-REQ-105", "batch.largest", FAIL, "NO_MEMORY", 1,                                   \
       "takes batches of 65,536, and fails from 9,000")                                                      \
    XX(widens_limits, "KVS-REQ-431", "open.limits", FAIL, "broke its contract", 1,                           \
       "open raises a limit that the table declares")                                                        \
    XX(ignores_create, "KVS-REQ-532", "params.create", FAIL, "create=no", 1, "makes its folder in any case") \
    XX(claims_consistency, "KVS-REQ-363", "store.failover", FAIL, "NOT_FOUND", 1,                            \
       "consistency, and values go with a crash of the store")                                               \
    XX(crashes_at_bound, "KVS-REQ-443", "params.bounds", CRASH, "SIGSEGV", 1,                                \
       "dies of a parameter at its bound")                                                                   \
    XX(refuses_silently, "KVS-REQ-443", "params.bounds", FAIL, "does not name", 1,                           \
       "refuses a parameter without a word")                                                                 \
    XX(registers_silently, "KVS-REQ-007", "registration.meta_info", FAIL, "BACKEND", 1,                      \
       "registering fails, and says OK")                                                                     \
    XX(leaks_descriptor, "KVS-REQ-290", "open.cycles", FAIL, "open descriptors", 1,                          \
       "close leaves a descriptor")                                                                          \
    XX(leaks_memory, "KVS-REQ-290", "open.cycles", FAIL, "bytes", 1, "close leaves 1,000 bytes")             \
    XX(leaks_thread, "KVS-REQ-290", "open.cycles", FAIL, "threads", 0.2, "close leaves a thread")            \
    XX(leaks_mapping, "KVS-REQ-290", "open.cycles", FAIL, "mappings", 1, "close leaves a mapping")           \
    XX(hangs_on_close, "KVS-REQ-290", "open.cycles", TIMEOUT, "", 0.1, "the second close never returns")     \
    XX(child_shares, "KVS-REQ-459", "fork.opens", FAIL, "", 1,                                               \
       "a forked child uses what its parent connected")                                                      \
    XX(table_survives_fork, "KVS-REQ-460", "fork.opens", FAIL, "", 1,                                        \
       "a forked child finds its parent's connection taken")                                                 \
    XX(sigbus_on_large, "KVS-REQ-361", "roundtrip.large", CRASH, "SIGBUS", 1,                                \
       "dies of SIGBUS in a worker of the SDK")                                                              \
    XX(crash_at_exit, "KVS-REQ-290", "roundtrip.one_byte", CRASH, "SIGSEGV", 1, "dies when it is unloaded")  \
    XX(crash_in_own_thread, "KVS-REQ-361", "roundtrip.one_byte", CRASH, "SIGSEGV", 1,                        \
       "dies in a thread of its own")                                                                        \
    XX(exits_quietly, "KVS-REQ-150", "roundtrip.one_byte", CRASH, "exit code 0 and without a report", 1,     \
       "calls _exit(0)")                                                                                     \
    XX(exits_with_7, "KVS-REQ-150", "roundtrip.one_byte", CRASH, "exit code 7 and without a report", 1,      \
       "calls _exit(7)")                                                                                     \
    XX(hang, "KVS-REQ-150", "roundtrip.one_byte", TIMEOUT, "still running", 0.2, "READ never comes back")    \
    XX(hang_ignoring_term, "KVS-REQ-150", "missing.single_call", TIMEOUT, "SIGKILL", 0.1,                    \
       "the same, and ignores SIGTERM")                                                                      \
    XX(secret_in_text, "KVS-REQ-518", "secrets.texts", FAIL, "secret", 1,                                    \
       "an error's text has the password in it")                                                             \
    XX(secret_in_log, "KVS-REQ-518", "secrets.texts", FAIL, "secret", 1,                                     \
       "a log line has the password in it")                                                                  \
    XX(connects_when_lazy, "KVS-REQ-503", "store.lazy", FAIL, "DISCONNECTED", 1,                             \
       "connects in open though it is lazy")                                                                 \
    XX(opens_anyway, "KVS-REQ-504", "store.eager", FAIL, "is OK", 1, "open is OK though no store is there")  \
    XX(denied_is_backend, "KVS-REQ-009", "store.denied", FAIL, "not ACCESS", 1,                              \
       "a wrong password is BACKEND")                                                                        \
    XX(full_is_io, "KVS-REQ-010", "store.full", FAIL, "not FULL", 1, "a full store is IO")                   \
    XX(full_loses, "KVS-REQ-364", "store.full", FAIL, "", 1,                                                 \
       "a write that finds no room has removed the old value")                                               \
    XX(down_hangs, "KVS-REQ-384", "store.stopped", TIMEOUT, "", 0.2,                                         \
       "waits for ever for a store that has gone")                                                           \
    XX(down_crashes, "KVS-REQ-384", "store.stopped", CRASH, "SIGABRT", 1, "dies when the store has gone")    \
    XX(down_is_absent, "KVS-REQ-373", "store.stopped", FAIL, "NOT_FOUND", 1,                                 \
       "keys of a store that has gone are absent")                                                           \
    XX(never_reconnects, "KVS-REQ-385", "store.restarted", FAIL, "DISCONNECTED", 0.2, "stays disconnected")  \
    XX(pause_hangs, "KVS-REQ-384", "store.paused", TIMEOUT, "", 0.2,                                         \
       "waits for a hung store beyond its deadline")                                                         \
    XX(fifth_write_lost, "KVS-REQ-361", "model.sequential", FAIL, "can only have the value v", 1,            \
       "each fifth overwrite of a key is OK and changes nothing")                                            \
    XX(removed_comes_back, "KVS-REQ-374", "model.reopen", FAIL, "the value none", 1,                         \
       "removed keys are back once the last engine was closed")                                              \
    XX(emptied_crashes, "KVS-REQ-374", "model.sequential", FAIL, "SIGSEGV", 1,                               \
       "dies when a value is removed that an empty one has overwritten")                                     \
    XX(changed_hangs, "KVS-REQ-150", "model.sequential", FAIL, "still running", 0.2,                         \
       "never comes back when a value is removed that has overwritten another")

/* What each operation leaves behind, in the order of enum kvs_op, and then list; three for each. */
#define DEFECTS_LEAKS(XX)                                                                                    \
    XX(write_leaks_fd, "KVS-REQ-393", "leaks.write", FAIL, "descriptors", 0.2,                               \
       "each WRITE leaves a descriptor")                                                                     \
    XX(write_leaks_memory, "KVS-REQ-393", "leaks.write", FAIL, "memory grows", 0.2,                          \
       "each WRITE leaves 4 KiB")                                                                            \
    XX(write_leaks_thread, "KVS-REQ-393", "leaks.write", FAIL, "threads", 0.2, "each WRITE leaves a thread") \
    XX(read_leaks_fd, "KVS-REQ-393", "leaks.read", FAIL, "descriptors", 0.2,                                 \
       "each READ leaves a descriptor")                                                                      \
    XX(read_leaks_memory, "KVS-REQ-393", "leaks.read", FAIL, "memory grows", 0.2, "each READ leaves 4 KiB")  \
    XX(read_leaks_thread, "KVS-REQ-393", "leaks.read", FAIL, "threads", 0.2, "each READ leaves a thread")    \
    XX(query_leaks_fd, "KVS-REQ-393", "leaks.query", FAIL, "descriptors", 0.2,                               \
       "each QUERY leaves a descriptor")                                                                     \
    XX(query_leaks_memory, "KVS-REQ-393", "leaks.query", FAIL, "memory grows", 0.2,                          \
       "each QUERY leaves 4 KiB")                                                                            \
    XX(query_leaks_thread, "KVS-REQ-393", "leaks.query", FAIL, "threads", 0.2, "each QUERY leaves a thread") \
    XX(remove_leaks_fd, "KVS-REQ-393", "leaks.remove", FAIL, "descriptors", 0.2,                             \
       "each REMOVE leaves a descriptor")                                                                    \
    XX(remove_leaks_memory, "KVS-REQ-393", "leaks.remove", FAIL, "memory grows", 0.2,                        \
       "each REMOVE leaves 4 KiB")                                                                           \
    XX(remove_leaks_thread, "KVS-REQ-393", "leaks.remove", FAIL, "threads", 0.2,                             \
       "each REMOVE leaves a thread")                                                                        \
    XX(list_leaks_fd, "KVS-REQ-393", "leaks.list", FAIL, "descriptors", 0.2,                                 \
       "each list leaves a descriptor")                                                                      \
    XX(list_leaks_memory, "KVS-REQ-393", "leaks.list", FAIL, "memory grows", 0.2, "each list leaves 4 KiB")  \
    XX(list_leaks_thread, "KVS-REQ-393", "leaks.list", FAIL, "threads", 0.2, "each list leaves a thread")

/* The async shape that completes in submit. */
#define DEFECTS_ASYNC(XX)                                                                                    \
    XX(completes_twice, "KVS-REQ-150", "roundtrip.one_byte", FAIL, "broke its contract", 1,                  \
       "completes each io twice")                                                                            \
    XX(completes_early, "KVS-REQ-361", "roundtrip.one_byte", FAIL, "differs", 1,                             \
       "READ is OK before its data is there")                                                                \
    XX(never_completes, "KVS-REQ-154", "roundtrip.one_byte", TIMEOUT, "still running", 0.2,                  \
       "READs are never completed")                                                                          \
    XX(completes_again, "KVS-REQ-012", "roundtrip.one_byte", FAIL, "BACKEND", 1, "an io ends AGAIN")         \
    XX(reads_token_early, "KVS-REQ-160", "roundtrip.one_byte", FAIL, "broke its contract", 1,                \
       "takes the token in prep")                                                                            \
    XX(rests_too_early, "KVS-REQ-155", "roundtrip.one_byte", FAIL, "broke its contract", 1,                  \
       "ends ios its library has")                                                                           \
    XX(actual_late, "KVS-REQ-153", "size.shorter", FAIL, "not MISMATCH", 1,                                  \
       "sets actual after it has completed")                                                                 \
    XX(swaps_values, "KVS-REQ-361", "batch.reversed", FAIL, "differs", 1,                                    \
       "values of a batch's first two READs are swapped")                                                    \
    XX(swaps_statuses, "KVS-REQ-150", "missing.among_others", FAIL, "", 1,                                   \
       "ends each READ with its neighbour's status")                                                         \
    XX(ignores_stride, "KVS-REQ-410", "batch.of_64", CRASH, "", 1, "steps through ios by their own size")    \
    XX(mixes_duplicates, "KVS-REQ-367", "batch.duplicate_keys", FAIL, "", 1,                                 \
       "a key twice in a batch gets half of each")                                                           \
    XX(error_after_taking, "KVS-REQ-119", "roundtrip.one_byte", FAIL, "refused", 1,                          \
       "submit fails after completing")                                                                      \
    XX(again_after_taking, "KVS-REQ-118", "roundtrip.one_byte", FAIL, "", 1,                                 \
       "submit is AGAIN after completing")                                                                   \
    XX(odd_answer, "KVS-REQ-117", "roundtrip.one_byte", FAIL, "", 1, "submit answers 7")                     \
    XX(sticky_failure, "KVS-REQ-150", "repost.after_failure", FAIL, "BACKEND", 1,                            \
       "an io that failed once fails for ever")                                                              \
    XX(touches_batch_after, "KVS-REQ-172", "memory.reused", CRASH, "", 1,                                    \
       "reads a batch after its last completion")                                                            \
    XX(completes_released, "KVS-REQ-172", "roundtrip.one_byte", CRASH, "", 1,                                \
       "completes an io of a released transfer")                                                             \
    XX(writes_after, "KVS-REQ-357", "memory.remapped", FAIL, "was written", 1,                               \
       "writes into a buffer after it completed")                                                            \
    XX(reads_source_after, "KVS-REQ-361", "memory.source_gone", CRASH, "SIGSEGV", 1,                         \
       "reads the source after it completed")                                                                \
    XX(submit_waits, "KVS-REQ-109", "progress.post_returns", FAIL, "waits", 1, "submit sleeps")              \
    XX(crash_in_submit, "KVS-REQ-150", "roundtrip.one_byte", CRASH, "SIGSEGV", 1, "dies in submit")

/* The async shape that completes on a thread of the engine. */
#define DEFECTS_THREAD(XX)                                                                                   \
    XX(completes_locked, "KVS-REQ-173", "done.posts", TIMEOUT, "", 0.2,                                      \
       "completes under the lock that submit takes")

/* The async shape that completes in poll. */
#define DEFECTS_POLL(XX)                                                                                     \
    XX(cancel_drops, "KVS-REQ-257", "ending.cancel", TIMEOUT, "still running", 0.2,                          \
       "canceled ios never complete")                                                                        \
    XX(cancel_ignored, "KVS-REQ-267", "ending.cancel_ends", FAIL, "", 0.5,                                   \
       "cancel is native, and does nothing")                                                                 \
    XX(cancel_twice, "KVS-REQ-150", "ending.cancel", FAIL, "broke its contract", 1,                          \
       "canceled ios complete once more")                                                                    \
    XX(fd_never_ready, "KVS-REQ-313", "progress.descriptor", TIMEOUT, "", 0.2,                               \
       "its descriptor is never readable")                                                                   \
    XX(poll_blocks, "KVS-REQ-312", "progress.poll_returns", FAIL, "waits", 1, "poll sleeps")                 \
    XX(loses_many, "KVS-REQ-150", "concurrent.thousands", TIMEOUT, "", 0.1, "loses every thousandth io")     \
    XX(borrows_bytes, "KVS-REQ-361", "model.concurrent", FAIL, "", 1,                                        \
       "an overwrite stores the bytes of another of that length that waits behind it")                       \
    XX(cancel_removes, "KVS-REQ-364", "model.concurrent", FAIL, "", 1,                                       \
       "a canceled overwrite has removed the old value")

/* For tests of the runner, and no row of the self-test. */
#define DEFECTS_OF_PROCESSES(XX)                                                                             \
    XX(crashes_after_write, "", "", CRASH, "", 1, "dies at the first READ; notes all keys in a file")        \
    XX(crashes_after_write_listed, "", "", CRASH, "", 1, "the same with list, from that file")               \
    XX(hangs_after_write, "", "", TIMEOUT, "", 1, "hangs at the first READ; notes all keys in a file")       \
    XX(leaks_secret, "", "", FAIL, "", 1, "prints its password, and puts it into an error's text")           \
    XX(leaves_child, "", "", PASS, "", 1, "a process that goes on")                                          \
    XX(prints_much, "", "", PASS, "", 1, "20 MB at each open; and a wrong QUERY size")                       \
    XX(open_fails, "", "", FAIL, "", 1, "open is ACCESS")                                                    \
    XX(fails_sometimes, "", "", FAIL, "", 1, "loses a write each third time, counted in its file of notes")

/* No defects. */
#define HONEST_BLOCKING(XX)                                                                                  \
    XX(none, "", "", PASS, "", 1, "no defect")                                                               \
    XX(write_once, "", "", PASS, "", 1, "no defect: writes once, and says so")
#define HONEST_ASYNC(XX) XX(none_async, "", "", PASS, "", 1, "no defect: completes in submit")
#define HONEST_THREAD(XX)                                                                                    \
    XX(none_thread, "", "", PASS, "", 1, "no defect: completes on threads that then end")
#define HONEST_POLL(XX) XX(none_poll, "", "", PASS, "", 1, "no defect: completes in poll")

#define DEFECT_NAME(name, ...) ROGUE_##name,
enum defect {
    HONEST_BLOCKING(DEFECT_NAME) DEFECTS_BLOCKING(DEFECT_NAME) DEFECTS_LEAKS(DEFECT_NAME)
        DEFECTS_OF_PROCESSES(DEFECT_NAME) FIRST_ASYNC,
    HONEST_ASYNC(DEFECT_NAME) DEFECTS_ASYNC(DEFECT_NAME) FIRST_THREAD,
    HONEST_THREAD(DEFECT_NAME) DEFECTS_THREAD(DEFECT_NAME) FIRST_POLL,
    HONEST_POLL(DEFECT_NAME) DEFECTS_POLL(DEFECT_NAME) DEFECT_END,
};
#undef DEFECT_NAME

#endif
