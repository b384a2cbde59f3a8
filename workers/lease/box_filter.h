/* SPDX-License-Identifier: Apache-2.0 */
/* box_filter.h - the system calls that a tenant's program may make: what is not on the list is refused with EPERM.
 *
 * The list is what programs of every day need (Python with PyTorch, compilers, shells) on this kernel and architecture. Left out
 * on
 * purpose, though the namespaces stop most of it too: tracing, other processes' memory, mounts, namespaces, keys, BPF, io_uring,
 * userfaultfd, performance counters, clocks, modules, swap, quotas, handles of files, device nodes, and every family of sockets
 * but
 * Unix, IPv4, IPv6 and routing (which find the loopback), of these neither raw nor packet ones.
 * Sources: seccomp(2), bwrap(1) --seccomp. */
#pragma once
#include "core/base/err.h"

/* A file without a name that holds the filter, as bwrap takes it; the caller closes it. */
MUST_CHECK enum errc box_filter_file(int *ret_fd, struct err *e);
