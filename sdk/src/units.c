/* SPDX-License-Identifier: Apache-2.0 */
#include "units.h"
#include "err.h"

#include <stdio.h>
#include <string.h>

struct unit {
    const char *name;
    int64_t factor;
};

/* Of two that fit a number, the later one is shown. */
static const struct unit size_units[] = {
    {"", 1},
    {"kB", 1000},
    {"MB", 1000 * 1000},
    {"GB", 1000 * 1000 * 1000},
    {"TB", INT64_C(1000) * 1000 * 1000 * 1000},
    {"KiB", INT64_C(1) << 10},
    {"MiB", INT64_C(1) << 20},
    {"GiB", INT64_C(1) << 30},
    {"TiB", INT64_C(1) << 40},
};
static const struct unit duration_units[] = {
    {"ns", 1},
    {"us", 1000},
    {"ms", 1000 * 1000},
    {"s", 1000 * 1000 * 1000},
    {"m", INT64_C(60) * 1000 * 1000 * 1000},
    {"h", INT64_C(3600) * 1000 * 1000 * 1000},
};
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Digits from *text on, which is left behind them. */
static enum kvs_parse digits(const char **text, int64_t *number)
{
    bool over = false;
    int64_t n = 0;
    if (!is_digit(**text))
        return KVS_PARSE_MALFORMED;
    for (; is_digit(**text); (*text)++)
        over |= __builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, **text - '0', &n);
    *number = n;
    return over ? KVS_PARSE_OVERFLOW : KVS_PARSE_OK;
}

static enum kvs_parse with_unit(const char *text, const struct unit *units, size_t n, int64_t *number)
{
    int64_t value;
    enum kvs_parse rc = digits(&text, &value);
    if (rc == KVS_PARSE_MALFORMED)
        return rc;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(text, units[i].name) != 0)
            continue;
        if (rc == KVS_PARSE_OVERFLOW || __builtin_mul_overflow(value, units[i].factor, &value))
            return KVS_PARSE_OVERFLOW;
        *number = value;
        return KVS_PARSE_OK;
    }
    return KVS_PARSE_MALFORMED;
}

enum kvs_parse kvs_parse_size(const char *text, int64_t *bytes)
{
    return with_unit(text, size_units, COUNT(size_units), bytes);
}

enum kvs_parse kvs_parse_duration(const char *text, int64_t *ns)
{
    if (strcmp(text, "0") == 0) {
        *ns = 0;
        return KVS_PARSE_OK;
    }
    return with_unit(text, duration_units, COUNT(duration_units), ns);
}

enum kvs_parse kvs_parse_int(const char *text, int64_t *number)
{
    bool negative = *text == '-', over = false;
    int64_t n = 0;
    text += negative;
    if (!is_digit(*text))
        return KVS_PARSE_MALFORMED;
    /* Counted downwards, since the least number has no positive counterpart. */
    for (; is_digit(*text); text++)
        over |= __builtin_mul_overflow(n, 10, &n) || __builtin_sub_overflow(n, *text - '0', &n);
    if (*text != '\0')
        return KVS_PARSE_MALFORMED;
    if (over || (!negative && __builtin_sub_overflow(0, n, &n)))
        return KVS_PARSE_OVERFLOW;
    *number = n;
    return KVS_PARSE_OK;
}

enum kvs_parse kvs_parse_bool(const char *text, int64_t *yes)
{
    static const char *const words[] = {"no", "yes", "false", "true", "off", "on", "0", "1"};
    for (size_t i = 0; i < COUNT(words); i++) {
        if (strcmp(text, words[i]) == 0) {
            *yes = (int64_t)(i % 2);
            return KVS_PARSE_OK;
        }
    }
    return KVS_PARSE_MALFORMED;
}

enum kvs_parse kvs_parse_enum(const char *choices, const char *text, int64_t *place)
{
    size_t len = strlen(text);
    int64_t i = 0;
    for (const char *word = choices; word && len > 0; i++) {
        size_t n = strcspn(word, "|");
        if (n == len && memcmp(word, text, n) == 0) {
            *place = i;
            return KVS_PARSE_OK;
        }
        word = word[n] ? word + n + 1 : NULL;
    }
    return KVS_PARSE_MALFORMED;
}

static const char *format_unit(char *buf, size_t size, int64_t number, const struct unit *units, size_t n)
{
    const struct unit *best = &units[0];
    for (size_t i = 1; i < n; i++)
        if (number != 0 && number % units[i].factor == 0)
            best = &units[i];
    snprintf(buf, size, "%lld%s", (long long)(number / best->factor), best->name);
    return buf;
}

