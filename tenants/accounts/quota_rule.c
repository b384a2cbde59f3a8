/* SPDX-License-Identifier: Apache-2.0 */
/* quota_rule.c - write first, judge after: one statement reads what the tables say once the change is in, and a judgement against it takes
 * the whole transaction back. */
#include "tenants/accounts/quota_rule.h"
#include "core/db/tx.h"
#include "tenants/access/principal.h"

const char *const quota_rule_resource_names[] = { "slots", "gpus", NULL };

SCHEMA_EXTERN(quota_rule, "A quota rule and what is used of it",
    FIELD_ID(quota_rule, rule_id, "qrl", F_ALWAYS, .doc = "The rule"),
    FIELD(quota_rule, place, F_ALWAYS, .doc = "tenant, project or queue"),
    FIELD_ID(quota_rule, project_id, "prj", 0, .doc = "The project; absent for a queue: of the tenant's own jobs"),
    FIELD(quota_rule, queue, F_ALWAYS, .doc = "The queue; empty: all"),
    FIELD(quota_rule, resource, F_ALWAYS, .doc = "slots or gpus"),
    FIELD(quota_rule, flavor, F_ALWAYS, .doc = "Flavor of machine; empty: all together"),
    FIELD(quota_rule, zone, F_ALWAYS, .doc = "Zone; empty: all together"),
    FIELD(quota_rule, nominal, 0, .doc = "What it has of its own"),
    FIELD_OPT(quota_rule, borrowing_limit, F_NULLOUT, .doc = "Most it may take of what others do not use; null: no limit"),
    FIELD_OPT(quota_rule, lending_limit, F_NULLOUT, .doc = "Most that others may take of it; null: all"),
    FIELD(quota_rule, weight, 0, .doc = "Its part when there is not enough for all; 1000 is usual"),
    FIELD(quota_rule, used, 0, .doc = "Booked by live attempts now"), FIELD(quota_rule, version, 0, .doc = "Grows with every change"),
    FIELD(quota_rule, created_at, F_ALWAYS, .doc = "When it was made"));

struct judgement {
    int64_t ceiling, divided, children, used, most, lendable, lent;
};
SCHEMA_OF(judgement, "What the tables say of a change", FIELD(judgement, ceiling, 0, .doc = "What the parent has"),
    FIELD(judgement, divided, 0, .doc = "What it and its siblings have"), FIELD(judgement, children, 0, .doc = "What its children have"),
    FIELD(judgement, used, 0, .doc = "What it uses"), FIELD(judgement, most, 0, .doc = "What it may use at most"),
    FIELD(judgement, lendable, 0, .doc = "What its cohort lends"), FIELD(judgement, lent, 0, .doc = "What is lent of that"));

#define RULE_USE                                                                                                                        \
    "(SELECT coalesce(sum(CASE r.resource WHEN 'slots' THEN a.slots ELSE a.gpus END), 0)::bigint\n"                                      \
    "   FROM attempt a JOIN job j ON j.tenant_id = a.tenant_id AND j.job_id = a.job_id JOIN node n ON n.node_id = a.node_id\n"           \
    "  WHERE a.live AND a.tenant_id = r.tenant_id AND (r.flavor = '' OR r.flavor = n.flavor) AND (r.zone = '' OR r.zone = n.zone)\n"     \
    "    AND (r.place = 'tenant' OR (r.project_id IS NOT DISTINCT FROM j.project_id AND (r.place = 'project' OR r.queue = j.queue))))"
#define RULE_COLUMNS \
    "r.rule_id, r.place, r.project_id, r.queue, r.resource, r.flavor, r.zone, r.nominal, r.borrowing_limit, r.lending_limit, r.weight,\n" \
    "       " RULE_USE " AS used, r.version, r.created_at"

static const struct stmt rule_lock = { .name = "quota_rule_lock", .params = "", .card = CARD_NONE, .sql =
    "SELECT pg_advisory_xact_lock(4630123712)" };       /* plan_apply's */
