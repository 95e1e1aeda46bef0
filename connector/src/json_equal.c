/* SPDX-License-Identifier: Apache-2.0 */
/* Are two values equal? Numbers are compared as decimals, without any limit of a machine's. */
#include "json.h"

#include <string.h>

/* 0.DIGITS times ten to the power. The digits are where the text has them, a point among them, without zeros
 * at either end; none: it is 0. */
struct decimal {
    bool negative;
    bool huge; /* the exponent is beyond all that can be told apart here */
    const char *at, *end;
    int64_t power;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_exponent(char c)
{
    return c == 'e' || c == 'E';
}

/* What stands behind the 'e'. */
static void read_exponent(struct decimal *d, const char *p, const char *end)
{
    const int64_t most = INT64_C(1) << 40; /* more than any text has digits */
    bool negative = *p == '-';
    int64_t value = 0;

    for (p += !is_digit(*p); p < end && value < most; p++)
        value = value * 10 + (*p - '0');
    d->huge = value >= most;
    d->power += negative ? -value : value;
}

static struct decimal decimal(const char *text, size_t len)
{
    const char *end = text + len;
    struct decimal d = {.negative = *text == '-', .at = text};
    d.at += d.negative;
    const char *p = d.at;

    while (p < end && is_digit(*p))
        p++;
    d.power = p - d.at;
    while (p < end && !is_exponent(*p))
        p++;
    d.end = p;
    if (p < end)
        read_exponent(&d, p + 1, end);
    for (; d.at < d.end && (*d.at == '0' || *d.at == '.'); d.at++)
        d.power -= *d.at == '0';
    while (d.end > d.at && (d.end[-1] == '0' || d.end[-1] == '.'))
        d.end--;
    if (d.at == d.end)
        d.power = 0, d.negative = d.huge = false; /* 0, -0, 0e9 */
    return d;
}

static bool equal_numbers(const struct kvs_json *a, const struct kvs_json *b)
{
    struct decimal x = decimal(a->text, a->len), y = decimal(b->text, b->len);

    if (x.huge || y.huge || x.negative != y.negative || x.power != y.power)
        return false;
    for (;;) {
        x.at += x.at < x.end && *x.at == '.';
        y.at += y.at < y.end && *y.at == '.';
        if (x.at == x.end || y.at == y.end)
            return x.at == x.end && y.at == y.end;
        if (*x.at++ != *y.at++)
            return false;
    }
}

static bool is_number(const struct kvs_json *value)
{
    return value->kind == KVS_JSON_PLAIN && (is_digit(value->text[0]) || value->text[0] == '-');
}

bool kvs_json_equal(const struct kvs_json *a, const struct kvs_json *b)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind == KVS_JSON_PLAIN || a->kind == KVS_JSON_STRING) {
        if (a->len == b->len && memcmp(a->text, b->text, a->len) == 0)
            return true;
        return is_number(a) && is_number(b) && equal_numbers(a, b);
    }
    const struct kvs_json *x = a->first, *y = b->first;
    for (; x && y; x = x->next, y = y->next) {
        if ((a->kind == KVS_JSON_OBJECT && kvs_json_name_order(x, y) != 0) || !kvs_json_equal(x, y))
            return false;
    }
    return !x && !y;
}
