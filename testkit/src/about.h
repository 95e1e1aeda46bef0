/* SPDX-License-Identifier: Apache-2.0 */
/* What a report says about the file that was tested and the machine that tested it. */
#ifndef KVSLOT_TESTKIT_ABOUT_H
#define KVSLOT_TESTKIT_ABOUT_H

#include <jansson.h>

/** Name (without its folder), size and SHA-256 of a file; null where it cannot be read. */
json_t *about_file(const char *file);
/** Processor, how many of them this process may use, kernel, architecture; nothing that tells whose it is. */
json_t *about_machine(void);
/** Now, in UTC: "2027-06-30T12:00:00Z". */
json_t *about_now(void);

#endif
