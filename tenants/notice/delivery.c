/* SPDX-License-Identifier: Apache-2.0 */
/* delivery.c - rows of notice_delivery. A claim is a lease by time: tries and next_at move before the call is made, so that
 * a program that
 * dies leaves nothing that is never tried again, and two programs do not take the same. */
#include "tenants/notice/delivery.h"
#include "core/db/tx.h"
#include "tenants/access/principal.h"
#include "tenants/notice/rule.h"

const char *const notice_states[] = { "WAITING", "DELIVERED", "DEAD", NULL };

SCHEMA_EXTERN(notice_delivery, "A message of a notification, and what became of it",
    FIELD_ID(notice_delivery, delivery_id, "ntd", F_ALWAYS, .doc = "The delivery; the webhook has it as webhook-id"),
    FIELD_ID(notice_delivery, notification_id, "ntf", 0, .doc = "The rule"),
    FIELD_ID(notice_delivery, user_id, "usr", 0, .doc = "Who gets the mail"),
    FIELD_ENUM(notice_delivery, kind, F_ALWAYS, notice_kind_names, .doc = "mail or webhook"),
    FIELD(notice_delivery, event, F_ALWAYS, .doc = "What it tells of, or test"),
    FIELD(notice_delivery, resource_kind, 0, .doc = "Kind of thing"), FIELD(notice_delivery, resource_id, 0, .doc = "The thing"),
    FIELD(notice_delivery, name, 0, .doc = "Its name"), FIELD_ID(notice_delivery, project_id, "prj", 0, .doc = "Its project"),
    FIELD(notice_delivery, at, F_ALWAYS, .doc = "When it happened"),
    FIELD_ENUM(notice_delivery, state, F_ALWAYS, notice_states, .doc = "WAITING, DELIVERED, or DEAD: given up, as reason says"),
    FIELD(notice_delivery, tries, F_ALWAYS, .doc = "Tries so far"), FIELD(notice_delivery, next_at, 0,
        .doc = "WAITING: not before"),
    FIELD(notice_delivery, reason, 0, .doc = "Why the last try failed"), FIELD_OPT(notice_delivery, status, 0,
        .doc = "What the webhook answered"),
    FIELD(notice_delivery, created_at, F_ALWAYS, .doc = "When it was queued"), FIELD(notice_delivery, ended_at, 0,
        .doc = "When it ended"));

static const struct stmt delivery_list = { .name = "notice_delivery_list", .params = "uusui", .row = &notice_delivery_schema,
    .card = CARD_MANY, .sql =
    "SELECT " ROW_COLUMNS " FROM notice_delivery WHERE tenant_id = $1 AND ($2::uuid IS NULL OR notification_id = $2)\n"
    "   AND ($3::text IS NULL OR state = $3) AND ($4::uuid IS NULL OR delivery_id < $4) AND notification_id IS NOT NULL\n"
    " ORDER BY delivery_id DESC LIMIT $5" };
static const struct stmt delivery_get = { .name = "notice_delivery_get", .params = "uu", .row = &notice_delivery_schema,
    .card = CARD_ONE, .sql =
    "SELECT " ROW_COLUMNS " FROM notice_delivery WHERE tenant_id = $1 AND delivery_id = $2 AND notification_id IS NOT NULL" };
static const struct stmt delivery_again = { .name = "notice_delivery_again", .params = "uu", .row = &notice_delivery_schema,
    .card = CARD_MAYBE, .sql =
    "UPDATE notice_delivery SET state = 'WAITING', tries = 0, next_at = clock_timestamp(), ended_at = NULL, reason = '', "
    "status = NULL\n"
    " WHERE tenant_id = $1 AND delivery_id = $2 AND state <> 'WAITING' AND notification_id IS NOT NULL RETURNING " ROW_COLUMNS };
static const struct stmt delivery_own = { .name = "notice_delivery_own", .params = "uUuUUsssj", .card = CARD_NONE, .sql =
    "INSERT INTO notice_delivery (tenant_id, delivery_id, notification_id, user_id, target, kind, event, source, detail, at)\n"
    "SELECT $1, i.id, $3, i.who, i.target, $6, $7, $8, $9, clock_timestamp() FROM unnest($2, $4, $5) i(id, who, target)" };
