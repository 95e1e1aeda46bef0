/* SPDX-License-Identifier: Apache-2.0 */
/* Values as text: sizes, durations, whole numbers, yes and no, and choices. One form of each everywhere.
 * KVS-REQ-510 */
#ifndef KVS_SRC_UNITS_H
#define KVS_SRC_UNITS_H

#include <kvslot/backend.h>
#include <kvslot/kvslot.h>
#include <stdbool.h>

enum kvs_parse {
    KVS_PARSE_OK = 0,
    KVS_PARSE_MALFORMED = 1,
    KVS_PARSE_OVERFLOW = 2, /* well-formed, and more than an int64_t holds */
};

enum kvs_parse kvs_parse_size(const char *text, int64_t *bytes);
enum kvs_parse kvs_parse_duration(const char *text, int64_t *ns);
enum kvs_parse kvs_parse_int(const char *text, int64_t *number);
enum kvs_parse kvs_parse_bool(const char *text, int64_t *yes);
/* `choices` are words apart by '|'; *place is that of the word. */
enum kvs_parse kvs_parse_enum(const char *choices, const char *text, int64_t *place);

/* The shortest text that parses back to the number, for one that is not negative. Answers buf. */
const char *kvs_format_size(char *buf, size_t size, int64_t bytes);
const char *kvs_format_duration(char *buf, size_t size, int64_t ns);

/* Is `text` a value for the parameter; *number is set for all types but STRING (0 there). The error names the
 * parameter, the value (not of a secret) and what is allowed. KVS-REQ-505 KVS-REQ-506 */
int kvs_param_parse(const struct kvs_param *param, const char *text, int64_t *number, struct kvs_error *err);

#endif
