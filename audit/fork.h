/* SPDX-License-Identifier: Apache-2.0 */
/* fork.h - evidence of a fork out of a bundle and a head that was kept: one file that convicts (audit/evidence.h).
 *
 * One pass over a whole log (a range from 1 to the size of its head), which audit_verify has found forked from the kept head.
 * What comes out is checked before it is handed on. Pure but for the reader. Memory: a line and the frontiers of a proof. */
#pragma once
#include "audit/evidence.h"
#include "audit/verify.h"

/* NULL: *ret convicts. Else why this bundle and this head do not. */
const char *fork_of_bundle(verify_read_fn read, void *ctx, const struct bundle_head *kept, struct head_keys keys,
    struct fork_file *ret);