static const struct stmt rule_insert = { .name = "quota_rule_insert", .params = "uusussssiiiiu", .card = CARD_NONE, .sql =
    "INSERT INTO quota_rule (tenant_id, rule_id, place, project_id, queue, resource, flavor, zone, nominal, borrowing_limit, lending_limit,\n"
    "                        weight, created_by)\n"
    "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)" };
static const struct stmt rule_update = { .name = "quota_rule_update", .params = "uubiiiii", .card = CARD_NONE, .sql =
    "UPDATE quota_rule SET nominal = $4, borrowing_limit = $5, lending_limit = $6, weight = $7, version = version + 1\n"
    " WHERE tenant_id = $1 AND rule_id = $2 AND (place = 'tenant') = $3 AND ($8 < 0 OR version = $8)" };
static const struct stmt rule_delete = { .name = "quota_rule_delete", .params = "uubi", .card = CARD_NONE, .sql =
    "DELETE FROM quota_rule WHERE tenant_id = $1 AND rule_id = $2 AND (place = 'tenant') = $3 AND ($4 < 0 OR version = $4)" };
static const struct stmt rule_get = { .name = "quota_rule_get", .params = "uu", .row = &quota_rule_schema, .card = CARD_ONE, .sql =
    "SELECT " RULE_COLUMNS "\n  FROM quota_rule r WHERE r.tenant_id = $1 AND r.rule_id = $2" };
static const struct stmt rule_list = { .name = "quota_rule_list", .params = "usui", .row = &quota_rule_schema, .card = CARD_MANY, .sql =
    "SELECT " RULE_COLUMNS "\n  FROM quota_rule r WHERE r.tenant_id = $1 AND ($2::text IS NULL OR r.place = $2)\n"
    "   AND ($3::uuid IS NULL OR r.rule_id < $3) ORDER BY r.rule_id DESC LIMIT $4" };
static const struct stmt rule_judge = { .name = "quota_rule_judge", .params = "uususssu", .row = &judgement_schema, .card = CARD_ONE, .sql =
    "WITH me AS (SELECT $3::text AS place, $4::uuid AS project_id, $5::text AS resource, $6::text AS flavor, $7::text AS zone),\n"
    "s AS MATERIALIZED (\n"
    "  SELECT r.rule_id, r.nominal, r.borrowing_limit, coalesce(r.lending_limit, r.nominal) AS lend, " RULE_USE " AS used\n"
    "    FROM quota_rule r, me WHERE r.tenant_id = $1 AND r.place = me.place AND r.resource = me.resource AND r.flavor = me.flavor\n"
    "     AND r.zone = me.zone AND (r.place <> 'queue' OR r.project_id IS NOT DISTINCT FROM me.project_id)),\n"
    "up AS MATERIALIZED (\n"       /* the nearest above: of its project, of its tenant; the same kind of machine before all together */
    "  SELECT r.nominal FROM quota_rule r, me\n"
    "   WHERE r.tenant_id = $1 AND r.resource = me.resource AND me.place <> 'tenant'\n"
    "     AND ((r.place = 'project' AND me.place = 'queue' AND r.project_id = me.project_id) OR r.place = 'tenant')\n"
    "     AND ((r.flavor = me.flavor AND r.zone = me.zone) OR (r.flavor = '' AND r.zone = ''))\n"
    "   ORDER BY r.place = 'project' DESC, r.flavor = me.flavor AND r.zone = me.zone DESC LIMIT 1),\n"
    "down AS (\n"
    "  SELECT max(x.n)::bigint AS n FROM (\n"
    "    SELECT sum(r.nominal) AS n FROM quota_rule r, me\n"
    "     WHERE r.tenant_id = $1 AND r.resource = me.resource AND r.flavor = me.flavor AND r.zone = me.zone\n"
    "       AND ((me.place = 'tenant' AND (r.place = 'project' OR (r.place = 'queue' AND r.project_id IS NULL)))\n"
    "         OR (me.place = 'project' AND r.place = 'queue' AND r.project_id = $8::uuid))\n"
    "     GROUP BY r.place) x),\n"
    "c AS (SELECT q.lendable, q.lent FROM me, quota_cohort($5, $6, $7, $1) q WHERE me.place = 'tenant')\n"
    "SELECT coalesce((SELECT nominal FROM up), (SELECT hard_limit FROM quota WHERE tenant_id = $1 AND resource = $5 AND $3 <> 'tenant'),\n"
    "                9223372036854775807) AS ceiling,\n"
    "       coalesce((SELECT sum(s.nominal)::bigint FROM s), 0) AS divided, coalesce((SELECT n FROM down), 0) AS children,\n"
    "       coalesce((SELECT s.used FROM s WHERE s.rule_id = $2), 0) AS used,\n"
    "       coalesce((SELECT s.nominal + s.borrowing_limit FROM s WHERE s.rule_id = $2), 9223372036854775807) AS most,\n"
    "       (coalesce((SELECT sum(s.lend) FROM s), 0) + coalesce((SELECT lendable FROM c), 0))::bigint AS lendable,\n"
    "       (coalesce((SELECT sum(greatest(0, s.used - (s.nominal - s.lend))) FROM s), 0) + coalesce((SELECT lent FROM c), 0))::bigint AS lent" };

