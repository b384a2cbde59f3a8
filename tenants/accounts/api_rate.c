/* SPDX-License-Identifier: Apache-2.0 */
/* api_rate.c - one sorted array under a lock; a refresh reads first and swaps then. */
#include "tenants/accounts/api_rate.h"
#include "core/base/assert.h"
#include "core/db/run_tx.h"
#include "core/table/schema.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { RATES_MAX = 100000 };

struct api_rate { struct uuid tenant_id; int64_t per_minute; };
SCHEMA_OF(api_rate, "A tenant's own limit of calls", FIELD(api_rate, tenant_id, 0, .doc = "Tenant"), FIELD(api_rate, per_minute, 0, .doc = "Calls"));

static const struct stmt api_rate_read = { .name = "api_rate_read", .params = "i", .row = &api_rate_schema, .card = CARD_MANY, .sql =
    "SELECT tenant_id, per_minute FROM quota_api_rates() ORDER BY tenant_id LIMIT $1" };
const struct stmt *const api_rate_stmts[] = { &api_rate_read, NULL };

struct api_rates {
    pthread_mutex_t lock;       /* guards items, n */
    struct api_rate *items;
    size_t n;
};

struct api_rates *api_rates_new(void)
{
    struct api_rates *r = calloc(1, sizeof *r);
    ASSERT(r);
    pthread_mutex_init(&r->lock, NULL);
    return r;
}

void api_rates_free(struct api_rates *r)
{
    if (!r)
        return;
    pthread_mutex_destroy(&r->lock);
    free(r->items);
    free(r);
}

enum errc api_rates_refresh(struct api_rates *r, struct db_pool *pool, struct arena *a, struct err *e)
{
    struct work w = { .arena = a };
    struct slice rows = { 0 };
    TRY(RUN_SYSTEM(&w, pool, TX_READ_ONLY | TX_SINGLE,
                   db_many(w.tx, &api_rate_read, ARGS(A_I64(RATES_MAX)), &rows, RATES_MAX, e), e));
    struct api_rate *new = calloc(rows.n + 1, sizeof *new);
    ASSERT(new);
    if (rows.n)
        memcpy(new, rows.items, rows.n * sizeof *new);
    pthread_mutex_lock(&r->lock);
    struct api_rate *old = r->items;
    r->items = new;
    r->n = rows.n;
    pthread_mutex_unlock(&r->lock);
    free(old);
    return ERR_OK;
}

static int by_id(const void *key, const void *item)
{
    return uuid_cmp(*(const struct uuid *)key, ((const struct api_rate *)item)->tenant_id);
}

int64_t api_rates_of(struct api_rates *r, struct uuid tenant_id)
{
    if (!r)
        return 0;
    pthread_mutex_lock(&r->lock);
    const struct api_rate *found = r->n ? bsearch(&tenant_id, r->items, r->n, sizeof *r->items, by_id) : NULL;
    int64_t n = found ? found->per_minute : 0;
    pthread_mutex_unlock(&r->lock);
    return n;
}
