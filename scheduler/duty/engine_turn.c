/* SPDX-License-Identifier: Apache-2.0 */
/* engine_turn.c - an edge: it opens the transactions of a turn and logs their errors. Objects are asked for one by one by
 * their ids while there are few, and all at once when there are many, when one is not where its id says, or now and then for
 * strays. */
#include "scheduler/duty/engine_turn.h"
#include "core/base/cleanup.h"
#include "core/base/fault.h"
#include "core/base/log.h"
#include "core/db/run_tx.h"
#include "core/table/config.h"
#include "core/table/metrics.h"
#include "scheduler/duty/engine_login.h"
#include "scheduler/engines/demand.h"
#include "scheduler/engines/run.h"

#include <signal.h>
#include <string.h>

enum { STRAYS_MAX = 8, PAUSE_US = 5000000 };

struct turn {
    const struct app *app;
    struct arena *arena;
    const struct engine *g;
    const struct engine_door *door;
    struct engine_call call;
    struct engine_memory *memory;
    struct run_row *rows;
    size_t n;
    struct engine_seen *seen;
    size_t nseen;
    bool is_whole;
    struct err unfit;                       /* it answers, and would take nothing: looked at, and nothing is submitted */
};

static struct work work_of(const struct turn *t)
{
    return (struct work){ .app = t->app, .arena = t->arena, .now_us = clock_wall_us(t->app->clock) };
}

static void tell_unwritten(const struct err *e)
{
    log_err(e->code == ERR_CONFLICT || e->code == ERR_RETRY ? LOG_INFO : LOG_WARN, "engine.write", e);
}

/* Runs act in a transaction of the scheduler's. */
#define ACT(t, act)                                                                                       \
    do {                                                                                                  \
        struct work act_w = work_of(t);                                                                   \
        struct err act_e = { 0 };                                                                         \
        if (RUN_SYSTEM(&act_w, (t)->app->pool, 0, act, &act_e) != ERR_OK)                                 \
            tell_unwritten(&act_e);                                                                       \
    } while (0)

static struct str shortened(struct arena *a, const char *text)
{
    enum { SAYS_MAX = 250 };
    const size_t n = strlen(text);
    return str_dup(a, str_n(text, n < SAYS_MAX ? n : SAYS_MAX));
}

/* What is wrong (files, addresses) is for staff; tenants read what a run says. */
static enum errc note_down(struct work *w, const struct turn *t, struct str says, struct err *e)
{
    const struct str words = str_fmt(w->arena, "Engine %.*s: it does not answer as it should; its operators see why",
                                     STR_ARG(t->g->name));
    TRY(engine_run_health(w, t->g->engine_id, false, says, e));
    for (size_t i = 0; i < t->n; i++) {
        const struct run_row *r = &t->rows[i];
        const bool is_told = t->unfit.code != ERR_OK && r->external_id.len;     /* what it waits for there */
        if (!r->is_held && !is_told && !str_eq(r->says, words))
            TRY(engine_run_tell(w, r, r->external_id, r->external_state, words, e));
    }
    return engine_run_reasons(w, t->g, e);
}

static void down(struct turn *t, const struct err *why)
{
    const char *words = why->detail[0] ? arena_printf(t->arena, "%s: %s", why->msg, why->detail) : why->msg;
    const struct str says = shortened(t->arena, words);
    if (!str_eq_c(t->g->health, "DOWN") || !str_eq(t->g->health_says, says))
        log_event(LOG_WARN, "engine.down", "engine", LOG_STR(t->g->name), "why", LOG_S(words), NULL);
    ACT(t, note_down(&act_w, t, says, &act_e));
}

/* --- what is there --- */

static bool needs_whole(const struct turn *t)
{
    size_t sent = 0;
    for (size_t i = 0; i < t->n; i++) {
        const bool is_sent = str_eq_c(t->rows[i].state, "SENT");
        if (is_sent && !t->rows[i].external_id.len)
            return true;
        sent += is_sent;
    }
    return sent > ENGINE_LOOKS;
}

static enum errc see_all(struct turn *t, struct err *e)
{
    struct slice rows;
    size_t large = 0;
    t->call.ret_large = &large;
    const enum errc rc = t->door->list(&t->call, &rows, e);
    t->call.ret_large = NULL;
    TRY(rc);
    if (large && large != t->memory->large)
        log_event(LOG_WARN, "engine.large_objects", "engine", LOG_STR(t->g->name), "count", LOG_I((int64_t)large), "most_bytes",
                  LOG_I(ENGINE_ONE_MAX), NULL);
    t->memory->large = large;
    t->seen = rows.items;
    t->nseen = rows.n;
    t->is_whole = true;
    return ERR_OK;
}

