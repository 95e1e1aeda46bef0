/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept out of tables and reports, wherever a secret came from. */
#include "mask.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static json_t *names;

static int setup(void **state)
{
    (void)state;
    names = json_pack("[s, s, s]", "password", "$MASK_TEST_PASSWORD", MASK_USER);
    return names ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    unsetenv("MASK_TEST_PASSWORD");
    json_decref(names);
    return 0;
}

static void expect_hidden(const char *target, const char *shown, const char *text, const char *masked)
{
    struct mask m;
    assert_int_equal(mask_init(&m, names, target, NULL, 0), KVS_OK);
    char *as = mask_target(&m, target);
    assert_string_equal(as, shown);
    size_t len = strlen(text);
    char *clean = mask_text(&m, text, &len);
    assert_string_equal(clean, masked);
    assert_int_equal(len, strlen(masked));
    free(as);
    free(clean);
    mask_free(&m);
}

/* KVS-REQ-517 */
static void user_that_is_a_secret(void **state)
{
    (void)state;
    expect_hidden("x://token1@h/p", "x://***@h/p", "with token1 at h", "with *** at h");
    expect_hidden("x://to%6ben1:secret2@h", "x://***:***@h", "token1 and secret2", "*** and ***");
}

/* KVS-REQ-517 KVS-REQ-520 */
static void name_that_is_encoded(void **state)
{
    (void)state;
    expect_hidden("x:?pass%77ord=secret2&a=b", "x:?pass%77ord=***&a=b", "secret2", "***");
}

/* KVS-REQ-517 KVS-REQ-513 */
static void secret_of_the_environment(void **state)
{
    (void)state;
    assert_int_equal(setenv("MASK_TEST_PASSWORD", "secret3", 1), 0);
    expect_hidden("x:", "x:", "said secret3", "said ***");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(user_that_is_a_secret, setup, teardown),
        cmocka_unit_test_setup_teardown(name_that_is_encoded, setup, teardown),
        cmocka_unit_test_setup_teardown(secret_of_the_environment, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
