/* SPDX-License-Identifier: Apache-2.0 */
/* array_kit.h - arrays of noop jobs on the fixture f, told what to do as a route tells them, and the leader's passes. */
#pragma once
#include "audit/event.h"
#include "core/db/run_tx.h"
#include "scheduler/duty/arrays.h"
#include "scheduler/jobs/array_act.h"
#include "tests/db/scheduler/fixture.h"
#include "tests/lib/wait.h"

static inline struct work kit_work(struct fixture *f, const struct app *app, struct uuid tenant)
{
    (void)f;
    return (struct work){ .app = app, .arena = arena_new(1 << 26), .tenant_id = tenant, .now_us = clock_wall_us(&clock_system) };
}

static inline struct job_submission kit_job(struct uuid tenant, const char *name)
{
    const struct uuid id = uuid_v7(clock_wall_us(&clock_system));
    return (struct job_submission){
        .job = { .tenant_id = tenant, .job_id = id, .name = str_c(name), .kind = JOB_NOOP, .spec = { STR("{}") },
            .pool = STR("default"),
                 .data_class = STR("internal"), .queue = STR("default"), .cls = STR("default"), .slots = 1, .max_attempts = 1,
                 .max_runtime_s = 60, .gpu_milli = 1000, .created_by = id } };
}

static inline enum errc kit_try(struct fixture *f, const char *tasks, const struct job_submission *s, struct job_array *ret,
                                struct err *e)
{
    struct work w = kit_work(f, &f->api, s->job.tenant_id);
    const struct audit_event ev = audit_event_of(&w, AUDIT_JOB_SUBMIT);
    enum errc rc = RUN_WRITE(&w, job_array_create(&w, str_c(tasks), s, ret, e) == ERR_OK ? audit_append(&w, &ev, e) : e->code, e);
    arena_free(w.arena);
    return rc;
}

static inline struct uuid kit_array(struct fixture *f, struct uuid tenant, const char *tasks)
{
    const struct job_submission s = kit_job(tenant, "sweep");
    struct job_array a;
    OK(kit_try(f, tasks, &s, &a, e));
    return a.array_id;
}

/* Of the fields only numbers and ids stay valid, and `paused` as its first letter. */
static inline struct job_array kit_look(struct fixture *f, struct uuid tenant, struct uuid id)
{
    struct work w = fixture_reader(f, tenant);
    struct job_array a;
    static char state[32];
    OK(job_array_get(&w, id, &a, e));
    snprintf(state, sizeof state, "%.*s", STR_ARG(a.state));
    a.state = str_c(state);
    fixture_reader_done(&w);
    return a;
}

static inline enum errc kit_act(struct fixture *f, struct uuid tenant, struct uuid id, enum array_act act)
{
    struct work w = kit_work(f, &f->api, tenant);
    struct err err = { 0 }, *e = &err;
    struct job_array a;
    const struct audit_event ev = audit_event_of(&w, AUDIT_JOB_HOLD);
    enum errc rc = RUN_WRITE(&w, array_act(&w, id, act, &a, e) == ERR_OK ? audit_append(&w, &ev, e) : e->code, e);
    arena_free(w.arena);
    return rc;
}

static inline struct arrays_result kit_pass(struct fixture *f)
{
    struct work w = kit_work(f, &f->scheduler, UUID_NIL);
    struct arrays_result r;
    OK(RUN_SYSTEM(&w, f->scheduler.pool, 0, arrays_pass(&w, &r, e), e));
    arena_free(w.arena);
    return r;
}

/* Passes until n tasks have become jobs: a call that was refused may still hold its array for a moment, and is passed over. */
static inline void kit_start(struct fixture *f, int64_t n)
{
    int64_t started = 0;
    WAIT_WHILE((started += kit_pass(f).started) < n);
    assert_int_equal(started, n);
}

/* n jobs are planned, taken and ended in that way; how many. */
static inline size_t kit_run(struct fixture *f, struct machine *m, size_t n, enum lease_event how)
{
    struct lease_grant g[64];
    (void)plan(f);
    n = take(f, m, (int64_t)n, g);
    if (n) {
        assert_int_equal(tell(f, m, g, n, LE_START, NULL), n);
        assert_int_equal(tell(f, m, g, n, how, NULL), n);
    }
    return n;
}

/* Each index once, and the counts of the row are those of its tasks. */
static inline void kit_check(struct fixture *f)
{
    assert_int_equal(fixture_count(f, "SELECT count(*) FROM job_array a CROSS JOIN LATERAL (\n"
        "  SELECT count(*) FILTER (WHERE newest) AS started, count(*) FILTER (WHERE live) AS live,\n"
        "         count(*) FILTER (WHERE again) AS again,\n"
        "         count(*) FILTER (WHERE newest AND NOT live AND NOT again AND j.ended = 'COMPLETED') AS good,\n"
        "         count(*) FILTER (WHERE newest AND NOT live AND NOT again AND j.ended <> 'COMPLETED') AS bad\n"
        "    FROM array_task t JOIN job j ON j.tenant_id = t.tenant_id AND j.job_id = t.job_id\n"
        "   WHERE t.tenant_id = a.tenant_id AND t.array_id = a.array_id) t\n"
        " WHERE (a.started, a.completed, a.failed, a.again, a.started - a.completed - a.failed - a.again)\n"
        "    IS DISTINCT FROM (t.started, t.good, t.bad, t.again, t.live)"), 0);
    fixture_check(f);
}
