/* SPDX-License-Identifier: Apache-2.0 */
/* engine_kit.h - an engine in the database, as an operator makes one, and transactions of who reads and writes it. */
#pragma once
#include "tests/db/scheduler/fixture.h"
#include "scheduler/engines/demand.h"
#include "scheduler/engines/run.h"
#include "tenants/access/principal.h"

static inline struct work kit_begin(struct app *app, struct db_scope scope)
{
    static struct principal staff;
    staff.user_id = (struct uuid){ { 5 } };
    struct work w = { .app = app, .arena = arena_new((size_t)64 << 20), .tenant_id = UUID_NIL, .principal = &staff,
                      .now_us = clock_wall_us(&clock_system) };
    OK(db_begin(app->pool, scope, 0, w.arena, &w.tx, e));
    return w;
}

static inline void kit_end(struct work *w)
{
    OK(db_commit(w->tx, e));
    arena_free(w->arena);
}

static inline struct engine_create kit_create(const char *name, int64_t machines)
{
    return (struct engine_create){ .name = str_c(name), .kind = STR("slurm"), .zone = STR("ae-dxb-1"),
                                   .address = STR("unix:/nowhere/s"),
                                   .worker = STR("/w"), .worker_config = STR("/c"), .folder = STR("/tmp"), .machines = machines,
                                   .longest_seconds = 86400 };
}

static inline struct uuid kit_engine(struct fixture *f, const char *name, int64_t machines)
{
    struct work w = kit_begin(&f->api, SCOPE_TENANT(UUID_NIL));
    const struct engine_create in = kit_create(name, machines);
    struct engine g;
    OK(engine_add(&w, &in, &g, e));
    const struct uuid id = g.engine_id;
    kit_end(&w);
    return id;
}

/* Jobs of the tenant that wait in the engine's pool. */
static inline void kit_jobs(struct fixture *f, struct uuid tenant, size_t n, const char *pool, struct uuid *ids)
{
    char text[UUID_TEXT];
    assert_int_equal(submit(f, tenant, n, 2, 20, ids), n);
    uuid_text(tenant, text);
    fixture_exec(f, "UPDATE job SET pool = '%s' WHERE tenant_id = '%s' AND queued", pool, text);
}

/* As the leader reads it. What names it outlives the arena. */
static inline struct engine kit_engine_of(struct work *w, struct uuid id)
{
    static char texts[3][64];
    struct slice rows = { 0 };
    OK(engine_run_engines(w, &rows, e));
    for (size_t i = 0; i < rows.n; i++) {
        struct engine g = ((struct engine *)rows.items)[i];
        struct str *const names[3] = { &g.name, &g.pool, &g.zone };
        if (!uuid_eq(g.engine_id, id))
            continue;
        for (size_t k = 0; k < 3; k++) {
            snprintf(texts[k], sizeof texts[k], "%.*s", STR_ARG(*names[k]));
            *names[k] = str_c(texts[k]);
        }
        return g;
    }
    fail_msg("the engine is not looked after");
    return (struct engine){ 0 };
}

static inline void kit_read(struct work *w, const struct engine *g, struct slice *rows)
{
    struct uuid after = UUID_NIL;
    OK(engine_demand_serve(w, g, &after, e));
    OK(engine_run_read(w, g, rows, e));
}
