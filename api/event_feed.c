/* SPDX-License-Identifier: Apache-2.0 */
/* event_feed.c - one row of `kinds` per topic. The statements read by the primary keys, whose ids grow with time. */
#include "api/event_feed.h"
#include "core/db/run_tx.h"

#define LIMIT_TEXT "200"
_Static_assert(FEED_WINDOW == 200, "LIMIT_TEXT says the same");

SCHEMA_OF(feed_row, "Where a thing stands", FIELD(feed_row, id, 0, .doc = "Which"), FIELD(feed_row, state, 0, .doc = "Its state"),
    FIELD(feed_row, version, 0, .doc = "Changes with it"));

static const struct stmt feed_jobs = { .name = "feed_jobs", .params = "uU", .row = &feed_row_schema, .card = CARD_MANY, .sql =
    "SELECT id, state, version FROM (SELECT job_id AS id, state, version FROM job WHERE tenant_id = $1 ORDER BY job_id DESC LIMIT " LIMIT_TEXT ") n\n"
    " UNION SELECT job_id, state, version FROM job WHERE tenant_id = $1 AND job_id = ANY($2) ORDER BY id DESC" };
static const struct stmt feed_job = { .name = "feed_job", .params = "uu", .row = &feed_row_schema, .card = CARD_MANY, .sql =
    "SELECT job_id AS id, state, version FROM job WHERE tenant_id = $1 AND job_id = $2" };
static const struct stmt feed_nodes = { .name = "feed_nodes", .params = "", .row = &feed_row_schema, .card = CARD_MANY, .sql =
    "SELECT node_id AS id, state, 0::int8 AS version FROM node ORDER BY node_id DESC LIMIT " LIMIT_TEXT };
/* An approval that is given changes no state yet; an expired one is told by its state wherever it is read. */
static const struct stmt feed_approvals = { .name = "feed_approvals", .params = "u", .row = &feed_row_schema, .card = CARD_MANY, .sql =
    "SELECT a.approval_id AS id, CASE WHEN a.state = 'PENDING' AND a.expires_at <= now() THEN 'EXPIRED' ELSE a.state END AS state,\n"
    "       (SELECT count(*) FROM approval_decision d WHERE d.tenant_id = a.tenant_id AND d.approval_id = a.approval_id) AS version\n"
    "  FROM approval a WHERE a.tenant_id = $1 ORDER BY a.approval_id DESC LIMIT " LIMIT_TEXT };
/* A deployment stands where its jobs do. */
static const struct stmt feed_deployments = { .name = "feed_deployments", .params = "u", .row = &feed_row_schema, .card = CARD_MANY, .sql =
    "SELECT d.deployment_id AS id, CASE WHEN d.state = 'DELETED' THEN d.state ELSE j.state END AS state, \n"
    "       d.version * 1000000 + j.version + coalesce(n.version, 0) AS version\n"
    "  FROM deployment d JOIN job j ON j.tenant_id = d.tenant_id AND j.job_id = d.job_id\n"
    "  LEFT JOIN job n ON n.tenant_id = d.tenant_id AND n.job_id = d.next_job_id\n"
    " WHERE d.tenant_id = $1 ORDER BY d.deployment_id DESC LIMIT " LIMIT_TEXT };

const struct stmt *const feed_stmts[] = { &feed_jobs, &feed_job, &feed_nodes, &feed_approvals, &feed_deployments, NULL };

static const struct { const char *name, *prefix; enum permission perm; const struct stmt *st; } kinds[FEED_KIND_COUNT] = {
    [FEED_JOBS] = { "jobs", "job", PERM_JOB_READ, &feed_jobs },
    [FEED_JOB] = { "job:", "job", PERM_JOB_READ, &feed_job },
    [FEED_NODES] = { "nodes", "nod", PERM_NODE_READ, &feed_nodes },
    [FEED_APPROVALS] = { "approvals", "apr", PERM_APPROVAL_READ, &feed_approvals },
    [FEED_DEPLOYMENTS] = { "deployments", "dpl", PERM_DEPLOY_READ, &feed_deployments },
};

