/* SPDX-License-Identifier: Apache-2.0 */
/* notify.c - a socket for each message: they are few, and a daemon that forks or closes descriptors has nothing to mind. */
#include "core/base/notify.h"
#include "core/base/cleanup.h"
#include "core/base/clock.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { STATUS_TEXT = 400, WATCHDOG_PARTS = 4 };

static void tell(const char *text)
{
    const char *name = getenv("NOTIFY_SOCKET");
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    size_t n = name ? strlen(name) : 0;
    if (n < 2 || n >= sizeof at.sun_path || (*name != '/' && *name != '@'))
        return;
    memcpy(at.sun_path, name, n);
    if (*name == '@')
        *at.sun_path = 0;
    CLEANUP(fd_closep) int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0)
        (void)!sendto(fd, text, strlen(text), MSG_NOSIGNAL, (struct sockaddr *)&at, (socklen_t)(offsetof(struct sockaddr_un,
                                                                                                         sun_path) + n));
}

static void tell_with(const char *before, const char *status)
{
    char text[STATUS_TEXT];
    snprintf(text, sizeof text, "%sSTATUS=%s", before, status);
    tell(text);
}

void notify_ready(const char *status)
{
    tell_with("READY=1\n", status);
}

void notify_status(const char *status)
{
    tell_with("", status);
}

void notify_stopping(void)
{
    tell("STOPPING=1");
}

static int64_t watchdog_us(void)
{
    const char *text = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
    long long us = text ? strtoll(text, NULL, 10) : 0;
    return us > 0 && (!pid || strtol(pid, NULL, 10) == (long)getpid()) ? us : 0;
}

int notify_alive_ms(void)
{
    int64_t us = watchdog_us();
    return us ? (int)(us / 1000 / WATCHDOG_PARTS) : -1;
}

void notify_alive(void)
{
    static _Atomic int64_t told_us;
    int64_t every_us = watchdog_us() / WATCHDOG_PARTS, now_us = clock_mono_us(&clock_system);
    if (!every_us || (told_us && now_us - told_us < every_us))
        return;
    told_us = now_us;
    tell("WATCHDOG=1");
}
