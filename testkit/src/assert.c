/* SPDX-License-Identifier: Apache-2.0 */
#include "hang.h"
#include "kit.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define TEXT_MAX 2048

static int result_fd = -1; /* of this process; set before any thread starts */
static pthread_mutex_t line_lock = PTHREAD_MUTEX_INITIALIZER; /* a line of the result pipe is written whole */
static atomic_flag reported = ATOMIC_FLAG_INIT;               /* the process has one outcome */

void report_to(int fd)
{
    result_fd = fd;
}

void report_line(const char *line)
{
    size_t len = strlen(line);
    pthread_mutex_lock(&line_lock);
    while (result_fd >= 0 && len > 0) {
        ssize_t n = write(result_fd, line, len);
        if (n <= 0)
            break; /* the runner has gone: nobody is left to tell */
        line += n;
        len -= (size_t)n;
    }
    pthread_mutex_unlock(&line_lock);
}

static void report_json(json_t *json)
{
    char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
    json_decref(json);
    char *line = text ? realloc(text, strlen(text) + 2) : NULL;
    if (line)
        report_line(strcat(line, "\n"));
    free(line ? line : text);
}

void report_outcome(uint32_t outcome, const char *text)
{
    if (atomic_flag_test_and_set(&reported))
        for (;;)
            pause(); /* the first thread that failed ends the process */
    report_json(json_pack("{s:i, s:o}", "outcome", (int)outcome, "text", wire_text(text, strlen(text))));
}

void report_key(const void *key, size_t len)
{
    char *hex = wire_hex(key, len);
    report_json(hex ? json_pack("{s:s}", "key", hex) : NULL);
    free(hex);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void place(struct kit_at at, char *text, size_t size, const char *fmt, va_list ap)
{
    int n = snprintf(text, size, "%s:%d: %s: ", base_name(at.file), at.line, at.func);
    if (n > 0 && (size_t)n < size)
        vsnprintf(text + n, size - (size_t)n, fmt, ap);
}

_Noreturn void kit_fail_at(struct kit_at at, const char *fmt, ...)
{
    char text[TEXT_MAX];
    va_list ap;
    va_start(ap, fmt);
    place(at, text, sizeof(text), fmt, ap);
    va_end(ap);
    report_outcome(KVS_CONFORM_FAIL, text);
    fflush(NULL);
    _exit(KIT_EXIT_FAILED);
}

_Noreturn void kit_hang_at(struct kit_at at, const char *fmt, ...)
{
    char text[TEXT_MAX];
    va_list ap;
    va_start(ap, fmt);
    place(at, text, sizeof(text), fmt, ap);
    va_end(ap);
    hang_states(getpid(), stderr);
    report_outcome(KVS_CONFORM_TIMEOUT, text);
    fflush(NULL);
    _exit(KIT_EXIT_FAILED);
}

_Noreturn void kit_not_supported(struct kit *k, const char *fmt, ...)
{
    char text[TEXT_MAX];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    kit_end(k);
    report_outcome(KVS_CONFORM_NOT_SUPPORTED, text);
    fflush(NULL);
    _exit(0);
}

void kit_status_at(struct kit_at at, const char *expr, int got, int want, const char *text)
{
    if (got != want)
        kit_fail_at(at, "%s is %s (%d), not %s (%d)%s%s", expr, kvs_status_name(got), got,
                    kvs_status_name(want), want, text && text[0] ? "; its text: " : "", text ? text : "");
}

void kit_status_in_at(struct kit_at at, const char *expr, int got, const int *want, size_t n,
                      const char *text)
{
    char names[256] = "";
    for (size_t i = 0; i < n; i++) {
        if (got == want[i])
            return;
        size_t len = strlen(names);
        snprintf(names + len, sizeof(names) - len, "%s%s", i ? " or " : "", kvs_status_name(want[i]));
    }
    kit_fail_at(at, "%s is %s (%d), not %s%s%s", expr, kvs_status_name(got), got, names,
                text && text[0] ? "; its text: " : "", text ? text : "");
}

void kit_int_at(struct kit_at at, const char *what, int64_t got, const char *op, int64_t want)
{
    bool ok = op[0] == '=' ? got == want : got >= want;
    if (!ok)
        kit_fail_at(at, "%s is %lld, but should be %s %lld", what, (long long)got, op, (long long)want);
}

void kit_u64_at(struct kit_at at, const char *what, uint64_t got, uint64_t want)
{
    if (got != want)
        kit_fail_at(at, "%s is %llu, not %llu", what, (unsigned long long)got, (unsigned long long)want);
}

void kit_bytes_at(struct kit_at at, const char *what, const void *got, const void *want, size_t len)
{
    const uint8_t *g = got, *w = want;
    char gs[16 * 3 + 1] = "", ws[16 * 3 + 1] = "";
    size_t first = 0, wrong = 0;
    if (len == 0 || memcmp(got, want, len) == 0)
        return;
    while (g[first] == w[first])
        first++;
    for (size_t i = first; i < len; i++)
        wrong += g[i] != w[i];
    for (size_t i = 0; i < 16 && first + i < len; i++) {
        snprintf(gs + 3 * i, 4, " %02x", g[first + i]);
        snprintf(ws + 3 * i, 4, " %02x", w[first + i]);
    }
    kit_fail_at(at, "%s differs in %zu of %zu bytes, from byte %zu on: it is%s, not%s", what, wrong, len,
                first, gs, ws);
}
