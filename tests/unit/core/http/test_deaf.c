/* SPDX-License-Identifier: Apache-2.0 */
/* test_deaf.c - whom the kernel does not answer, of both families, by a clock of its own. */
#include "net.h"
#include "core/http/deaf.h"

enum { LOOPS = 3 };

/* LOOPS sockets on one port of `at`, which is completed. */
static void listen_on(struct sockaddr *at, socklen_t n, int fds[LOOPS])
{
    int one = 1, zero = 0;
    for (int i = 0; i < LOOPS; i++) {
        fds[i] = socket(at->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        assert_true(fds[i] >= 0);
        assert_int_equal(setsockopt(fds[i], SOL_SOCKET, SO_REUSEPORT, &one, sizeof one), 0);
        if (at->sa_family == AF_INET6)
            assert_int_equal(setsockopt(fds[i], IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof zero), 0);
        assert_int_equal(bind(fds[i], at, n), 0);
        assert_int_equal(listen(fds[i], 1024), 0);
        assert_int_equal(getsockname(fds[i], at, &n), 0);
    }
}

/* A connection from one address to another is made at once on this machine, or not at all. -1: not. */
static int knock(const struct sockaddr *from, const struct sockaddr *to, socklen_t n)
{
    int fd = socket(from->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, from, n), 0);
    (void)connect(fd, to, n);
    struct pollfd f = { fd, POLLOUT, 0 };
    if (poll(&f, 1, 0) == 1 && !(f.revents & (POLLERR | POLLHUP)))
        return fd;
    close(fd);
    return -1;
}

static bool is_heard(const struct sockaddr *from, const struct sockaddr *to, socklen_t n)
{
    int fd = knock(from, to, n);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static struct sockaddr_in four(uint32_t last)
{
    return (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK + last) };
}

static void close_all(const int fds[LOOPS])
{
    for (int i = 0; i < LOOPS; i++)
        close(fds[i]);
}

/* Every one of many attempts, since which socket gets one is left to chance. */
static void of_ipv4_one_address(void **state)
{
    (void)state;
    struct sockaddr_in at = four(0), loud = four(1), other = four(2);
    const struct sockaddr *to = (void *)&at, *a = (void *)&loud, *b = (void *)&other;
    int fds[LOOPS];
    listen_on((void *)&at, sizeof at, fds);
    struct deaf *d = deaf_new(fds[0], LOOPS);
    assert_non_null(d);
    for (int i = 0; i < 50; i++)
        assert_true(is_heard(a, to, sizeof at));
    deaf_add(d, a, 1000);
    deaf_look(d, 1000 + DEAF_US - 1);
    for (int i = 0; i < 50; i++) {
        assert_false(is_heard(a, to, sizeof at));
        assert_true(is_heard(b, to, sizeof at));
    }
    deaf_look(d, 1000 + DEAF_US);
    for (int i = 0; i < 50; i++)
        assert_true(is_heard(a, to, sizeof at));
    deaf_free(d);
    for (int i = 0; i < 50; i++)
        assert_true(is_heard(a, to, sizeof at));
    close_all(fds);
}

/* On a socket of both families: the IPv6 one is not heard, IPv4 is; then the other way round. */
static void of_ipv6_its_network(void **state)
{
    (void)state;
    struct sockaddr_in6 at = { .sin6_family = AF_INET6 }, six = { .sin6_family = AF_INET6, .sin6_addr = in6addr_loopback };
    struct sockaddr_in v4 = four(1), to4 = four(0);
    int fds[LOOPS];
    listen_on((void *)&at, sizeof at, fds);
    to4.sin_port = at.sin6_port;
    at.sin6_addr = in6addr_loopback;
    const struct sockaddr *to = (void *)&at, *a = (void *)&six, *b = (void *)&v4;
    struct deaf *d = deaf_new(fds[0], LOOPS);
    assert_non_null(d);
    struct sockaddr_in6 neighbour = six;
    neighbour.sin6_addr.s6_addr[15] = 77;           /* of the same /64 */
    deaf_add(d, (const void *)&neighbour, 1000);
    for (int i = 0; i < 50; i++) {
        assert_false(is_heard(a, to, sizeof at));
        assert_true(is_heard(b, (const void *)&to4, sizeof to4));
    }
    deaf_look(d, 1000 + DEAF_US);
    struct sockaddr_in6 mapped = { .sin6_family = AF_INET6, .sin6_addr.s6_addr = { [10] = 255, 255, 127, 0, 0, 2 } };
    deaf_add(d, (const void *)&mapped, 1000);
    for (int i = 0; i < 50; i++) {
        assert_true(is_heard(a, to, sizeof at));
        assert_false(is_heard(b, (const void *)&to4, sizeof to4));
    }
    deaf_free(d);
    close_all(fds);
}

/* More than there are places for: the last DEAF_MAX are not heard, the first makes room. */
static void places_are_few(void **state)
{
    (void)state;
    struct sockaddr_in at = four(0);
    int fds[LOOPS];
    listen_on((void *)&at, sizeof at, fds);
    struct deaf *d = deaf_new(fds[0], LOOPS);
    for (uint32_t i = 0; i <= DEAF_MAX; i++) {
        struct sockaddr_in from = four(10 + i);
        deaf_add(d, (const void *)&from, 1000 + i);
    }
    for (uint32_t i = 0; i <= DEAF_MAX; i++) {
        struct sockaddr_in from = four(10 + i);
        assert_int_equal(is_heard((const void *)&from, (const void *)&at, sizeof at), i == 0);
    }
    deaf_free(d);
    close_all(fds);
}

/* The socket that drops is of no use once the others close: a client is refused at once. */
static void at_the_end_it_chooses_nothing(void **state)
{
    (void)state;
    struct sockaddr_in at = four(0), from = four(1);
    int fds[LOOPS];
    listen_on((void *)&at, sizeof at, fds);
    struct deaf *d = deaf_new(fds[0], LOOPS);
    deaf_close(d);
    close_all(fds);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (const void *)&from, sizeof from), 0);
    assert_int_equal(connect(fd, (const void *)&at, sizeof at), -1);
    assert_int_equal(errno, ECONNREFUSED);
    close(fd);
    deaf_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_ipv4_one_address),
        cmocka_unit_test(of_ipv6_its_network),
        cmocka_unit_test(places_are_few),
        cmocka_unit_test(at_the_end_it_chooses_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
