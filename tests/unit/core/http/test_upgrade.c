/* SPDX-License-Identifier: Apache-2.0 */
/* test_upgrade.c - connections that another protocol takes over: what came with the request, an end from either side, and of the
 * server. */
#include "ws_echo.h"

#define ASK "GET /x HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" \
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
#define HELLO "\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58"        /* "Hello", masked */
#define BYE "\x81\x83\0\0\0\0bye"

static struct http_server *start(struct ws_echo *s)
{
    return net_serve((struct http_server_options){ .on_request = ws_echo_request, .ctx = s });
}

static void bytes_that_came_with_the_request_are_not_lost(void **state)
{
    (void)state;
    struct ws_echo s = { 0 };
    struct http_server *server = start(&s);
    int fd = net_connect(http_server_port(server));
    char reply[1024];
    bool eof;
    net_send(fd, ASK HELLO, sizeof ASK HELLO - 1);
    net_read(fd, reply, sizeof reply, "Hello", PATIENCE_MS, &eof);
    assert_non_null(strstr(reply, "101 "));
    assert_non_null(strstr(reply, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
    assert_non_null(strstr(reply, "\x81\x05Hello"));
    net_send(fd, BYE, sizeof BYE - 1);
    net_read(fd, reply, sizeof reply, NULL, PATIENCE_MS, &eof);
    assert_true(eof);                                   /* the server gave the connection back, and it ended */
    ws_echo_join(&s);
    close(fd);
    http_server_free(server);
}

static void a_peer_that_leaves_ends_it(void **state)
{
    (void)state;
    struct ws_echo s = { 0 };
    struct http_server *server = start(&s);
    int fd = net_connect(http_server_port(server));
    char reply[1024];
    bool eof;
    net_send_c(fd, ASK);
    net_read(fd, reply, sizeof reply, "\r\n\r\n", PATIENCE_MS, &eof);
    close(fd);
    ws_echo_join(&s);
    for (int i = 0; i < PATIENCE_MS / 10 && http_server_open_exchanges(server); i++)
        usleep(10000);
    assert_int_equal(http_server_open_exchanges(server), 0);
    http_server_free(server);
}

static void a_plain_request_beside_it_is_answered(void **state)
{
    (void)state;
    struct ws_echo s = { 0 };
    struct http_server *server = start(&s);
    int fd = net_connect(http_server_port(server)), plain = net_connect(http_server_port(server));
    char reply[1024];
    bool eof;
    net_send_c(fd, ASK);
    net_read(fd, reply, sizeof reply, "\r\n\r\n", PATIENCE_MS, &eof);
    net_send_c(plain, "GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    net_read(plain, reply, sizeof reply, NULL, PATIENCE_MS, &eof);
    assert_non_null(strstr(reply, "400 "));
    assert_non_null(strstr(reply, "This address is a WebSocket"));
    net_send(fd, BYE, sizeof BYE - 1);
    ws_echo_join(&s);
    close(plain);
    close(fd);
    http_server_free(server);
}

static void the_end_of_the_server_ends_what_is_open(void **state)
{
    (void)state;
    struct ws_echo s = { .holds = true };
    struct http_server *server = start(&s);
    int fd = net_connect(http_server_port(server));
    char reply[1024];
    bool eof;
    net_send_c(fd, ASK);
    net_read(fd, reply, sizeof reply, "\r\n\r\n", PATIENCE_MS, &eof);
    net_send(fd, BYE, sizeof BYE - 1);
    ws_echo_join(&s);
    http_server_free(server);                           /* nobody gave the connection back */
    net_read(fd, reply, sizeof reply, NULL, PATIENCE_MS, &eof);
    assert_true(eof);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_that_came_with_the_request_are_not_lost),
        cmocka_unit_test(a_peer_that_leaves_ends_it),
        cmocka_unit_test(a_plain_request_beside_it_is_answered),
        cmocka_unit_test(the_end_of_the_server_ends_what_is_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
