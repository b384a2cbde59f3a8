/* SPDX-License-Identifier: Apache-2.0 */
/* capacity.c - the memory is one array under a lock; a refresh reads into the arena of whoever asked and copies under the lock. */
#include "scheduler/mirror/capacity.h"
#include "core/base/assert.h"
#include "core/db/run_tx.h"
#include "core/table/schema.h"
#include "scheduler/plan/miss.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { FRESH_US = 2000000, ROWS_MAX = 512, LENDS_MAX = 64, WORD_MAX = 64, ENGINES_MAX = 256 };

struct largest {
    struct str zone, pool, flavor, gpu_model, engines;
    int64_t slots, gpus, cpu_milli, memory_bytes;
    bool gpu_shared, programs;
};
SCHEMA_OF(largest, "The machines of one shape", FIELD(largest, zone, 0, .doc = "Zone"), FIELD(largest, pool, 0, .doc = "Pool"),
    FIELD(largest, flavor, 0, .doc = "Flavor"), FIELD(largest, gpu_model, 0, .doc = "Of its GPUs"),
    FIELD(largest, cpu_milli, 0, .doc = "Processors"), FIELD(largest, memory_bytes, 0, .doc = "Memory"),
    FIELD(largest, gpu_shared, 0, .doc = "Shares are kept apart"), FIELD(largest, programs, 0, .doc = "They run programs"),
    FIELD(largest, engines, 0, .doc = "Their engines"),
    FIELD(largest, slots, 0, .doc = "Slots of one machine"),
    FIELD(largest, gpus, 0, .doc = "GPUs of one machine"));

static const struct stmt capacity_read = { .name = "capacity_read", .params = "i", .row = &largest_schema, .card = CARD_MANY,
    .sql =
    "SELECT zone, pool, flavor, gpu_model, gpu_shared, programs, engines, slots, gpus, cpu_milli, memory_bytes FROM node\n"
    " WHERE state <> 'QUARANTINED' GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11\n"
    " ORDER BY gpus DESC, slots DESC, memory_bytes DESC LIMIT $1" };

struct lends {
    struct str zone, pool, name, engines;
    int64_t machines, longest_s;
    bool is_known, programs;
};
SCHEMA_OF(lends, "What an engine could lend", FIELD(lends, zone, 0, .doc = "Zone"), FIELD(lends, pool, 0, .doc = "Pool"),
    FIELD(lends, name, 0, .doc = "The engine"), FIELD(lends, machines, 0, .doc = "At once"),
    FIELD(lends, longest_s, 0, .doc = "For so long"), FIELD(lends, is_known, 0, .doc = "It lent some lately"),
    FIELD(lends, programs, 0, .doc = "Those run programs"), FIELD(lends, engines, 0, .doc = "Those have engines"));
static const struct stmt capacity_lends = { .name = "capacity_lends", .params = "i", .row = &lends_schema, .card = CARD_MANY,
    .sql =
    "SELECT zone, pool, name, machines, longest_s, is_known, programs, engines FROM engine_shapes()\n"
    " ORDER BY name LIMIT $1" };
const struct stmt *const capacity_stmts[] = { &capacity_read, &capacity_lends, NULL };

struct row {
    char zone[WORD_MAX], pool[WORD_MAX], flavor[WORD_MAX], gpu_model[WORD_MAX], engines[ENGINES_MAX];
    struct snap_node node;              /* its texts are those above */
    bool is_lent, is_known;             /* an engine's: of any size; is_known: what else it has is that of those it lent lately */
    int64_t machines, longest_s;
};

struct capacity_cache {
    pthread_mutex_t lock;       /* guards all below */
    bool is_refreshing;
    int64_t until_us;
    size_t n;
    struct row rows[ROWS_MAX + LENDS_MAX];
};

struct capacity_cache *capacity_cache_new(void)
{
    struct capacity_cache *c = calloc(1, sizeof *c);
    ASSERT(c);
    pthread_mutex_init(&c->lock, NULL);
    return c;
}

void capacity_cache_free(struct capacity_cache *c)
{
    if (!c)
        return;
    pthread_mutex_destroy(&c->lock);
    free(c);
}

static enum errc read_both(struct work *w, struct slice *ret, struct slice *ret_lends, struct err *e)
{
    TRY(db_many(w->tx, &capacity_lends, ARGS(A_I64(LENDS_MAX)), ret_lends, LENDS_MAX, e));
    return db_many(w->tx, &capacity_read, ARGS(A_I64(ROWS_MAX)), ret, ROWS_MAX, e);
}

static enum errc read_rows(struct work *w, struct slice *ret, struct slice *ret_lends, struct err *e)
{
    return w->tx ? read_both(w, ret, ret_lends, e)
                 : RUN_TX(w, w->app->pool, SCOPE_TENANT(w->tenant_id), TX_READ_ONLY, read_both(w, ret, ret_lends, e), e);
}

