/* SPDX-License-Identifier: Apache-2.0 */
/* run.c - SQL of runs. Machines of an engine are known by zone, pool and name, as their certificates are. */
#include "scheduler/engines/run.h"
#include "audit/event.h"
#include "core/crypto/token.h"
#include "core/db/tx.h"
#include "scheduler/engines/lent.h"
#include "scheduler/jobs/job.h"

enum { TOKEN_SLACK_MIN = 10, TOKEN_MOST_MIN = 10080, IDLE_MS = 30000 };

SCHEMA_OF(run_row, "A run",
    FIELD(run_row, run_id, 0), FIELD(run_row, tenant_id, 0), FIELD(run_row, job_id, 0), FIELD(run_row, state, 0),
    FIELD(run_row, seats, 0), FIELD(run_row, slots, 0), FIELD(run_row, cpus, 0), FIELD(run_row, gpus, 0),
    FIELD(run_row, memory_bytes, 0), FIELD(run_row, minutes, 0), FIELD(run_row, tries, 0), FIELD(run_row, digest, 0),
    FIELD(run_row, external_id, 0), FIELD(run_row, external_state, 0), FIELD(run_row, says, 0), FIELD(run_row, sent_us, 0),
    FIELD(run_row, wait_us, 0), FIELD(run_row, job_waits, 0), FIELD(run_row, is_held, 0), FIELD(run_row, is_heard, 0));
struct tried { int64_t tries; };
SCHEMA_OF(tried, "How often", FIELD(tried, tries, 0));
struct ended_row { struct uuid run_id; };
SCHEMA_OF(ended_row, "A run that ended", FIELD(ended_row, run_id, 0));

struct left_row { struct uuid run_id; int64_t tries; };
SCHEMA_OF(left_row, "An ended run that may have left something", FIELD(left_row, run_id, 0), FIELD(left_row, tries, 0));

#define US(t) "coalesce((extract(epoch FROM " t ") * 1000000)::bigint, 0)"
/* Of run r and engine g. */
#define OF_RUN "n.zone = g.zone AND n.pool = g.pool AND n.name IN (SELECT g.name || '-' || s FROM unnest(r.seats) s)"
static const struct stmt engines = { .name = "run_engines", .params = "i", .row = &engine_schema, .card = CARD_MANY, .sql =
    "SELECT " ROW_COLUMNS FROM_ENGINES "g.enabled OR g.runs > 0 OR cardinality(g.told_jobs) > 0\n"
    "   OR EXISTS (SELECT FROM engine_run l WHERE l.engine_id = g.engine_id AND l.is_left) ORDER BY engine_id LIMIT $1" };
static const struct stmt open = { .name = "run_open", .params = "ui", .row = &run_row_schema, .card = CARD_MANY, .sql =
    "SELECT r.run_id, r.for_tenant AS tenant_id, r.for_job AS job_id, r.state, array_to_string(r.seats, ',') AS seats, r.slots,\n"
    "       r.cpus, r.gpus, r.memory_bytes, r.minutes, r.tries, r.digest, r.external_id, r.external_state, r.says,\n"
    "       " US("r.sent_at") " AS sent_us, " US("r.wait_until") " AS wait_us,\n"
    "       EXISTS (SELECT FROM job j WHERE j.tenant_id = r.for_tenant AND j.job_id = r.for_job AND j.queued) AS job_waits,\n"
    "       EXISTS (SELECT FROM node n WHERE " OF_RUN " AND " RUN_MACHINE_HELD ") AS is_held,\n"
    "       EXISTS (SELECT FROM node n WHERE " OF_RUN " AND " RUN_MACHINE_HEARD ") AS is_heard\n"
    "  FROM engine_run r JOIN engine g ON g.engine_id = r.engine_id\n"
    " WHERE r.engine_id = $1 AND r.state <> 'ENDED' ORDER BY r.run_id LIMIT $2" };
static const struct stmt drain = { .name = "run_drain", .params = "u", .card = CARD_NONE, .sql =
    "UPDATE node n SET state = 'DRAINING', " LENT_DRAINED "\n"
    "  FROM engine_run r JOIN engine g ON g.engine_id = r.engine_id\n"
    " WHERE r.engine_id = $1 AND r.state <> 'ENDED' AND n.state = 'READY' AND " OF_RUN " AND " RUN_MACHINE_HELD };
