/* SPDX-License-Identifier: Apache-2.0 */
/* submit_names.c - names that are not known are few: they are looked for among the submissions one by one. */
#include "scheduler/jobs/submit_names.h"
#include "core/db/run_tx.h"
#include "scheduler/jobs/job_queue.h"

struct name_row {
    bool is_class;
    struct uuid tenant_id;
    struct str name;
};
SCHEMA_OF(name_row, "A name that nobody knows", FIELD(name_row, is_class, 0, .doc = "A priority class; else a queue"),
    FIELD(name_row, tenant_id, 0, .doc = "Whose queue"), FIELD(name_row, name, 0, .doc = "The name"));

/* Only what nobody knows comes back: of each submission at most its queue and its class. */
static const struct stmt names_unknown = { .name = "job_names_unknown", .params = "USS", .row = &name_row_schema,
    .card = CARD_MANY, .sql = "SELECT is_class, tenant_id, name FROM job_names_unknown($1, $2, $3)" };

const struct stmt *const submit_names_stmts[] = { &names_unknown, NULL };

static bool is_asked(struct str name)
{
    return name.len && !str_eq_c(name, "default");
}

static void mark(const struct job_create *in, struct uuid tenant, const struct name_row *r, struct submit_names *ret)
{
    if (r->is_class)
        ret->no_class |= str_eq(in->cls, r->name);
    else
        ret->no_queue |= uuid_eq(tenant, r->tenant_id) && str_eq(in->queue, r->name);
}

enum errc submit_names_ask(struct work *w, const struct job_create *const *in, const struct uuid *tenants, size_t n,
                           struct submit_names *ret, struct err *e)
{
    struct slice rows = { 0 };
    struct uuid *owners = ARENA_ARRAY(w->arena, struct uuid, n + 1);
    struct str *queues = ARENA_ARRAY(w->arena, struct str, n + 1), *classes = ARENA_ARRAY(w->arena, struct str, n + 1);
    size_t nq = 0, nc = 0;
    for (size_t i = 0; i < n; i++) {
        ret[i] = (struct submit_names){ 0 };
        if (is_asked(in[i]->cls))
            classes[nc++] = in[i]->cls;
        if (!is_asked(in[i]->queue))
            continue;
        owners[nq] = tenants[i];
        queues[nq++] = in[i]->queue;
    }
    if (!nq && !nc)
        return ERR_OK;
    TRY(RUN_SYSTEM(w, w->app->pool, TX_READ_ONLY | TX_SINGLE, db_many(w->tx, &names_unknown,
                   ARGS(A_UUIDS(owners, nq), A_STRS(queues, nq), A_STRS(classes, nc)), &rows, nq + nc, e), e));
    const struct name_row *r = rows.items;
    for (size_t k = 0; k < rows.n; k++)
        for (size_t i = 0; i < n; i++)
            mark(in[i], tenants[i], &r[k], &ret[i]);
    return ERR_OK;
}

enum errc submit_names_check(struct work *w, const struct job *j, const struct submit_names *names, struct err *e)
{
    if (names->no_class)
        return FAIL_AT(e, INVALID, "/class", "There is no priority class %.*s", STR_ARG(j->cls));
    return names->no_queue ? RUN_READ(w, job_queue_refusal(w, j->queue, e), e) : ERR_OK;
}