struct most_waiting { int64_t n; };
SCHEMA_OF(most_waiting, "The longest queue of some targets", FIELD(most_waiting, n, 0, .doc = "How many wait"));
static const struct stmt delivery_waiting = { .name = "notice_delivery_waiting", .params = "uU", .row = &most_waiting_schema,
    .card = CARD_ONE, .sql =
    "SELECT coalesce(max(n), 0) AS n FROM (SELECT count(*) AS n FROM notice_delivery\n"
    "   WHERE tenant_id = $1 AND state = 'WAITING' AND target = ANY ($2) GROUP BY target) w" };
static const struct stmt delivery_give_up = { .name = "notice_delivery_give_up", .params = "uu", .card = CARD_NONE, .sql =
    "UPDATE notice_delivery SET state = 'DEAD', ended_at = clock_timestamp(), reason = 'The notification was removed'\n"
    " WHERE tenant_id = $1 AND notification_id = $2 AND state = 'WAITING'" };

const struct stmt *const notice_delivery_stmts[] = { &delivery_list, &delivery_get, &delivery_again, &delivery_own,
    &delivery_waiting, &delivery_give_up, NULL };

struct put_count { int64_t dead; };
SCHEMA_OF(put_count, "What came of them", FIELD(put_count, dead, 0, .doc = "Found no room"));
/* Those that find NOTICE_BACKLOG waiting for their target, the earlier ones of the same call counted, begin at their end. */
static const struct stmt delivery_put = { .name = "notice_delivery_put", .params = "uUUUUUSSSSSSJTi",
    .row = &put_count_schema, .card = CARD_ONE, .sql =
    "WITH waiting AS (SELECT target, count(*) AS n FROM notice_delivery WHERE tenant_id = $1 AND state = 'WAITING' GROUP BY "
    "target),\n"
    "  new AS (SELECT i.*, coalesce(w.n, 0) + row_number() OVER (PARTITION BY i.target ORDER BY i.id) > $15 AS is_dead\n"
    "    FROM unnest($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)\n"
    "         AS i(id, rule, who, target, project, kind, event, source, resource_kind, resource_id, name, detail, at)\n"
    "    LEFT JOIN waiting w ON w.target = i.target\n"
    "   WHERE NOT EXISTS (SELECT FROM notice_delivery d WHERE d.tenant_id = $1 AND d.target = i.target AND d.source = "
    "i.source)),\n"
    "  put AS (INSERT INTO notice_delivery (tenant_id, delivery_id, notification_id, user_id, target, project_id, kind, event, "
    "source,\n"
    "       resource_kind, resource_id, name, detail, at, state, reason, ended_at)\n"
    "  SELECT $1, id, rule, who, target, project, kind, event, source, resource_kind, resource_id, name, detail, at,\n"
    "       CASE WHEN is_dead THEN 'DEAD' ELSE 'WAITING' END, CASE WHEN is_dead THEN 'Too many wait for this target' ELSE '' "
    "END,\n"
    "       CASE WHEN is_dead THEN clock_timestamp() END FROM new ON CONFLICT (tenant_id, target, source) DO NOTHING RETURNING "
    "state)\n"
    "SELECT count(*) FILTER (WHERE state = 'DEAD') AS dead FROM put" };

SCHEMA_OF(notice_claimed, "A delivery to make", FIELD(notice_claimed, tenant_id, 0, .doc = "Tenant"),
    FIELD(notice_claimed, delivery_id, 0, .doc = "Delivery"), FIELD(notice_claimed, notification_id, 0, .doc = "Rule"),
    FIELD(notice_claimed, user_id, 0, .doc = "Who"), FIELD(notice_claimed, event, 0, .doc = "Event"), FIELD(notice_claimed,
        source, 0, .doc = "Of what"),
    FIELD(notice_claimed, resource_kind, 0, .doc = "Kind of thing"), FIELD(notice_claimed, resource_id, 0, .doc = "Thing"),
    FIELD(notice_claimed, name, 0, .doc = "Its name"), FIELD(notice_claimed, project_id, 0, .doc = "Project"),
    FIELD(notice_claimed, detail, 0, .doc = "Details"), FIELD(notice_claimed, at, 0, .doc = "When"), FIELD(notice_claimed,
        tries, 0, .doc = "Tries"),
    FIELD(notice_claimed, url, 0, .doc = "Where to"), FIELD(notice_claimed, zone, 0, .doc = "Of the key"),
    FIELD(notice_claimed, sealed, 0, .max = 512, .doc = "Secret"), FIELD(notice_claimed, address, 0, .doc = "Address"),
    FIELD(notice_claimed, language, 0, .doc = "Language"));
