/* SPDX-License-Identifier: Apache-2.0 */
/* hiredis with blocking calls: commands are put into its buffer as long as the window allows, and replies
 * taken out. */
#include "cases.h"

#include <hiredis/hiredis.h>
#include <string.h>

static redisContext *contexts[2];

static redisContext *context(bool unix_socket)
{
    redisContext **r = &contexts[unix_socket];
    if (*r == NULL)
        *r = unix_socket ? redisConnectUnix(server_path()) : redisConnect("127.0.0.1", server_number());
    if (*r == NULL || (*r)->err != 0)
        bench_fail("hiredis", *r == NULL ? "no memory" : (*r)->errstr);
    return *r;
}

static void append(redisContext *r, const struct redis_case *c, struct part part, uint32_t i)
{
    const char *argv[] = {c->get ? "GET" : "SET", key_at(c, i), value_at(c, i)};
    const size_t len[] = {3, KEY, part.size};
    if (redisAppendCommandArgv(r, c->get ? 2 : 3, argv, len) != REDIS_OK)
        bench_fail("hiredis", r->errstr);
}

static void take(redisContext *r, const struct redis_case *c, struct part part, uint32_t i)
{
    union {
        redisReply *reply;
        void *any;
    } got;
    if (redisGetReply(r, &got.any) != REDIS_OK)
        bench_fail("hiredis", r->errstr);
    if (c->get && got.reply->type == REDIS_REPLY_STRING && (size_t)got.reply->len == part.size)
        memcpy(value_at(c, i), got.reply->str, part.size);
    else if (c->get || got.reply->type != REDIS_REPLY_STATUS)
        bench_fail("hiredis", "a wrong reply");
    freeReplyObject(got.reply);
}

uint64_t plain_run(void *arg, uint64_t n)
{
    const struct redis_case *c = arg;
    struct part part = part_of(c);
    redisContext *r = context(c->unix_socket);
    uint64_t start = bench_now();
    for (uint64_t k = 0; k < n; k++) {
        uint32_t next = 0, taken = 0;
        while (taken < part.count) {
            do
                append(r, c, part, next++);
            while (next < part.count && (uint64_t)(next - taken + 1) * part.size <= WINDOW);
            while (taken < next)
                take(r, c, part, taken++);
        }
    }
    return bench_now() - start;
}

/* One command, by the call that everybody knows. */
uint64_t plain_single_run(void *arg, uint64_t n)
{
    const struct redis_case *c = arg;
    struct part part = part_of(c);
    redisContext *r = context(c->unix_socket);
    uint64_t start = bench_now();
    for (uint64_t k = 0; k < n; k++) {
        redisReply *reply = c->get ? redisCommand(r, "GET %b", key_at(c, 0), (size_t)KEY)
                                   : redisCommand(r, "SET %b %b", key_at(c, 0), (size_t)KEY, value_at(c, 0),
                                                  (size_t)part.size);
        if (reply == NULL || reply->type == REDIS_REPLY_ERROR)
            bench_fail("hiredis", "a wrong reply");
        if (c->get)
            memcpy(value_at(c, 0), reply->str, part.size);
        freeReplyObject(reply);
    }
    return bench_now() - start;
}

void write_values(const struct redis_case *c)
{
    struct redis_case put = *c;
    put.get = false;
    plain_run(&put, 1);
}
