/* SPDX-License-Identifier: Apache-2.0 */
/* roll.c - the steps of a roll, and the thread that takes them.
 *
 * Every falaj-api looks twice a second for rows that are due, over an index that holds rolling deployments alone. A step
 * locks the
 * deployment, looks again and moves; of two processes the second finds the step taken. */
#include "serving/roll.h"
#include "audit/event.h"
#include "core/base/assert.h"
#include "core/base/beat.h"
#include "core/base/log.h"
#include "core/db/run_tx.h"
#include "core/table/schema.h"
#include "scheduler/jobs/job.h"

#include <stdlib.h>

enum { DUE_MAX = 64, WHY_MAX = 500, ARENA_MAX = 8 << 20 };

struct due { struct uuid tenant_id, deployment_id; };
SCHEMA_OF(due, "A deployment whose roll has a step to take", FIELD(due, tenant_id, 0, .doc = "Tenant"),
    FIELD_ID(due, deployment_id, "dpl", 0, .doc = "The deployment"));
SCHEMA_OF(roll_state, "The jobs of a deployment", FIELD_ID(roll_state, deployment_id, "dpl", 0, .doc = "The deployment"),
    FIELD_ID(roll_state, job_id, "job", 0, .doc = "Serves"), FIELD_ID(roll_state, next_job_id, "job", 0, .doc = "Shall serve"),
    FIELD_ID(roll_state, old_job_id, "job", 0, .doc = "Did serve"), FIELD(roll_state, name, 0, .doc = "What clients call"),
    FIELD_ID(roll_state, model_id, "mdl", 0, .doc = "Its model"), FIELD(roll_state, spec, 0, .doc = "Of the job that serves"),
    FIELD(roll_state, slots, 0, .doc = "Of that job"), FIELD(roll_state, model_version, 0, .doc = "Served"),
        FIELD(roll_state, next_version, 0, .doc = "To be served; 0: none"),
    FIELD(roll_state, version, 0, .doc = "The row's"), FIELD(roll_state, is_ready, 0, .doc = "The next job answers"),
    FIELD(roll_state, is_late, 0, .doc = "It should have by now"), FIELD(roll_state, is_drained, 0, .doc =
        "Nobody asks the old job"),
    FIELD(roll_state, next_state, 0, .doc = "State of the next job"), FIELD(roll_state, next_message, 0, .doc = "What it says"));

static const struct stmt roll_due = { .name = "roll_due", .params = "ii", .row = &due_schema, .card = CARD_MANY, .sql =
    "SELECT tenant_id, deployment_id FROM deployments_due($1, $2)" };
static const struct stmt roll_lock_stmt = { .name = "roll_lock", .params = "uui", .row = &roll_state_schema, .card =
    CARD_ONE, .sql =
    "SELECT " ROW_COLUMNS " FROM deployment_roll($1, $2, $3)" };
static const struct stmt roll_take = { .name = "roll_take", .params = "uui", .row = &roll_state_schema, .card = CARD_MAYBE, .sql =
    "SELECT " ROW_COLUMNS " FROM deployment_roll($1, $2, $3)" };
static const struct stmt roll_begin_stmt = { .name = "roll_begin", .params = "uuuii", .card = CARD_NONE, .sql =
    "UPDATE deployment SET next_job_id = $3, next_version = $4, next_until = clock_timestamp() + $5 * interval '1 second',\n"
    "       roll_error = '', version = version + 1\n"
    " WHERE tenant_id = $1 AND deployment_id = $2 AND state = 'ACTIVE'" };
static const struct stmt roll_turn = { .name = "roll_turn", .params = "uu", .card = CARD_NONE, .sql =
    "UPDATE deployment SET old_job_id = job_id, job_id = next_job_id, model_version = next_version, next_job_id = NULL,\n"
    "       next_version = NULL, next_until = NULL, turned_at = clock_timestamp(), version = version + 1\n"
    " WHERE tenant_id = $1 AND deployment_id = $2 AND state = 'ACTIVE' AND next_job_id IS NOT NULL" };
static const struct stmt roll_fail = { .name = "roll_fail", .params = "uus", .card = CARD_NONE, .sql =
    "UPDATE deployment SET next_job_id = NULL, next_version = NULL, next_until = NULL, roll_error = $3, version = version + 1\n"
    " WHERE tenant_id = $1 AND deployment_id = $2 AND state = 'ACTIVE'" };
static const struct stmt roll_drained = { .name = "roll_drained", .params = "uu", .card = CARD_NONE, .sql =
    "UPDATE deployment SET old_job_id = NULL, version = version + 1\n"
    " WHERE tenant_id = $1 AND deployment_id = $2 AND state = 'ACTIVE'" };

const struct stmt *const roll_stmts[] = { &roll_due, &roll_lock_stmt, &roll_take, &roll_begin_stmt, &roll_turn, &roll_fail,
                                          &roll_drained, NULL };

enum errc roll_lock(struct work *w, struct uuid deployment_id, struct roll_state *ret, struct err *e)
{
    return db_one(w->tx, &roll_lock_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(deployment_id), A_I64(ROLL_DRAIN_MS)), ret, e);
}

/* One that has ended by itself is no fault. */
static enum errc stop(struct work *w, struct uuid job_id, struct err *e)
{
    struct job job;
    if (uuid_is_nil(job_id))
        return ERR_OK;
    enum errc rc = job_cancel(w, job_id, &job, e);
    return rc == ERR_CONFLICT ? ERR_OK : rc;
}

