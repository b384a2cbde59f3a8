/* SPDX-License-Identifier: Apache-2.0 */
/* inside.c - people in running programs: a session is asked for, then both its ends come as WebSockets; and whether a tenant lets
 * anybody in. */
#include "api/inside.h"
#include "api/api.h"
#include "api/api_int.h"
#include "api/pipeline.h"
#include "core/base/cleanup.h"
#include "core/db/run_tx.h"
#include "core/http/ws_hello.h"
#include "core/wire/lease_wire.h"
#include "scheduler/engine/lease.h"
#include "scheduler/jobs/inside_sweep.h"
#include "tenants/access/actor.h"

enum { COMMAND_SHOWN = 400 };

struct inside_in {
    struct uuid job_id;
    int kind;
    struct slice command;
    bool tty;
    int64_t cols, rows;
    struct str term;
    int64_t port;
    int64_t rank;
};
SCHEMA_OF(inside_in, "What somebody wants in a running program's box",
    FIELD_ID(inside_in, job_id, "job", F_PATH, .doc = "The job, a program (kind run) that runs"),
    FIELD(inside_in, rank, 0, .min = 0, .max = INT32_MAX, .dflt = "0",
          .doc = "Of a job on several machines: in the program of which rank; others have rank 0 alone"),
    INSIDE_ASK_FIELDS(inside_in));
struct inside_ref { struct uuid job_id, session_id; };
SCHEMA_OF(inside_ref, "Which session", FIELD_ID(inside_ref, job_id, "job", F_PATH, .doc = "The job"),
    FIELD_ID(inside_ref, session_id, "ins", F_PATH, .doc = "The session, the caller's own"));

/* As it was typed, cut; what no log shows is a question mark. */
static struct str command_shown(struct arena *a, const struct inside_ask *ask)
{
    struct buf b = BUF(2 * INSIDE_ASK_MAX);
    for (size_t i = 0; i < ask->command.n; i++) {
        if (i)
            buf_add_char(&b, ' ');
        buf_add_str(&b, ((const struct str *)ask->command.items)[i]);
    }
    size_t n = b.len < COMMAND_SHOWN ? b.len : COMMAND_SHOWN;
    while (n && n < b.len && ((unsigned char)b.ptr[n] & 0xc0) == 0x80)
        n--;                            /* not within a letter */
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)b.ptr[i] < 0x20 || b.ptr[i] == 0x7f)
            b.ptr[i] = '?';
    const struct str ret = str_dup(a, str_n(b.ptr ? b.ptr : "", n));
    buf_release(&b);
    return ret;
}

static enum errc begin(struct work *w, const void *in_, void *out, struct err *e)
{
    const struct inside_in *in = in_;
    struct inside_session *s = out;
    const struct inside_ask ask = { in->kind, in->command, in->tty, in->cols, in->rows, in->term, in->port };
    struct audit_event *ev = &call_of(w)->audit;
    TRY(inside_note_lost(w, e));
    TRY(inside_begin(w, in->job_id, in->rank, &ask, s, e));
    audit_event_detail(ev, AUDIT_D_STR("inside", id_text(w->arena, "ins", s->session_id)));
    audit_event_detail(ev, AUDIT_D_STR("kind", str_c(inside_kinds[ask.kind])));
    audit_event_detail(ev, AUDIT_D_STR("machine", id_text(w->arena, "nod", s->node_id)));
    if (s->rank)
        audit_event_detail(ev, AUDIT_D_INT("rank", s->rank));
    if (ask.kind == INSIDE_EXEC)
        audit_event_detail(ev, AUDIT_D_STR("command", command_shown(w->arena, &ask)));
    if (ask.kind == INSIDE_FORWARD)
        audit_event_detail(ev, AUDIT_D_INT("port", ask.port));
    return ERR_OK;
}

static enum errc stream(struct call *c, struct err *e)
{
    const struct inside_ref *in = c->in;
    struct work *w = &c->work;
    struct inside_session s;
    struct str key;
    if (c->own)
        return inside_turn(c, e);
    TRY(browser_socket(c, e));
    TRY(ws_hello_key(c->request, &key, e));
    const struct str ticket = ws_hello_protocol(c->request, INSIDE_TICKET);
    TRY(RUN_WRITE(w, inside_take(w, in->job_id, in->session_id, c->session_cookie.ptr ? &ticket : NULL, &s, e), e));
    return inside_open(pipeline_of(w)->inside, c, &s, key, e);
}

