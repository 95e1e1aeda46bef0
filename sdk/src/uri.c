/* SPDX-License-Identifier: Apache-2.0 */
#include "uri.h"
#include "err.h"
#include "params.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

const char *const kvs_part_names[KVS_PART_COUNT] = {"user", "password", "host", "port", "path"};

size_t kvs_name_span(const char *text)
{
    if (*text < 'a' || *text > 'z')
        return 0;
    return strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_-");
}

size_t kvs_target_scheme(const char *target)
{
    size_t scheme = kvs_name_span(target), at = scheme;
    if (scheme == 0 || target[at] == '\0')
        return scheme;
    if (target[at] == '+') {
        size_t variant = kvs_name_span(target + at + 1);
        if (variant == 0)
            return 0;
        at += 1 + variant;
    }
    return target[at] == ':' ? scheme : 0;
}

/* Where in an authority without '@' a port stands that is no number: "user:password" whose host was
 * forgotten. */
static size_t odd_port(const char *target, size_t start, size_t len)
{
    size_t end = start + strcspn(target + start, "/?"),
           host = target[start] == '[' ? strcspn(target + start, "]") : 0;
    size_t colon = start + host + strcspn(target + start + host, ":");
    if (end > len)
        end = len;
    if (colon >= end || colon + 1 + strspn(target + colon + 1, "0123456789") >= end)
        return len;
    return colon + 1;
}

