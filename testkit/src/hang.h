/* SPDX-License-Identifier: Apache-2.0 */
/* What the threads of a process are doing, for the log of a hang. */
#ifndef KVSLOT_TESTKIT_HANG_H
#define KVSLOT_TESTKIT_HANG_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/** One line a thread: its name, state, where in the kernel it waits, and its system call's number. */
void hang_states(pid_t pid, FILE *out);

/** Do all threads of this process sleep but the one that asks, which is the main thread. */
bool hang_others_sleep(void);

#endif
