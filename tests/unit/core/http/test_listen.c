/* SPDX-License-Identifier: Apache-2.0 */
/* test_listen.c - sockets of every kind that a server listens on. */
#include "net.h"

#include <sys/un.h>

static void on_inline(void *ctx, struct http_exchange *x)
{
    (void)ctx;
    net_reply_text(x, 200, "fine");
}

static const char GET[] = "GET /v1/x HTTP/1.1\r\nHost: a\r\n\r\n";

static void serves_a_unix_socket(void **state)
{
    (void)state;
    char path[64];
    snprintf(path, sizeof path, "/tmp/http-test-%d.sock", (int)getpid());
    struct http_server *s = net_serve((struct http_server_options){ .on_request = on_inline, .unix_path = path, .loops = 2 });
    for (int i = 0; i < 20; i++) {
        struct sockaddr_un a = { .sun_family = AF_UNIX };
        memcpy(a.sun_path, path, strlen(path));
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
        char reply[1024];
        bool eof;
        net_send_c(fd, GET);
        net_read(fd, reply, sizeof reply, "fine", PATIENCE_MS, &eof);
        assert_int_equal(net_status(reply), 200);
        close(fd);
    }
    http_server_free(s);
    assert_int_equal(access(path, F_OK), -1);
}

static bool machine_has_ipv6(void)
{
    struct sockaddr_in6 a = { .sin6_family = AF_INET6, .sin6_addr = in6addr_loopback };
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool has = fd >= 0 && bind(fd, (struct sockaddr *)&a, sizeof a) == 0;
    if (fd >= 0)
        close(fd);
    return has;
}

/* Serves where the machine has IPv6, and refuses by name where it has none. */
static void serves_ipv6(void **state)
{
    (void)state;
    struct err e = { 0 };
    struct http_server *s = http_server_new(&(struct http_server_options){ .on_request = on_inline, .bind_addr = "::1" }, &e);
    if (!machine_has_ipv6()) {
        print_message("note: no IPv6 on this machine\n");
        assert_null(s);
        assert_non_null(strstr(e.msg, "::1"));
        return;
    }
    assert_non_null(s);
    struct sockaddr_in6 a = { .sin6_family = AF_INET6, .sin6_addr = in6addr_loopback };
    a.sin6_port = htons((uint16_t)http_server_port(s));
    int fd = socket(AF_INET6, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
    char reply[1024];
    bool eof;
    net_send_c(fd, GET);
    net_read(fd, reply, sizeof reply, "fine", PATIENCE_MS, &eof);
    assert_int_equal(net_status(reply), 200);
    close(fd);
    http_server_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(serves_a_unix_socket),
        cmocka_unit_test(serves_ipv6),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