const char *kvs_target_show(char *buf, size_t size, const char *target)
{
    size_t scheme = strcspn(target, ":"), start = scheme, len = strcspn(target, "?");
    if (target[scheme] == '\0')
        start = scheme = 0;
    else
        start += strncmp(target + scheme, "://", 3) == 0 ? 3 : 1;
    bool query = target[len] == '?';
    if (start > len)
        start = len;
    /* All before the last '@' may be a password, also one that should have been escaped and has a '/' or '?'
     * in it. */
    const char *at = strrchr(target, '@');
    char *text = malloc(len + sizeof "***@***?..." + 1);
    if (!text)
        return kvs_show_bytes(buf, size, target, scheme);
    size_t n = start;
    memcpy(text, target, start);
    if (at && at >= target + start) {
        memcpy(text + n, "***", 3);
        n += 3;
        start = (size_t)(at - target);
    }
    size_t shown = at || strncmp(target + scheme, "://", 3) != 0 ? len : odd_port(target, start, len);
    if (start < shown) {
        memcpy(text + n, target + start, shown - start);
        n += shown - start;
    }
    if (shown < len) {
        memcpy(text + n, "***", 3);
        n += 3;
    }
    if (query) {
        memcpy(text + n, "?...", 4);
        n += 4;
    }
    kvs_show_bytes(buf, size, text, n);
    free(text);
    return buf;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* Decodes %XX in place. False: a bad escape, or %00. */
static bool percent_decode(char *text)
{
    char *out = text;
    for (const char *in = text; *in; in++) {
        if (*in != '%') {
            *out++ = *in;
            continue;
        }
        int high = hex_digit(in[1]), low = high < 0 ? -1 : hex_digit(in[2]);
        if (low < 0 || (high == 0 && low == 0))
            return false;
        *out++ = (char)(high << 4 | low);
        in += 2;
    }
    *out = '\0';
    return true;
}

static int malformed(const char *target, const char *why, struct kvs_error *err)
{
    char shown[200];
    return kvs_err_set(err, KVS_INVALID_PARAM, "target '%s' is malformed: %s",
                       kvs_target_show(shown, sizeof shown, target), why);
}

/* Decodes what stands in a part; an empty one is none, but for a password, which may be empty. */
static const char *take_part(struct kvs_uri *uri, enum kvs_uri_part part, char *text)
{
    if (!percent_decode(text))
        return "a '%' is not followed by two hexadecimal digits other than 00";
    if (*text || part == KVS_PART_PASSWORD)
        uri->parts[part] = text;
    return NULL;
}

static const char *take_port(struct kvs_uri *uri, char *text)
{
    size_t n = strspn(text, "0123456789");
    long number = n > 0 && n <= 5 && text[n] == '\0' ? strtol(text, NULL, 10) : 0;
    if (number < 1 || number > 65535)
        return "its port is not a number from 1 to 65535";
    uri->parts[KVS_PART_PORT] = text;
    return NULL;
}

/* [address] or [address%zone], decoded in place. */
static const char *take_ipv6(struct kvs_uri *uri, char *text, char **rest)
{
    char *end = strchr(text, ']');
    if (!end)
        return "the '[' of its host has no ']'";
    *end = '\0';
    *rest = end + 1;
    const char *why = take_part(uri, KVS_PART_HOST, text);
    if (why)
        return why;
    char address[INET6_ADDRSTRLEN];
    struct in6_addr parsed;
    size_t len = strcspn(text, "%");
    if (len >= sizeof address)
        return "there is no IPv6 address in the brackets";
    memcpy(address, text, len);
    address[len] = '\0';
    if (inet_pton(AF_INET6, address, &parsed) != 1)
        return "there is no IPv6 address in the brackets";
    return NULL;
}

/* [user[:password]@]host[:port] */
static const char *take_authority(struct kvs_uri *uri, char *text)
{
    const char *why = NULL;
    char *at = strrchr(text, '@'), *host = text, *port;
    if (at) {
        *at = '\0';
        host = at + 1;
        char *colon = strchr(text, ':');
        if (colon) {
            *colon = '\0';
            why = take_part(uri, KVS_PART_PASSWORD, colon + 1);
        }
        if (!why)
            why = take_part(uri, KVS_PART_USER, text);
    }
    if (!why && *host == '[') {
        why = take_ipv6(uri, host + 1, &port);
        if (!why && *port != '\0' && *port != ':')
            why = "there is something between the ']' of its host and the port";
        return why || *port == '\0' ? why : take_port(uri, port + 1);
    }
    if (why)
        return why;
    port = strchr(host, ':');
    if (port && strchr(port + 1, ':'))
        return "its host has several colons; an IPv6 address stands in brackets";
    if (port) {
        *port = '\0';
        why = take_port(uri, port + 1);
    }
    return why ? why : take_part(uri, KVS_PART_HOST, host);
}

/* name=value&name=value; an item that is no pair is not shown, since it may be the rest of a secret. */
static const char *take_query(struct kvs_uri *uri, char *text)
{
    for (char *item = text, *next; item; item = next) {
        next = strchr(item, '&');
        if (next)
            *next++ = '\0';
        if (*item == '\0')
            continue;
        char *value = strchr(item, '=');
        if (!value)
            return "an item of its query is not of the form name=value";
        *value++ = '\0';
        if (!percent_decode(item) || !percent_decode(value))
            return "a '%' in its query is not followed by two hexadecimal digits other than 00";
        if (item[0] < 'a' || item[0] > 'z' ||
            item[strspn(item, "abcdefghijklmnopqrstuvwxyz0123456789_")] != '\0')
            return "a name in its query has other characters than a-z, 0-9 and _, or does not start with a "
                   "letter";
        uri->query[uri->nquery++] = (struct kvs_uri_pair){item, value};
    }
    return NULL;
}

/* Behind "scheme:". */
static const char *take_rest(struct kvs_uri *uri, char *rest)
{
    char *query = strchr(rest, '?');
    const char *why = NULL;
    char *path = rest;
    if (query)
        *query++ = '\0';
    if (strncmp(rest, "//", 2) == 0) {
        char *authority = rest + 2;
        path = strchr(authority, '/');
        if (path == authority)
            authority = NULL;
        else if (path)
            *path++ = '\0';
        why = authority ? take_authority(uri, authority) : NULL;
    }
    if (!why && path)
        why = take_part(uri, KVS_PART_PATH, path);
    if (!why && query)
        why = take_query(uri, query);
    return why;
}

static size_t most_pairs(const char *target)
{
    size_t n = 1;
    for (; *target; target++)
        n += *target == '&';
    return n;
}

int kvs_uri_parse(const char *target, struct kvs_uri *uri, struct kvs_error *err)
{
    memset(uri, 0, sizeof *uri);
    size_t scheme = kvs_target_scheme(target);
    if (scheme == 0)
        return malformed(
            target, "it is neither a name (a-z, 0-9, _ and -, a letter first) nor scheme[+variant]:...", err);
    uri->size = strlen(target) + 1;
    uri->text = malloc(uri->size);
    uri->query = calloc(most_pairs(target), sizeof *uri->query);
    if (!uri->text || !uri->query) {
        kvs_uri_free(uri);
        return kvs_err_set(err, KVS_NO_MEMORY, "no memory for a target of %zu bytes", strlen(target));
    }
    memcpy(uri->text, target, uri->size);
    uri->scheme = uri->text;
    char *end = uri->text + scheme;
    if (*end == '+') {
        *end++ = '\0';
        uri->variant = end;
        end += kvs_name_span(end);
    }
    const char *why = NULL;
    if (*end == ':') {
        *end++ = '\0';
        why = take_rest(uri, end);
    }
    if (!why)
        return KVS_OK;
    kvs_uri_free(uri);
    return malformed(target, why, err);
}

void kvs_uri_free(struct kvs_uri *uri)
{
    if (uri->text)
        explicit_bzero(uri->text, uri->size);
    free(uri->text);
    free(uri->query);
    memset(uri, 0, sizeof *uri);
}
