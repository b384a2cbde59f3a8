/* SPDX-License-Identifier: Apache-2.0 */
/* frame.c - one packet per frame by sendmsg and recvmsg; descriptors as SCM_RIGHTS, closed on exec. */
#include "workers/lease/frame.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

union control {
    struct cmsghdr align;
    char room[CMSG_SPACE(sizeof(int) * FRAME_FDS_MAX)];
};

enum errc frame_send(int fd, enum frame_type type, struct str head, struct str body, const int *fds, size_t nfds, bool wait,
                     struct err *e)
{
    uint32_t t = type;
    if (sizeof t + head.len + body.len > FRAME_MAX || nfds > FRAME_FDS_MAX)
        return FAIL(e, LIMIT, "a message of %zu bytes is too large", head.len + body.len);
    struct iovec v[3] = { { &t, sizeof t }, { (void *)(uintptr_t)head.ptr, head.len }, { (void *)(uintptr_t)body.ptr, body.len } };
    struct msghdr m = { .msg_iov = v, .msg_iovlen = 3 };
    union control control = { 0 };
    if (nfds) {
        m.msg_control = control.room;
        m.msg_controllen = CMSG_SPACE(sizeof(int) * nfds);
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int) * nfds);
        memcpy(CMSG_DATA(c), fds, sizeof(int) * nfds);
    }
    for (;;) {
        if (sendmsg(fd, &m, MSG_NOSIGNAL | (wait ? 0 : MSG_DONTWAIT)) >= 0)
            return ERR_OK;
        if (errno == EINTR)
            continue;
        if (errno == EAGAIN || errno == ENOBUFS)
            return FAIL(e, LIMIT, "the other side does not read");
        FAIL(e, IO, "the other side is gone");
        return err_errno(e, errno);
    }
}

enum errc frame_receive(int fd, char *buf, struct frame *ret, struct err *e)
{
    struct iovec v = { buf, FRAME_MAX };
    union control control;
    struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof control.room };
    ssize_t n;
    do
        n = recvmsg(fd, &m, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n <= 0)
        return FAIL(e, IO, "the other side is gone");
    ret->nfds = 0;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        ret->nfds = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        memcpy(ret->fds, CMSG_DATA(c), ret->nfds * sizeof(int));
    }
    uint32_t t;
    if ((size_t)n < sizeof t || (m.msg_flags & (MSG_TRUNC | MSG_CTRUNC))) {
        frame_close_fds(ret);
        return FAIL(e, DAMAGED, "a message was cut");
    }
    memcpy(&t, buf, sizeof t);
    ret->type = (enum frame_type)t;
    ret->body = str_n(buf + sizeof t, (size_t)n - sizeof t);
    return ERR_OK;
}

void frame_close_fds(struct frame *f)
{
    for (size_t i = 0; i < f->nfds; i++)
        close(f->fds[i]);
    f->nfds = 0;
}