SCHEMA_OF(rule_queue_name, "A queue that a rule is about", FIELD(rule_queue_name, name, 0, .doc = "Its name"));
static const struct stmt rule_queues = { .name = "quota_rule_queues", .params = "ui", .row = &rule_queue_name_schema,
                                         .card = CARD_MANY, .sql =
    "SELECT DISTINCT queue AS name FROM quota_rule\n"
    " WHERE tenant_id = $1 AND place = 'queue' ORDER BY 1 LIMIT $2" };
const struct stmt *const quota_rule_stmts[] = { &rule_lock, &rule_insert, &rule_update, &rule_delete, &rule_get, &rule_list, &rule_judge,
                                                &rule_queues, NULL };

static enum errc judge(struct work *w, const struct quota_rule *r, struct err *e)
{
    struct judgement j;
    TRY(db_one(w->tx, &rule_judge, ARGS(A_UUID(w->tenant_id), A_UUID(r->rule_id), A_STR(r->place), A_UUID_OR_NULL(r->project_id), A_STR(r->resource),
                                        A_STR(r->flavor), A_STR(r->zone), A_UUID_OR_NULL(r->project_id)), &j, e));
    if (j.divided > j.ceiling)
        return FAIL_AT(e, CONFLICT, "/nominal", "The rules together would have %ld, more than the %ld that they divide",
            (long)j.divided, (long)j.ceiling);
    if (r->nominal < j.children)
        return FAIL_AT(e, CONFLICT, "/nominal", "Rules below this one already divide %ld, so it cannot be lowered to %ld",
            (long)j.children, (long)r->nominal);
    if (j.used > j.most)
        return FAIL_AT(e, CONFLICT, "/nominal", "%ld are in use, so the maximum cannot be %ld", (long)j.used, (long)j.most);
    if (j.lent > j.lendable)
        return FAIL_AT(e, CONFLICT, "/lending_limit", "%ld are lent now, so the lending limit cannot be %ld", (long)j.lent,
                       (long)j.lendable);
    return ERR_OK;
}

static struct arg maybe(bool has, int64_t n)
{
    return has ? A_I64(n) : A_NULL('i');
}

