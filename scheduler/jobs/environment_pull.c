/* SPDX-License-Identifier: Apache-2.0 */
/* environment_pull.c - what a job brought from a registry becomes an environment's archive: the output of its last attempt, as
 * the one version of a data set of the environment's own. Told from rows alone, so a falaj-api that dies in between changes
 * nothing: the next look finds the same. */
#include "audit/event.h"
#include "core/base/cleanup.h"
#include "core/base/log.h"
#include "core/data/data_format.h"
#include "core/db/run_tx.h"
#include "core/wire/type_pull.h"
#include "registry/catalog/dataset.h"
#include "scheduler/jobs/environment.h"
#include "tenants/access/actor.h"
#include "tenants/home/residency_facts.h"

enum { SETTLE_BATCH = 100, NAME_PART = 40 };

struct brought {
    struct uuid tenant_id, environment_id, project_id, object_id, created_by;
    struct str name, data_class, zone, digest, pulled_from;
};
SCHEMA_OF(brought, "An archive that has come", FIELD(brought, tenant_id, 0, .doc = "Tenant"),
    FIELD(brought, environment_id, 0, .doc = "Environment"), FIELD(brought, project_id, 0, .doc = "Its project"),
    FIELD(brought, object_id, 0, .doc = "The archive"), FIELD(brought, created_by, 0, .doc = "Who asked for it"),
    FIELD(brought, name, 0, .doc = "Its name"), FIELD(brought, data_class, 0, .doc = "Class"),
    FIELD(brought, zone, 0, .doc = "Zone"),
    FIELD(brought, digest, 0, .doc = "Of its manifest"), FIELD(brought, pulled_from, 0, .doc = "Where from"));

static const struct stmt environment_brought = { .name = "environment_brought", .params = "i", .row = &brought_schema,
    .card = CARD_MANY, .sql =
    "SELECT e.tenant_id, e.environment_id, e.project_id, x.object_id, e.created_by, e.name, j.data_class, j.zone,\n"
    "       coalesce(j.result->>'digest', e.asked_digest) AS digest, e.pulled_from\n"
    "  FROM environment e JOIN job j ON j.tenant_id = e.tenant_id AND j.job_id = e.job_id AND j.state = 'COMPLETED'\n"
    "  JOIN job_object x ON x.tenant_id = e.tenant_id AND x.job_id = e.job_id AND x.direction = 'output' AND x.fence = j.fence\n"
    "       AND x.name = '" PULL_OUTPUT "'\n"
    " WHERE e.object_id IS NULL ORDER BY random() LIMIT $1" };      /* those that fail each time hold nobody back */
static const struct stmt environment_take = { .name = "environment_take", .params = "uuuiu", .card = CARD_NONE, .sql =
    "UPDATE environment SET dataset_id = $3, dataset_version = $4, object_id = $5, version = version + 1\n"
    " WHERE tenant_id = $1 AND environment_id = $2 AND object_id IS NULL" };
const struct stmt *const environment_pull_stmts[] = { &environment_take, NULL };
const struct stmt *const environment_pull_node_stmts[] = { &environment_brought, NULL };

/* The name has the environment's id in it, so it is free. */
static enum errc take(struct work *w, const struct brought *b, struct err *e)
{
    struct dataset_version v;
    int64_t rows = 0;
    char id[UUID_HEX];
    hex_encode(b->environment_id.b, 16, id);
    const struct dataset_new in = {
        .name = str_fmt(w->arena, "image-%.*s-%s", b->name.len < NAME_PART ? (int)b->name.len : NAME_PART, b->name.ptr, id + 20),
        .description = STR("archive of an environment"), .data_class = data_class_of(b->data_class), .label_column = STR("label"),
        .target = TARGET_NONE, .project_id = b->project_id };
    TRY(dataset_of_object(w, &in, b->created_by, b->object_id, DATA_OCI, &v, e));
    TRY(db_exec(w->tx, &environment_take, ARGS(A_UUID(b->tenant_id), A_UUID(b->environment_id), A_UUID(v.dataset_id),
                A_I64(v.version), A_UUID(b->object_id)), &rows, e));
    if (!rows)
        return FAIL(e, CONFLICT, "another falaj-api was first");
    struct audit_event ev = audit_event_of(w, AUDIT_ENVIRONMENT_SET);
    ev.resource_kind = STR("environment");
    ev.resource_prefix = "env";
    ev.resource_id = b->environment_id;
    ev.rule = STR("registry");
    audit_event_detail(&ev, AUDIT_D_STR("environment", b->name));
    audit_event_detail(&ev, AUDIT_D_STR("digest", b->digest));
    audit_event_detail(&ev, AUDIT_D_STR("registry", b->pulled_from));
    audit_event_detail(&ev, AUDIT_D_STR("zone", b->zone));
    return audit_append(w, &ev, e);
}

static enum errc take_one(const struct app *app, const struct brought *b, struct arena *a, struct err *e)
{
    struct work w = { .app = app, .arena = a, .tenant_id = b->tenant_id, .now_us = clock_wall_us(app->clock) };
    return RUN_WRITE(&w, take(&w, b, e), e);
}

enum errc environment_settle(const struct app *app, struct arena *a, int64_t *ret_settled, struct err *e)
{
    struct { struct brought *items; size_t n; } rows;
    CLEANUP(arena_freep) struct arena *own = arena_new(16 << 20);
    struct work w = { .app = app, .arena = a };
    TRY(RUN_SYSTEM(&w, app->node_pool, TX_READ_ONLY,
                   db_many(w.tx, &environment_brought, ARGS(A_I64(SETTLE_BATCH)), &rows, SETTLE_BATCH, e), e));
    for (size_t i = 0; i < rows.n; i++, arena_reset(own)) {
        struct err why = { 0 };         /* another falaj-api, or a tenant that ends: the next look tells */
        if (take_one(app, &rows.items[i], own, &why) != ERR_OK) {
            log_err(LOG_INFO, "environment.archive_waits", &why);
            continue;
        }
        log_event(LOG_INFO, "environment.archive_came", "environment", LOG_ID("env", rows.items[i].environment_id), NULL);
        ++*ret_settled;
    }
    return ERR_OK;
}