static const struct stmt delivery_claim = { .name = "notice_delivery_claim", .params = "siUiis",
    .row = &notice_claimed_schema, .card = CARD_MANY, .sql =
    "WITH due AS MATERIALIZED (\n"
    "  SELECT c.tenant_id AS of, d.delivery_id AS it FROM notice_cursor c CROSS JOIN LATERAL (\n"
    "    SELECT n.delivery_id, n.next_at, row_number() OVER (ORDER BY n.next_at) AS place FROM notice_delivery n\n"
    "     WHERE n.tenant_id = c.tenant_id AND n.kind = $1 AND n.state = 'WAITING' AND n.next_at <= clock_timestamp()\n"
    "     ORDER BY n.next_at LIMIT $2) d\n"
    "   WHERE c.tenant_id <> ALL ($3) ORDER BY d.place, d.next_at LIMIT $4),\n"
    "  taken AS (UPDATE notice_delivery n SET tries = n.tries + 1, next_at = clock_timestamp() + $5 * interval '1 second'\n"
    "    FROM due WHERE n.tenant_id = due.of AND n.delivery_id = due.it AND n.state = 'WAITING'\n"
    "    RETURNING n.*)\n"
    "SELECT t.tenant_id, t.delivery_id, t.notification_id, t.user_id, t.event, t.source, t.resource_kind, t.resource_id, "
    "t.name, t.project_id,\n"
    "       t.detail, t.at, t.tries, r.url, r.zone, r.sealed, p.address, p.language\n"
    "  FROM taken t LEFT JOIN notice_rule r ON r.tenant_id = t.tenant_id AND r.notification_id = t.notification_id\n"
    "  LEFT JOIN notice_person p ON p.tenant_id = t.tenant_id AND p.user_id = t.user_id AND (p.confirmed_at IS NOT NULL OR "
    "t.event = $6)\n"
    "       AND EXISTS (SELECT FROM app_user u WHERE u.tenant_id = p.tenant_id AND u.user_id = p.user_id AND u.state = "
    "'ACTIVE')" };
static const struct stmt delivery_settle = { .name = "notice_delivery_settle", .params = "UUSSIIs", .card = CARD_NONE, .sql =
    "UPDATE notice_delivery d SET state = i.state, reason = left(i.reason, 512), status = nullif(i.status, 0),\n"
    "       next_at = clock_timestamp() + i.pause_ms * interval '1 millisecond',\n"
    "       ended_at = CASE WHEN i.state <> 'WAITING' THEN clock_timestamp() END,\n"
    "       detail = CASE WHEN i.state <> 'WAITING' AND d.event = $7 THEN '{}' ELSE d.detail END\n"
    "  FROM unnest($1, $2, $3, $4, $5, $6) AS i(tenant_id, delivery_id, state, reason, status, pause_ms)\n"
    " WHERE d.tenant_id = i.tenant_id AND d.delivery_id = i.delivery_id AND d.state = 'WAITING'" };
static const struct stmt delivery_prune = { .name = "notice_delivery_prune", .params = "ii", .card = CARD_NONE, .sql =
    "DELETE FROM notice_delivery WHERE (tenant_id, delivery_id) IN (\n"
    "  SELECT tenant_id, delivery_id FROM notice_delivery WHERE state <> 'WAITING' AND ended_at < clock_timestamp() - $1 * "
    "interval '1 day'\n"
    "   ORDER BY ended_at LIMIT $2)" };
