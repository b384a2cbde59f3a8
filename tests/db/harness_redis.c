/* SPDX-License-Identifier: Apache-2.0 */
/* harness_redis.c - one Redis server on a Unix socket, which keeps nothing. */
#include "tests/db/harness_int.h"
#include "core/base/cleanup.h"
#include "core/base/assert.h"
#include "core/base/str.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct redis_harness {
    struct child child;
    char address[160];
    char *password;
};

static void end_it(void *h)
{
    redis_harness_free(h);
}

static bool redis_answers(const char *path)
{
    CLEANUP(fd_closep) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_un addr = { .sun_family = AF_UNIX };
    snprintf(addr.sun_path, sizeof addr.sun_path, "%s", path);
    char reply[64];
    return fd >= 0 && connect(fd, (struct sockaddr *)&addr, sizeof addr) == 0 && write(fd, "PING\r\n", 6) == 6 &&
           read(fd, reply, sizeof reply) > 0;
}

void redis_harness_start(struct redis_harness *h)
{
    const char *socket_path = h->address + strlen("unix:");
    const char *argv[] = { "/usr/bin/redis-server", "--port", "0", "--unixsocket", socket_path, "--unixsocketperm", "777",
                           "--save", "", "--appendonly", "no", h->password ? "--requirepass" : NULL, h->password, NULL };
    char log[160];
    snprintf(log, sizeof log, "%s/log", h->child.dir);
    h->child.pid = harness_spawn(argv, h->child.dir, log);
    for (int i = 0; i < START_TRIES; i++) {
        if (redis_answers(socket_path))
            return;
        usleep(TRY_PAUSE_US);
    }
    harness_die("redis-server does not answer");
}

struct redis_harness *redis_harness_new(const char *password)
{
    struct redis_harness *h = calloc(1, sizeof *h);
    ASSERT(h);
    harness_dir(&h->child, "redis");
    snprintf(h->address, sizeof h->address, "unix:%s/redis", h->child.dir);
    h->password = password ? str_dup_heap(str_c(password)) : NULL;
    harness_live(h, end_it);
    redis_harness_start(h);
    return h;
}

void redis_harness_stop(struct redis_harness *h)
{
    harness_end(&h->child, SIGKILL);
    unlink(h->address + strlen("unix:"));
}

void redis_harness_free(struct redis_harness *h)
{
    if (!h)
        return;
    harness_gone(h);
    redis_harness_stop(h);
    if (h->child.owner == getpid())
        harness_remove(h->child.dir);
    free(h->password);
    free(h);
}

const char *redis_harness_address(struct redis_harness *h)
{
    return h->address;
}
