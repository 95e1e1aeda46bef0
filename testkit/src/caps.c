/* SPDX-License-Identifier: Apache-2.0 */
#include "caps.h"
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    uint64_t cap;
} caps[] = {
#define ROW(NAME, bit, text) {text, UINT64_C(1) << (bit)},
    KVS_CAP_MAP(ROW)
#undef ROW
};

const char *caps_state(const struct kvs_limits *l, uint64_t cap)
{
    if (l->caps_native & cap)
        return "native";
    if (!(l->caps_none & cap))
        return "emulated"; /* the SDK has made every other "none" */
    return "none";
}

uint64_t caps_present(const struct kvs_limits *l, uint64_t wanted)
{
    uint64_t present = 0;
    for (size_t i = 0; i < sizeof(caps) / sizeof(caps[0]); i++)
        if ((wanted & caps[i].cap) && strcmp(caps_state(l, caps[i].cap), "none") != 0)
            present |= caps[i].cap;
    return present;
}

bool caps_have(const struct kvs_limits *l, uint64_t wanted)
{
    return caps_present(l, wanted) == wanted;
}

void caps_each(void (*each)(void *arg, const char *name, uint64_t cap), void *arg)
{
    for (size_t i = 0; i < sizeof(caps) / sizeof(caps[0]); i++)
        each(arg, caps[i].name, caps[i].cap);
}

void caps_names(uint64_t wanted, char *to, size_t size)
{
    size_t at = 0;
    to[0] = '\0';
    for (size_t i = 0; i < sizeof(caps) / sizeof(caps[0]); i++)
        if ((wanted & caps[i].cap) && at < size)
            at += (size_t)snprintf(to + at, size - at, "%s%s", at ? ", " : "", caps[i].name);
}