struct feed_seen {
    struct feed_seen *next;
    struct feed_topic topic;
    struct feed_place at;
    struct slice rows;
};

enum permission feed_permission(enum feed_kind kind)
{
    return kinds[kind].perm;
}

const char *feed_prefix(enum feed_kind kind)
{
    return kinds[kind].prefix;
}

struct str feed_topic_name(struct arena *a, struct feed_topic t)
{
    return t.kind == FEED_JOB ? str_fmt(a, "job:%.*s", STR_ARG(id_text(a, "job", t.id))) : str_c(kinds[t.kind].name);
}

static enum errc parse_one(struct str text, struct feed_topic *ret, struct err *e)
{
    *ret = (struct feed_topic){ 0 };
    if (str_starts(text, kinds[FEED_JOB].name)) {
        ret->kind = FEED_JOB;
        return id_parse("job", str_n(text.ptr + 4, text.len - 4), &ret->id) ? ERR_OK : FAIL(e, NOT_FOUND, "There is no such object");
    }
    for (int k = 0; k < FEED_KIND_COUNT; k++)
        if (str_eq_c(text, kinds[k].name)) {
            ret->kind = (enum feed_kind)k;
            return ERR_OK;
        }
    return FAIL_AT(e, INVALID, "/topics", "A topic is jobs, job:<id>, nodes, approvals or deployments");
}

enum errc feed_topics_parse(struct str list, struct feed_topic ret[FEED_TOPICS_MAX], size_t *ret_n, struct err *e)
{
    struct str one;
    size_t n = 0;
    for (bool more = true; more;) {
        more = str_cut(list, ',', &one, &list);
        if (n == FEED_TOPICS_MAX)
            return FAIL_AT(e, INVALID, "/topics", "At most %d topics can be watched at once", FEED_TOPICS_MAX);
        TRY(parse_one(one, &ret[n], e));
        for (size_t i = 0; i < n; i++)
            if (ret[i].kind == ret[n].kind && uuid_eq(ret[i].id, ret[n].id))
                return FAIL_AT(e, INVALID, "/topics", "A topic is listed twice");
        n++;
    }
    *ret_n = n;
    return ERR_OK;
}

static bool same_place(const struct feed_place *a, const struct feed_place *b)
{
    return uuid_eq(a->tenant_id, b->tenant_id) && a->nprojects == b->nprojects &&
           (!a->nprojects || !memcmp(a->projects, b->projects, a->nprojects * sizeof *a->projects));
}

static enum errc read_rows(struct feed_round *r, struct db_tx *tx, struct uuid tenant, struct feed_topic t, struct slice *ret, struct err *e)
{
    switch (t.kind) {
    case FEED_JOBS:
        return db_many(tx, &feed_jobs, ARGS(A_UUID(tenant), A_UUIDS(r->woken, r->nwoken)), ret, FEED_ROWS_MAX, e);
    case FEED_JOB:
        return db_many(tx, &feed_job, ARGS(A_UUID(tenant), A_UUID(t.id)), ret, 1, e);
    case FEED_NODES:
        return db_many(tx, &feed_nodes, NULL, 0, ret, FEED_WINDOW, e);
    default:
        return db_many(tx, kinds[t.kind].st, ARGS(A_UUID(tenant)), ret, FEED_WINDOW, e);
    }
}

enum errc feed_read(struct feed_round *r, const struct feed_place *at, struct feed_topic t, struct slice *ret, struct err *e)
{
    for (struct feed_seen *s = r->seen; s; s = s->next)
        if (s->topic.kind == t.kind && uuid_eq(s->topic.id, t.id) && same_place(&s->at, at)) {
            *ret = s->rows;
            return ERR_OK;
        }
    struct work w = { .app = r->app, .arena = r->arena };
    TRY(RUN_TX(&w, r->app->pool, SCOPE_PROJECTS(at->tenant_id, at->projects, at->nprojects), TX_READ_ONLY,
               read_rows(r, w.tx, at->tenant_id, t, ret, e), e));
    struct feed_seen *s = ARENA_NEW(r->arena, struct feed_seen);
    *s = (struct feed_seen){ r->seen, t, *at, *ret };
    r->seen = s;
    return ERR_OK;
}
