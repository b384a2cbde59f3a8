/* SPDX-License-Identifier: Apache-2.0 */
/* inside.c - sessions by statement; the job's own rules of sight hold, since every statement of a person's joins it. */
#include "scheduler/jobs/inside.h"

#include "core/crypto/hash.h"
#include "core/crypto/rand.h"
#include "core/db/tx.h"
#include "core/json/encode.h"
#include "core/redis/wake.h"
#include "core/wire/job_type.h"
#include "core/wire/lease_wire.h"
#include "scheduler/engine/lease.h"
#include "scheduler/jobs/job.h"
#include "tenants/access/principal.h"

enum { NOTICES_MAX = 64, LOST_MAX = 64, TICKET_BYTES = 32 };

struct facts {
    struct str kind, state;
    int64_t nodes;
    struct uuid attempt_id, node_id;
    bool takes_input, allowed;
};
SCHEMA_OF(facts, "A job as who wants in finds it", FIELD(facts, kind, 0, .doc = "Its kind"),
    FIELD(facts, state, 0, .doc = "Its state"), FIELD(facts, nodes, 0, .doc = "How many machines it runs on"),
    FIELD_ID(facts, attempt_id, "att", 0, .doc = "Its attempt"), FIELD_ID(facts, node_id, "nod", 0, .doc = "Its machine"),
    FIELD(facts, takes_input, 0, .doc = "Its program has a standard input"),
    FIELD(facts, allowed, 0, .doc = "People may be let in"));
struct counts { int64_t of_user, of_job, of_tenant, typing; };
SCHEMA_OF(counts, "Who is inside", FIELD(counts, of_user, 0, .doc = "The caller's"), FIELD(counts, of_job, 0, .doc = "The job's"),
    FIELD(counts, of_tenant, 0, .doc = "All of the tenant"), FIELD(counts, typing, 0, .doc = "Who type to this program"));
struct sight { bool live, allowed; };
SCHEMA_OF(sight, "A session as it stands", FIELD(sight, live, 0, .doc = "Its attempt has not ended"),
    FIELD(sight, allowed, 0, .doc = "People may be let in"));
SCHEMA_EXTERN(inside_session, "Somebody inside a running program",
    FIELD_ID(inside_session, session_id, "ins", F_ALWAYS, .doc = "The session"),
    FIELD_ID(inside_session, job_id, "job", F_ALWAYS, .doc = "The job"),
    FIELD_ID(inside_session, attempt_id, "att", F_ALWAYS, .doc = "Its attempt"),
    FIELD_ID(inside_session, node_id, "nod", F_ALWAYS, .doc = "The machine"),
    FIELD_ID(inside_session, user_id, "usr", F_ALWAYS, .doc = "Who"),
    FIELD_ENUM(inside_session, kind, F_ALWAYS, inside_kinds, .doc = "exec, shell, forward or attach"),
    FIELD(inside_session, rank, F_ALWAYS, .doc = "Which of the job's machines, of a job on several"),
    FIELD(inside_session, ask, F_NOOUT | F_NOIN, .doc = "What was asked"),
    FIELD(inside_session, asked_at, F_ALWAYS, .doc = "When"),
    FIELD(inside_session, ticket, F_NOCOL, .doc = "Opens its stream from a browser, once; nobody else is to know it"),
    FIELD(inside_session, ticket_sha256, F_NOOUT | F_NOIN, .doc = "What of it is kept"));
SCHEMA_EXTERN(inside_policy, "Whether people may be let into running programs",
    FIELD(inside_policy, allowed, F_REQ, .doc = "They may, where their roles allow it; false ends who is inside, too"),
    FIELD_IDS(inside_policy, closed_projects, "prj", 0, .max = 200, .dflt = "", .doc = "Projects in which they may not"));

#define ALLOWED                                                                                                             \
    "coalesce((SELECT p.allowed AND NOT coalesce(j.project_id = ANY (p.closed_projects), false)\n"                          \
    "            FROM inside_policy p WHERE p.tenant_id = $1), true)"

