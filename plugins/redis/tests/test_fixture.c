/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of redis stand on: a server of their own, and one that plays a script. */
#include "fake.h"
#include "server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static int connect_to(int port)
{
    struct sockaddr_in in = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    if (connect(fd, (struct sockaddr *)&in, sizeof(in)) == 0)
        return fd;
    close(fd);
    return -1;
}

static void test_server(void **state)
{
    (void)state;
    static const char *const args[] = {"--maxclients", "7", NULL};
    struct server_options options = {.args = args, .password = "open, sesame"};
    struct server s;
    char text[256];
    options.password = "open-sesame";
    assert_true(server_start(&s, &options));
    assert_true(server_says(&s, "maxclients\n7", "CONFIG GET maxclients"));
    assert_true(server_says(&s, "OK", "SET k \"a\\r\\nb\""));
    assert_true(server_says(&s, "a\r\nb", "GET k"));
    assert_true(server_says(&s, "", "GET none"));
    assert_true(server_info(&s, "total_commands_processed") > 0);
    int fd = connect_to(s.port);
    assert_true(fd >= 0);
    assert_int_equal(send(fd, "GET k\r\n", 7, MSG_NOSIGNAL), 7);
    ssize_t n = recv(fd, text, sizeof(text) - 1, 0);
    assert_true(n > 0);
    text[n] = '\0';
    assert_non_null(strstr(text, "NOAUTH"));
    close(fd);
    server_kill(&s);
    assert_int_equal(connect_to(s.port), -1);
    assert_true(server_restart(&s));
    assert_true(server_says(&s, "", "GET k"));
    server_stop(&s);
    server_end(&s);
    assert_int_not_equal(access(s.folder, F_OK), 0);
}

static void test_durable(void **state)
{
    (void)state;
    struct server_options options = {.durable = true};
    struct server s;
    assert_true(server_start(&s, &options));
    int port = s.port;
    assert_true(server_says(&s, "OK", "SET k v"));
    server_kill(&s);
    assert_true(server_restart(&s));
    assert_int_equal(s.port, port);
    assert_true(server_says(&s, "v", "GET k"));
    server_pause(&s);
    int fd = connect_to(port); /* the kernel takes it */
    char c;
    assert_int_equal(send(fd, "PING\r\n", 6, MSG_NOSIGNAL), 6);
    assert_int_equal(recv(fd, &c, 1, MSG_DONTWAIT), -1);
    server_resume(&s);
    assert_int_equal(recv(fd, &c, 1, 0), 1);
    close(fd);
    server_end(&s);
}

static void test_tls(void **state)
{
    (void)state;
    struct server_options options = {.tls = true};
    struct server s;
    char port[32], ca[128], log[128], name[32] = "localhost";
    assert_true(server_start(&s, &options));
    snprintf(port, sizeof(port), "127.0.0.1:%d", s.tls_port);
    snprintf(ca, sizeof(ca), "%s", server_file(&s, "ca.pem"));
    snprintf(log, sizeof(log), "%s", server_file(&s, "s_client.log"));
    const char *argv[] = {"openssl",
                          "s_client",
                          "-connect",
                          port,
                          "-CAfile",
                          ca,
                          "-verify_hostname",
                          name,
                          "-verify_return_error",
                          NULL};
    assert_int_equal(server_run_tool(argv, log), 0);
    snprintf(name, sizeof(name), "other.invalid");
    assert_int_not_equal(server_run_tool(argv, log), 0);
    snprintf(name, sizeof(name), "localhost");
    snprintf(ca, sizeof(ca), "%s", server_file(&s, "other-ca.pem"));
    assert_int_not_equal(server_run_tool(argv, log), 0);
    server_end(&s);
}

static bool script(struct fake_conn *c, const struct fake_command *command, void *arg)
{
    _Atomic int *seen = arg;
    if (strcmp(command->name, "SLOW") == 0)
        return fake_say_slowly(c, "+OK\r\n", 5);
    if (strcmp(command->name, "PART") == 0)
        return fake_say_part(c, "+O", 2);
    if (strcmp(command->name, "HANG") == 0)
        return fake_hang(c);
    if (strcmp(command->name, "LONG") == 0) {
        *seen = (int)command->len[1];
        return fake_half_close(c);
    }
    return fake_answer_empty(c, command, arg);
}

/* Sends `what`, and reads until there are len bytes, or the end, or an error; how many, -1: reset. */
static int talk(int fd, const char *what, char *answer, int len)
{
    int got = 0;
    assert_int_equal(send(fd, what, strlen(what), MSG_NOSIGNAL), (int)strlen(what));
    while (got < len) {
        ssize_t n = recv(fd, answer + got, (size_t)(len - got), 0);
        if (n <= 0)
            return n < 0 ? -1 : got;
        got += (int)n;
    }
    return got;
}

static void test_fake(void **state)
{
    (void)state;
    _Atomic int seen = 0;
    struct fake *f = fake_start(false, script, &seen);
    char answer[64];
    assert_non_null(f);
    int fd = connect_to(fake_port(f)), other = connect_to(fake_port(f));
    assert_int_equal(talk(fd, "*2\r\n$4\r\nmget\r\n$1\r\na\r\n", answer, 9), 9);
    assert_memory_equal(answer, "*1\r\n$-1\r\n", 9);
    assert_int_equal(talk(fd, "*1\r\n$4\r\nSLOW\r\n", answer, 5), 5);
    assert_int_equal(talk(fd, "*2\r\n$4\r\nLONG\r\n$700\r\n", answer, 0), 0);
    memset(answer, 'x', sizeof(answer));
    for (int i = 0; i < 70; i++)
        assert_int_equal(send(fd, answer, 10, MSG_NOSIGNAL), 10);
    assert_int_equal(talk(fd, "\r\n", answer, 1), 0); /* it has closed its half */
    assert_int_equal(seen, 700);
    fake_await_commands(f, 3);
    assert_int_equal(talk(other, "*1\r\n$4\r\nPART\r\n", answer, 5), -1);
    assert_int_equal(errno, ECONNRESET);
    close(other);
    close(fd);
    fd = connect_to(fake_port(f));
    assert_int_equal(talk(fd, "*1\r\n$4\r\nHANG\r\n", answer, 0), 0);
    fake_await_commands(f, 5);
    assert_int_equal(fake_connections(f), 3);
    assert_int_equal(recv(fd, answer, 1, MSG_DONTWAIT), -1);
    fake_end(f); /* also that one */
    close(fd);
    f = fake_start(true, script, &seen);
    assert_non_null(f);
    assert_int_equal(access(fake_socket(f), F_OK), 0);
    fake_end(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_server),
        cmocka_unit_test(test_durable),
        cmocka_unit_test(test_tls),
        cmocka_unit_test(test_fake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
