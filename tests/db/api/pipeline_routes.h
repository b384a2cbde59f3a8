/* SPDX-License-Identifier: Apache-2.0 */
/* pipeline_routes.h - the routes that the tests of the pipeline call: they do what a test asks by the flags below, and count it.
 * Included by pipeline_kit.h alone. */
#pragma once
#include "tests/db/tenants/fixture.h"
#include "tests/lib/wait.h"
#include "api/api_int.h"
#include "api/pipeline.h"
#include "audit/event.h"
#include "core/http/client.h"
#include "core/json/jsonvalue.h"
#include "core/redis/client.h"
#include "core/redis/rate.h"
#include "core/table/config.h"
#include "tenants/accounts/api_rate.h"
#include "tenants/identity/authn.h"
#include <pthread.h>
#include <unistd.h>

struct thing_new { struct str name; };
SCHEMA_OF(thing_new, "A thing to make", FIELD(thing_new, name, F_REQ, .min = 1, .max = 63,
                                              .doc = "What it is called, and how it goes"));
struct thing { struct uuid model_id; struct str name; int64_t version; };
SCHEMA_OF(thing, "A thing", FIELD_ID(thing, model_id, "mdl", 0, .doc = "The thing"), FIELD(thing, name, 0, .doc = "Name"),
          FIELD(thing, version, 0, .doc = "Grows"));
struct poll_in { int64_t wait_ms; };
SCHEMA_OF(poll_in, "How long", FIELD(poll_in, wait_ms, F_QUERY, .max = 60000, .dflt = "0", .doc = "Time to wait"));
struct poll_out { int64_t runs, value; };
SCHEMA_OF(poll_out, "What came", FIELD(poll_out, runs, 0, .doc = "Runs of the handler"), FIELD(poll_out, value, 0,
    .doc = "Value"));

static const struct stmt thing_insert = { .name = "thing_insert", .params = "uusu", .card = CARD_NONE, .sql =
    "INSERT INTO model (tenant_id, model_id, name, created_by) VALUES ($1, $2, $3, $4)" };
static const struct stmt *const thing_stmts[] = { &thing_insert, NULL };
extern const struct stmt *const idempotency_stmts[];

static _Atomic int fetched, fetched_in_tx, lost;
static _Atomic int runs, retries_left, batch_most, polls, value;
static _Atomic bool slow, wake_while_looking, readers_wake, sees;
static struct pipeline *pipeline;
static struct uuid wake_id = { { 9, 9 } }, cursor;

static enum errc make(struct work *w, const void *in_, void *out_, struct err *err)
{
    const struct thing_new *in = in_;
    struct thing *out = out_;
    runs++;
    *out = (struct thing){ .model_id = uuid_v7(w->now_us), .name = in->name, .version = 1 };
    TRY(db_exec(w->tx, &thing_insert, ARGS(A_UUID(w->tenant_id), A_UUID(out->model_id), A_STR(in->name),
                                           A_UUID(w->principal->user_id)), NULL, err));
    if (slow)
        usleep(300000);
    if (str_eq_c(in->name, "fails-after"))
        return FAIL(err, CONFLICT, "it did not work out");
    if (retries_left > 0) {
        retries_left--;
        return FAIL(err, RETRY, "once more");
    }
    return ERR_OK;
}

static enum errc poll(struct work *w, const void *in_, void *out_, struct err *err)
{
    const struct poll_in *in = in_;
    (void)err;
    if (sees && in->wait_ms && !w->deadline_mono_us && call_is_seen(w, wake_id, cursor))
        return call_park(w, wake_id, in->wait_ms);
    polls++;
    if (sees && wake_while_looking && !in->wait_ms)
        pipeline_wake(pipeline, wake_id);
    if (sees)
        call_seen(w, wake_id, cursor);
    if (!value && in->wait_ms && (!w->deadline_mono_us || clock_mono_us(&clock_system) < w->deadline_mono_us)) {
        if (wake_while_looking) {                           /* it comes after the look and before the call is parked */
            value = 5;
            pipeline_wake(pipeline, wake_id);
        }
        return call_park(w, wake_id, in->wait_ms);
    }
    *(struct poll_out *)out_ = (struct poll_out){ polls, value };
    return ERR_OK;
}

static void lose(struct work *w, void *own)
{
    (void)w, (void)own;
    lost++;
}

static enum errc fetch(struct work *w, const void *in, struct err *err)
{
    (void)in, (void)err;
    fetched_in_tx += w->tx != NULL;
    fetched++;
    call_of(w)->own = &fetched;
    call_of(w)->drop_own = lose;
    return ERR_OK;
}

/* Long work first, as an upload does. */
static enum errc far(struct work *w, const void *in, void *out, struct err *err)
{
    return call_of(w)->own ? make(w, in, out, err) : call_outside(w, fetch, err);
}

static enum errc nothing(struct work *w, const void *in, void *out, struct err *err)
{
    (void)w, (void)in, (void)out, (void)err;
    return ERR_OK;
}

/* As a download whose reader sleeps. */
static enum errc paced(struct call *c, struct err *err)
{
    (void)c;
    runs++;
    WAIT_WHILE(!readers_wake);
    return FAIL(err, CONFLICT, "its reader woke up");
}

