/* SPDX-License-Identifier: Apache-2.0 */
/* shadow.h - makes events of what triggers saw: rows of guarded tables that somebody changed without Falaj's programs.
 *
 * One event of the platform's log per statement and table (how many rows, the first one's key, who, from where, the SHA-256 of the
 * statement's text), after its transaction can have no predecessor any more, as the sequencer takes events.
 * In w->tx of falaj_sequencer, system scope. */
#pragma once
#include "core/base/work.h"

struct stmt;

MUST_CHECK enum errc audit_shadow_pass(struct work *w, int64_t most, size_t *ret_statements, struct err *e);

extern const struct stmt *const audit_shadow_stmts[];
