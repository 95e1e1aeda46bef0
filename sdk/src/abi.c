/* SPDX-License-Identifier: Apache-2.0 */
/*
 * KVS-REQ-409: where each member stands of the structures that cross the line between host and plugin. A
 * member that is appended gets a line here and the structure another size; no other number may change, since
 * plugins that were compiled with it are out there.
 */
#include <kvslot/backend.h>

#define AT(type, member, offset)                                                                             \
    _Static_assert(offsetof(struct type, member) == (offset), "struct " #type ": " #member " has moved")
#define SIZE(type, bytes) _Static_assert(sizeof(struct type) == (bytes), "struct " #type " has another size")

_Static_assert(sizeof(void *) == 8 && sizeof(long) == 8 && sizeof(int) == 4, "all numbers here are LP64's");

/* Made by the host; backends step through them by batch->io_stride. */
AT(kvs_io, token, 0);
AT(kvs_io, key, 8);
AT(kvs_io, key_len, 16);
AT(kvs_io, iovcnt, 20);
AT(kvs_io, iov, 24);
AT(kvs_io, len, 32);
AT(kvs_io, offset, 40);
AT(kvs_io, actual, 48);
AT(kvs_io, flags, 56);
AT(kvs_io, index, 60);
AT(kvs_io, priv, 64);
AT(kvs_io, mem_priv, 72);
#ifndef KVS_TESTS_OTHER_LAYOUT /* a test compiles the SDK with a longer io */
SIZE(kvs_io, 80);
#endif

/* Made by the host, one for each transfer. */
AT(kvs_batch, size, 0);
AT(kvs_batch, op, 4);
AT(kvs_batch, count, 8);
AT(kvs_batch, io_stride, 12);
AT(kvs_batch, ios, 16);
AT(kvs_batch, deadline_ns, 24);
AT(kvs_batch, ttl_ms, 32);
AT(kvs_batch, priv, 40);
SIZE(kvs_batch, 48);

/* The host's services. */
AT(kvs_host, size, 0);
AT(kvs_host, api, 4);
AT(kvs_host, complete, 8);
AT(kvs_host, complete_cb, 16);
AT(kvs_host, complete_rest, 24);
AT(kvs_host, io_error, 32);
AT(kvs_host, fail, 40);
AT(kvs_host, log, 48);
AT(kvs_host, param_str, 56);
AT(kvs_host, param_i64, 64);
AT(kvs_host, now_ns, 72);
AT(kvs_host, wake, 80);
SIZE(kvs_host, 88);

/* Declared by the plugin; the host steps through them by the table's param_size. */
AT(kvs_param, name, 0);
AT(kvs_param, def, 8);
AT(kvs_param, env, 16);
AT(kvs_param, uri, 24);
AT(kvs_param, help, 32);
AT(kvs_param, since, 40);
AT(kvs_param, choices, 48);
AT(kvs_param, min, 56);
AT(kvs_param, max, 64);
AT(kvs_param, type, 72);
AT(kvs_param, flags, 76);
SIZE(kvs_param, 80);

/* Into open() and back; and from a caller, with its size, into kvs_engine_limits(). */
AT(kvs_limits, size, 0);
AT(kvs_limits, thread_model, 4);
AT(kvs_limits, min_key, 8);
AT(kvs_limits, max_key, 12);
AT(kvs_limits, max_value, 16);
AT(kvs_limits, max_batch, 24);
AT(kvs_limits, max_iov, 28);
AT(kvs_limits, caps_native, 32);
AT(kvs_limits, caps_none, 40);
AT(kvs_limits, flags, 48);
AT(kvs_limits, reserved, 52);
SIZE(kvs_limits, 56);

/* From callers, by the stride of their list, and into on_register(). */
AT(kvs_desc, mem, 0);
AT(kvs_desc, addr, 8);
AT(kvs_desc, len, 16);
AT(kvs_desc, dev_id, 24);
AT(kvs_desc, meta_info, 32);
AT(kvs_desc, meta_len, 40);
SIZE(kvs_desc, 48);

/* The plugin's table, as long as it is stamped. */
AT(kvs_backend, magic, 0);
AT(kvs_backend, size, 8);
AT(kvs_backend, api, 12);
AT(kvs_backend, io_size, 16);
AT(kvs_backend, batch_size, 20);
AT(kvs_backend, host_size, 24);
AT(kvs_backend, param_size, 28);
AT(kvs_backend, name, 32);
AT(kvs_backend, version, 40);
AT(kvs_backend, summary, 48);
AT(kvs_backend, schemes, 56);
AT(kvs_backend, params, 64);
AT(kvs_backend, nparams, 72);
AT(kvs_backend, thread_model, 76);
AT(kvs_backend, local_mems, 80);
AT(kvs_backend, remote_mems, 84);
AT(kvs_backend, flags, 88);
AT(kvs_backend, min_key, 92);
AT(kvs_backend, caps_native, 96);
AT(kvs_backend, caps_none, 104);
AT(kvs_backend, max_value, 112);
AT(kvs_backend, max_key, 120);
AT(kvs_backend, max_batch, 124);
AT(kvs_backend, max_iov, 128);
AT(kvs_backend, engine_priv, 132);
AT(kvs_backend, worker_priv, 136);
AT(kvs_backend, mem_priv, 140);
AT(kvs_backend, batch_priv, 144);
AT(kvs_backend, io_priv, 148);
AT(kvs_backend, priv_align, 152);
AT(kvs_backend, reserved, 156);
AT(kvs_backend, load, 160);
AT(kvs_backend, open, 168);
AT(kvs_backend, close, 176);
AT(kvs_backend, worker_open, 184);
AT(kvs_backend, worker_close, 192);
AT(kvs_backend, put, 200);
AT(kvs_backend, get, 208);
AT(kvs_backend, query, 216);
AT(kvs_backend, remove, 224);
AT(kvs_backend, submit, 232);
AT(kvs_backend, cancel, 240);
AT(kvs_backend, poll, 248);
AT(kvs_backend, poll_fd, 256);
AT(kvs_backend, prep, 264);
AT(kvs_backend, unprep, 272);
AT(kvs_backend, on_register, 280);
AT(kvs_backend, on_deregister, 288);
AT(kvs_backend, list, 296);
AT(kvs_backend, map_rc, 304);
SIZE(kvs_backend, 312);
