/* SPDX-License-Identifier: Apache-2.0 */
/* access_log.c - one line per answered request. */
#include "api/access_log.h"
#include "audit/reconcile.h"
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_BYTES = 512 };
static const int64_t COMPLAIN_US = 60000000;

struct access_log {
    int fd;                 /* always the same number: another file is put under it by dup3 */
    char *path;
    _Atomic int64_t complained_us;
};

static int open_log(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0640);
    if (fd < 0)
        log_event(LOG_ERROR, "access_log.open", "error", LOG_S(strerror(errno)), NULL);
    return fd;
}

struct access_log *access_log_new(const char *path)
{
    if (!*path)
        return NULL;
    int fd = open_log(path);
    if (fd < 0)                 /* said; a place for the file that SIGHUP opens once the reason is gone */
        fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    ASSERT(fd >= 0);
    struct access_log *l = calloc(1, sizeof *l);
    ASSERT(l);
    l->fd = fd;
    l->path = str_dup_heap(str_c(path));
    return l;
}

void access_log_free(struct access_log *l)
{
    if (!l)
        return;
    close(l->fd);
    free(l->path);
    free(l);
}

void access_log_reopen(struct access_log *l)
{
    if (!l)
        return;
    int fd = open_log(l->path);
    if (fd < 0)
        return;
    bool is_moved = dup3(fd, l->fd, O_CLOEXEC) >= 0;
    close(fd);
    log_event(is_moved ? LOG_INFO : LOG_ERROR, is_moved ? "access_log.reopened" : "access_log.open", "path", LOG_S(l->path),
        NULL);
}

void access_log_write(struct access_log *l, int64_t ts_us, struct uuid tenant, const char *op, int status, bool is_audited, struct str request_id)
{
    CLEANUP(buf_releasep) struct buf b = BUF(LINE_BYTES);
    if (!l)
        return;
    if (reconcile_print(&b, ts_us, tenant, op, status, is_audited, request_id) && write(l->fd, b.ptr, b.len) == (ssize_t)b.len)
        return;
    if (ts_us - atomic_exchange(&l->complained_us, ts_us) > COMPLAIN_US)
        log_event(LOG_ERROR, "access_log.write", "error", LOG_S(strerror(errno)), NULL);
}
