/* SPDX-License-Identifier: Apache-2.0 */
/* run_tx.h - an act in a transaction of its own: begin, act, commit; rolled back when the act fails.
 *
 *   TRY(RUN_READ(w, job_get(w, id, &job, e), e));
 *
 * The pipeline gives each request its transaction. Whatever happens outside of that one (timers, pages of a download, events of what was
 * refused) runs through here, so that no path forgets to commit, to roll back or to give the connection back (tests/lint/banned.sh).
 * `act` is an expression of type enum errc that fails with e. While it runs, w->tx is its transaction; afterwards w->tx is what it was.
 * It neither commits nor rolls back, and is not evaluated when there is no connection.
 * Memory: results live in w->arena. Errors: those of the act, of db_begin and of db_commit. */
#pragma once
#include "core/base/work.h"
#include "core/db/tx.h"

/* flags: TX_READ_ONLY, TX_SINGLE. */
#define RUN_TX(w, pool, scope, flags, act, e)                                                            \
    __extension__({                                                                                      \
        struct db_tx *run_outer_;                                                                        \
        enum errc run_rc_ = run_tx_begin((w), (pool), (scope), (flags), &run_outer_, (e));               \
        run_rc_ == ERR_OK ? run_tx_end((w), run_outer_, (act), (e)) : run_rc_;                           \
    })
/* On the app's pool, in the scope of the work: what its tenant and its projects may see. */
#define RUN_WRITE(w, act, e) RUN_TX(w, (w)->app->pool, scope_of(w), 0, act, e)
#define RUN_READ(w, act, e) RUN_TX(w, (w)->app->pool, scope_of(w), TX_READ_ONLY, act, e)
/* On a pool of a role that serves all tenants. */
#define RUN_SYSTEM(w, pool, flags, act, e) RUN_TX(w, pool, SCOPE_SYSTEM, flags, act, e)

/* For the macros only. */
MUST_CHECK enum errc run_tx_begin(struct work *w, struct db_pool *pool, struct db_scope scope, unsigned flags, struct db_tx **ret_outer, struct err *e);
MUST_CHECK enum errc run_tx_end(struct work *w, struct db_tx *outer, enum errc rc, struct err *e);