static const struct stmt inside_lock = { .name = "inside_lock", .params = "u", .card = CARD_NONE, .sql =
    "SELECT pg_advisory_xact_lock(hashtextextended('job_session', hashtextextended($1::text, 0)))" };
static const struct stmt inside_facts = { .name = "inside_facts", .params = "uui", .row = &facts_schema, .card = CARD_MAYBE,
    .sql =
    "SELECT j.kind, j.state, j.nodes, a.attempt_id, CASE WHEN $3 = 0 THEN a.node_id ELSE m.node_id END AS node_id,\n"
    "       coalesce(j.spec->>'takes_stdin' = 'true', false) AS takes_input, " ALLOWED " AS allowed\n"
    "  FROM job j LEFT JOIN attempt a ON a.tenant_id = j.tenant_id AND a.job_id = j.job_id AND a.live AND a.state = 'RUNNING'\n"
    "  LEFT JOIN attempt_member m ON m.tenant_id = a.tenant_id AND m.attempt_id = a.attempt_id AND m.rank = $3\n"
    "    AND m.live AND m.state = 'RUNNING'\n"
    " WHERE j.tenant_id = $1 AND j.job_id = $2" };
static const struct stmt inside_counts = { .name = "inside_counts", .params = "uuui", .row = &counts_schema, .card = CARD_ONE,
    .sql =
    "SELECT count(*) FILTER (WHERE user_id = $2) AS of_user, count(*) FILTER (WHERE job_id = $3) AS of_job,\n"
    "       count(*) AS of_tenant, count(*) FILTER (WHERE job_id = $3 AND rank = $4 AND kind = 'attach') AS typing\n"
    "  FROM job_session WHERE tenant_id = $1" };
static const struct stmt inside_insert = { .name = "inside_insert", .params = "uuuuuusssi", .row = &inside_session_schema,
    .card = CARD_ONE, .sql =
    "INSERT INTO job_session (tenant_id, session_id, job_id, attempt_id, node_id, user_id, kind, ask,\n"
    "                         ticket_sha256, rank)\n"
    "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) RETURNING " ROW_COLUMNS };
static const struct stmt inside_lost_stmt = { .name = "inside_lost", .params = "uii", .row = &inside_session_schema,
    .card = CARD_MANY, .sql =
    "DELETE FROM job_session WHERE tenant_id = $1 AND session_id IN (\n"
    "  SELECT session_id FROM job_session WHERE tenant_id = $1\n"
    "     AND heard_at < clock_timestamp() - $2 * interval '1 second' LIMIT $3)\n"
    "RETURNING " ROW_COLUMNS };
static const struct stmt inside_find_stmt = { .name = "inside_find", .params = "uuuu", .row = &inside_session_schema,
    .card = CARD_MAYBE, .sql =
    "SELECT " ROW_COLUMNS " FROM job_session\n"
    " WHERE tenant_id = $1 AND job_id = $2 AND session_id = $3 AND user_id = $4\n"
    "   AND EXISTS (SELECT FROM job j WHERE j.tenant_id = $1 AND j.job_id = $2 AND " ALLOWED ")" };
static const struct stmt inside_enter = { .name = "inside_enter", .params = "uu", .card = CARD_NONE, .sql =
    "UPDATE job_session SET entered_at = clock_timestamp() WHERE tenant_id = $1 AND session_id = $2 AND entered_at IS NULL" };
static const struct stmt inside_heard_stmt = { .name = "inside_heard", .params = "uu", .row = &sight_schema, .card = CARD_MAYBE,
    .sql =
    "UPDATE job_session s SET heard_at = clock_timestamp()\n"
    "  FROM job j JOIN attempt a ON a.tenant_id = $1 AND a.job_id = j.job_id\n"
    " WHERE s.tenant_id = $1 AND s.session_id = $2 AND j.tenant_id = $1 AND j.job_id = s.job_id AND a.attempt_id = s.attempt_id\n"
    "RETURNING a.live, " ALLOWED " AS allowed" };
