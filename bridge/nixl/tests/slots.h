/* SPDX-License-Identifier: Apache-2.0 */
/* Where in the table of virtual functions a function is, read from a pointer to it (as the C++ ABI of gcc has
 * these). */
#ifndef KVSLOT_NIXL_TESTS_SLOTS_H
#define KVSLOT_NIXL_TESTS_SLOTS_H

#include <cstddef>
#include <cstring>

/* -1: it is not virtual. */
template <class Function> long slot(Function function)
{
    struct {
        std::ptrdiff_t where, adjust;
    } parts;
    static_assert(sizeof parts == sizeof function);
    std::memcpy(&parts, &function, sizeof parts);
#if defined(__aarch64__) || defined(__arm__)
    bool is_virtual = parts.adjust & 1;
    std::ptrdiff_t offset = parts.where;
#else
    bool is_virtual = parts.where & 1;
    std::ptrdiff_t offset = parts.where - 1;
#endif
    return is_virtual ? static_cast<long>(offset / static_cast<std::ptrdiff_t>(sizeof(void *))) : -1;
}

#endif
