/* SPDX-License-Identifier: Apache-2.0 */
/* What the run was told to expect of the store. */
#include "case.h"

static void expected_capabilities(struct kit *k)
{
    char text[1024];
    if (!kit_has_expectation(k))
        kit_not_supported(k, "the run was not told what to expect, which --expect does");
    size_t n = kit_unexpected(k, text, sizeof(text));
    KIT_CHECK(n == 0, "%s", text);
}

static const struct kit_case cases[] = {
    {.id = "expected.capabilities",
     .title = "The store is what it is expected to be",
     .explain =
         "Compares the opened engine's capabilities and limits, and whether it says that it is not the "
         "real store, with the file that --expect names. A capability that is lost makes its cases "
         "NOT_SUPPORTED, which nobody may notice; here it is a failure.",
     .requirements = "KVS-REQ-435 KVS-REQ-428",
     .profile = KVS_CONFORM_EXTENDED,
     .fn = expected_capabilities},
};
KIT_TOPIC(topic_expected, cases);
