/* SPDX-License-Identifier: Apache-2.0 */
/* lmdb: which file systems it warns of. */
#include "../path.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static unsigned type; /* what look answers; only one thread is there */

static int look(const char *path, struct statfs *out)
{
    assert_string_equal(path, "/some/where");
    memset(out, 0, sizeof(*out));
    out->f_type = (__typeof__(out->f_type))(int)type; /* some are negative, as the kernel has them */
    return 0;
}

static int look_fails(const char *path, struct statfs *out)
{
    (void)path;
    (void)out;
    errno = EIO;
    return -1;
}

static void test_remote(void **state)
{
    (void)state;
    static const struct {
        unsigned type;
        const char *name;
    } rows[] = {{0x6969, "nfs"},      {0x517b, "smb"},     {0xff534d42, "cifs"},
                {0xfe534d42, "smb2"}, {0x01021997, "9p"},  {0x00c36400, "ceph"},
                {0x65735546, "fuse"}, {0x5346414f, "afs"}, {0x0bd00bd0, "lustre"}};
    static const unsigned local[] = {0xef53 /* ext4 */,      0x01021994 /* tmpfs */,   0x58465342 /* xfs */,
                                     0x9123683e /* btrfs */, 0x794c7630 /* overlay */, 0};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        type = rows[i].type;
        assert_string_equal(path_remote("/some/where", look), rows[i].name);
    }
    for (size_t i = 0; i < sizeof(local) / sizeof(local[0]); i++) {
        type = local[i];
        assert_null(path_remote("/some/where", look));
    }
    assert_null(path_remote("/some/where", look_fails)); /* what cannot be told is not held against it */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_remote)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
