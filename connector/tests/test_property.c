/* SPDX-License-Identifier: Apache-2.0 */
/* Random values, written as no library would write them, come back in the one form that they have. The
 * generator makes both texts itself, and knows nothing of the library's code. */
#include "connector_test.h"
#include "random_text.h"

#include <time.h>

/* ---- Numbers ---- */

static void digits(char *to, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        to[i] = (char)('0' + below(10));
    to[n] = '\0';
}

static void number(struct both *b)
{
    char text[128] = "", more[64];
    int64_t i = (int64_t)(draw() >> below(64));
    switch (below(4)) {
    case 0:
        snprintf(text, sizeof text, "%lld", (long long)(below(2) ? i : -i));
        break;
    case 1:
        snprintf(text, sizeof text, "%llu", (unsigned long long)draw() | UINT64_C(1) << 63);
        break;
    default:
        strcpy(text, below(2) ? "-" : "");
        digits(more, 1 + below(30));
        if (more[0] == '0')
            more[1] = '\0';
        strcat(text, more);
        if (below(2)) {
            digits(more, 1 + below(30));
            strcat(strcat(text, "."), more);
        }
        if (below(2)) {
            static const char *const e[] = {"e", "E", "e+", "E-", "e-"};
            digits(more, 1 + below(20));
            strcat(strcat(text, e[below(5)]), more);
        }
    }
    token(b, text);
}

/* ---- Values ---- */

static void value(struct both *b, unsigned depth);

static void array(struct both *b, unsigned depth)
{
    unsigned n = below(5);
    token(b, "[");
    for (unsigned i = 0; i < n; i++) {
        if (i > 0)
            token(b, ",");
        value(b, depth + 1);
    }
    token(b, "]");
}

enum { MOST_MEMBERS = 6 };

/* Members in random order, some of one name; then the two flags, where it is the outermost. */
static void object(struct both *b, unsigned depth)
{
    struct string names[MOST_MEMBERS];
    struct text outs[MOST_MEMBERS];
    unsigned n = below(MOST_MEMBERS), order[MOST_MEMBERS], left = 0;

    n += depth == 0 && n == 0;
    puts_(&b->in, "{");
    for (unsigned i = 0; i < n; i++) {
        struct both one = {.in = b->in};
        names[i] = i > 0 && below(4) == 0 ? names[below(i)] : random_string();
        if (i > 0)
            puts_(&one.in, ",");
        blank(&one);
        put_string_in(&one.in, &names[i]);
        blank(&one);
        puts_(&one.in, ":");
        value(&one, depth + 1);
        b->in = one.in;
        outs[i] = one.out;
    }
    puts_(&b->in, "}");
    for (unsigned i = 0; i < n; i++) { /* the last of each name, sorted */
        bool last = true;
        for (unsigned k = i + 1; k < n; k++)
            last = last && string_order(&names[i], &names[k]) != 0;
        unsigned at = left;
        if (!last)
            continue;
        for (; at > 0 && string_order(&names[order[at - 1]], &names[i]) > 0; at--)
            order[at] = order[at - 1];
        order[at] = i;
        left++;
    }
    puts_(&b->out, "{");
    for (unsigned i = 0; i < left; i++) {
        if (i > 0)
            puts_(&b->out, ",");
        put_string_out(&b->out, &names[order[i]]);
        puts_(&b->out, ":");
        put(&b->out, outs[order[i]].data, outs[order[i]].len);
    }
    puts_(&b->out, "}");
    for (unsigned i = 0; i < n; i++)
        free(outs[i].data);
}

static void value(struct both *b, unsigned depth)
{
    static const char *const words[] = {"null", "true", "false"};
    switch (below(depth < 6 ? 6 : 4)) {
    case 0:
        token(b, words[below(3)]);
        break;
    case 1:
    case 2:
        number(b);
        break;
    case 3: {
        struct string s = random_string();
        blank(b);
        put_string_in(&b->in, &s);
        put_string_out(&b->out, &s);
        blank(b);
        break;
    }
    case 4:
        array(b, depth);
        break;
    default:
        object(b, depth);
    }
}

/* ---- The property ---- */

#define FLAGS "\"do_remote_decode\":false,\"do_remote_prefill\":true"

/* {"a":OUT,FLAGS} of {"a":IN}; and what has come out once comes out again. */
static bool holds(const kvs_connector *c, const struct both *b, char *why, size_t size)
{
    struct text in = {0}, want = {0};
    struct kvs_error err = {0};
    char *json = NULL, *again = NULL;
    size_t len = 0, again_len = 0;

    put(&in, "{\"a\":", 5);
    put(&in, b->in.data, b->in.len);
    put(&in, "}", 1);
    put(&want, "{\"a\":", 5);
    put(&want, b->out.data, b->out.len);
    puts_(&want, "," FLAGS "}");
    char *input = exact(in.data, in.len);
    int status = kvs_connector_decode(c, input, in.len, &json, &len, NULL, &err);
    bool ok = status == KVS_OK && len == want.len && memcmp(json, want.data, len) == 0;
    if (!ok)
        snprintf(why, size, "in:   %s\nwant: %s\ngot:  %s", in.data, want.data, json ? json : err.text);
    if (ok) {
        status = kvs_connector_decode(c, json, len, &again, &again_len, NULL, &err);
        ok = status == KVS_OK && again_len == len && memcmp(json, again, len) == 0;
        if (!ok)
            snprintf(why, size, "in:    %s\nonce:  %s\ntwice: %s", in.data, json, again ? again : err.text);
    }
    kvs_connector_text_free(json);
    kvs_connector_text_free(again);
    free(input);
    free(in.data);
    free(want.data);
    return ok;
}

static uint64_t first_seed;
#ifdef KVS_TESTS_WRAPPED
static unsigned count = 200;
#else
static unsigned count = 2000;
#endif

static void round_trips(void **state)
{
    (void)state;
    static char why[20000];
    kvs_connector *c = build("kv-nixl", NULL, NULL);
    for (unsigned i = 0; i < count; i++) {
        struct both b = {0};
        uint64_t seed = first_seed + i;
        random_state = seed;
        value(&b, 1);
        if (!holds(c, &b, why, sizeof why))
            fail_msg("%s\nagain: KVS_TEST_SEED=%llu KVS_TEST_COUNT=1 test_connector_property", why,
                     (unsigned long long)seed);
        free(b.in.data);
        free(b.out.data);
    }
    kvs_connector_free(c);
}

int main(void)
{
    const char *seed = getenv("KVS_TEST_SEED"), *n = getenv("KVS_TEST_COUNT");
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    first_seed =
        seed ? strtoull(seed, NULL, 10) : (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
    if (n)
        count = (unsigned)strtoul(n, NULL, 10);
    printf("seed: again with KVS_TEST_SEED=%llu\n", (unsigned long long)first_seed);
    const struct CMUnitTest tests[] = {cmocka_unit_test(round_trips)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
