/* SPDX-License-Identifier: Apache-2.0 */
/* gang_join.h - the child's side of a job on several machines: its key and certificate, the others, and the connections to them.
 *
 * The key is made here, for this lease, and dies with this process. The agent has the certificate signed, tells where the
 * others are and brings sockets to those of lower ranks; those of higher ranks call the listener. Who they are is proven by
 * TLS both ways: a certificate of this attempt, of the machine that the platform chose for that rank, and the digest of what
 * is run. Errors: RETRY (told to stop), IO (the agent is gone), those of comm_tcp_join. */
#pragma once
#include "workers/compute/train/comm.h"
#include "workers/lease/child.h"

/* Blocks until all are joined. from: the step that this rank has put back, on which all must agree; 0 where rank 0 tells the
 * others. *ret: as many ranks as the lease has machines; comm_tcp_free. */
MUST_CHECK enum errc gang_join(struct child *c, int64_t from, struct comm **ret, struct err *e);
/* After an error: it came from another machine (comm_tcp_was_lost), so the agent is told that, and the error becomes RETRY. comm:
 * NULL when joining failed. */
enum errc gang_failed(const struct comm *comm, struct err *e);