enum errc quota_rule_create(struct work *w, const struct quota_rule *in, struct quota_rule *ret, struct err *e)
{
    struct quota_rule r = *in;
    r.rule_id = uuid_v7(w->now_us);
    if (r.has_lending_limit && r.lending_limit > r.nominal)
        return FAIL_AT(e, INVALID, "/lending_limit", "lending_limit %ld is more than the nominal quota %ld",
            (long)r.lending_limit, (long)r.nominal);
    db_queue(w->tx, &rule_lock, NO_ARGS, false);
    TRY(db_exec(w->tx, &rule_insert, ARGS(A_UUID(w->tenant_id), A_UUID(r.rule_id), A_STR(r.place), A_UUID_OR_NULL(r.project_id), A_STR(r.queue),
                A_STR(r.resource), A_STR(r.flavor), A_STR(r.zone), A_I64(r.nominal), maybe(r.has_borrowing_limit, r.borrowing_limit),
                maybe(r.has_lending_limit, r.lending_limit), A_I64(r.weight), A_UUID(w->principal->user_id)), NULL, e));
    TRY(judge(w, &r, e));
    return quota_rule_get(w, r.rule_id, ret, e);
}

/* Why a change touched no row. */
static enum errc not_changed(struct work *w, struct uuid rule_id, bool is_platform, int64_t expected, struct quota_rule *found, struct err *e)
{
    TRY(quota_rule_get(w, rule_id, found, e));
    if (str_eq_c(found->place, "tenant") != is_platform)
        return FAIL(e, FORBIDDEN,
            is_platform ? "Only the tenant itself divides its quota among projects and queues" : "Only the platform sets the quota of a whole tenant");
    if (expected >= 0 && found->version != expected)
        return FAIL(e, PRECONDITION, "The rule has changed since it was read (version %ld)", (long)found->version);
    return ERR_OK;
}

enum errc quota_rule_set(struct work *w, struct uuid rule_id, bool is_platform, const struct quota_rule *n, int64_t expected_version,
                         struct quota_rule *ret, struct err *e)
{
    int64_t rows = 0;
    if (n->has_lending_limit && n->lending_limit > n->nominal)
        return FAIL_AT(e, INVALID, "/lending_limit", "lending_limit %ld is more than the nominal quota %ld",
            (long)n->lending_limit, (long)n->nominal);
    db_queue(w->tx, &rule_lock, NO_ARGS, false);
    TRY(db_exec(w->tx, &rule_update, ARGS(A_UUID(w->tenant_id), A_UUID(rule_id), A_BOOL(is_platform), A_I64(n->nominal),
                maybe(n->has_borrowing_limit, n->borrowing_limit), maybe(n->has_lending_limit, n->lending_limit), A_I64(n->weight),
                A_I64(expected_version)), &rows, e));
    if (!rows)
        TRY(not_changed(w, rule_id, is_platform, expected_version, ret, e));
    TRY(quota_rule_get(w, rule_id, ret, e));
    return judge(w, ret, e);
}

enum errc quota_rule_delete(struct work *w, struct uuid rule_id, bool is_platform, int64_t expected_version, struct err *e)
{
    struct quota_rule was;
    db_queue(w->tx, &rule_lock, NO_ARGS, false);
    TRY(not_changed(w, rule_id, is_platform, expected_version, &was, e));
    TRY(db_exec(w->tx, &rule_delete, ARGS(A_UUID(w->tenant_id), A_UUID(rule_id), A_BOOL(is_platform), A_I64(expected_version)), NULL, e));
    was.nominal = INT64_MAX;            /* what stood below it now stands below its parent */
    return judge(w, &was, e);
}

enum errc quota_rule_get(struct work *w, struct uuid rule_id, struct quota_rule *ret, struct err *e)
{
    return db_one(w->tx, &rule_get, ARGS(A_UUID(w->tenant_id), A_UUID(rule_id)), ret, e);
}

enum errc quota_rule_list(struct work *w, struct str place, struct uuid position, int64_t limit, struct slice *ret, struct err *e)
{
    return db_many(w->tx, &rule_list, ARGS(A_UUID(w->tenant_id), A_STR(place), A_UUID_OR_NULL(position), A_I64(limit)), ret, (size_t)limit, e);
}

enum errc quota_rule_queues(struct work *w, int64_t limit, struct slice *ret, struct err *e)
{
    *ret = (struct slice){ 0 };
    return db_many(w->tx, &rule_queues, ARGS(A_UUID(w->tenant_id), A_I64(limit)), ret, (size_t)limit, e);
}
