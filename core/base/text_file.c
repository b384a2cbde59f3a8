/* SPDX-License-Identifier: Apache-2.0 */
/* text_file.c - read from the descriptor, so that a secret lies in no buffer of stdio's. */
#include "core/base/text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "core/base/cleanup.h"

static ssize_t read_on(int fd, void *p, size_t n)
{
    ssize_t got;
    while ((got = read(fd, p, n)) < 0 && errno == EINTR)
        ;
    return got;
}

static enum errc unreadable(const char *path, struct err *e)
{
    const int why = errno;
    (void)FAIL(e, IO, "cannot read %.180s", path);
    return err_errno(e, why);
}

enum errc text_file_read(const char *path, struct buf *ret, struct err *e)
{
    CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    const size_t before = ret->len;
    char chunk[4096];
    ssize_t n = -1;
    while (fd >= 0 && (n = read_on(fd, chunk, sizeof chunk)) > 0)
        if (!buf_add(ret, chunk, (size_t)n))
            return FAIL(e, INVALID, "%.180s has more than %zu bytes", path, ret->max);
    if (n < 0)
        return unreadable(path, e);
    return ret->len > before ? ERR_OK : FAIL(e, INVALID, "%.180s is empty", path);
}

enum errc text_file_line(const char *path, char *ret, size_t cap, struct err *e)
{
    CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t len = 0;
    ssize_t n = -1;
    while (fd >= 0 && len < cap && (n = read_on(fd, ret + len, cap - len)) > 0)
        len += (size_t)n;
    if (fd < 0 || n < 0)
        return unreadable(path, e);
    const char *end = memchr(ret, '\n', len);
    if (!end && len == cap)
        return FAIL(e, INVALID, "the first line of %.180s has more than %zu bytes", path, cap - 1);
    if (end)
        len = (size_t)(end - ret);
    if (len && ret[len - 1] == '\r')
        len--;
    ret[len] = '\0';
    return len && !memchr(ret, '\0', len) ? ERR_OK : FAIL(e, INVALID, "the first line of %.180s is empty or no text", path);
}