static _Atomic int quick_runs;
static _Atomic bool quick_takes;
static _Atomic pthread_t quick_by, raw_by;

static bool quick(struct call *c)
{
    quick_runs++;
    quick_by = pthread_self();
    if (quick_takes)
        call_here(c);
    return quick_takes;
}

static enum errc quick_raw(struct call *c, struct err *err)
{
    (void)err;
    runs++;
    raw_by = pthread_self();
    principal_unref(c->principal);
    c->principal = NULL;
    http_reply(c->exchange, &(struct http_response){ .status = 204 });
    return ERR_OK;
}

static void combine(struct work *w, struct call **calls, size_t n)
{
    (void)w;
    if ((int)n > batch_most)
        batch_most = (int)n;
    for (size_t i = 0; i < n; i++) {
        const struct thing_new *in = calls[i]->in;
        struct thing *out = arena_alloc(calls[i]->work.arena, sizeof *out);
        for (size_t k = 0; k < i; k++)
            if (str_eq(calls[i]->idempotency_key, calls[k]->idempotency_key))
                FAIL(&calls[i]->err, INTERNAL, "two of one key in a batch");
        if (str_eq_c(in->name, "bad"))
            FAIL(&calls[i]->err, QUOTA, "no room");
        *out = (struct thing){ .model_id = uuid_v7(1), .name = in->name, .version = 1 };
        calls[i]->out = out;
    }
    usleep(20000);                                          /* a commit takes its time, and the next batch gathers */
}

static const struct route_end old_end = { "2026-12-01", "2027-09-01", "/v1/poll" };
static const struct route rows[] = {
    { .method = HTTP_POST, .path = "/v1/things", .lane = LANE_CALLS,
      .op = "thing_create", .perm = PERM_JOB_SUBMIT, .handler = make, .in = &thing_new_schema, .status = 201,
      .out = &thing_schema, .flags = R_IDEMPOTENT, .resource = "model", .audited = true, .audit = AUDIT_JOB_SUBMIT,
          .doc = "Make" },
    { .method = HTTP_POST, .path = "/v1/far", .lane = LANE_CALLS,
      .op = "far_create", .perm = PERM_JOB_SUBMIT, .handler = far, .in = &thing_new_schema, .status = 201,
      .out = &thing_schema, .flags = R_IDEMPOTENT, .doc = "Make from afar" },
    { .method = HTTP_POST, .path = "/v1/secrets", .lane = LANE_CALLS,
      .op = "secret_create", .perm = PERM_JOB_SUBMIT, .handler = make, .in = &thing_new_schema, .status = 201,
      .out = &thing_schema, .flags = R_IDEMPOTENT | R_SECRET, .doc = "Make, shown once" },
    { .method = HTTP_POST, .path = "/v1/combined", .lane = LANE_CALLS,
      .op = "combined", .perm = PERM_JOB_SUBMIT, .combine = combine, .in = &thing_new_schema, .status = 201,
      .out = &thing_schema, .flags = R_IDEMPOTENT, .doc = "Together" },
    { .method = HTTP_GET, .path = "/v1/poll", .lane = LANE_CALLS,
      .op = "poll", .perm = PERM_JOB_READ, .handler = poll, .in = &poll_in_schema, .status = 200,
      .out = &poll_out_schema, .doc = "Wait" },
    { .method = HTTP_GET, .path = "/v1/old", .lane = LANE_CALLS, .op = "old", .perm = PERM_TENANT_CREATE,
      .handler = nothing, .status = 204, .ends = &old_end, .doc = "Ends soon" },
    { .method = HTTP_GET, .path = "/v1/old-read", .lane = LANE_CALLS, .op = "old_read", .perm = PERM_JOB_READ, .handler = nothing,
      .status = 204, .ends = &old_end, .doc = "Ends soon" },
    { .method = HTTP_GET, .path = "/v1/paced", .lane = LANE_PACED,
      .op = "paced", .perm = PERM_JOB_READ, .raw = paced, .status = 200, .doc = "Slowly" },
    { .method = HTTP_GET, .path = "/v1/quick", .lane = LANE_CALLS, .op = "quick", .perm = PERM_JOB_SUBMIT, .raw = quick_raw,
      .quick = quick, .status = 204, .rate = RL_NONE, .doc = "Without a handler's thread" },
    { .method = HTTP_GET, .path = "/v1/platform", .lane = LANE_CALLS,
      .op = "platform", .perm = PERM_TENANT_CREATE, .handler = nothing, .status = 204, .doc = "Not for all" },
    { .method = HTTP_GET, .path = "/v1/open", .lane = LANE_CALLS,
      .op = "open", .perm = PERM_PUBLIC, .handler = nothing, .status = 204, .flags = R_NO_TX, .doc = "For all" },
    { .method = HTTP_POST, .path = "/v1/node", .lane = LANE_WORKERS, .op = "node", .perm = PERM_NODE_SELF, .handler = nothing,
     .status = 204, .flags = R_NODE, .doc = "Machines" },
};
static ROUTE_TABLE(table, rows);
const struct route_table *const all_routes[] = { &table, NULL };
