/* SPDX-License-Identifier: Apache-2.0 */
/* The vendor's C++ calls for C: all that the backend knows of the library. No exception leaves it. */
#ifndef SHIM_H
#define SHIM_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Room for what a request keeps in C++ until it is called back. */
#define SHIM_SPACE 64
/* Answer of a call in which an exception was thrown. */
#define SHIM_THREW INT_MIN

struct shim_client;
typedef void (*shim_callback)(int error, void *argument);

/* NULL: it cannot be opened, and text says why. */
struct shim_client *shim_open(char *text, size_t room);
void shim_close(struct shim_client *client);

/* Makes a request in space: a key of its own, room for so many pieces of memory. false: no memory. */
bool shim_make(void *space, const void *key, size_t key_len, size_t pieces);
/* Once it cannot be called back any more. */
void shim_unmake(void *space);

/* The library's calls with that request: 0, and it calls back once, or an error of the library's. */
int shim_put(struct shim_client *client, void *space, const struct iovec *iov, size_t n,
             shim_callback callback, void *argument);
int shim_get(struct shim_client *client, void *space, const struct iovec *iov, size_t n, uint64_t *size,
             shim_callback callback, void *argument);
int shim_stat(struct shim_client *client, void *space, uint64_t *size, shim_callback callback,
              void *argument);
int shim_remove(struct shim_client *client, void *space, shim_callback callback, void *argument);

/* The status of an error of the library's. */
int shim_status(int error);

#ifdef __cplusplus
}
#endif

#endif
