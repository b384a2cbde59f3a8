/* SPDX-License-Identifier: Apache-2.0 */
/* deaf.h - addresses that the kernel does not answer for a while, so that a flood of connections costs the loops nothing.
 *
 * Of the sockets that share a port, a program of the group chooses one for each SYN (socket(7), SO_ATTACH_REUSEPORT_CBPF).
 * For who is not heard it chooses a socket of ours that nobody accepts from and that drops what comes (IP_MINTTL, tcp(7): a
 * hop count that only a neighbour can send; a neighbour's one connection fills its queue). All other SYNs go to the loops by
 * chance. It needs no privilege; a filter on a listening socket does on some kernels (6.18 refuses it to users).
 * An address is an IPv4 address, or the /64 of an IPv6 address. At most DEAF_MAX at once: who is heard again first makes room.
 * Open connections live on. Any thread. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

enum { DEAF_MAX = 16, DEAF_US = 1000000 };

struct deaf;

/* fd: the first of n TCP sockets that listen on one port with SO_REUSEPORT; borrowed for life. NULL: this kernel does not. */
struct deaf *deaf_new(int fd, int n);
void deaf_free(struct deaf *d);         /* NULL is fine */
/* Before the first of the n sockets is closed: from now on nothing is chosen. */
void deaf_close(struct deaf *d);        /* NULL is fine */
/* For DEAF_US. What is no IP address is heard always. NULL: nothing. */
void deaf_add(struct deaf *d, const struct sockaddr *from, int64_t now_us);
/* Now and then: who has waited long enough is heard again. NULL: nothing. */
void deaf_look(struct deaf *d, int64_t now_us);
