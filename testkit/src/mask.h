/* SPDX-License-Identifier: Apache-2.0 */
/* Keeping secrets out of tables, reports and reproduce lines. */
#ifndef KVSLOT_TESTKIT_MASK_H
#define KVSLOT_TESTKIT_MASK_H

#include <jansson.h>
#include <kvslot/kvslot.h>
#include <stdbool.h>

#define MASK_SHOWN "***"
/* In the names of secrets, and no name of a parameter: a secret may be the user of a URI; and, before its
 * name, an environment variable may hold one. */
#define MASK_USER "//user"
#define MASK_ENV  '$'

struct mask {
    const json_t *names; /* array of the names of secret parameters; borrowed; NULL: all are */
    char **values;       /* what must not be shown, longest first */
    size_t n;
};

/** Collects the secret values of parameters and target. names and what it points to must outlive the mask. */
int mask_init(struct mask *m, const json_t *names, const char *target, const struct kvs_param_value *params,
              size_t nparams);
void mask_free(struct mask *m);
bool mask_is_secret(const struct mask *m, const char *name, size_t len);
/** The text without secrets, to be freed; NULL: no memory. *len is changed with it. */
char *mask_text(const struct mask *m, const char *text, size_t *len);
/** A target as it may be shown, to be freed. */
char *mask_target(const struct mask *m, const char *target);
/** A parameter's value as it may be shown; borrowed. @FILE names a place and is no secret. */
const char *mask_value(const struct mask *m, const struct kvs_param_value *p);

#endif
