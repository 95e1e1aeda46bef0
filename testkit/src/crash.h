/* SPDX-License-Identifier: Apache-2.0 */
/* What a process says when it dies of a signal. */
#ifndef KVSLOT_TESTKIT_CRASH_H
#define KVSLOT_TESTKIT_CRASH_H

/** From now on signals that mean a crash print the thread and its backtrace first; the process still dies of
 * them. Leaves alone what somebody else, a sanitizer say, handles already. */
void crash_install(void);

#endif