static const struct stmt count_up = { .name = "run_count_up", .params = "uis", .row = &tried_schema, .card = CARD_MAYBE, .sql =
    "UPDATE engine_run SET state = 'SENT', tries = tries + 1, sent_at = clock_timestamp(), external_id = '',\n"
    "       external_state = '', says = '', digest = $3\n"
    " WHERE run_id = $1 AND tries = $2 AND state <> 'ENDED' RETURNING tries" };
static const struct stmt withdraw = { .name = "run_withdraw", .params = "ssS", .card = CARD_NONE, .sql =
    "UPDATE join_token SET revoked_at = coalesce(revoked_at, clock_timestamp())\n"
    " WHERE zone = $1 AND pool = $2 AND node_name = ANY ($3) AND revoked_at IS NULL" };
static const struct stmt token = { .name = "run_token", .params = "usssysiu", .card = CARD_NONE, .sql =
    "INSERT INTO join_token (join_token_id, zone, pool, node_name, hash, hint, uses, expires_at, created_by)\n"
    "VALUES ($1, $2, $3, $4, $5, $6, 1, clock_timestamp() + $7 * interval '1 minute', $8)" };
static const struct stmt free_names = { .name = "run_free_names", .params = "ssS", .card = CARD_NONE, .sql =
    "UPDATE node SET state = 'LOST', is_drained = false, is_spent = false, reason = ''\n"
    " WHERE zone = $1 AND pool = $2 AND name = ANY ($3) AND state <> 'QUARANTINED'" };
static const struct stmt tell = { .name = "run_tell", .params = "uisss", .card = CARD_NONE, .sql =
    "UPDATE engine_run SET external_id = $3, external_state = $4, says = $5, seen_at = clock_timestamp()\n"
    " WHERE run_id = $1 AND tries = $2 AND state <> 'ENDED'" };
static const struct stmt back = { .name = "run_back", .params = "uist", .card = CARD_NONE, .sql =
    "UPDATE engine_run SET state = 'WANTED', says = $3, wait_until = $4\n"
    " WHERE run_id = $1 AND tries = $2 AND state <> 'ENDED'" };
static const struct stmt end = { .name = "run_end", .params = "uissb", .card = CARD_NONE, .sql =
    "UPDATE engine_run SET state = 'ENDED', outcome = $3, says = $4, is_left = $5, ended_at = clock_timestamp()\n"
    " WHERE run_id = $1 AND tries = $2 AND state <> 'ENDED'" };
static const struct stmt gone = { .name = "run_gone", .params = "ssS", .card = CARD_NONE, .sql =
    "UPDATE node SET state = 'LOST', " LENT_DRAINED "\n"
    " WHERE zone = $1 AND pool = $2 AND name = ANY ($3) AND state IN ('READY', 'DRAINING')" };
static const struct stmt reasons = { .name = "run_reasons", .params = "u", .card = CARD_NONE, .sql =
    "UPDATE job j SET reason = 'Engine', message = r.says\n"
    "  FROM engine_run r WHERE r.engine_id = $1 AND r.state <> 'ENDED' AND r.says <> ''\n"
    "   AND j.tenant_id = r.for_tenant AND j.job_id = r.for_job AND j.queued AND (j.reason, j.message) <> ('Engine', r.says)\n"
    "   AND j.reason IN ('Resources', 'NoMatchingFlavor', 'ZoneUnavailable', 'Engine')" };
static const struct stmt unreason = { .name = "run_unreason", .params = "uu", .card = CARD_NONE, .sql =
    "UPDATE job SET reason = 'Resources', message = '' WHERE tenant_id = $1 AND job_id = $2 AND queued AND reason = 'Engine'" };
static const struct stmt health = { .name = "run_health", .params = "ubs", .card = CARD_NONE, .sql =
    "UPDATE engine SET health = CASE WHEN $2 THEN 'UP' ELSE 'DOWN' END, health_says = $3,\n"
    "       heard_at = CASE WHEN $2 THEN clock_timestamp() ELSE heard_at END\n"
    " WHERE engine_id = $1" };
static const struct stmt ended = { .name = "run_ended", .params = "Ui", .row = &ended_row_schema, .card = CARD_MANY, .sql =
    "SELECT run_id FROM engine_run WHERE run_id = ANY ($1) AND state = 'ENDED' LIMIT $2" };
