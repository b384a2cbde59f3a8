/* SPDX-License-Identifier: Apache-2.0 */
/* lease_idle.c - what machines say of use: few say anything, so that those that work cost no statement. */
#include "core/db/tx.h"
#include "scheduler/engine/lease_report_int.h"

/* In the order of the report, of which one attempt's last word counts. */
static const struct stmt idle_write = { .name = "lease_idle_write", .params = "UUII", .card = CARD_NONE, .sql =
    "INSERT INTO attempt_idle (tenant_id, attempt_id, rank, idle_since)\n"
    "SELECT DISTINCT ON (tenant_id, attempt_id, rank) tenant_id, attempt_id, rank,\n"
    "       CASE WHEN idle_ms > 0 THEN clock_timestamp() - idle_ms * interval '1 millisecond' END\n"
    "  FROM unnest($1, $2, $3, $4) WITH ORDINALITY AS i(tenant_id, attempt_id, rank, idle_ms, ord)\n"
    " ORDER BY tenant_id, attempt_id, rank, ord DESC\n"
    "ON CONFLICT (tenant_id, attempt_id, rank) DO UPDATE SET idle_since = excluded.idle_since, told_at = clock_timestamp()" };
const struct stmt *const lease_idle_stmts[] = { &idle_write, NULL };

void report_write_idle(struct report *r, const struct lease_item *items, const bool *is_taken, size_t n)
{
    struct line { struct uuid tenant_id, attempt_id; int64_t rank, idle_ms; } *l = NULL;
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        const struct track *t = report_track(r, items[i].tenant_id, items[i].attempt_id, false);
        if (!is_taken[i] || !items[i].has_idle_ms || !t->live)
            continue;
        if (!l)
            l = ARENA_ARRAY(r->w->arena, struct line, n);
        l[k++] = (struct line){ t->tenant_id, t->attempt_id, t->h->rank, items[i].idle_ms };
    }
    if (k)
        db_queue(r->w->tx, &idle_write, ARGS(A_UUIDS_OF(l, k, tenant_id), A_UUIDS_OF(l, k, attempt_id), A_I64S_OF(l, k, rank),
                                             A_I64S_OF(l, k, idle_ms)), false);
}
