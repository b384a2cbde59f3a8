/* SPDX-License-Identifier: Apache-2.0 */
/* booking.c - sums by tenant, in the order in which everybody locks them. */
#include "scheduler/jobs/booking.h"
#include "core/base/assert.h"
#include "core/db/tx.h"

#include <stdlib.h>

struct line {
    struct uuid tenant_id;
    int64_t jobs;
};

struct booking {
    size_t n, max;
    struct line lines[];
};

/* One by one in the order of the arrays; what was waited for is added to, whatever it is by then. */
const struct stmt booking_write_stmt = { .name = "booking_write", .params = "UI", .card = CARD_NONE, .sql =
    "INSERT INTO job_end (tenant_id, ended) SELECT i.tenant_id, i.jobs FROM unnest($1, $2) AS i(tenant_id, jobs)\n"
    "    ON CONFLICT (tenant_id) DO UPDATE SET ended = job_end.ended + EXCLUDED.ended" };

struct booking *booking_new(struct arena *a, size_t max_adds)
{
    struct booking *b = arena_alloc(a, sizeof *b + max_adds * sizeof *b->lines);
    b->max = max_adds;
    return b;
}

void booking_add(struct booking *b, struct uuid tenant_id)
{
    ASSERT(b->n < b->max);
    b->lines[b->n++] = (struct line){ tenant_id, 1 };
}

static int by_tenant(const void *x, const void *y)
{
    return uuid_cmp(((const struct line *)x)->tenant_id, ((const struct line *)y)->tenant_id);
}

void booking_write(struct db_tx *tx, struct booking *b)
{
    struct line *l = b->lines;
    size_t k = 0;
    if (!b->n)
        return;
    qsort(l, b->n, sizeof *l, by_tenant);
    for (size_t i = 1; i < b->n; i++) {
        if (by_tenant(&l[k], &l[i]) == 0)
            l[k].jobs += l[i].jobs;
        else
            l[++k] = l[i];
    }
    size_t n = k + 1;
    db_queue(tx, &booking_write_stmt, ARGS(A_UUIDS_OF(l, n, tenant_id), A_I64S_OF(l, n, jobs)), false);
    b->n = 0;
}