static const struct stmt purge = { .name = "run_purge", .params = "", .card = CARD_NONE, .sql =
    "DELETE FROM engine_run WHERE run_id IN (SELECT run_id FROM engine_run WHERE state = 'ENDED'\n"
    "   AND ended_at < clock_timestamp() - CASE WHEN is_left THEN interval '30 days' ELSE interval '7 days' END\n"
    " ORDER BY ended_at LIMIT 1000)" };
/* Not at once: a call that was given up may still be carried out. */
static const struct stmt left = { .name = "run_left", .params = "ui", .row = &left_row_schema, .card = CARD_MANY, .sql =
    "SELECT run_id, tries FROM engine_run WHERE engine_id = $1 AND is_left\n"
    "   AND ended_at < clock_timestamp() - interval '10 seconds'\n"
    " ORDER BY ended_at LIMIT $2" };
static const struct stmt removed = { .name = "run_removed", .params = "U", .card = CARD_NONE, .sql =
    "UPDATE engine_run SET is_left = false WHERE run_id = ANY ($1) AND is_left" };
#define OF_ENGINES(t) "EXISTS (SELECT FROM engine g WHERE g.zone = " t ".zone AND g.pool = " t ".pool)"
static const struct stmt purge_tokens = { .name = "run_purge_tokens", .params = "", .card = CARD_NONE, .sql =
    "DELETE FROM join_token WHERE join_token_id IN (SELECT k.join_token_id FROM join_token k\n"
    " WHERE " OF_ENGINES("k") " AND k.revoked_at < clock_timestamp() - interval '7 days' LIMIT 1000)" };
static const struct stmt purge_certs = { .name = "run_purge_certs", .params = "", .card = CARD_NONE, .sql =
    "DELETE FROM node_cert c USING engine g\n"
    " WHERE c.identity LIKE 'spiffe://' || g.zone || '/worker/' || g.pool || '/%'\n"
    "   AND c.not_after < clock_timestamp() - interval '7 days'" };

const struct stmt *const engine_run_stmts[] = { &engines, &open, &drain, &count_up, &withdraw, &token,
    &free_names, &tell, &back, &end, &gone, &reasons, &unreason, &health, &ended, &purge, &left, &removed,
    &purge_tokens, &purge_certs, NULL };

enum errc engine_run_engines(struct work *w, struct slice *ret, struct err *e)
{
    return db_many(w->tx, &engines, ARGS(A_I64(ENGINES_MAX)), ret, ENGINES_MAX, e);
}

enum errc engine_run_read(struct work *w, const struct engine *g, struct slice *ret, struct err *e)
{
    return db_many(w->tx, &open, ARGS(A_UUID(g->engine_id), A_I64(ENGINE_RUNS_MAX)), ret, ENGINE_RUNS_MAX, e);
}

enum errc engine_run_drain(struct work *w, const struct engine *g, struct err *e)
{
    return db_exec(w->tx, &drain, ARGS(A_UUID(g->engine_id)), NULL, e);
}

static size_t names_of(struct arena *a, const struct engine *g, const struct run_row *r, struct str out[ENGINE_MACHINES])
{
    struct str rest = r->seats, seat;
    size_t n = 0;
    for (bool more = rest.len > 0; more && n < ENGINE_MACHINES;) {
        more = str_cut(rest, ',', &seat, &rest);
        out[n++] = str_fmt(a, "%.*s-%.*s", STR_ARG(g->name), STR_ARG(seat));
    }
    return n;
}

struct str engine_run_machines(struct arena *a, const struct engine *g, const struct run_row *r, const char *sep)
{
    struct str names[ENGINE_MACHINES], all = STR("");
    const size_t n = names_of(a, g, r, names);
    for (size_t i = 0; i < n; i++)
        all = str_fmt(a, "%.*s%s%.*s", STR_ARG(all), i ? sep : "", STR_ARG(names[i]));
    return all;
}

