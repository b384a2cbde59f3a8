/* SPDX-License-Identifier: Apache-2.0 */
/* rules.c - one statement for rules and their use. In a tenant's scope it sees that tenant alone; what the others of its
 * cohorts have is asked of a function that tells sums. */
#include "scheduler/mirror/rules.h"
#include "core/db/tx.h"
#include "core/table/schema.h"

enum { RULES_MAX = 100000 };

SCHEMA_EXTERN(rule, "A quota rule and its use", FIELD(rule, tenant_id, 0, .doc = "Tenant"),
    FIELD(rule, project_id, 0, .doc = "Project"),
    FIELD_ENUM(rule, place, 0, rule_place_names, .doc = "Whose"),
    FIELD_ENUM(rule, resource, 0, rule_resource_names, .doc = "Of what"),
    FIELD(rule, queue, 0, .doc = "Queue"), FIELD(rule, flavor, 0, .doc = "Flavor"), FIELD(rule, zone, 0, .doc = "Zone"),
    FIELD(rule, nominal, 0, .doc = "Its own"), FIELD(rule, borrowing_limit, 0, .doc = "Most from others"),
    FIELD(rule, lending_limit, 0, .doc = "Most to others"), FIELD(rule, weight, 0, .doc = "Weight"),
    FIELD(rule, used, 0, .doc = "Used"));
SCHEMA_EXTERN(rule_queue, "A declared queue", FIELD(rule_queue, tenant_id, 0, .doc = "Tenant"),
    FIELD(rule_queue, project_id, 0, .doc = "Project"), FIELD(rule_queue, name, 0, .doc = "Name"),
    FIELD_ENUM(rule_queue, mode, 0, queue_mode_names, .doc = "How its line goes"),
    FIELD_ENUM(rule_queue, stop_policy, 0, queue_stop_names, .doc = "Whether it goes"),
    FIELD_ENUM(rule_queue, within_cluster_queue, 0, queue_within_names, .doc = "Who of its own makes room"),
    FIELD_ENUM(rule_queue, reclaim_within_cohort, 0, queue_reclaim_names, .doc = "Which borrowers make room"),
    FIELD(rule_queue, slot_usage, 0, .doc = "Slot seconds"), FIELD(rule_queue, gpu_usage, 0, .doc = "GPU seconds"));
struct cohort_row { int64_t ord, lendable, lent; };
SCHEMA_OF(cohort_row, "What other tenants of a cohort have, in all", 
    FIELD(cohort_row, ord, 0, .doc = "Of which rule, from 1"),
    FIELD(cohort_row, lendable, 0, .doc = "To be lent"), FIELD(cohort_row, lent, 0, .doc = "Lent"));

/* A limit of running jobs is one more rule, of whole jobs. Cohorts of tenants reach beyond the tenants asked for. What runs is
 * read by tenant, so that it does not matter how much of others' does. */
static const struct stmt rules_stmt = { .name = "rules_read", .params = "Ui", .row = &rule_schema, .card = CARD_MANY, .sql =
    "WITH r AS MATERIALIZED (\n"
    "  SELECT tenant_id, project_id, place, resource, queue, flavor, zone, nominal,\n"
    "         coalesce(borrowing_limit, -1) AS borrowing_limit,\n"
    "         coalesce(lending_limit, -1) AS lending_limit, weight FROM quota_rule q\n"
    "   WHERE tenant_id = ANY ($1) OR (place = 'tenant' AND EXISTS (\n"
    "     SELECT FROM quota_rule o WHERE o.tenant_id = ANY ($1) AND o.place = 'tenant' AND o.resource = q.resource\n"
    "        AND o.flavor = q.flavor AND o.zone = q.zone))\n"
    "  UNION ALL\n"
    "  SELECT tenant_id, NULL, 'tenant', 'jobs', '', '', '', hard_limit, 0, 0, 1000 FROM quota\n"
    "   WHERE tenant_id = ANY ($1) AND resource = 'running_jobs'),\n"
    "u AS MATERIALIZED (\n"
    "  SELECT a.tenant_id, j.project_id, j.queue, n.flavor, n.zone, sum(a.slots)::bigint AS slots,\n"
    "         sum(a.gpus)::bigint AS gpus, count(*) AS jobs\n"
    "    FROM (SELECT DISTINCT r.tenant_id FROM r) t\n"
    "   CROSS JOIN LATERAL (SELECT x.tenant_id, x.job_id, x.node_id, x.slots, x.gpus FROM attempt x\n"
    "                        WHERE x.tenant_id = t.tenant_id AND x.live OFFSET 0) a\n"
    "    JOIN job j ON j.tenant_id = a.tenant_id AND j.job_id = a.job_id\n"
    "    JOIN node n ON n.node_id = a.node_id GROUP BY 1, 2, 3, 4, 5)\n"
    "SELECT r.tenant_id, r.project_id, r.place, r.resource, r.queue, r.flavor, r.zone, r.nominal, r.borrowing_limit,\n"
    "       r.lending_limit, r.weight,\n"
    "       coalesce(sum(CASE r.resource WHEN 'slots' THEN u.slots WHEN 'gpus' THEN u.gpus ELSE u.jobs END), 0)::bigint AS used\n"
    "  FROM r LEFT JOIN u ON u.tenant_id = r.tenant_id AND (r.flavor = '' OR r.flavor = u.flavor)\n"
    "       AND (r.zone = '' OR r.zone = u.zone) AND (r.place = 'tenant' OR (r.project_id IS NOT DISTINCT FROM u.project_id\n"
    "            AND (r.place = 'project' OR r.queue = u.queue)))\n"
    " GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 ORDER BY r.tenant_id LIMIT $2" };
