/* SPDX-License-Identifier: Apache-2.0 */
/* redis.c - the Redis of `falaj dev`: Unix socket only, one user without scripts and dangerous commands, nothing kept on disk. */
#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "cli/dev/dev.h"
#include "cli/dev/process.h"
#include "core/base/cleanup.h"
#include "core/base/clock.h"
#include "core/crypto/hash.h"

enum { STEP_MS = 10 };

enum errc redis_prepare(struct dev *d, struct err *e)
{
    uint8_t digest[SHA256_BYTES];
    char hex[2 * SHA256_BYTES + 1];
    TRY(files_secret(d, "redis", &d->redis_password, e));
    sha256(d->redis_password, strlen(d->redis_password), digest);
    hex_encode(digest, sizeof(digest), hex);
    CLEANUP(buf_releasep) struct buf b = BUF(8192);
    buf_printf(&b, "# Written by falaj dev at every start.\nport 0\nunixsocket %s/redis.sock\nunixsocketperm 700\ndir %s\n", d->run, d->redis);
    buf_printf(&b, "daemonize no\nsupervised no\nlogfile \"\"\nsave \"\"\nappendonly no\nmaxmemory 64mb\nmaxmemory-policy noeviction\n"
                   "user default off\nuser falaj on #%s ~* &* +@all -@scripting -@dangerous\n", hex);
    return files_write(d, arena_printf(d->arena, "%s/redis.conf", d->etc), buf_str(&b), d->server_uid, d->server_gid, e);
}

/* AUTH and PING as inline commands; true when both were answered. */
static bool answers(struct dev *d)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    CLEANUP(fd_closep) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct timeval limit = { .tv_usec = 500000 };
    snprintf(at.sun_path, sizeof(at.sun_path), "%s/redis.sock", d->run);
    if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0)
        return false;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    char text[256], reply[128] = "";
    int n = snprintf(text, sizeof(text), "AUTH falaj %s\r\nPING\r\n", d->redis_password);
    if (write(fd, text, (size_t)n) != n)
        return false;
    for (size_t got = 0; got < sizeof(reply) - 1 && !strstr(reply, "PONG");) {
        ssize_t more = read(fd, reply + got, sizeof(reply) - 1 - got);
        if (more <= 0)
            return false;
        got += (size_t)more;
        reply[got] = '\0';
    }
    return strncmp(reply, "+OK", 3) == 0;
}

enum errc redis_wait(struct dev *d, struct err *e)
{
    int64_t end = clock_mono_us(&clock_system) + INT64_C(1000) * DEV_START_MS;
    while (!answers(d)) {
        if (clock_mono_us(&clock_system) > end)
            return FAIL(e, UNAVAILABLE, "Redis does not answer");
        TRY(supervise_pause(d, STEP_MS, e));
    }
    return ERR_OK;
}