void engine_run_ask(struct arena *a, const struct engine *g, const struct run_row *r, struct str tokens, struct engine_ask *ret)
{
    struct str names[ENGINE_MACHINES];
    char name[ENGINE_NAME_TEXT];
    const int64_t machines = (int64_t)names_of(a, g, r, names);
    const struct engine_door *door = engine_door_of(g->kind);
    engine_name(r->run_id, r->tries, name);
#define NUMBER(v) str_fmt(a, "%lld", (long long)(v))
    *ret = (struct engine_ask){
        .name = str_dup(a, str_c(name)), .script = str_c(door ? door->script : ""), .place = g->place, .folder = g->folder,
        .image = g->image, .selector = g->node_selector, .tolerations = g->tolerations,
        .machines = machines, .cpus = r->cpus, .memory_bytes = r->memory_bytes, .gpus = r->gpus, .minutes = r->minutes,
        .variables = { { "PATH", STR("/usr/local/bin:/usr/bin:/bin") }, { "FALAJ_TOKENS", tokens, true },
                       { "FALAJ_NAMES", engine_run_machines(a, g, r, " ") }, { "FALAJ_MACHINES", NUMBER(machines) },
                       { "FALAJ_WORKER", g->worker }, { "FALAJ_CONFIG", g->worker_config }, { "FALAJ_FOLDER", g->folder },
                       { "FALAJ_ZONE", g->zone }, { "FALAJ_POOL", g->pool }, { "FALAJ_SLOTS", NUMBER(r->slots) },
                       { "FALAJ_GPUS", NUMBER(r->gpus) }, { "FALAJ_MEMORY", NUMBER(r->memory_bytes) },
                       { "FALAJ_IDLE_MS", NUMBER(IDLE_MS) } }, .nvariables = 13 };
    _Static_assert(ENGINE_VARIABLES >= 13, "room for all");
    ret->comment = engine_digest(a, ret);
}

static enum errc make_tokens(struct work *w, const struct engine *g, const struct run_row *r, const struct str *names, size_t n,
                             struct str *ret, struct err *e)
{
    int64_t life = r->minutes + TOKEN_SLACK_MIN;
    *ret = STR("");
    if (life < TOKEN_MOST_MIN)
        life = TOKEN_MOST_MIN;          /* it may wait there for days; it ends with the run */
    for (size_t i = 0; i < n; i++) {
        char text[TOKEN_TEXT];
        uint8_t hash[32];
        TRY(token_make("join", text, e));
        const struct str t = str_dup(w->arena, str_c(text));
        token_hash(t, hash);
        db_queue(w->tx, &token, ARGS(A_UUID(uuid_v7(w->now_us)), A_STR(g->zone), A_STR(g->pool), A_STR(names[i]),
                 A_BYTES(hash, 32), A_STR(str_fmt(w->arena, "…%.*s", 4, t.ptr + t.len - 4)), A_I64(life),
                 A_UUID(g->created_by)), false);
        *ret = str_fmt(w->arena, "%.*s%s%.*s", STR_ARG(*ret), i ? " " : "", STR_ARG(t));
    }
    return ERR_OK;
}

static enum errc note(struct work *w, const struct engine *g, const struct run_row *r, const char *act, struct err *e)
{
    struct audit_event ev = audit_event_of(w, AUDIT_ENGINE_RUN);
    ev.zone = g->zone;
    ev.resource_kind = STR("engine");
    ev.resource_prefix = "eng";
    ev.resource_id = g->engine_id;
    audit_event_detail(&ev, AUDIT_D_STR("act", str_c(act)));
    audit_event_detail(&ev, AUDIT_D_STR("engine_run", id_text(w->arena, "egr", r->run_id)));
    audit_event_detail(&ev, AUDIT_D_STR("job", id_text(w->arena, "job", r->job_id)));
    audit_event_detail(&ev, AUDIT_D_STR("machines", engine_run_machines(w->arena, g, r, ", ")));
    audit_event_detail(&ev, AUDIT_D_INT("try", r->tries));
    return audit_append(w, &ev, e);
}