static const struct stmt inside_delete = { .name = "inside_delete", .params = "uu", .card = CARD_NONE, .sql =
    "DELETE FROM job_session WHERE tenant_id = $1 AND session_id = $2" };
static const struct stmt inside_policy_read = { .name = "inside_policy_read", .params = "u", .row = &inside_policy_schema,
    .card = CARD_MAYBE, .sql = "SELECT " ROW_COLUMNS " FROM inside_policy WHERE tenant_id = $1" };
static const struct stmt inside_policy_write = { .name = "inside_policy_write", .params = "ubUu", .card = CARD_NONE, .sql =
    "INSERT INTO inside_policy (tenant_id, allowed, closed_projects, changed_by) VALUES ($1, $2, $3, $4)\n"
    "ON CONFLICT (tenant_id) DO UPDATE SET allowed = $2, closed_projects = $3, changed_by = $4, changed_at = now()" };
/* Nearly always the index job_session_node has none of the machine. What is over the limit is told by the next call. */
static const struct stmt inside_notices = { .name = "inside_notices", .params = "ui", .row = &lease_session_schema,
    .card = CARD_MANY, .sql =
    "UPDATE job_session SET noticed_at = clock_timestamp()\n"
    " WHERE node_id = $1 AND NOT joined AND (tenant_id, session_id) IN (\n"
    "  SELECT tenant_id, session_id FROM job_session\n"
    "   WHERE node_id = $1 AND NOT joined AND asked_at > clock_timestamp() - interval '60 seconds'\n"
    "     AND (noticed_at IS NULL OR noticed_at < clock_timestamp() - interval '30 seconds') ORDER BY asked_at LIMIT $2)\n"
    "RETURNING " ROW_COLUMNS };
static const struct stmt inside_join_stmt = { .name = "inside_join", .params = "uuuu", .card = CARD_NONE, .sql =
    "UPDATE job_session SET joined = true WHERE tenant_id = $1 AND attempt_id = $2 AND session_id = $3 AND node_id = $4\n"
    "   AND NOT joined" };

const struct stmt *const inside_stmts[] = { &inside_lock, &inside_facts, &inside_counts, &inside_insert, &inside_lost_stmt,
    &inside_find_stmt, &inside_enter, &inside_heard_stmt, &inside_delete, &inside_policy_read, &inside_policy_write, NULL };
const struct stmt *const inside_node_stmts[] = { &inside_notices, &inside_join_stmt, &inside_due_stmt, NULL };

static enum errc check_facts(const struct facts *f, bool found, int64_t rank, const struct inside_ask *ask, struct err *e)
{
    if (!found)
        return FAIL(e, NOT_FOUND, "There is no such job");
    if (!f->allowed)
        return FAIL(e, FORBIDDEN, "The organisation's administrators let nobody into running programs here");
    if (!job_needs_programs(f->kind))
        return FAIL(e, CONFLICT, "Only programs of yours can be looked into; this job is of kind %.*s", STR_ARG(f->kind));
    if (rank >= f->nodes)
        return FAIL_AT(e, UNPROCESSABLE, "/rank", "There is no rank %d: this job's program runs on %d machine%s, ranks 0 to %d",
                       (int)rank, (int)f->nodes, f->nodes == 1 ? "" : "s", (int)f->nodes - 1);
    if (ask->kind == INSIDE_ATTACH && !f->takes_input)
        return FAIL(e, CONFLICT, "The job's program has no standard input; jobs submitted with takes_stdin have one");
    if (uuid_is_nil(f->attempt_id))
        return FAIL(e, CONFLICT, "The job's program does not run now (%.*s)", STR_ARG(f->state));
    if (uuid_is_nil(f->node_id))
        return FAIL(e, CONFLICT, "The job's program does not run on the machine of rank %d now", (int)rank);
    return ERR_OK;
}

