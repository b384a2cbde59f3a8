/* SPDX-License-Identifier: Apache-2.0 */
/* tun_kit.h - a node of the TUN device that every account may open, as udev makes it, without touching the machine's own. */
#pragma once
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { TUN_MAJOR = 10, TUN_MINOR = 200 };       /* Linux Documentation/admin-guide/devices.txt */

/* path: 64 bytes. An ordinary user takes the machine's. */
static inline void tun_make(char *path)
{
    snprintf(path, 64, "/dev/net/tun");
    if (geteuid() != 0)
        return;
    snprintf(path, 64, "/tmp/falaj-tun-%d", (int)getpid());
    unlink(path);
    assert_int_equal(mknod(path, S_IFCHR | 0666, makedev(TUN_MAJOR, TUN_MINOR)), 0);
    assert_int_equal(chmod(path, 0666), 0);
}

static inline void tun_remove(const char *path)
{
    if (geteuid() == 0)
        unlink(path);
}