static const struct stmt rules_queues = { .name = "rules_queues", .params = "Ui", .row = &rule_queue_schema, .card = CARD_MANY,
    .sql = "SELECT " ROW_COLUMNS " FROM queue WHERE tenant_id = ANY ($1) LIMIT $2" };
static const struct stmt rules_of_others = { .name = "rules_of_others", .params = "SSSu", .row = &cohort_row_schema,
    .card = CARD_MANY, .sql =
    "SELECT r.ord, q.lendable, q.lent FROM unnest($1, $2, $3) WITH ORDINALITY AS r(resource, flavor, zone, ord)\n"
    " CROSS JOIN LATERAL quota_cohort(r.resource, r.flavor, r.zone, $4) q" };

const struct stmt *const rules_stmts[] = { &rules_stmt, &rules_queues, NULL };
const struct stmt *const rules_own_stmts[] = { &rules_stmt, &rules_queues, &rules_of_others, NULL };

enum errc rules_read(struct work *w, const struct uuid *tenants, size_t n, struct rulebook *ret, struct err *e)
{
    *ret = (struct rulebook){ 0 };
    struct db_ask *rules = db_ask(w->tx, &rules_stmt, ARGS(A_UUIDS(tenants, n), A_I64(RULES_MAX)));
    struct db_ask *queues = db_ask(w->tx, &rules_queues, ARGS(A_UUIDS(tenants, n), A_I64(RULES_MAX)));
    TRY(db_told_many(w->tx, rules, &ret->rules, RULES_MAX, e));
    TRY(db_told_many(w->tx, queues, &ret->queues, RULES_MAX, e));
    rulebook_link(ret, w->arena);
    return ERR_OK;
}

/* Rules of a tenant as a whole alone share with other tenants, and not the limit of running jobs. */
enum errc rules_read_own(struct work *w, struct rulebook *ret, struct err *e)
{
    struct word { struct str resource, flavor, zone; };
    struct slice rows = { 0 };
    size_t n = 0;
    TRY(rules_read(w, &w->tenant_id, 1, ret, e));
    struct word *words = ARENA_ARRAY(w->arena, struct word, ret->rules.n + 1);
    size_t *of = ARENA_ARRAY(w->arena, size_t, ret->rules.n + 1);
    for (size_t i = 0; i < ret->rules.n; i++) {
        const struct rule *r = &ret->rules.items[i];
        if (r->place != RULE_TENANT || r->resource == RULE_JOBS)
            continue;
        of[n] = i;
        words[n++] = (struct word){ str_c(rule_resource_names[r->resource]), r->flavor, r->zone };
    }
    if (!n)
        return ERR_OK;
    TRY(db_many(w->tx, &rules_of_others, ARGS(A_STRS_OF(words, n, resource), A_STRS_OF(words, n, flavor),
                A_STRS_OF(words, n, zone), A_UUID(w->tenant_id)), &rows, n, e));
    const struct cohort_row *c = rows.items;
    for (size_t i = 0; i < rows.n; i++) {
        struct rule_cohort *all = &ret->cohorts[ret->rules.items[of[c[i].ord - 1]].cohort];
        all->lendable += c[i].lendable;
        all->lent += c[i].lent;
    }
    return ERR_OK;
}