/* The lease is proven first, and whether it has this session. */
static enum errc come(struct work *w, const struct lease_session_ref *in, struct err *e)
{
    struct lease l;
    TRY(lease_check(w, in->tenant_id, in->attempt_id, in->fence, w->principal->name, &l, e));
    w->tenant_id = in->tenant_id;
    return inside_join(w, &l, in->session_id, e);
}

static enum errc machine(struct call *c, struct err *e)
{
    const struct lease_session_ref *in = c->in;
    struct work *w = &c->work;
    struct inside *k = pipeline_of(w)->inside;
    struct str key;
    TRY(ws_hello_key(c->request, &key, e));
    if (!inside_waits(k, in->session_id))
        return FAIL(e, UNAVAILABLE, "Nobody waits for this session here; try again, another falaj-api may have it");
    TRY(RUN_SYSTEM(w, w->app->node_pool, 0, come(w, in, e), e));
    return inside_meet(k, c, in->session_id, key, e);
}

static enum errc policy_get(struct work *w, const void *in, void *out, struct err *e)
{
    (void)in;
    return inside_policy_get(w, out, e);
}

static enum errc policy_set(struct work *w, const void *in, void *out, struct err *e)
{
    TRY(inside_policy_set(w, in, e));
    TRY(inside_policy_get(w, out, e));
    const struct inside_policy *p = out;
    audit_event_detail(&call_of(w)->audit, AUDIT_D_INT("allowed", p->allowed));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_INT("closed_projects", (int64_t)p->closed_projects.n));
    return ERR_OK;
}

static const struct route rows[] = {
    { .method = HTTP_POST, .path = "/v1/jobs/{job_id}/inside", .lane = LANE_CALLS,
      .op = "job_enter", .perm = PERM_JOB_ENTER, .handler = begin, .in = &inside_in_schema, .status = 201,
      .out = &inside_session_schema, .flags = R_IDEMPOTENT | R_SECRET, .rate = RL_WRITE, .resource = "job", .audited = true,
      .audit = AUDIT_JOB_ENTER,
      .doc = "Ask to be let into a running program: a command, a shell, a connection to a port, or its "
             "standard input; its stream is opened next" },
    { .method = HTTP_GET, .path = "/v1/jobs/{job_id}/inside/{session_id}", .lane = LANE_CALLS,
      .op = "job_inside", .perm = PERM_JOB_ENTER, .raw = stream, .in = &inside_ref_schema, .status = 101,
      .content_type = "application/octet-stream", .flags = R_UNNOTICED, .rate = RL_WRITE, .resource = "job",
      .doc = "The session's stream, as a WebSocket of binary messages (docs/howto/look-inside.md)" },
    { .method = HTTP_GET, .path = "/v1/leases/{attempt_id}/sessions/{session_id}", .lane = LANE_WORKERS,
      .op = "lease_session", .perm = PERM_NODE_SELF, .raw = machine, .in = &lease_session_ref_schema, .status = 101,
      .content_type = "application/octet-stream", .flags = R_NODE, .rate = RL_NONE,
      .doc = "The machine's end of a session in one of its programs, as a WebSocket" },
    { .method = HTTP_GET, .path = "/v1/inside-policy", .lane = LANE_CALLS,
      .op = "inside_policy_get", .perm = PERM_JOB_READ, .handler = policy_get, .status = 200, .out = &inside_policy_schema,
      .doc = "Whether people are let into running programs" },
    { .method = HTTP_PUT, .path = "/v1/inside-policy", .lane = LANE_CALLS,
      .op = "inside_policy_set", .perm = PERM_PROJECT_MANAGE, .handler = policy_set, .in = &inside_policy_schema, .status = 200,
      .out = &inside_policy_schema, .flags = R_STEP_UP, .rate = RL_WRITE, .resource = "policy", .audited = true,
      .audit = AUDIT_INSIDE_POLICY,
      .doc = "Let people into running programs or not, in all of the organisation or but for some projects; who is inside is "
             "held to it within seconds" },
};
extern const struct route_table inside_routes;
ROUTE_TABLE(inside_routes, rows);
