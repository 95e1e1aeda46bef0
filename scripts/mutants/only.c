/* SPDX-License-Identifier: Apache-2.0 */
/* Loaded before a cmocka program: of its tests only those run that KVS_TEST_ONLY matches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

__attribute__((constructor)) static void only(void)
{
    const char *pattern = getenv("KVS_TEST_ONLY");
    if (pattern)
        cmocka_set_test_filter(pattern);
}