SCHEMA_OF(notice_behind, "A tenant whose log is read", FIELD(notice_behind, tenant_id, 0, .doc = "Tenant"),
    FIELD(notice_behind, tseq, 0, .doc = "Read up to here"), FIELD(notice_behind, is_patrol, 0,
        .doc = "Its queue is to be looked at"));
static const struct stmt cursor_list = { .name = "notice_cursor_list", .params = "iiu", .row = &notice_behind_schema,
    .card = CARD_MANY, .sql =
    "SELECT tenant_id, tseq, patrolled_at < clock_timestamp() - $2 * interval '1 second' AS is_patrol FROM notice_cursor\n"
    " WHERE $3::uuid IS NULL OR tenant_id > $3 ORDER BY tenant_id LIMIT $1" };
static const struct stmt cursor_move = { .name = "notice_cursor_move", .params = "uib", .card = CARD_NONE, .sql =
    "UPDATE notice_cursor SET tseq = greatest(tseq, $2), patrolled_at = CASE WHEN $3 THEN clock_timestamp() ELSE patrolled_at "
    "END\n"
    " WHERE tenant_id = $1" };

const struct stmt *const notice_delivery_daemon_stmts[] = { &delivery_put, &delivery_claim, &delivery_settle, &delivery_prune,
    &cursor_list,
    &cursor_move, NULL };

enum errc notice_delivery_list(struct work *w, struct uuid notification_id, int state, struct uuid position, int64_t limit,
                               struct slice *ret, struct err *e)
{
    return db_many(w->tx, &delivery_list, ARGS(A_UUID(w->tenant_id), A_UUID_OR_NULL(notification_id),
                   A_TEXT(state < 0 ? NULL : notice_states[state]), A_UUID_OR_NULL(position), A_I64(limit)), ret,
                       (size_t)limit, e);
}

enum errc notice_delivery_again(struct work *w, struct uuid delivery_id, struct notice_delivery *ret, struct err *e)
{
    bool found;
    TRY(db_maybe(w->tx, &delivery_again, ARGS(A_UUID(w->tenant_id), A_UUID(delivery_id)), ret, &found, e));
    if (found)
        return ERR_OK;
    TRY(db_one(w->tx, &delivery_get, ARGS(A_UUID(w->tenant_id), A_UUID(delivery_id)), ret, e));
    return FAIL(e, CONFLICT, "The delivery waits already; it is tried again at its next_at");
}

static enum errc queue_own(struct work *w, struct uuid rule, const struct uuid *who, const struct uuid *targets, size_t n,
    const char *kind,
                           const char *event, struct str source, struct str detail, struct err *e)
{
    struct uuid *ids = ARENA_ARRAY(w->arena, struct uuid, n);
    for (size_t i = 0; i < n; i++)
        ids[i] = uuid_v7(w->now_us);
    return db_exec(w->tx, &delivery_own, ARGS(A_UUID(w->tenant_id), A_UUIDS(ids, n), A_UUID_OR_NULL(rule),
        A_UUIDS_OR_NULL(who, n),
                   A_UUIDS(targets, n), A_TEXT(kind), A_TEXT(event), A_STR(source), A_JSON(detail)), NULL, e);
}

enum errc notice_delivery_test(struct work *w, struct uuid notification_id, int64_t *ret, struct err *e)
{
    struct notice_rule r;
    TRY(notice_rule_get(w, notification_id, &r, e));
    const struct str source = str_fmt(w->arena, "test:%.*s", STR_ARG(id_text(w->arena, "", uuid_v7(w->now_us))));
    const struct uuid nobody = UUID_NIL, *who = r.kind == NOTICE_MAIL ? r.recipients.items : &nobody;
    const struct uuid *targets = r.kind == NOTICE_MAIL ? who : &r.notification_id;
    const size_t n = r.kind == NOTICE_MAIL ? r.recipients.n : 1;
    struct most_waiting most;
    TRY(db_one(w->tx, &delivery_waiting, ARGS(A_UUID(w->tenant_id), A_UUIDS(targets, n)), &most, e));
    if (most.n >= NOTICE_BACKLOG)
        return FAIL(e, LIMIT, "%ld messages wait for it already; a test would stand behind them", (long)most.n);
    *ret = (int64_t)n;
    return queue_own(w, r.notification_id, who, targets, n, notice_kind_names[r.kind], NOTICE_TEST, source, STR("{}"), e);
}

