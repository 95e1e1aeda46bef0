/* SPDX-License-Identifier: Apache-2.0 */
/* Running the suite from a test, and looking at what it reports. */
#ifndef KVSLOT_TESTKIT_TESTS_SUITE_H
#define KVSLOT_TESTKIT_TESTS_SUITE_H

#include <jansson.h>
#include <kvslot/testkit.h>

/** What one run gave; to be freed with suite_free. */
struct suite {
    int rc;
    struct kvs_error err;
    struct kvs_conform_summary sum;
    char *table;
    size_t table_len;
    json_t *report; /* NULL where none was written */
    char *report_text;
};

/** Runs with the table and the JSON report captured. The time limits of cfg are multiplied by the build's
 * multiplier. */
void suite_run(struct suite *s, struct kvs_conform_config *cfg);
void suite_free(struct suite *s);
/** Cases that are started from now on die of signals, also under a sanitizer. */
void suite_let_signals_kill(void);
/** The target that is a rogue with a defect; static memory, until the next call. */
const char *suite_rogue(const char *defect);
/** A member of the report's entry for a case; "" where there is none. */
const char *suite_case(const struct suite *s, const char *id, const char *member);

#endif
