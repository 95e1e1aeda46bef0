/* SPDX-License-Identifier: Apache-2.0 */
#include "log.h"
#include "proclock.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LEVEL_UNSET (-1)

static const char *const level_names[] = {"error", "warn", "info", "debug", "trace"};

/* One sink for the process, since a log belongs to the program and not to one engine. */
static atomic_int level_now = LEVEL_UNSET;                   /* read on every thread without a lock */
static void (*sink)(void *arg, int level, const char *text); /* guarded by KVS_LOCK_LOG */
static void *sink_arg;                                       /* guarded by KVS_LOCK_LOG */

static int level_of(const char *name)
{
    for (int i = 0; i < (int)(sizeof level_names / sizeof level_names[0]); i++)
        if (strcasecmp(name, level_names[i]) == 0)
            return i;
    return LEVEL_UNSET;
}

/* The level at the start, from the environment; asked for once, by the first who needs it. */
static int first_level(void)
{
    const char *name = secure_getenv("KVSLOT_LOG");
    int level = name && *name ? level_of(name) : KVS_LOG_WARN;
    bool malformed = level == LEVEL_UNSET;
    if (malformed)
        level = KVS_LOG_WARN;
    int seen = LEVEL_UNSET;
    if (!atomic_compare_exchange_strong(&level_now, &seen, level))
        return seen;
    if (malformed)
        kvs_log(KVS_LOG_WARN, "sdk",
                "KVSLOT_LOG is '%.64s'; it can be error, warn, info, debug or trace; warn is used", name);
    return level;
}

bool kvs_log_on(int level)
{
    int now = atomic_load_explicit(&level_now, memory_order_relaxed);
    return level <= (now == LEVEL_UNSET ? first_level() : now);
}

void kvs_set_log(void (*fn)(void *arg, int level, const char *text), void *arg, int level)
{
    if (level >= 0)
        atomic_store(&level_now, level > KVS_LOG_TRACE ? KVS_LOG_TRACE : level);
    kvs_proclock_take(KVS_LOCK_LOG);
    sink = fn;
    sink_arg = arg;
    kvs_proclock_drop(KVS_LOCK_LOG);
}

/* A line stays one line, and a terminal is not steered by what a store said. */
static void flatten(char *text)
{
    size_t len = strlen(text);
    while (len > 0 && (text[len - 1] == '\n' || text[len - 1] == '\r'))
        text[--len] = '\0';
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = ' ';
}

void kvs_vlog(int level, const char *who, const char *fmt, va_list args)
{
    if (!kvs_log_on(level))
        return;
    int saved = errno;
    char text[1024];
    int at = snprintf(text, sizeof text, "%.64s: ", who);
    if (at > 0)
        vsnprintf(text + at, sizeof text - (size_t)at, fmt, args);
    flatten(text);
    if (level == KVS_LOG_ASKED)
        level = KVS_LOG_TRACE;
    if (level < KVS_LOG_ERROR)
        level = KVS_LOG_ERROR;
    kvs_proclock_take(KVS_LOCK_LOG);
    if (sink)
        sink(sink_arg, level, text);
    else
        fprintf(stderr, "kvslot: %s: %s\n", level_names[level > KVS_LOG_TRACE ? KVS_LOG_TRACE : level], text);
    kvs_proclock_drop(KVS_LOCK_LOG);
    errno = saved;
}

void kvs_log(int level, const char *who, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    kvs_vlog(level, who, fmt, args);
    va_end(args);
}
