/* SPDX-License-Identifier: Apache-2.0 */
#include "happened.h"
#include "scheduler.h"

#include <string.h>

#define OBJECTS 4096u /* of a run; a power of 2 */

struct object {
    const void *address;
    uint64_t run;       /* whose object this is: those of other runs are free places */
    uint64_t changed;   /* its last change */
    uint64_t looked_at; /* all looks since then, in no order */
};

static struct object objects[OBJECTS];
static uint64_t run, last[EXPLORE_THREADS], all;

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t z = (a ^ (b << 31 | b >> 33)) * UINT64_C(0x9e3779b97f4a7c15) + b;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

void happened_reset(void)
{
    run++;
    all = 0;
    memset(last, 0, sizeof last);
}

/* One that is new is known by who came to it, and when: where it is may differ. */
static struct object *object_of(int thread, const void *address)
{
    uint64_t place = mix((uintptr_t)address, 1);
    for (uint32_t i = 0; i < OBJECTS; i++) {
        struct object *o = &objects[(place + i) & (OBJECTS - 1)];
        if (o->run != run)
            *o = (struct object){address, run, mix(last[thread] + (uint64_t)thread, 1), 0};
        if (o->address == address)
            return o;
    }
    explore_fail("a run with too many objects");
}

static void event(int thread, uint64_t before)
{
    last[thread] = mix(last[thread] + (uint64_t)thread, before);
    all += last[thread];
}

void happened(int thread, const void *address, bool change)
{
    struct object *o = object_of(thread, address);
    event(thread, change ? mix(o->changed, o->looked_at + 1) : o->changed);
    if (change) {
        o->changed = last[thread];
        o->looked_at = 0;
    } else {
        o->looked_at += last[thread];
    }
}

void happened_value(int thread, uint64_t value)
{
    event(thread, value);
}

uint64_t happened_hash(void)
{
    return all;
}
