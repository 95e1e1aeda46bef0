/* SPDX-License-Identifier: Apache-2.0 */
#include "crash.h"
#include <execinfo.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define FRAMES     64
#define STACK_SIZE 65536

static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
/* For a main thread whose own stack has run over; other threads use theirs. */
static char stack[STACK_SIZE] __attribute__((aligned(16)));

static void put(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        return; /* nobody is left to tell */
}

static void put_hex(uintptr_t n)
{
    char text[2 * sizeof(n) + 3] = "0x";
    for (size_t i = 0; i < 2 * sizeof(n); i++)
        text[2 + i] = "0123456789abcdef"[(n >> (4 * (2 * sizeof(n) - 1 - i))) & 15];
    text[sizeof(text) - 1] = '\0';
    put(text);
}

/* Only what a handler may call, but for the backtrace, whose library crash_install has loaded. */
static void on_crash(int sig, siginfo_t *info, void *context)
{
    char name[17] = "";
    void *frames[FRAMES];
    const char *abbrev = sigabbrev_np(sig);
    (void)context;
    prctl(PR_GET_NAME, name);
    put("\nSIG");
    put(abbrev ? abbrev : "?");
    if (sig == SIGSEGV || sig == SIGBUS) {
        put(" at address ");
        put_hex((uintptr_t)info->si_addr);
    }
    put(" in thread ");
    put(name);
    put(", called from\n");
    backtrace_symbols_fd(frames, backtrace(frames, FRAMES), STDERR_FILENO);
    /* The handler is the default again: on return this signal, or the same instruction, ends the process. */
    raise(sig);
}

void crash_install(void)
{
    void *frame;
    struct sigaction act = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_RESETHAND | SA_ONSTACK};
    const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};
    sigemptyset(&act.sa_mask);
    backtrace(&frame, 1); /* loads what it needs */
    sigaltstack(&alternate, NULL);
    for (size_t i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++) {
        struct sigaction now;
        if (sigaction(crashes[i], NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) &&
            now.sa_handler == SIG_DFL)
            sigaction(crashes[i], &act, NULL);
    }
}
