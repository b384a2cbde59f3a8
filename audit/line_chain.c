/* SPDX-License-Identifier: Apache-2.0 */
/* line_chain.c - appends a line that names the one before it. */
#include "audit/line_chain.h"
#include "core/base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_PATH_MAX = 512 };

/* SHA-256 of the last line of the file, zeros for an empty one. A last line without its end was torn by a crash: it counts as it
 * stands. */
static enum errc last_line_hash(int fd, const char *name, uint8_t out[SHA256_BYTES], bool *ret_torn, struct err *e)
{
    char tail[2 * LINE_CHAIN_MAX];
    struct stat st;
    memset(out, 0, SHA256_BYTES);
    *ret_torn = false;
    if (fstat(fd, &st) != 0)
        return FAIL(e, IO, "%s cannot be looked at: %s", name, strerror(errno));
    off_t from = st.st_size > (off_t)sizeof tail ? st.st_size - (off_t)sizeof tail : 0;
    ssize_t n = pread(fd, tail, sizeof tail, from);
    if (n < 0)
        return FAIL(e, IO, "%s cannot be read: %s", name, strerror(errno));
    if (n == 0)
        return ERR_OK;
    *ret_torn = tail[n - 1] != '\n';
    size_t end = (size_t)n - !*ret_torn, start = end;
    while (start > 0 && tail[start - 1] != '\n')
        start--;
    sha256(tail + start, end - start, out);
    return ERR_OK;
}

static enum errc append(int fd, const char *name, struct str members, uint8_t ret_line[SHA256_BYTES], struct err *e)
{
    CLEANUP(buf_releasep) struct buf b = BUF(LINE_CHAIN_MAX);
    uint8_t prev[SHA256_BYTES];
    char text[2 * SHA256_BYTES + 1];
    bool is_torn;
    TRY(last_line_hash(fd, name, prev, &is_torn, e));
    hex_encode(prev, sizeof prev, text);
    if (is_torn)
        buf_add_char(&b, '\n');
    size_t start = b.len;
    buf_add_c(&b, "{\"v\":1,");
    buf_add_str(&b, members);
    buf_printf(&b, ",\"prev\":\"%s\"}\n", text);
    if (b.overflow)
        return FAIL(e, INTERNAL, "a line of %s is too long", name);
    if (write(fd, b.ptr, b.len) != (ssize_t)b.len || fsync(fd) != 0)
        return FAIL(e, IO, "%s cannot be written: %s", name, strerror(errno));
    sha256(b.ptr + start, b.len - start - 1, ret_line);
    return ERR_OK;
}

enum errc line_chain_append(const char *dir, const char *name, struct str members, uint8_t ret_line[SHA256_BYTES], struct err *e)
{
    char path[FILE_PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s", dir, name) >= (int)sizeof path)
        return FAIL(e, INVALID, "the folder of %s has too long a name", name);
    CLEANUP(fd_closep) int dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CLEANUP(fd_closep) int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0640);
    if (dir_fd < 0 || fd < 0 || flock(fd, LOCK_EX) != 0)
        return FAIL(e, IO, "%s cannot be opened: %s", name, strerror(errno));
    TRY(append(fd, name, members, ret_line, e));
    return fsync(dir_fd) == 0 ? ERR_OK : FAIL(e, IO, "the folder of %s cannot be synced: %s", name, strerror(errno));
}
