/* SPDX-License-Identifier: Apache-2.0 */
/* gang_net.c - a handful of ioctls. Packets are as large as there are: what lies between the machines is TLS over TCP, which cuts
 * them as it likes, and each costs a wake-up of two processes. */
#include "workers/lease/gang_net.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include "core/base/cleanup.h"
#include "workers/gang/packet.h"

#define NO_NET "this machine runs no parts of programs on several machines: "

void gang_net_hosts(int rank, int nodes, char out[GANG_NET_HOSTS])
{
    size_t n = (size_t)snprintf(out, GANG_NET_HOSTS, "127.0.0.1 localhost\n::1 localhost\n");
    for (int r = 0; r < nodes && n < GANG_NET_HOSTS; r++)
        n += (size_t)snprintf(out + n, GANG_NET_HOSTS - n, PACKET_HOST " rank-%d%s\n", r + 1, r, r == rank ? " falaj" : "");
}

static struct ifreq request(const char *name)
{
    struct ifreq r;
    memset(&r, 0, sizeof r);
    snprintf(r.ifr_name, sizeof r.ifr_name, "%s", name);
    return r;
}

static bool set_address(int s, unsigned long what, const char *text)
{
    struct ifreq r = request(GANG_NET_NAME);
    struct sockaddr_in at = { .sin_family = AF_INET };
    bool ok = inet_pton(AF_INET, text, &at.sin_addr) == 1;
    memcpy(&r.ifr_addr, &at, sizeof at);
    return ok && ioctl(s, what, &r) == 0;
}

static bool set_up(int s, const char *name)
{
    struct ifreq r = request(name);
    r.ifr_flags = IFF_UP | IFF_RUNNING;
    return ioctl(s, SIOCSIFFLAGS, &r) == 0;
}

static bool configure(int rank)
{
    char address[32];
    struct ifreq mtu = request(GANG_NET_NAME);
    CLEANUP(fd_closep) int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    snprintf(address, sizeof address, PACKET_HOST, rank + 1);
    mtu.ifr_mtu = PACKET_MAX;
    return s >= 0 && set_address(s, SIOCSIFADDR, address) && set_address(s, SIOCSIFNETMASK, PACKET_MASK) &&
           ioctl(s, SIOCSIFMTU, &mtu) == 0 && set_up(s, GANG_NET_NAME) && set_up(s, "lo");
}

static enum errc refused(const char *what, struct err *e)
{
    int failed = errno;
    FAIL(e, UNPROCESSABLE, NO_NET "%s", what);
    return err_errno(e, failed);
}

enum errc gang_net_open(const char *device, int rank, int *ret, struct err *e)
{
    struct ifreq r = request(GANG_NET_NAME);
    CLEANUP(fd_closep) int fd = open(device, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return refused("the account of its leases cannot open worker.tun_device", e);
    r.ifr_flags = IFF_TUN | IFF_NO_PI;
    if (ioctl(fd, TUNSETIFF, &r) != 0 || !configure(rank))
        return refused("its kernel refused them an interface", e);
    *ret = fd;
    fd = -1;
    return ERR_OK;
}