const char *kvs_format_size(char *buf, size_t size, int64_t bytes)
{
    return format_unit(buf, size, bytes, size_units, COUNT(size_units));
}

const char *kvs_format_duration(char *buf, size_t size, int64_t ns)
{
    if (ns == 0) {
        snprintf(buf, size, "0");
        return buf;
    }
    return format_unit(buf, size, ns, duration_units, COUNT(duration_units));
}

static const char *format_number(char *buf, size_t size, uint32_t type, int64_t n)
{
    if (type == KVS_PARAM_SIZE)
        return kvs_format_size(buf, size, n);
    if (type == KVS_PARAM_DURATION)
        return kvs_format_duration(buf, size, n);
    snprintf(buf, size, "%lld", (long long)n);
    return buf;
}

/* What a parameter may be, in words; `over`: the value has the form, but is no such number. */
static void describe(const struct kvs_param *param, bool over, char *buf, size_t size)
{
    char low[32], high[32];
    int at = 0;
    switch (param->type) {
    case KVS_PARAM_BOOL:
        snprintf(buf, size, "yes or no");
        return;
    case KVS_PARAM_ENUM:
        snprintf(buf, size, "one of %s", param->choices ? param->choices : "");
        return;
    case KVS_PARAM_INT:
        at = snprintf(buf, size, "a whole number");
        break;
    case KVS_PARAM_SIZE:
        at = snprintf(buf, size, "a size such as 4096, 64KiB, 10MB or 1GiB");
        break;
    case KVS_PARAM_DURATION:
        at = snprintf(buf, size, "a duration such as 10us, 500ms, 30s, 2m, 1h or 0");
        break;
    default:
        snprintf(buf, size, "a text");
        return;
    }
    if (param->max == INT64_MAX)
        snprintf(buf + at, size - (size_t)at, ", at least %s",
                 format_number(low, sizeof low, param->type, param->min));
    else if (param->min != 0 || param->max != 0)
        snprintf(buf + at, size - (size_t)at, ", from %s to %s",
                 format_number(low, sizeof low, param->type, param->min),
                 format_number(high, sizeof high, param->type, param->max));
    else if (over)
        snprintf(buf + at, size - (size_t)at, " that 63 bits hold");
}

static int refuse(const struct kvs_param *param, const char *text, bool over, struct kvs_error *err)
{
    char allowed[200], shown[100];
    describe(param, over, allowed, sizeof allowed);
    if (param->flags & KVS_PARAM_SECRET)
        return kvs_err_set(err, KVS_INVALID_PARAM, "parameter '%.64s' has a value (secret) that is not %s",
                           param->name, allowed);
    return kvs_err_set(err, KVS_INVALID_PARAM, "parameter '%.64s' is '%s'; it must be %s", param->name,
                       kvs_show_bytes(shown, sizeof shown, text, strlen(text)), allowed);
}

int kvs_param_parse(const struct kvs_param *param, const char *text, int64_t *number, struct kvs_error *err)
{
    enum kvs_parse rc = KVS_PARSE_MALFORMED;
    int64_t n = 0;
    switch (param->type) {
    case KVS_PARAM_STRING:
        *number = 0;
        return KVS_OK;
    case KVS_PARAM_BOOL:
        rc = kvs_parse_bool(text, &n);
        break;
    case KVS_PARAM_INT:
        rc = kvs_parse_int(text, &n);
        break;
    case KVS_PARAM_SIZE:
        rc = kvs_parse_size(text, &n);
        break;
    case KVS_PARAM_DURATION:
        rc = kvs_parse_duration(text, &n);
        break;
    case KVS_PARAM_ENUM:
        rc = kvs_parse_enum(param->choices, text, &n);
        break;
    default:
        break;
    }
    bool ranged =
        param->type == KVS_PARAM_INT || param->type == KVS_PARAM_SIZE || param->type == KVS_PARAM_DURATION;
    if (rc == KVS_PARSE_OK && ranged && (param->min != 0 || param->max != 0) &&
        (n < param->min || n > param->max))
        rc = KVS_PARSE_OVERFLOW;
    if (rc != KVS_PARSE_OK)
        return refuse(param, text, rc == KVS_PARSE_OVERFLOW, err);
    *number = n;
    return KVS_OK;
}