static enum errc tell(struct work *w, const struct roll_state *s, const char *step, struct str why, struct err *e)
{
    struct audit_event ev = audit_event_of(w, AUDIT_DEPLOYMENT_ROLL);
    ev.tenant_id = w->tenant_id;
    ev.resource_kind = STR("deployment");
    ev.resource_prefix = "dpl";
    ev.resource_id = s->deployment_id;
    audit_event_detail(&ev, AUDIT_D_STR("step", str_c(step)));
    audit_event_detail(&ev, AUDIT_D_INT("from_version", s->model_version));
    audit_event_detail(&ev, AUDIT_D_INT("to_version", s->next_version));
    if (why.len)
        audit_event_detail(&ev, AUDIT_D_STR("why", why));
    return audit_append(w, &ev, e);
}

enum errc roll_begin(struct work *w, const struct roll_state *s, struct uuid job_id, int64_t model_version, int64_t deadline_s,
                     struct err *e)
{
    TRY(stop(w, s->next_job_id, e));
    return db_exec(w->tx, &roll_begin_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(s->deployment_id), A_UUID(job_id),
                                                 A_I64(model_version), A_I64(deadline_s)), NULL, e);
}

/* Never in the middle of a character. */
static struct str short_enough(struct str s)
{
    size_t n = s.len < WHY_MAX ? s.len : WHY_MAX;
    while (n < s.len && n > 0 && ((unsigned char)s.ptr[n] & 0xc0) == 0x80)
        n--;
    return str_n(s.ptr, n);
}

enum errc roll_give_up(struct work *w, const struct roll_state *s, struct str why, struct err *e)
{
    if (uuid_is_nil(s->next_job_id))
        return ERR_OK;
    why = short_enough(why);
    TRY(stop(w, s->next_job_id, e));
    TRY(tell(w, s, "given_up", why, e));
    return db_exec(w->tx, &roll_fail, ARGS(A_UUID(w->tenant_id), A_UUID(s->deployment_id), A_STR(why)), NULL, e);
}

static bool has_ended(const struct roll_state *s)
{
    int state = name_index(job_state_names, s->next_state);
    return state >= 0 && job_state_is_terminal((enum job_state)state);
}

static struct str why_not(struct work *w, const struct roll_state *s)
{
    if (s->next_message.len)
        return str_fmt(w->arena, "Version %ld does not serve: %.*s", (long)s->next_version, STR_ARG(s->next_message));
    return str_fmt(w->arena, "Version %ld did not answer in time; its job is %.*s", (long)s->next_version,
        STR_ARG(s->next_state));
}

/* *ret_moved: there was something to do. */
static enum errc step(struct work *w, struct uuid deployment_id, int64_t drain_ms, bool *ret_moved, struct err *e)
{
    struct roll_state s = { 0 };
    const struct arg own[] = { A_UUID(w->tenant_id), A_UUID(deployment_id), A_I64(drain_ms) };
    bool found;
    *ret_moved = false;
    TRY(db_maybe(w->tx, &roll_take, own, 3, &s, &found, e));
    if (!found)
        return ERR_OK;
    *ret_moved = true;
    if (s.is_ready) {
        TRY(stop(w, s.old_job_id, e));          /* of a roll before, which turned at least one loading ago */
        TRY(tell(w, &s, "turned", STR_NULL, e));
        return db_exec(w->tx, &roll_turn, own, 2, NULL, e);
    }
    if (!uuid_is_nil(s.next_job_id) && (has_ended(&s) || s.is_late))
        return roll_give_up(w, &s, why_not(w, &s), e);
    if (!uuid_is_nil(s.old_job_id) && s.is_drained) {
        TRY(stop(w, s.old_job_id, e));
        return db_exec(w->tx, &roll_drained, own, 2, NULL, e);
    }
    *ret_moved = false;
    return ERR_OK;
}

enum errc roll_pass(const struct app *app, struct arena *a, int64_t drain_ms, int64_t *ret_steps, struct err *e)
{
    struct work w = { .app = app, .arena = a, .now_us = clock_wall_us(app->clock) };
    struct slice rows = { 0 };
    *ret_steps = 0;
    TRY(RUN_SYSTEM(&w, app->pool, TX_SINGLE, db_many(w.tx, &roll_due, ARGS(A_I64(drain_ms), A_I64(DUE_MAX)), &rows, DUE_MAX,
        e), e));
    const struct due *d = rows.items;
    for (size_t i = 0; i < rows.n; i++) {
        bool moved;
        w.tenant_id = d[i].tenant_id;
        TRY(RUN_WRITE(&w, step(&w, d[i].deployment_id, drain_ms, &moved, e), e));
        *ret_steps += moved;
    }
    return ERR_OK;
}

struct roll_keeper {
    const struct app *app;
    struct arena *arena;
    bool is_failing;                    /* told once, not at each turn */
    struct beat *beat;
};

static int64_t keep(void *ctx, bool is_woken)
{
    struct roll_keeper *k = ctx;
    struct err e;
    int64_t steps;
    (void)is_woken;
    arena_reset(k->arena);
    bool is_well = roll_pass(k->app, k->arena, ROLL_DRAIN_MS, &steps, &e) == ERR_OK;
    if (!is_well && !k->is_failing)
        log_err(e.code == ERR_RETRY ? LOG_INFO : LOG_WARN, "deployment.roll", &e);
    k->is_failing = !is_well;
    return ROLL_STEP_MS * INT64_C(1000);
}

struct roll_keeper *roll_keeper_new(const struct app *app)
{
    struct roll_keeper *k = calloc(1, sizeof *k);
    ASSERT(k);
    k->app = app;
    k->arena = arena_new(ARENA_MAX);
    k->beat = beat_new("falaj-roll", ROLL_STEP_MS * INT64_C(1000), keep, k);
    return k;
}

void roll_keeper_free(struct roll_keeper *k)
{
    if (!k)
        return;
    beat_free(k->beat);
    arena_free(k->arena);
    free(k);
}