enum errc notice_delivery_code(struct work *w, struct str code, struct err *e)
{
    const struct uuid me = w->principal->user_id;
    const struct str source = str_fmt(w->arena, "confirm:%.*s", STR_ARG(id_text(w->arena, "", uuid_v7(w->now_us))));
    return queue_own(w, UUID_NIL, &me, &me, 1, "mail", NOTICE_CODE, source, str_fmt(w->arena, "{\"code\":\"%.*s\"}",
        STR_ARG(code)), e);
}

enum errc notice_delivery_give_up(struct work *w, struct uuid notification_id, struct err *e)
{
    return db_exec(w->tx, &delivery_give_up, ARGS(A_UUID(w->tenant_id), A_UUID(notification_id)), NULL, e);
}

enum errc notice_put(struct work *w, struct uuid tenant, const struct notice_new *list, size_t n, int64_t *ret_dead,
    struct err *e)
{
    struct put_count c;
    *ret_dead = 0;
    if (!n)
        return ERR_OK;
    TRY(db_one(w->tx, &delivery_put, ARGS(A_UUID(tenant), A_UUIDS_OF(list, n, delivery_id), A_UUIDS_OR_NULL_OF(list, n,
        notification_id),
               A_UUIDS_OR_NULL_OF(list, n, user_id), A_UUIDS_OF(list, n, target), A_UUIDS_OR_NULL_OF(list, n, project_id),
               A_STRS_OF(list, n, kind), A_STRS_OF(list, n, event), A_STRS_OF(list, n, source), A_STRS_OF(list, n, resource_kind),
               A_STRS_OF(list, n, resource_id), A_STRS_OF(list, n, name), A_JSONS_OF(list, n, detail), A_TIMES_OF(list, n, at),
               A_I64(NOTICE_BACKLOG)), &c, e));
    *ret_dead = c.dead;
    return ERR_OK;
}

enum errc notice_claim(struct work *w, const char *kind, int64_t share, const struct uuid *busy, size_t n, int64_t room,
    struct slice *ret,
                       struct err *e)
{
    return db_many(w->tx, &delivery_claim, ARGS(A_TEXT(kind), A_I64(share), A_UUIDS(busy, n), A_I64(room), A_I64(NOTICE_CLAIM_S),
                   A_TEXT(NOTICE_CODE)), ret, (size_t)room, e);
}

enum errc notice_settle(struct work *w, const struct notice_result *list, size_t n, struct err *e)
{
    return db_exec(w->tx, &delivery_settle, ARGS(A_UUIDS_OF(list, n, tenant_id), A_UUIDS_OF(list, n, delivery_id),
        A_STRS_OF(list, n, state),
                   A_STRS_OF(list, n, reason), A_I64S_OF(list, n, status), A_I64S_OF(list, n, pause_ms), A_TEXT(NOTICE_CODE)),
                       NULL, e);
}

enum errc notice_prune(struct work *w, int64_t limit, int64_t *ret, struct err *e)
{
    return db_exec(w->tx, &delivery_prune, ARGS(A_I64(NOTICE_KEEP_DAYS), A_I64(limit)), ret, e);
}

enum errc notice_cursors(struct work *w, int64_t patrol_s, struct uuid position, int64_t limit, struct slice *ret, struct err *e)
{
    return db_many(w->tx, &cursor_list, ARGS(A_I64(limit), A_I64(patrol_s), A_UUID_OR_NULL(position)), ret, (size_t)limit, e);
}

enum errc notice_cursor_move(struct work *w, struct uuid tenant, int64_t tseq, bool is_patrol, struct err *e)
{
    return db_exec(w->tx, &cursor_move, ARGS(A_UUID(tenant), A_I64(tseq), A_BOOL(is_patrol)), NULL, e);
}
