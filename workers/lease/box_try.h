/* SPDX-License-Identifier: Apache-2.0 */
/* box_try.h - what keeps programs from a box on this machine, found by starting one as a lease does.
 *
 * The try is a process of its own, which takes the account, enters the namespaces, makes the scratch and runs true(1) under
 * bubblewrap; so whatever a kernel, a container or a unit refuses is told with its own words before a lease meets it.
 * Calling order: before any thread. The words stay until the next call. Sources: bwrap(1), systemd.exec(5). */
#pragma once
#include <sys/types.h>

/* What leases of this account (0: the agent's own) lack; NULL: nothing. */
const char *box_lacks(uid_t uid, gid_t gid);
/* The same of a program on several machines, of a machine that has boxes; device: worker.tun_device. */
const char *box_net_lacks(uid_t uid, gid_t gid, const char *device);
