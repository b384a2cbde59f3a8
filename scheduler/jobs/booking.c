/* SPDX-License-Identifier: Apache-2.0 */
/* booking.c - sums by tenant and resource, in the order in which everybody locks them. */
#include "scheduler/jobs/booking.h"
#include "core/base/assert.h"
#include "core/db/tx.h"

#include <stdlib.h>

struct line {
    struct uuid tenant_id;
    struct str resource;
    int64_t amount;
};

struct booking {
    size_t n, max;
    struct line lines[];
};

/* The items come in lock order, and LATERAL with LIMIT is one index look-up each, whatever the planner believes of the table. */
const struct stmt booking_turn_stmt = { .name = "booking_turn", .params = "US", .card = CARD_NONE, .sql =
    "SELECT FROM unnest($1, $2) AS i(tenant_id, resource) CROSS JOIN LATERAL (\n"
    "  SELECT FROM quota WHERE tenant_id = i.tenant_id AND resource = i.resource LIMIT 1 FOR NO KEY UPDATE) q" };

const struct stmt booking_write_stmt = { .name = "booking_write", .params = "USI", .card = CARD_NONE, .sql =
    "UPDATE quota SET used = used + i.amount FROM unnest($1, $2, $3) AS i(tenant_id, resource, amount)\n"
    " WHERE quota.tenant_id = i.tenant_id AND quota.resource = i.resource" };

struct booking *booking_new(struct arena *a, size_t max_adds)
{
    struct booking *b = arena_alloc(a, sizeof *b + max_adds * sizeof *b->lines);
    b->max = max_adds;
    return b;
}

void booking_add(struct booking *b, struct uuid tenant_id, const char *resource, int64_t amount)
{
    if (!amount)
        return;
    ASSERT(b->n < b->max);
    b->lines[b->n++] = (struct line){ tenant_id, str_c(resource), amount };
}

static int by_lock_order(const void *x, const void *y)
{
    const struct line *a = x, *b = y;
    int c = uuid_cmp(a->tenant_id, b->tenant_id);
    return c ? c : str_cmp(a->resource, b->resource);
}

void booking_write(struct db_tx *tx, struct booking *b)
{
    struct line *l = b->lines;
    size_t k = 0;
    if (!b->n)
        return;
    qsort(l, b->n, sizeof *l, by_lock_order);
    for (size_t i = 1; i < b->n; i++) {
        if (by_lock_order(&l[k], &l[i]) == 0)
            l[k].amount += l[i].amount;
        else
            l[++k] = l[i];
    }
    size_t n = k + 1;
    db_queue(tx, &booking_turn_stmt, ARGS(A_UUIDS_OF(l, n, tenant_id), A_STRS_OF(l, n, resource)), false);
    db_queue(tx, &booking_write_stmt, ARGS(A_UUIDS_OF(l, n, tenant_id), A_STRS_OF(l, n, resource), A_I64S_OF(l, n, amount)), false);
    b->n = 0;
}
