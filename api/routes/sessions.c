/* SPDX-License-Identifier: Apache-2.0 */
/* sessions.c - routes of sessions: see them, end them. Those of others need session:manage, and are not there for who has it not. */
#include "api/pipeline.h"
#include "core/db/tx.h"
#include "tenants/access/authz.h"
#include "tenants/identity/session.h"
#include "tenants/identity/session_authn.h"

struct session_page { PAGE_IN; struct uuid user_id; };
SCHEMA_OF(session_page, "Whose sessions", PAGE_IN_FIELDS(session_page), FIELD_ID(session_page, user_id, "usr", F_QUERY, .doc = "Absent: the own"));
struct session_ref { struct uuid session_id; };
SCHEMA_OF(session_ref, "Which session", FIELD_ID(session_ref, session_id, "ses", F_PATH, .doc = "The session"));

static bool may_manage(const struct work *w)
{
    return authz_work(w, PERM_SESSION_MANAGE).allowed;
}

static enum errc list(struct work *w, const void *in, void *out, struct err *e)
{
    const struct session_page *page = in;
    struct uuid user = uuid_is_nil(page->user_id) ? w->principal->user_id : page->user_id;
    if (!uuid_eq(user, w->principal->user_id) && !may_manage(w))
        return FAIL(e, FORBIDDEN, "This needs the permission %s", perm_row(PERM_SESSION_MANAGE)->wire);
    return PAGE_BY_ID(w, page, out, session, session_id, session_list(w, user, after, limit, rows, e), e);
}

struct ended {
    struct session_authn *sessions;
    struct uuid session_id;
};

static void forget(void *ctx)
{
    struct ended *s = ctx;
    session_forget(s->sessions, s->session_id);
}

static enum errc end(struct work *w, const void *in, void *out, struct err *e)
{
    (void)out;
    struct ended *s = ARENA_NEW(w->arena, struct ended);
    *s = (struct ended){ pipeline_sessions(pipeline_of(w)), ((const struct session_ref *)in)->session_id };
    TRY(session_end(w, s->session_id, may_manage(w) ? UUID_NIL : w->principal->user_id, "revoked", e));
    db_after_commit(w->tx, forget, s);
    return ERR_OK;
}

static const struct route rows[] = {
    { .method = HTTP_GET, .path = "/v1/sessions", .lane = LANE_CALLS,
      .op = "session_list", .perm = PERM_SIGNED_IN, .handler = list, .in = &session_page_schema,
      .status = 200, .out = &session_schema, .flags = R_LIST, .doc = "List live sessions: the own, or those of a user" },
    { .method = HTTP_DELETE, .path = "/v1/sessions/{session_id}", .lane = LANE_CALLS,
      .op = "session_end", .perm = PERM_SIGNED_IN, .handler = end,
      .in = &session_ref_schema, .status = 204, .rate = RL_WRITE, .resource = "session", .audited = true, .audit = AUDIT_SESSION_REVOKE,
      .doc = "End a session; it is dead within 5 s" },
};
extern const struct route_table session_routes;
ROUTE_TABLE(session_routes, rows);
