/* SPDX-License-Identifier: Apache-2.0 */
/* programs.h - whether this machine starts programs of tenants (jobs of kind run), by what a lease of one would meet: the
 * operator's word (worker.programs), a box (box_lacks), and in prod control groups. Machines register it (node.programs), so
 * that such jobs wait for one that does instead of failing on one that does not.
 *
 * Calling order: once, by isolation_new's caller, before any thread. The answer and what lacks are told in the log
 * (worker.programs). */
#pragma once
#include "core/table/config.h"
#include "workers/lease/isolation.h"

/* i: NULL: leases have no accounts of their own. */
bool programs_here(const struct config *cfg, struct isolation *i);
/* And programs on several machines (node.gang_programs), of a machine that runs programs; told as worker.gang_programs. */
bool programs_meet_here(const struct config *cfg, struct isolation *i);
