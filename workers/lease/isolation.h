/* SPDX-License-Identifier: Apache-2.0 */
/* isolation.h - what keeps the leases of one agent apart by the kernel's own means, beside the filter of system calls
 * (sandbox.h): an account of its own for each, and a network that is empty.
 *
 *   account   as root: a number of worker.uid_base, worker.uid_count that no live lease has, user and group alike; it owns
 *             nothing but the lease's directory. Without a range, or where the kernel does not map it (a container's): all
 *             share the account nobody. As an ordinary user: all share the agent's, for only root gives accounts away.
 *   network   a namespace without any interface but a loopback that is down, for every lease: a serving child answers on a
 *             listener that the agent opened outside and needs nothing else. An ordinary user makes it within a user
 *             namespace. Where neither is permitted the child stays in the machine's network, in which it can make no socket.
 *
 * What is possible is tried once, by isolation_new, and told in the log (worker.isolation); what was possible then and fails
 * later fails the lease. Two agents of one machine that are to have no account in common get ranges of their own; numbers are
 * taken in turn from a random place, so that what an ended lease left is not the next one's.
 * Calling order: isolation_new -> (isolation_take -> isolation_give)*, from any thread -> isolation_free. Memory: a handle. */
#pragma once
#include <stdbool.h>
#include <sys/types.h>
#include "core/table/config.h"

enum isolation_net { ISOLATION_NET_NONE, ISOLATION_NET_OWN, ISOLATION_NET_OWN_BY_USER };

struct isolation;

struct isolation *isolation_new(const struct config *cfg);
/* False: every account is in use, which takes more leases than the range has numbers. *ret 0: leases have none of their own. */
bool isolation_take(struct isolation *i, uid_t *ret);
void isolation_give(struct isolation *i, uid_t uid);        /* 0 is fine */
enum isolation_net isolation_net(const struct isolation *i);
/* In the forked child: no allocation, no lock. False: what was possible before is refused now. */
bool isolation_enter_net(enum isolation_net net);
void isolation_free(struct isolation *i);                   /* NULL is fine */
