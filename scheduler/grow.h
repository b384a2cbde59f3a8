/* SPDX-License-Identifier: Apache-2.0 */
/* grow.h - a running job on several machines starts again on more of them (docs/adr/0143).
 *
 * Its attempt is told to go as one that makes room is (evict.h): it keeps a checkpoint and goes back to its queue, and the next
 * plan gives it what is free. It does not count as preempted. One of a tenant at a time, and each not before it has run for
 * scheduler.grow_after_ms; 0: never. */
#pragma once
#include "core/base/work.h"

struct plan;
struct snapshot;
struct stmt;

/* Who waits for room in that plan, or may, since the plan was cut before him: struct grow_wait (plan/grow.h), in w->arena. */
struct slice grow_busy(struct work *w, const struct snapshot *s, const struct plan *p);
/* busy: struct grow_wait. In transactions of its own; ret_nodes: struct uuid, whom to wake; they are committed. Memory: w->arena.
 * Errors: those of the database. */
enum errc grow_pass(struct work *w, struct slice busy, struct slice *ret_nodes, struct err *e) MUST_CHECK;
extern const struct stmt *const grow_stmts[];