enum errc engine_run_begin(struct work *w, const struct engine *g, struct run_row *r, struct engine_ask *ret, struct err *e)
{
    struct str names[ENGINE_MACHINES], tokens;
    struct tried t;
    bool found = false;
    const size_t n = names_of(w->arena, g, r, names);
    r->tries++;
    engine_run_ask(w->arena, g, r, STR(""), ret);
    r->digest = ret->comment;
    TRY(db_maybe(w->tx, &count_up, ARGS(A_UUID(r->run_id), A_I64(r->tries - 1), A_STR(r->digest)), &t, &found, e));
    if (!found)
        return FAIL(e, CONFLICT, "the run was gone on with by another scheduler");
    db_queue(w->tx, &withdraw, ARGS(A_STR(g->zone), A_STR(g->pool), A_STRS(names, n)), false);
    db_queue(w->tx, &free_names, ARGS(A_STR(g->zone), A_STR(g->pool), A_STRS(names, n)), false);
    TRY(make_tokens(w, g, r, names, n, &tokens, e));
    engine_run_ask(w->arena, g, r, tokens, ret);
    r->sent_us = w->now_us;
    r->external_id = r->external_state = r->says = STR("");
    return note(w, g, r, "submit", e);
}

enum errc engine_run_tell(struct work *w, const struct run_row *r, struct str external_id, struct str external_state,
                          struct str says, struct err *e)
{
    return db_exec(w->tx, &tell, ARGS(A_UUID(r->run_id), A_I64(r->tries), A_STR(external_id), A_STR(external_state), A_STR(says)),
                   NULL, e);
}

enum errc engine_run_back(struct work *w, const struct run_row *r, struct str says, int64_t wait_us, struct err *e)
{
    return db_exec(w->tx, &back, ARGS(A_UUID(r->run_id), A_I64(r->tries), A_STR(says), A_TIME_US(wait_us)), NULL, e);
}

enum errc engine_run_end(struct work *w, const struct engine *g, const struct run_row *r, const char *outcome, struct str says,
                  bool is_gone, bool is_left, struct err *e)
{
    struct str names[ENGINE_MACHINES];
    int64_t rows;
    const size_t n = names_of(w->arena, g, r, names);
    TRY(db_exec(w->tx, &end, ARGS(A_UUID(r->run_id), A_I64(r->tries), A_TEXT(outcome), A_STR(says),
                A_BOOL(is_left)), &rows, e));
    if (!rows)
        return ERR_OK;
    db_queue(w->tx, &withdraw, ARGS(A_STR(g->zone), A_STR(g->pool), A_STRS(names, n)), false);
    if (is_gone)
        db_queue(w->tx, &gone, ARGS(A_STR(g->zone), A_STR(g->pool), A_STRS(names, n)), false);
    db_queue(w->tx, &unreason, ARGS(A_UUID(r->tenant_id), A_UUID(r->job_id)), false);
    return note(w, g, r, outcome, e);
}

enum errc engine_run_reasons(struct work *w, const struct engine *g, struct err *e)
{
    return db_exec(w->tx, &reasons, ARGS(A_UUID(g->engine_id)), NULL, e);
}

enum errc engine_run_health(struct work *w, struct uuid engine_id, bool is_up, struct str says, struct err *e)
{
    return db_exec(w->tx, &health, ARGS(A_UUID(engine_id), A_BOOL(is_up), A_STR(says)), NULL, e);
}

enum errc engine_run_ended(struct work *w, const struct uuid *ids, size_t n, struct slice *ret, struct err *e)
{
    return db_many(w->tx, &ended, ARGS(A_UUIDS(ids, n), A_I64(ENGINE_RUNS_MAX)), ret, ENGINE_RUNS_MAX, e);
}

enum errc engine_run_left(struct work *w, const struct engine *g, struct run_left *ret, size_t most, size_t *ret_n, struct err *e)
{
    struct slice rows = { 0 };
    TRY(db_many(w->tx, &left, ARGS(A_UUID(g->engine_id), A_I64(most)), &rows, most, e));
    const struct left_row *r = rows.items;
    for (size_t i = 0; i < rows.n; i++) {
        ret[i].run_id = r[i].run_id;
        engine_name(r[i].run_id, r[i].tries, ret[i].name);
    }
    *ret_n = rows.n;
    return ERR_OK;
}

enum errc engine_run_removed(struct work *w, const struct uuid *ids, size_t n, struct err *e)
{
    return n ? db_exec(w->tx, &removed, ARGS(A_UUIDS(ids, n)), NULL, e) : ERR_OK;
}

enum errc engine_run_purge(struct work *w, struct err *e)
{
    TRY(db_exec(w->tx, &purge, NO_ARGS, NULL, e));
    TRY(db_exec(w->tx, &purge_tokens, NO_ARGS, NULL, e));
    return db_exec(w->tx, &purge_certs, NO_ARGS, NULL, e);
}
