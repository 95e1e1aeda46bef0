/* SPDX-License-Identifier: Apache-2.0 */
#include "fibre.h"
#include "scheduler.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#if defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#endif
#ifdef WITH_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#define STACK ((size_t)128 << 10)
#define GUARD ((size_t)4096)

struct fibre {
    ucontext_t context;
    char *stack;
    const void *bottom; /* as AddressSanitizer has it */
    size_t size;
    void *fake;
    void (*main)(void *arg);
    void *arg;
};

/* The explorer has one real thread. */
static struct fibre fibres[EXPLORE_THREADS], own;
static struct fibre *came_from;

static void leaving(struct fibre *from, const struct fibre *to, bool for_good)
{
    came_from = from;
#ifdef WITH_ASAN
    __sanitizer_start_switch_fiber(for_good ? NULL : &from->fake, to->bottom, to->size);
#else
    (void)to;
    (void)for_good;
#endif
}

static void arrived(struct fibre *here)
{
#ifdef WITH_ASAN
    const void *bottom;
    size_t size;
    __sanitizer_finish_switch_fiber(here->fake, &bottom, &size);
    if (came_from == &own) {
        own.bottom = bottom;
        own.size = size;
    }
#else
    (void)here;
#endif
}

static struct fibre *starting;

static void begin(void)
{
    struct fibre *f = starting;
    arrived(f);
    f->main(f->arg);
    abort();
}

struct fibre *fibre_start(int number, void (*main)(void *arg), void *arg)
{
    struct fibre *f = &fibres[number];
    if (!f->stack) {
        char *at = mmap(NULL, GUARD + STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (at == MAP_FAILED || mprotect(at, GUARD, PROT_NONE) != 0)
            abort();
        f->stack = at + GUARD;
    }
#ifdef WITH_ASAN
    ASAN_UNPOISON_MEMORY_REGION(f->stack, STACK);
#endif
    f->bottom = f->stack;
    f->size = STACK;
    f->fake = NULL;
    f->main = main;
    f->arg = arg;
    getcontext(&f->context);
    f->context.uc_stack.ss_sp = f->stack;
    f->context.uc_stack.ss_size = STACK;
    f->context.uc_link = NULL;
    makecontext(&f->context, begin, 0);
    return f;
}

void fibre_switch(struct fibre *from, struct fibre *to)
{
    from = from ? from : &own;
    to = to ? to : &own;
    starting = to;
    leaving(from, to, false);
    swapcontext(&from->context, &to->context);
    arrived(from);
}

void fibre_end(struct fibre *from, struct fibre *to)
{
    to = to ? to : &own;
    starting = to;
    leaving(from, to, true);
    setcontext(&to->context);
    abort();
}