static enum errc see(struct turn *t, bool with_strays, struct err *e)
{
    if (with_strays || !t->door->look || needs_whole(t))
        return see_all(t, e);
    t->seen = ARENA_ARRAY(t->arena, struct engine_seen, t->n + 1);
    for (size_t i = 0; i < t->n; i++) {
        const struct run_row *r = &t->rows[i];
        struct uuid run;
        int64_t tries;
        bool found = false;
        if (!r->external_id.len)
            continue;
        TRY(t->door->look(&t->call, r->external_id, &t->seen[t->nseen], &found, e));
        if (!found || !engine_name_read(t->seen[t->nseen].name, &run, &tries) || !uuid_eq(run, r->run_id) || tries != r->tries)
            return see_all(t, e);           /* forgotten, and its id may be another's by now */
        t->nseen++;
    }
    return ERR_OK;
}

/* --- what follows --- */

/* Where what ended stays: by the name of its last try, also what was never seen, as a half of it. */
static enum errc tidy(struct turn *t, const struct run_row *r, struct err *e)
{
    char name[ENGINE_NAME_TEXT];
    if (!t->door->keeps_ended || !r->tries)
        return ERR_OK;
    engine_name(r->run_id, r->tries, name);
    return engine_cancel(t->door, &t->call, str_c(name), e);
}

static enum errc submit(struct turn *t, struct run_row *r, struct err *ret_e)
{
    struct engine_ask ask;
    struct str id = STR("");
    struct work w = work_of(t);
    struct err e = { 0 };
    TRY(tidy(t, r, ret_e));
    if (RUN_SYSTEM(&w, t->app->pool, 0, engine_run_begin(&w, t->g, r, &ask, &e), &e) != ERR_OK) {
        log_err(e.code == ERR_CONFLICT ? LOG_INFO : LOG_WARN, "engine.begin", &e);
        return ERR_OK;
    }
    if (FAULT("engine_begun"))
        raise(SIGKILL);
    const enum errc rc = engine_submit(t->door, &t->call, &ask, &id, &e);
    if (FAULT("engine_sent"))
        raise(SIGKILL);
    log_event(LOG_INFO, "engine.submit", "engine", LOG_STR(t->g->name), "engine_run", LOG_ID("egr", r->run_id), "try",
              LOG_I(r->tries),
              "result", LOG_S(rc == ERR_OK ? "taken" : rc == ERR_INVALID ? "refused" : "not known"), "id", LOG_STR(id), NULL);
    metrics_inc(M_engine_submits_total, rc == ERR_OK ? "taken" : rc == ERR_INVALID ? "refused" : "unknown");
    if (rc == ERR_OK)
        ACT(t, engine_run_tell(&act_w, r, id, STR(""), STR("Its machine was asked for"), &act_e));
    else if (rc == ERR_INVALID) {
        const struct str says = shortened(t->arena, e.msg);
        ACT(t, engine_run_back(&act_w, r, says, act_w.now_us + PAUSE_US * r->tries, &act_e));
    }
    return ERR_OK;
}

static struct str words_of(struct arena *a, const struct engine *g, const struct engine_seen *s)
{
    if (s->state == ENGINE_WAITS)
        return str_fmt(a, "Engine %.*s has it waiting: %.*s", STR_ARG(g->name), STR_ARG(s->reason.len ? s->reason : s->word));
    if (s->state == ENGINE_STRANGE)
        return str_fmt(a, "Engine %.*s says a word that is not known: %.*s", STR_ARG(g->name), STR_ARG(s->word));
    return str_fmt(a, "Its machine of engine %.*s is starting or ending", STR_ARG(g->name));
}

static void keep(struct turn *t, const struct run_row *r, const struct engine_seen *s)
{
    const struct str says = words_of(t->arena, t->g, s);
    if (!str_eq(r->external_id, s->id) || !str_eq(r->external_state, s->word) || !str_eq(r->says, says))
        ACT(t, engine_run_tell(&act_w, r, s->id, s->word, says, &act_e));
}

/* A process may be left where a machine was lost or is to start again, and where none was seen to end. */
static bool is_gone(const struct run_verdict *v)
{
    return v->seen && !v->differs && v->seen->state != ENGINE_LOST && !v->seen->is_again;
}

