/* SPDX-License-Identifier: Apache-2.0 */
/* run_tx.c - what stands before and behind an act. */
#include "core/db/run_tx.h"

enum errc run_tx_begin(struct work *w, struct db_pool *pool, struct db_scope scope, unsigned flags, struct db_tx **ret_outer,
                       struct err *e)
{
    struct db_tx *tx;
    TRY(db_begin(pool, scope, flags, w->arena, &tx, e));
    *ret_outer = w->tx;
    w->tx = tx;
    return ERR_OK;
}

enum errc run_tx_end(struct work *w, struct db_tx *outer, enum errc rc, struct err *e)
{
    struct db_tx *tx = w->tx;
    w->tx = outer;
    if (rc == ERR_OK)
        return db_commit(tx, e);
    db_rollback(tx);
    return rc;
}