static enum errc check_counts(struct work *w, struct uuid job_id, int64_t rank, const struct inside_ask *ask, struct err *e)
{
    struct counts n;
    TRY(db_one(w->tx, &inside_counts, ARGS(A_UUID(w->tenant_id), A_UUID(w->principal->user_id), A_UUID(job_id), A_I64(rank)),
               &n, e));
    if (ask->kind == INSIDE_ATTACH && n.typing)
        return FAIL(e, CONFLICT, "Somebody types to this program already; one at a time");
    if (n.of_job >= INSIDE_OF_JOB)
        return FAIL(e, LIMIT, "%d sessions are open in this job, which is the limit; end one", INSIDE_OF_JOB);
    if (n.of_user >= INSIDE_OF_USER)
        return FAIL(e, LIMIT, "You have %d sessions open, which is the limit; end one", INSIDE_OF_USER);
    if (n.of_tenant >= INSIDE_OF_TENANT)
        return FAIL(e, LIMIT, "The organisation has %d sessions open, which is the limit; end one", INSIDE_OF_TENANT);
    return ERR_OK;
}

struct wake { struct redis_client *redis; struct uuid node_id; };

static void wake_node(void *ctx)
{
    const struct wake *k = ctx;
    char channel[sizeof WAKE_NODE_PREFIX + UUID_HEX] = WAKE_NODE_PREFIX;
    hex_encode(k->node_id.b, 16, channel + sizeof WAKE_NODE_PREFIX - 1);
    wake_publish(k->redis, str_c(channel), STR("1"));
}

/* What is kept of a ticket says nothing of it. */
static struct str ticket_hash(struct arena *a, struct str ticket)
{
    uint8_t digest[SHA256_BYTES];
    char hex[2 * SHA256_BYTES + 1];
    sha256(ticket.ptr, ticket.len, digest);
    return str_dup(a, str_n(hex, hex_encode(digest, sizeof digest, hex)));
}

static enum errc ticket_new(struct arena *a, struct str *ret, struct err *e)
{
    uint8_t random[TICKET_BYTES];
    char hex[2 * TICKET_BYTES + 1];
    TRY(rand_key(random, sizeof random, e));
    *ret = str_dup(a, str_n(hex, hex_encode(random, sizeof random, hex)));
    return ERR_OK;
}

enum errc inside_begin(struct work *w, struct uuid job_id, int64_t rank, const struct inside_ask *ask,
                       struct inside_session *ret, struct err *e)
{
    struct facts f = { 0 };
    bool found = false;
    struct buf json = BUF(2 * INSIDE_ASK_MAX);
    TRY(inside_ask_check(ask, e));
    TRY(db_exec(w->tx, &inside_lock, ARGS(A_UUID(w->tenant_id)), NULL, e));
    TRY(db_maybe(w->tx, &inside_facts, ARGS(A_UUID(w->tenant_id), A_UUID(job_id), A_I64(rank)), &f, &found, e));
    TRY(check_facts(&f, found, rank, ask, e));
    TRY(check_counts(w, job_id, rank, ask, e));
    json_encode(&inside_ask_schema, ask, &json);
    const struct str text = str_dup(w->arena, buf_str(&json));
    const bool is_long = json.overflow;
    buf_release(&json);
    if (is_long)
        return FAIL_AT(e, INVALID, "/command", "The command is too long");
    struct str ticket;
    TRY(ticket_new(w->arena, &ticket, e));
    TRY(db_one(w->tx, &inside_insert, ARGS(A_UUID(w->tenant_id), A_UUID(uuid_v7(w->now_us)), A_UUID(job_id), A_UUID(f.attempt_id),
               A_UUID(f.node_id), A_UUID(w->principal->user_id), A_STR(str_c(inside_kinds[ask->kind])), A_STR(text),
               A_STR(ticket_hash(w->arena, ticket)), A_I64(rank)), ret, e));
    ret->ticket = ticket;
    struct wake *k = ARENA_NEW(w->arena, struct wake);
    *k = (struct wake){ w->app->redis, f.node_id };
    db_after_commit(w->tx, wake_node, k);
    return ERR_OK;
}

