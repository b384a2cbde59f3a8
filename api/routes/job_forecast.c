/* SPDX-License-Identifier: Apache-2.0 */
/* job_forecast.c - routes that say beforehand whether a job would be accepted, and why one waits. Nothing is stored. */
#include "api/jobs_int.h"
#include "api/route.h"
#include "scheduler/jobs/forecast.h"

struct check_error { struct str pointer, code, detail; };
SCHEMA_OF(check_error, "What is wrong with a part of the request", FIELD(check_error, pointer, 0, .doc = "Where"),
    FIELD(check_error, code, F_ALWAYS, .doc = "The error's code"), FIELD(check_error, detail, 0, .doc = "What is wrong"));
struct job_check_out {
    struct str verdict, detail;
    struct slice errors, zones, constraints, quotas;
    struct near_miss nearest;
    struct cost_outlook estimate;
    int64_t ahead;
};
SCHEMA_OF(job_check_out, "What would become of a job if it were submitted now",
    FIELD(job_check_out, verdict, 0, .doc = "ok, or the code of the error that a submission would be refused with"),
    FIELD(job_check_out, detail, 0, .doc = "What is wrong"),
    FIELD_LIST(job_check_out, errors, &check_error_schema, 0, .max = 1, .doc = "Where it is wrong, as the problem would say it"),
    FIELD_LIST(job_check_out, zones, &zone_outlook_schema, 0, .max = 1000, .doc = "The tenant's zones, and the one that the job names"),
    FIELD_LIST(job_check_out, constraints, &explain_step_schema, 0, .max = EXPLAIN_STEPS,
               .doc = "Constraint by constraint, how many machines of the tenant's zones are left"),
    FIELD_SUB(job_check_out, nearest, &near_miss_schema, 0,
              .doc = "What the nearest machine lacks; absent: one has room, or none is of that pool"),
    FIELD_LIST(job_check_out, quotas, &quota_outlook_schema, 0, .max = 16, .doc = "Quotas that the job takes from"),
    FIELD_SUB(job_check_out, estimate, &cost_outlook_schema, 0, .doc = "What it may cost; absent: nothing has a price"),
    FIELD(job_check_out, ahead, 0, .doc = "Waiting jobs of the tenant that would go first, at most 100,000"));

struct job_ref { struct uuid job_id; };
SCHEMA_OF(job_ref, "Which job", FIELD_ID(job_ref, job_id, "job", F_PATH, .doc = "The job"));
struct job_placement {
    int64_t position, ahead;
    struct str code, detail;
    struct slice zones, constraints;
    struct near_miss nearest;
    struct start_outlook start;
};
SCHEMA_OF(job_placement, "Why a job waits",
    FIELD(job_placement, position, 0, .doc = "Its place among the tenant's waiting jobs, by class, priority and age; 0: it does not wait for a turn"),
    FIELD(job_placement, ahead, 0, .doc = "Waiting jobs of the tenant that go first, at most 100,000"),
    FIELD(job_placement, code, 0, .doc = "A reason of a pending job, or not_waiting"),
    FIELD(job_placement, detail, 0, .doc = "The same as a sentence, with numbers"),
    FIELD_LIST(job_placement, constraints, &explain_step_schema, 0, .max = EXPLAIN_STEPS,
               .doc = "Constraint by constraint, how many machines of the tenant's zones are left"),
    FIELD_SUB(job_placement, nearest, &near_miss_schema, 0,
              .doc = "What the nearest machine lacks; absent: one has room, or none is of that pool"),
    FIELD_SUB(job_placement, start, &start_outlook_schema, 0, .doc = "When it may start, where that is known"),
    FIELD_LIST(job_placement, zones, &zone_outlook_schema, 0, .max = 1000, .doc = "The tenant's zones, and the one that the job is pinned to"));

static enum errc check(struct work *w, const void *in, void *out, struct err *e)
{
    struct job_check_out *ret = out;
    struct forecast f;
    TRY(forecast_check(w, in, w->principal, &f, e));
    ret->verdict = str_c(err_row(f.verdict.code)->wire);
    ret->zones = f.room.zones;
    ret->constraints = f.room.constraints;
    ret->nearest = f.room.nearest;
    ret->quotas = f.quotas;
    ret->estimate = f.estimate;
    ret->ahead = f.ahead;
    if (f.verdict.code == ERR_OK)
        return ERR_OK;
    ret->detail = str_dup(w->arena, str_c(f.verdict.msg));
    if (f.verdict.field[0]) {
        struct check_error *c = ARENA_NEW(w->arena, struct check_error);
        *c = (struct check_error){ str_dup(w->arena, str_c(f.verdict.field)), ret->verdict, ret->detail };
        ret->errors = (struct slice){ c, 1 };
    }
    return ERR_OK;
}

static enum errc placement(struct work *w, const void *in, void *out, struct err *e)
{
    struct job_placement *ret = out;
    struct job job;
    struct job_wait wait;
    TRY(job_get(w, ((const struct job_ref *)in)->job_id, &job, e));
    TRY(forecast_wait(w, &job, &wait, e));
    *ret = (struct job_placement){ wait.position, wait.ahead, wait.code, wait.detail, wait.room.zones, wait.room.constraints,
                                   wait.room.nearest, wait.start };
    return ERR_OK;
}

static const struct route rows[] = {
    { .method = HTTP_POST, .path = "/v1/jobs:check", .lane = LANE_HEAVY,
      .op = "job_check", .perm = PERM_JOB_SUBMIT, .handler = check, .in = &job_create_schema, .status = 200,
      .out = &job_check_out_schema, .flags = R_NO_TX, .rate = RL_WRITE, .doc = "What would become of a job if it were submitted now; nothing is stored" },
    { .method = HTTP_GET, .path = "/v1/jobs/{job_id}/placement", .lane = LANE_HEAVY,
      .op = "job_placement", .perm = PERM_JOB_READ, .handler = placement,
      .in = &job_ref_schema, .status = 200, .out = &job_placement_schema, .resource = "job", .doc = "Why a job waits, and where it could run" },
};
extern const struct route_table job_forecast_routes;
ROUTE_TABLE(job_forecast_routes, rows);
