/* SPDX-License-Identifier: Apache-2.0 */
/* dial.c - a table of networks, the first that has an address decides; then one address after the other, each for a part of the
 * time. */
#include "workers/lease/dial.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include "core/base/cleanup.h"

enum { ADDRESSES_MAX = 16, NEVER = PULL_LOCAL + 1 };

/* least: the reach that it takes. Before the wider ones: what clouds answer with a machine's own credentials. */
static const struct { const char *net; int bits; int least; } nets4[] = {
    { "168.63.129.16", 32, NEVER }, { "100.100.100.200", 32, NEVER },
    { "127.0.0.0", 8, PULL_LOCAL }, { "10.0.0.0", 8, PULL_PRIVATE }, { "172.16.0.0", 12, PULL_PRIVATE },
    { "192.168.0.0", 16, PULL_PRIVATE }, { "100.64.0.0", 10, PULL_PRIVATE }, { "0.0.0.0", 8, NEVER },
    { "169.254.0.0", 16, NEVER }, { "192.0.0.0", 24, NEVER }, { "192.0.2.0", 24, NEVER }, { "192.88.99.0", 24, NEVER },
    { "198.18.0.0", 15, NEVER }, { "198.51.100.0", 24, NEVER }, { "203.0.113.0", 24, NEVER }, { "224.0.0.0", 3, NEVER },
}, nets6[] = {
    { "fd00:ec2::254", 128, NEVER }, { "fd20:ce::254", 128, NEVER },
    { "::1", 128, PULL_LOCAL }, { "fc00::", 7, PULL_PRIVATE }, { "2001::", 23, NEVER }, { "2001:db8::", 32, NEVER },
    { "2002::", 16, NEVER }, { "3fff::", 20, NEVER }, { "2000::", 3, PULL_PUBLIC }, { "::", 0, NEVER },
};

static bool is_in(const unsigned char *address, const unsigned char *net, int bits)
{
    const int whole = bits / 8, rest = bits % 8;
    const unsigned char mask = (unsigned char)(0xff00 >> rest);
    return !memcmp(address, net, (size_t)whole) && (!rest || !((address[whole] ^ net[whole]) & mask));
}

bool dial_may(enum pull_reach reach, const struct sockaddr *to)
{
    unsigned char net[16];
    if (to->sa_family == AF_INET) {
        const void *a = &((const struct sockaddr_in *)(const void *)to)->sin_addr;
        for (size_t i = 0; i < sizeof nets4 / sizeof *nets4; i++)
            if (inet_pton(AF_INET, nets4[i].net, net) == 1 && is_in(a, net, nets4[i].bits))
                return (int)reach >= nets4[i].least;
        return true;
    }
    if (to->sa_family != AF_INET6)
        return false;
    const void *a = &((const struct sockaddr_in6 *)(const void *)to)->sin6_addr;
    for (size_t i = 0; i < sizeof nets6 / sizeof *nets6; i++)
        if (inet_pton(AF_INET6, nets6[i].net, net) == 1 && is_in(a, net, nets6[i].bits))
            return (int)reach >= nets6[i].least;
    return false;
}

/* Connected, or why not in errno. */
static int connect_to(const struct addrinfo *at, int ms)
{
    CLEANUP(fd_closep) int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int failed = 0;
    socklen_t n = sizeof failed;
    if (fd < 0)
        return -1;
    if (connect(fd, at->ai_addr, at->ai_addrlen) != 0) {
        struct pollfd p = { .fd = fd, .events = POLLOUT };
        if (errno != EINPROGRESS)
            return -1;
        if (poll(&p, 1, ms) != 1) {
            errno = ETIMEDOUT;
            return -1;
        }
        if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &failed, &n) != 0 || failed) {
            errno = failed;
            return -1;
        }
    }
    return TAKE_FD(fd);
}

static enum errc judge(const char *host, enum pull_reach reach, const struct addrinfo *all, int *ret_n, struct err *e)
{
    char text[INET6_ADDRSTRLEN] = "";
    *ret_n = 0;
    for (const struct addrinfo *a = all; a; a = a->ai_next, ++*ret_n)
        if (!dial_may(reach, a->ai_addr)) {
            getnameinfo(a->ai_addr, a->ai_addrlen, text, sizeof text, NULL, 0, NI_NUMERICHOST);
            return FAIL(e, FORBIDDEN, "%s has the address %s, which the zone's row does not let machines reach (reach %s)", host,
                        text, pull_reach_names[reach]);
        }
    return *ret_n <= ADDRESSES_MAX ? ERR_OK : FAIL(e, FORBIDDEN, "%s has more than %d addresses", host, ADDRESSES_MAX);
}

enum errc dial(const char *host, int port, enum pull_reach reach, int *ret, struct err *e)
{
    char service[16];
    struct addrinfo *all = NULL, hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV };
    int n = 0;
    snprintf(service, sizeof service, "%d", port);
    int failed = getaddrinfo(host, service, &hints, &all);
    if (failed)
        return FAIL(e, UNAVAILABLE, "the name %s cannot be looked up: %s", host, gai_strerror(failed));
    enum errc rc = judge(host, reach, all, &n, e);
    *ret = -1;
    for (const struct addrinfo *a = all; rc == ERR_OK && a && *ret < 0; a = a->ai_next)
        *ret = connect_to(a, DIAL_MS / n);
    if (rc == ERR_OK && *ret < 0)
        rc = FAIL(e, UNAVAILABLE, "%s:%d does not answer: %s", host, port, strerror(errno));
    freeaddrinfo(all);
    return rc;
}
