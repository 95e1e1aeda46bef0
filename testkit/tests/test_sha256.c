/* SPDX-License-Identifier: Apache-2.0 */
/* The hash against vectors of FIPS 180-4 and its examples, and each way in which an input can end in a block.
 */
#include "sha256.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void hash(const char *data, size_t len, size_t step, char hex[SHA256_HEX])
{
    struct sha256 s;
    sha256_init(&s);
    for (size_t at = 0; at < len; at += step)
        sha256_add(&s, data + at, len - at < step ? len - at : step);
    sha256_end(&s, hex);
}

static void test_vectors(void **state)
{
    static const char *const known[][2] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };
    char hex[SHA256_HEX], other[SHA256_HEX];
    (void)state;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        hash(known[i][0], strlen(known[i][0]), 1000, hex);
        assert_string_equal(hex, known[i][1]);
    }
    static char million[1000000];
    memset(million, 'a', sizeof(million));
    hash(million, sizeof(million), 4096, hex);
    assert_string_equal(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    /* In whatever pieces it comes. */
    for (size_t len = 1; len < 200; len++) {
        hash(million, len, 1000, hex);
        hash(million, len, 7, other);
        assert_string_equal(hex, other);
    }
    hash(million, 119, 1000, hex); /* the length goes into a block of its own */
    assert_string_equal(hex, "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb");
}

static void test_file(void **state)
{
    char hex[SHA256_HEX];
    uint64_t size = 0;
    (void)state;
    FILE *f = fopen("file", "w");
    assert_non_null(f);
    assert_int_equal(fwrite("abc", 1, 3, f), 3);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(sha256_file("file", hex, &size), 0);
    assert_int_equal(size, 3);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_int_equal(sha256_file("no-such-file", hex, &size), -1);
    assert_int_equal(sha256_file(".", hex, &size), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_vectors), cmocka_unit_test(test_file)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
