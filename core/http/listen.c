/* SPDX-License-Identifier: Apache-2.0 */
/* listen.c - the sockets that a server listens on: each loop has its own on the shared port (SO_REUSEPORT, also for one loop: the
 * socket of deaf.h is another); a Unix socket is shared by duplicates. */
#include "core/http/server_int.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "core/base/cleanup.h"

enum { BACKLOG = 4096 };

static int listen_unix(const char *path, struct err *e)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    if (strlen(path) >= sizeof a.sun_path) {
        FAIL(e, INVALID, "the socket path is longer than %zu bytes", sizeof a.sun_path - 1);
        return -1;
    }
    memcpy(a.sun_path, path, strlen(path));
    CLEANUP(fd_closep) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct stat st;
    if (lstat(path, &st) == 0 && S_ISSOCK(st.st_mode))
        unlink(path);
    if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof a) != 0 || listen(fd, BACKLOG) != 0) {
        FAIL(e, IO, "cannot listen on the socket %s", path);
        err_errno(e, errno);
        return -1;
    }
    return TAKE_FD(fd);
}

static int listen_tcp(const char *host, int port, bool share, bool keep, struct err *e)
{
    char service[16];
    snprintf(service, sizeof service, "%d", port);
    struct addrinfo hints = { .ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM }, *ai = NULL;
    if (getaddrinfo(host ? host : "127.0.0.1", service, &hints, &ai) != 0 || !ai) {
        FAIL(e, INVALID, "%s is not an IP address", host ? host : "");
        return -1;
    }
    int one = 1;
    CLEANUP(fd_closep) int fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0) {
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        if (share)
            setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof one);
    }
    int rc = fd < 0 ? -1 : bind(fd, ai->ai_addr, ai->ai_addrlen);
    int errnum = errno;
    freeaddrinfo(ai);
    if (rc == 0 && keep) {
        rc = listen(fd, BACKLOG);
        errnum = errno;
    }
    if (rc != 0) {
        FAIL(e, IO, "cannot listen on %s port %d", host ? host : "127.0.0.1", port);
        err_errno(e, errnum);
        return -1;
    }
    return TAKE_FD(fd);
}

static int port_of(int fd)
{
    struct sockaddr_storage a;
    socklen_t n = sizeof a;
    if (getsockname(fd, (struct sockaddr *)&a, &n) != 0)
        return 0;
    if (a.ss_family == AF_INET)
        return ntohs(((struct sockaddr_in *)&a)->sin_port);
    return a.ss_family == AF_INET6 ? ntohs(((struct sockaddr_in6 *)&a)->sin6_port) : 0;
}

enum errc http_listen(const char *bind_addr, int port, int *ret_fd, int *ret_port, struct err *e)
{
    int fd = listen_tcp(bind_addr, port, false, true, e);
    if (fd < 0)
        return ERR_IO;
    *ret_fd = fd;
    if (ret_port)
        *ret_port = port_of(fd);
    return ERR_OK;
}

bool listen_is_shared(const struct http_server *s)
{
    return !s->unix_path && s->o.listen_fd <= 0 && (s->nloops > 1 || s->o.connects_per_s > 0);
}

enum errc listen_open(struct http_server *s, int *fds, struct err *e)
{
    const struct http_server_options *o = &s->o;
    bool share = listen_is_shared(s);
    if (share && o->port != 0) {
        /* SO_REUSEPORT would let a second server join this port unseen: a bind without it tells. */
        int probe = listen_tcp(o->bind_addr, o->port, false, false, e);
        if (probe < 0)
            return e ? e->code : ERR_IO;
        close(probe);
    }
    for (int i = 0; i < s->nloops; i++) {
        if (o->listen_fd > 0)
            fds[i] = i == 0 ? fcntl(o->listen_fd, F_DUPFD_CLOEXEC, 3) : -1;
        else if (s->unix_path)
            fds[i] = i == 0 ? listen_unix(s->unix_path, e) : fcntl(fds[0], F_DUPFD_CLOEXEC, 3);
        else
            fds[i] = listen_tcp(o->bind_addr, i == 0 ? o->port : s->port, share, true, e);
        if (fds[i] < 0)
            return e && e->code != ERR_OK ? e->code : FAIL(e, IO, "cannot share the listening socket");
        if (i == 0 && !s->unix_path)
            s->port = port_of(fds[0]);
    }
    return ERR_OK;
}
