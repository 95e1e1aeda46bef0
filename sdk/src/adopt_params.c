/* SPDX-License-Identifier: Apache-2.0 */
#include "adopt.h"
#include "err.h"
#include "paramdef.h"
#include "params.h"
#include "schemes.h"
#include "units.h"

#include <string.h>

static int check_name(const struct kvs_backend *b, uint32_t i, const struct kvs_adopt *adopt)
{
    const char *name = b->params[i].name;
    char shown[80];
    if (!name)
        return kvs_adopt_refuse(adopt, "parameter %u of backend '%s' has no name", i + 1, b->name);
    if (*name < 'a' || *name > 'z' || strlen(name) > 63 ||
        name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")] != '\0')
        return kvs_adopt_refuse(
            adopt,
            "parameter '%s' of backend '%s' has no good name: that has up to 63 characters of a-z, 0-9 "
            "and _, a letter first",
            kvs_show_bytes(shown, sizeof shown, name, strlen(name)), b->name);
    if (kvs_param_reserved(name)) /* KVS-REQ-501 */
        return kvs_adopt_refuse(adopt, "backend '%s' declares parameter '%s', which is the SDK's own",
                                b->name, name);
    for (uint32_t j = 0; j < i; j++)
        if (strcmp(b->params[j].name, name) == 0)
            return kvs_adopt_refuse(adopt, "backend '%s' declares parameter '%s' twice", b->name, name);
    return KVS_OK;
}

/* Words apart by '|', none empty and none twice. */
static int good_choices(const char *choices)
{
    if (!choices)
        return 0;
    for (const char *word = choices;;) {
        size_t len = strcspn(word, "|");
        if (len == 0 || len > 63)
            return 0;
        for (const char *other = choices; other < word; other += strcspn(other, "|") + 1)
            if (strcspn(other, "|") == len && memcmp(other, word, len) == 0)
                return 0;
        if (word[len] == '\0')
            return 1;
        word += len + 1;
    }
}

static int check_values(const struct kvs_backend *b, const struct kvs_param *p, const struct kvs_adopt *adopt)
{
    struct kvs_error why = {0};
    int64_t number;
    if (p->type > KVS_PARAM_ENUM)
        return kvs_adopt_refuse(adopt,
                                "parameter '%s' of backend '%s' has type %u, which this kvslot does not know",
                                p->name, b->name, p->type);
    if (p->type == KVS_PARAM_ENUM && !good_choices(p->choices))
        return kvs_adopt_refuse(
            adopt, "parameter '%s' of backend '%s' has no good choices: words apart by '|', each once",
            p->name, b->name);
    if (p->min > p->max)
        return kvs_adopt_refuse(adopt, "parameter '%s' of backend '%s' has its min above its max", p->name,
                                b->name);
    if (p->def && kvs_param_parse(p, p->def, &number, &why) != KVS_OK)
        return kvs_adopt_refuse(adopt, "the default of backend '%s' is malformed: %s", b->name, why.text);
    return KVS_OK;
}

static int same_claim(const struct kvs_claim *a, const struct kvs_claim *b)
{
    return a->part == b->part && a->variant_len == b->variant_len &&
           (a->variant_len == 0 || memcmp(a->variant, b->variant, a->variant_len) == 0);
}

/* Each part of each variant fills one parameter, and a secret comes from a part that is never shown. */
static int check_claims(const struct kvs_backend *b, uint32_t i, const struct kvs_adopt *adopt)
{
    const struct kvs_param *p = &b->params[i];
    struct kvs_claim claim, other;
    for (const char *at = p->uri; kvs_claim_next(&at, &claim);) {
        if (claim.part < 0 || (claim.variant && kvs_name_span(claim.variant) != claim.variant_len))
            return kvs_adopt_refuse(
                adopt,
                "parameter '%s' of backend '%s' is filled by '%.64s'; parts of a URI are user, "
                "password, host, port and path, or VARIANT:PART",
                p->name, b->name, p->uri);
        if ((p->flags & KVS_PARAM_SECRET) && claim.part != KVS_PART_USER && claim.part != KVS_PART_PASSWORD)
            return kvs_adopt_refuse(
                adopt,
                "parameter '%s' of backend '%s' is secret; only user and password of a URI may fill it",
                p->name, b->name);
        for (uint32_t j = 0; j < i; j++)
            for (const char *before = b->params[j].uri; kvs_claim_next(&before, &other);)
                if (same_claim(&claim, &other))
                    return kvs_adopt_refuse(
                        adopt, "parameters '%s' and '%s' of backend '%s' are both filled by the %s of a URI",
                        b->params[j].name, p->name, b->name, kvs_part_names[claim.part]);
    }
    return KVS_OK;
}

/* What a scheme sets is a parameter of the backend or the SDK, with a good value. */
static int check_setting(const struct kvs_backend *b, const struct kvs_scheme *scheme,
                         const struct kvs_setting *setting, const struct kvs_adopt *adopt)
{
    size_t nsdk;
    const struct kvs_param *sdk = kvs_sdk_params(&nsdk), *found = NULL;
    for (size_t i = 0; i < b->nparams + nsdk && !found; i++) {
        const struct kvs_param *p = i < b->nparams ? &b->params[i] : &sdk[i - b->nparams];
        if (strlen(p->name) == setting->name_len && memcmp(p->name, setting->name, setting->name_len) == 0)
            found = p;
    }
    if (!found || !setting->value)
        return kvs_adopt_refuse(
            adopt, "scheme '%.*s' of backend '%s' sets '%.*s', which is not a parameter and its value",
            (int)scheme->name_len, scheme->name, b->name, (int)setting->name_len, setting->name);
    char value[256];
    struct kvs_error why = {0};
    int64_t number;
    if (setting->value_len >= sizeof value)
        return kvs_adopt_refuse(adopt, "scheme '%.*s' of backend '%s' sets a value of %zu bytes",
                                (int)scheme->name_len, scheme->name, b->name, setting->value_len);
    memcpy(value, setting->value, setting->value_len);
    value[setting->value_len] = '\0';
    if (kvs_param_parse(found, value, &number, &why) != KVS_OK)
        return kvs_adopt_refuse(adopt, "scheme '%.*s' of backend '%s': %s", (int)scheme->name_len,
                                scheme->name, b->name, why.text);
    return KVS_OK;
}

static int check_schemes(const struct kvs_backend *b, const struct kvs_adopt *adopt)
{
    struct kvs_scheme scheme;
    struct kvs_setting setting;
    for (const char *at = b->schemes; kvs_scheme_next(&at, &scheme);) {
        if (scheme.name_len == 0 || scheme.name_len > 63 || kvs_name_span(scheme.name) != scheme.name_len)
            return kvs_adopt_refuse(
                adopt, "backend '%s' lists scheme '%.*s', which is not of a-z, 0-9, _ and -, a letter first",
                b->name, (int)(scheme.name_len < 64 ? scheme.name_len : 64), scheme.name);
        for (size_t pos = 0; kvs_setting_next(&scheme, &pos, &setting);) {
            int rc = check_setting(b, &scheme, &setting, adopt);
            if (rc != KVS_OK)
                return rc;
        }
    }
    return KVS_OK;
}

int kvs_adopt_params(const struct kvs_backend *b, const struct kvs_adopt *adopt)
{
    int rc = KVS_OK;
    for (uint32_t i = 0; i < b->nparams && rc == KVS_OK; i++) {
        rc = check_name(b, i, adopt);
        if (rc == KVS_OK)
            rc = check_values(b, &b->params[i], adopt);
        if (rc == KVS_OK)
            rc = check_claims(b, i, adopt);
    }
    return rc == KVS_OK ? check_schemes(b, adopt) : rc;
}
