/* SPDX-License-Identifier: Apache-2.0 */
/* gang_net.h - the interface by which a program reaches the other machines of its job: a TUN device in the network namespace of
 * the calling process, which must have made that (box.h), with the address of its rank (workers/gang/packet.h) and a route to
 * nothing but the other ranks. What goes into it comes out of a descriptor, packet by packet (workers/gang/tunnel.h).
 *
 * Errors: UNPROCESSABLE (this machine cannot). Sources: Linux Documentation/networking/tuntap.rst, netdevice(7). */
#pragma once
#include "core/base/err.h"

#define GANG_NET_NAME "falaj0"
enum { GANG_NET_HOSTS = 512 };

/* A hosts(5) file: the ranks are rank-0, rank-1 …, and this one is falaj, too. */
void gang_net_hosts(int rank, int nodes, char out[GANG_NET_HOSTS]);

/* device: worker.tun_device. *ret does not block. The loopback is brought up, too. */
MUST_CHECK enum errc gang_net_open(const char *device, int rank, int *ret, struct err *e);
