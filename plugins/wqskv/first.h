/* SPDX-License-Identifier: Apache-2.0 */
/* The library's init: once a process, whatever comes of it. */
#ifndef KVS_WQSKV_FIRST_H
#define KVS_WQSKV_FIRST_H

#include <stddef.h>
#include <stdint.h>

enum first_state {
    FIRST_NONE, /* nobody has opened an engine yet */
    FIRST_READ, /* the configuration was read, and init not called: with connect=lazy */
    FIRST_RUNNING,
    FIRST_DONE,
};

/* A sentence. */
struct first_text {
    char text[480];
};

/* Reads the configuration in that file, if init was not called in this process before; if it was, with
 * another file, that is refused. A status, and in text what is wrong. `warn` as in config_read. */
int first_read(const char *path, struct first_text *text, void (*warn)(void *arg, const char *text),
               void *arg);
/* Has init called with what was read, on a thread of its own, if that was not done before; waits for nothing.
 */
int first_start(void);
/* Waits for the answer, wait_ns at most (0: without limit): a status. */
int first_wait(uint64_t wait_ns, struct first_text *text);
/* Without waiting: is there an answer, and with FIRST_DONE which. */
enum first_state first_look(int *status, struct first_text *text);

#endif
