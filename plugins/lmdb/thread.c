/* SPDX-License-Identifier: Apache-2.0 */
#include "thread.h"

#include <signal.h>

int thread_start(pthread_t *thread, void *(*main)(void *), void *arg)
{
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGSEGV); /* faults go to the program's handler, wherever they happen */
    sigdelset(&all, SIGBUS);
    sigdelset(&all, SIGFPE);
    sigdelset(&all, SIGILL);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(thread, NULL, main, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}