static void finish(struct turn *t, const struct run_row *r, const struct run_verdict *v)
{
    struct str says = STR("");
    if (v->differs)
        says = str_fmt(t->arena, "Its %s there is not what was sent", v->differs);
    else if (v->seen)
        says = str_fmt(t->arena, "%.*s %.*s", STR_ARG(v->seen->word), STR_ARG(v->seen->reason));
    struct work w = work_of(t);
    struct err e = { 0 };
    if (RUN_SYSTEM(&w, t->app->pool, 0, engine_run_end(&w, t->g, r, v->outcome, says, is_gone(v),
                                                             t->door->keeps_ended && r->tries, &e), &e) != ERR_OK) {
        tell_unwritten(&e);             /* its object stays, so that the next turn finds how it ended */
        return;
    }
    log_event(v->differs ? LOG_ERROR : LOG_INFO, "engine.ended", "engine", LOG_STR(t->g->name), "engine_run",
              LOG_ID("egr", r->run_id), "outcome", LOG_S(v->outcome), "says", LOG_STR(says), NULL);
    metrics_inc(M_engine_runs_total, v->outcome);
    const bool is_tidy = t->door->keeps_ended && r->tries && tidy(t, r, &e) == ERR_OK;
    if (is_tidy && v->seen)
        t->seen[v->seen - t->seen].is_leaving = true;               /* what it did not remove is a stray from now on */
    if (is_tidy && r->external_id.len)                              /* else a call may be on its way: remove_left looks again */
        ACT(t, engine_run_removed(&act_w, &r->run_id, 1, &act_e));
}

static enum errc judge(struct turn *t, struct run_row *r, struct err *e)
{
    struct engine_ask sent;
    engine_run_ask(t->arena, t->g, r, STR(""), &sent);
    const struct run_facts f = {
        .run_id = r->run_id, .state = str_eq_c(r->state, "SENT") ? RUN_SENT : RUN_WANTED, .tries = r->tries,
        .sent_us = r->sent_us, .wait_us = r->wait_us, .is_wanted = r->job_waits || r->is_held, .is_open = t->g->enabled,
        .has_work = r->is_held && r->is_heard, .account = t->g->account, .ask = &sent };
    const struct run_verdict v = run_judge(&f, t->seen, t->nseen, t->is_whole, clock_wall_us(t->app->clock));
    for (size_t i = 0; i < v.ncancel; i++)
        TRY(engine_cancel(t->door, &t->call, v.cancel[i], e));
    if (v.act == ACT_SUBMIT)
        return t->unfit.code == ERR_OK ? submit(t, r, e) : ERR_OK;
    if (v.act == ACT_KEEP)
        keep(t, r, v.seen);
    else if (v.act == ACT_END)
        finish(t, r, &v);
    return ERR_OK;
}

/* Objects of runs that ended here, as of a call that was carried out long after it was given up. Another installation's are
 * not known here and are left alone. */
static enum errc cancel_strays(struct turn *t, struct err *e)
{
    struct uuid *ids = ARENA_ARRAY(t->arena, struct uuid, ENGINE_RUNS_MAX), run;
    struct slice rows = { 0 };
    size_t n = 0, cancelled = 0;
    int64_t tries;
    for (size_t i = 0; i < t->nseen && n < ENGINE_RUNS_MAX; i++)
        if (run_is_stray(&t->seen[i], t->door->keeps_ended) && engine_name_read(t->seen[i].name, &run, &tries))
            ids[n++] = run;
    if (!n)
        return ERR_OK;
    ACT(t, engine_run_ended(&act_w, ids, n, &rows, &act_e));
    for (size_t i = 0; i < t->nseen && cancelled < STRAYS_MAX; i++) {
        const struct engine_seen *s = &t->seen[i];
        bool is_stray = false;
        if (!run_is_stray(s, t->door->keeps_ended) || !engine_name_read(s->name, &run, &tries))
            continue;
        for (size_t k = 0; k < rows.n && !is_stray; k++)
            is_stray = uuid_eq(((const struct uuid *)rows.items)[k], run);
        if (!is_stray)
            continue;
        log_event(LOG_WARN, "engine.stray", "engine", LOG_STR(t->g->name), "engine_run", LOG_ID("egr", run), "id",
                  LOG_STR(s->id), NULL);
        TRY(engine_cancel(t->door, &t->call, s->id, e));
        cancelled++;
    }
    return ERR_OK;
}