static void add_lends(struct capacity_cache *c, const struct lends *l, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct row *r = &c->rows[c->n++];
        *r = (struct row){ .is_lent = true, .is_known = l[i].is_known, .machines = l[i].machines, .longest_s = l[i].longest_s };
        snprintf(r->flavor, sizeof r->flavor, "engine %.*s", STR_ARG(l[i].name));
        snprintf(r->engines, sizeof r->engines, "%.*s", STR_ARG(l[i].engines));
        snprintf(r->zone, sizeof r->zone, "%.*s", STR_ARG(l[i].zone));
        snprintf(r->pool, sizeof r->pool, "%.*s", STR_ARG(l[i].pool));
        r->node = (struct snap_node){ .zone = str_c(r->zone), .pool = str_c(r->pool), .flavor = str_c(r->flavor),
            .programs = l[i].programs, .engines = str_c(r->engines) };
    }
}

static enum errc refresh(struct work *w, struct capacity_cache *c, struct err *e)
{
    struct slice rows = { 0 }, lends = { 0 };
    enum errc rc = read_rows(w, &rows, &lends, e);
    pthread_mutex_lock(&c->lock);
    c->is_refreshing = false;
    if (rc == ERR_OK) {
        const struct largest *l = rows.items;
        for (c->n = 0; c->n < rows.n; c->n++) {
            struct row *r = &c->rows[c->n];
            r->is_lent = false;
            snprintf(r->flavor, sizeof r->flavor, "%.*s", STR_ARG(l[c->n].flavor));
            snprintf(r->gpu_model, sizeof r->gpu_model, "%.*s", STR_ARG(l[c->n].gpu_model));
            snprintf(r->engines, sizeof r->engines, "%.*s", STR_ARG(l[c->n].engines));
            snprintf(r->zone, sizeof r->zone, "%.*s", STR_ARG(l[c->n].zone));
            snprintf(r->pool, sizeof r->pool, "%.*s", STR_ARG(l[c->n].pool));
            r->node = (struct snap_node){ .zone = str_c(r->zone), .pool = str_c(r->pool), .flavor = str_c(r->flavor),
                .gpu_model = str_c(r->gpu_model), .gpu_shared = l[c->n].gpu_shared, .programs = l[c->n].programs,
                .engines = str_c(r->engines),
                .slots = l[c->n].slots, .gpus = l[c->n].gpus,
                .cpu_milli = l[c->n].cpu_milli, .memory_bytes = l[c->n].memory_bytes };
        }
        add_lends(c, lends.items, lends.n);
        c->until_us = clock_mono_us(w->app->clock) + FRESH_US;
    }
    pthread_mutex_unlock(&c->lock);
    return rc;
}

static bool has_zone(const struct str *zones, size_t n, const char *zone)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq_c(zones[i], zone))
            return true;
    return false;
}

/* What an engine could lend for the job: all that is asked for by number or name there, and else what it is known to have. False:
 * not that many machines, or not for so long, or not for ever. */
static bool lend(const struct row *r, const struct snap_job *j, struct snap_node *ret)
{
    *ret = r->node;
    ret->slots = j->slots;
    ret->gpus = j->gpus;
    ret->cpu_milli = j->cpu_milli;
    ret->memory_bytes = j->memory_bytes;
    ret->gpu_model = j->gpu_models;
    ret->programs |= !r->is_known;
    if (!r->is_known)
        ret->engines = j->engine;
    return snap_job_nodes(j) <= r->machines && j->max_runtime_s > 0 && j->max_runtime_s <= r->longest_s;
}

enum errc capacity_ask(struct work *w, const struct str *zones, size_t nzones, const struct snap_job *j,
                       struct capacity_answer *ret, struct err *e)
{
    struct capacity_cache *c = w->app->capacity;
    struct miss nearest = { 0 };
    *ret = (struct capacity_answer){ 0 };
    if (!c)
        return ERR_OK;
    pthread_mutex_lock(&c->lock);
    bool is_mine = !c->is_refreshing && clock_mono_us(w->app->clock) >= c->until_us;
    c->is_refreshing |= is_mine;
    pthread_mutex_unlock(&c->lock);
    if (is_mine)
        TRY(refresh(w, c, e));
    pthread_mutex_lock(&c->lock);
    for (size_t i = 0; i < c->n; i++) {
        const struct row *r = &c->rows[i];
        if (!has_zone(zones, nzones, r->zone))
            continue;
        ret->any_gpu |= r->node.gpus > 0;
        if (!str_eq_c(j->pool, r->pool))
            continue;
        struct snap_node lent;
        if (r->is_lent && !lend(r, j, &lent))
            continue;
        const struct miss m = miss_of(r->is_lent ? &lent : &r->node, j, false);
        if (!ret->known || miss_is_nearer(&m, &nearest))
            nearest = m;
        ret->known = true;
    }
    ret->fits = ret->known && !nearest.lacks;
    if (nearest.lacks) {
        ret->lacks = (int)miss_first(&nearest);
        ret->miss = str_fmt(w->arena, "flavor %.*s, zone %.*s: %.*s", STR_ARG(nearest.flavor), STR_ARG(nearest.zone),
                            STR_ARG(miss_words(&nearest, j, false, w->arena)));
    }
    pthread_mutex_unlock(&c->lock);
    return ERR_OK;
}
