/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KVS_LMDB_THREAD_H
#define KVS_LMDB_THREAD_H

#include <pthread.h>

/* Starts a thread that no signal of the program's is delivered to. 0 or an errno. */
int thread_start(pthread_t *thread, void *(*main)(void *), void *arg);

#endif
