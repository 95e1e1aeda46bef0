/* SPDX-License-Identifier: Apache-2.0 */
#include "first.h"
#include "codes.h"
#include "config.h"

#include <errno.h>
#include <kvslot/types.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Global, because the library is. All of it is guarded by the lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t answered; /* made by whoever starts the thread */
static enum first_state state;
static int answer;       /* the library's own number */
static char *first_path; /* these two stay as they are from FIRST_RUNNING on, and are never freed then */
static struct config *used;

static void say(struct first_text *to, const char *fmt, ...) KVS_PRINTF(2, 3);
static void say(struct first_text *to, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(to->text, sizeof(to->text), fmt, args);
    va_end(args);
}

static void *call_init(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    const struct wqskv_options *options = &used->options;
    pthread_mutex_unlock(&lock);
    int rc = wqskv_shim_init(options);
    pthread_mutex_lock(&lock);
    answer = rc;
    state = FIRST_DONE;
    pthread_cond_broadcast(&answered);
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* On a thread of its own, since init may hang, and an open may not. The program's signals are not for it, nor
 * for the threads that the library makes there. The lock is held. */
static bool start_thread(void)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&answered, &attr);
    pthread_condattr_destroy(&attr);
    sigset_t all, old;
    sigfillset(&all);
    sigdelset(&all, SIGSEGV); /* faults go to the program's handler, wherever they happen */
    sigdelset(&all, SIGBUS);
    sigdelset(&all, SIGFPE);
    sigdelset(&all, SIGILL);
    pthread_t thread;
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int rc = pthread_create(&thread, NULL, call_init, NULL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (rc != 0) {
        pthread_cond_destroy(&answered);
        return false;
    }
    pthread_detach(thread);
    return true;
}

int first_start(void)
{
    int status = KVS_OK;
    pthread_mutex_lock(&lock);
    if (state == FIRST_READ) {
        state = FIRST_RUNNING;
        if (!start_thread()) {
            state = FIRST_READ;
            status = KVS_NO_MEMORY;
        }
    }
    pthread_mutex_unlock(&lock);
    return status;
}

/* The lock is held, and init was not called. */
static int read_anew(const char *path, struct first_text *text, void (*warn)(void *arg, const char *text),
                     void *arg)
{
    struct config_text errors;
    struct config *config = calloc(1, sizeof(*config));
    char *copy = strdup(path);
    int status = KVS_NO_MEMORY;
    say(text, "out of memory while '%s' was read", path);
    if (config != NULL && copy != NULL) {
        status = config_read(path, config, &errors, warn, arg);
        if (status != KVS_OK)
            say(text, "%s", errors.text);
    }
    if (status != KVS_OK) {
        free(config);
        free(copy);
        return status;
    }
    if (used != NULL)
        config_free(used);
    free(used);
    free(first_path);
    used = config;
    first_path = copy;
    state = FIRST_READ;
    return KVS_OK;
}

int first_read(const char *path, struct first_text *text, void (*warn)(void *arg, const char *text),
               void *arg)
{
    int status = KVS_OK;
    pthread_mutex_lock(&lock);
    if (state < FIRST_RUNNING) {
        status = read_anew(path, text, warn, arg);
    } else if (strcmp(path, first_path) != 0) {
        say(text,
            "wds_kvcache_init was called with '%.180s' in this process, and cannot be called a second time "
            "with "
            "'%.180s'",
            first_path, path);
        status = KVS_INVALID_PARAM;
    }
    pthread_mutex_unlock(&lock);
    return status;
}

/* The lock is held, and there is an answer. */
static int result(struct first_text *text)
{
    if (answer == 0)
        return KVS_OK;
    if (answer == WQSKV_SHIM_THREW)
        say(text,
            "wds_kvcache_init threw an exception with '%.200s'; it is called once a process, and not again",
            first_path);
    else
        say(text, "wds_kvcache_init failed with %d with '%.200s'; it is called once a process, and not again",
            answer, first_path);
    return wqskv_status(answer);
}

int first_wait(uint64_t wait_ns, struct first_text *text)
{
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    uint64_t ns = (uint64_t)end.tv_nsec + wait_ns % 1000000000u;
    end.tv_sec += (time_t)(wait_ns / 1000000000u + ns / 1000000000u);
    end.tv_nsec = (long)(ns % 1000000000u);
    pthread_mutex_lock(&lock);
    int rc = 0;
    while (state == FIRST_RUNNING && rc != ETIMEDOUT)
        rc = wait_ns != 0 ? pthread_cond_timedwait(&answered, &lock, &end)
                          : pthread_cond_wait(&answered, &lock);
    int status = KVS_TIMEOUT;
    if (state == FIRST_DONE)
        status = result(text);
    else
        say(text, "wds_kvcache_init with '%.200s' has not answered within the parameter 'timeout'",
            first_path);
    pthread_mutex_unlock(&lock);
    return status;
}

enum first_state first_look(int *status, struct first_text *text)
{
    pthread_mutex_lock(&lock);
    enum first_state now = state;
    if (now == FIRST_DONE)
        *status = result(text);
    pthread_mutex_unlock(&lock);
    return now;
}
