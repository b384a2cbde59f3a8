/* SPDX-License-Identifier: Apache-2.0 */
/* net.h - raw sockets for the HTTP tests: connect, send bytes as they are, read until a condition. */
#pragma once
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>
#include "core/http/server.h"

static inline int64_t net_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

static inline int net_connect(int port)
{
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
    return fd;
}

/* Waits until the server has taken all that was sent on this connection out of its socket (/proc/net/tcp: rx_queue). */
static inline void net_wait_taken(int fd)
{
    struct sockaddr_in own, peer;
    socklen_t n = sizeof own, m = sizeof peer;
    char line[512], want[64];
    assert_int_equal(getsockname(fd, (struct sockaddr *)&own, &n), 0);
    assert_int_equal(getpeername(fd, (struct sockaddr *)&peer, &m), 0);
    snprintf(want, sizeof want, ":%04X 0100007F:%04X ", ntohs(peer.sin_port), ntohs(own.sin_port));
    for (int64_t end = net_now_ms() + 30000; net_now_ms() < end; usleep(1000)) {
        bool is_taken = false;
        FILE *f = fopen("/proc/net/tcp", "re");
        assert_non_null(f);
        while (fgets(line, sizeof line, f)) {
            unsigned tx, rx;
            const char *at = strstr(line, want);
            is_taken = is_taken || (at && sscanf(at + strlen(want), "%*x %x:%x", &tx, &rx) == 2 && rx == 0);
        }
        fclose(f);
        if (is_taken)
            return;
    }
    fail_msg("the server does not read");
}

static inline void net_send(int fd, const void *p, size_t n)
{
    const char *at = p;
    while (n > 0) {
        ssize_t k = send(fd, at, n, MSG_NOSIGNAL);
        if (k <= 0)
            return;     /* the server may have closed: the reply tells */
        at += k;
        n -= (size_t)k;
    }
}

static inline void net_send_c(int fd, const char *s)
{
    net_send(fd, s, strlen(s));
}

enum { PATIENCE_MS = 60000 };      /* for a machine that is slow and busy; nothing is promised by it */

/* Read into out (NUL-terminated) until `until` is seen, EOF (returns true in *eof) or timeout. */
static inline size_t net_read(int fd, char *out, size_t cap, const char *until, int timeout_ms, bool *eof)
{
    size_t n = 0;
    int64_t end = net_now_ms() + timeout_ms;
    *eof = false;
    out[0] = 0;
    while (n + 1 < cap) {
        int left = (int)(end - net_now_ms());
        struct pollfd f = { fd, POLLIN, 0 };
        if (left <= 0 || poll(&f, 1, left) <= 0)
            break;
        ssize_t k = recv(fd, out + n, cap - 1 - n, 0);
        if (k <= 0) {
            *eof = true;
            break;
        }
        n += (size_t)k;
        out[n] = 0;
        if (until && memmem(out, n, until, strlen(until)))
            break;
    }
    return n;
}

static inline int net_count(const char *hay, size_t n, const char *needle)
{
    int count = 0;
    const char *at = hay, *end = hay + n;
    while ((at = memmem(at, (size_t)(end - at), needle, strlen(needle)))) {
        count++;
        at += strlen(needle);
    }
    return count;
}

static inline int net_status(const char *reply)
{
    return strncmp(reply, "HTTP/1.1 ", 9) == 0 ? atoi(reply + 9) : 0;
}

static inline struct http_server *net_serve(struct http_server_options o)
{
    struct err e = { 0 };
    if (!o.bind_addr)
        o.bind_addr = "127.0.0.1";
    struct http_server *s = http_server_new(&o, &e);
    if (!s)
        fail_msg("%s (%s)", e.msg, e.detail);
    return s;
}

static inline void net_reply_text(struct http_exchange *x, int status, const char *text)
{
    http_reply(x, &(struct http_response){ .status = status, .content_type = STR("text/plain"), .body = str_c(text) });
}
