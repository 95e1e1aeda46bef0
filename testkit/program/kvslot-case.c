/* SPDX-License-Identifier: Apache-2.0 */
/* The process in which the conformance runner runs one case. */
#include <kvslot/testkit.h>

int main(int argc, char **argv)
{
    return kvs_conform_case_main(argc, argv);
}