/* What runs left that have ended here, where it was not seen to go: a half of a submission, or of its removal. One that cannot
 * be removed keeps none of the others. */
static void remove_left(struct turn *t)
{
    struct run_left *left = ARENA_ARRAY(t->arena, struct run_left, STRAYS_MAX);
    struct uuid *gone = ARENA_ARRAY(t->arena, struct uuid, STRAYS_MAX);
    size_t n = 0, removed = 0;
    if (!t->door->keeps_ended)
        return;
    ACT(t, engine_run_left(&act_w, t->g, left, STRAYS_MAX, &n, &act_e));
    for (size_t i = 0; i < n; i++) {
        struct err e = { 0 };
        if (engine_cancel(t->door, &t->call, str_c(left[i].name), &e) == ERR_OK)
            gone[removed++] = left[i].run_id;
        else
            log_err(LOG_WARN, "engine.left", &e);
    }
    if (removed)
        ACT(t, engine_run_removed(&act_w, gone, removed, &act_e));
}

/* What was never submitted needs no engine to end: one that is away can be disabled and removed. */
static void drop_unsent(struct turn *t)
{
    size_t kept = 0;
    for (size_t i = 0; i < t->n; i++) {
        const struct run_row *r = &t->rows[i];
        if (r->tries || (r->job_waits && t->g->enabled))
            t->rows[kept++] = *r;
        else
            finish(t, r, &(struct run_verdict){ .act = ACT_END, .outcome = "UNWANTED" });
    }
    t->n = kept;
}

static enum errc ask(struct turn *t, struct err *e)
{
    const int64_t now_us = clock_mono_us(t->app->clock);
    const bool with_strays = now_us >= t->memory->strays_us;
    const struct run_row one = { .seats = STR("1"), .slots = 1, .cpus = 1, .minutes = 10 };
    struct engine_ask probe;
    engine_run_ask(t->arena, t->g, &one, STR(""), &probe);
    t->call.probe = &probe;
    if (t->g->credential.len)
        TRY(engine_login(t->app->config, t->arena, t->g->credential, &t->call, e));
    if (t->door->health(&t->call, &t->unfit) != ERR_OK && t->unfit.code != ERR_INVALID) {
        *e = t->unfit;
        return e->code;
    }
    TRY(see(t, with_strays, e));
    if (with_strays)
        t->memory->strays_us = now_us + ENGINE_STRAYS_US;
    for (size_t i = 0; i < t->n; i++)
        TRY(judge(t, &t->rows[i], e));
    if (with_strays)
        TRY(cancel_strays(t, e));
    if (with_strays)
        remove_left(t);
    if (t->unfit.code != ERR_OK)
        *e = t->unfit;
    return t->unfit.code;
}

static enum errc read_all(struct work *w, struct turn *t, struct err *e)
{
    struct slice rows = { 0 };
    TRY(engine_demand_serve(w, t->g, &t->memory->after, e));
    TRY(engine_run_read(w, t->g, &rows, e));
    TRY(engine_run_drain(w, t->g, e));
    t->rows = rows.items;
    t->n = rows.n;
    return ERR_OK;
}

static enum errc note_up(struct work *w, const struct turn *t, struct err *e)
{
    TRY(engine_run_health(w, t->g->engine_id, true, STR(""), e));
    return engine_run_reasons(w, t->g, e);
}

void engine_turn(const struct app *app, struct arena *a, const struct engine *g, struct engine_memory *m,
                 bool (*is_unwanted)(void *ctx), void *ctx)
{
    struct turn t = { .app = app, .arena = a, .g = g, .memory = m, .door = engine_door_of(g->kind) };
    struct err why = { 0 };
    struct work w = work_of(&t);
    t.call = (struct engine_call){ .arena = a, .address = g->address, .account = g->account, .is_unwanted = is_unwanted,
        .ctx = ctx,
        .ca_file = g->authority.len ? engine_file(app->config, a, g->authority) : NULL };
    if (!t.door || RUN_SYSTEM(&w, app->pool, 0, read_all(&w, &t, &why), &why) != ERR_OK) {
        log_err(LOG_WARN, "engine.read", &why);
        return;
    }
    drop_unsent(&t);
    const int64_t now_us = clock_mono_us(app->clock);
    if (!t.n && now_us < m->ping_us)
        return;
    m->ping_us = now_us + ENGINE_PING_US;
    if (ask(&t, &why) != ERR_OK)
        down(&t, &why);
    else
        ACT(&t, note_up(&act_w, &t, &act_e));
}