enum errc inside_lost(struct work *w, struct slice *ret, struct err *e)
{
    return db_many(w->tx, &inside_lost_stmt, ARGS(A_UUID(w->tenant_id), A_I64(INSIDE_LOST_S), A_I64(LOST_MAX)), ret, LOST_MAX, e);
}

enum errc inside_find(struct work *w, struct uuid job_id, struct uuid session_id, struct inside_session *ret, struct err *e)
{
    bool found = false;
    TRY(db_maybe(w->tx, &inside_find_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(job_id), A_UUID(session_id),
                 A_UUID(w->principal->user_id)), ret, &found, e));
    return found ? ERR_OK : FAIL(e, NOT_FOUND, "There is no such session; it may have ended");
}

enum errc inside_take(struct work *w, struct uuid job_id, struct uuid session_id, const struct str *ticket,
                      struct inside_session *ret, struct err *e)
{
    int64_t rows = 0;
    TRY(inside_find(w, job_id, session_id, ret, e));
    if (ticket && !ret->ticket_sha256.len)
        return FAIL(e, FORBIDDEN, "This session was asked for through a falaj-api of the release before; ask for another one");
    if (ticket && !str_eq(ticket_hash(w->arena, *ticket), ret->ticket_sha256))
        return FAIL(e, FORBIDDEN, "From a browser the session's own ticket is needed, in Sec-WebSocket-Protocol");
    TRY(db_exec(w->tx, &inside_enter, ARGS(A_UUID(w->tenant_id), A_UUID(session_id)), &rows, e));
    return rows ? ERR_OK : FAIL(e, CONFLICT, "This session's stream was opened before; ask for another session");
}

enum errc inside_heard(struct work *w, struct uuid session_id, bool *ret_goes_on, struct err *e)
{
    struct sight s = { 0 };
    bool found = false;
    TRY(db_maybe(w->tx, &inside_heard_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(session_id)), &s, &found, e));
    *ret_goes_on = found && s.live;
    return !found || s.allowed ? ERR_OK : FAIL(e, FORBIDDEN, "The organisation's administrators let nobody in any more");
}

enum errc inside_end(struct work *w, struct uuid session_id, struct err *e)
{
    return db_exec(w->tx, &inside_delete, ARGS(A_UUID(w->tenant_id), A_UUID(session_id)), NULL, e);
}

struct db_ask *inside_notices_ask(struct work *w, struct uuid node_id)
{
    return db_ask(w->tx, &inside_notices, ARGS(A_UUID(node_id), A_I64(NOTICES_MAX)));
}

enum errc inside_notices_told(struct work *w, struct db_ask *ask, struct slice *ret, struct err *e)
{
    return db_told_many(w->tx, ask, ret, NOTICES_MAX, e);
}

enum errc inside_join(struct work *w, const struct lease *l, struct uuid session_id, struct err *e)
{
    int64_t rows = 0;
    TRY(db_exec(w->tx, &inside_join_stmt, ARGS(A_UUID(l->tenant_id), A_UUID(l->attempt_id), A_UUID(session_id),
                A_UUID(l->node_id)), &rows, e));
    return rows ? ERR_OK : FAIL(e, STALE, "There is no such session of this lease, or its machine is there already");
}

enum errc inside_policy_get(struct work *w, struct inside_policy *ret, struct err *e)
{
    bool found = false;
    *ret = (struct inside_policy){ .allowed = true };
    return db_maybe(w->tx, &inside_policy_read, ARGS(A_UUID(w->tenant_id)), ret, &found, e);
}

enum errc inside_policy_set(struct work *w, const struct inside_policy *in, struct err *e)
{
    return db_exec(w->tx, &inside_policy_write, ARGS(A_UUID(w->tenant_id), A_BOOL(in->allowed),
                   A_UUIDS(in->closed_projects.items, in->closed_projects.n), A_UUID(w->principal->user_id)), NULL, e);
}
