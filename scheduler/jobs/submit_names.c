/* SPDX-License-Identifier: Apache-2.0 */
/* submit_names.c - names that are not known are few: they are looked for among the submissions one by one. */
#include "scheduler/jobs/submit_names.h"
#include "core/db/run_tx.h"
#include "scheduler/jobs/job_queue.h"
#include "tenants/home/project.h"

struct name_row {
    struct str what;
    struct uuid tenant_id;
    struct str name;
    struct uuid project_id;
};
SCHEMA_OF(name_row, "A name that nobody knows", FIELD(name_row, what, 0, .doc = "queue, class, project, closed"),
    FIELD(name_row, tenant_id, 0, .doc = "Whose"), FIELD(name_row, name, 0, .doc = "The name of a queue or class"),
    FIELD(name_row, project_id, 0, .doc = "The project"));

/* Only what nobody knows comes back: of each submission at most its queue, its class and its project. */
static const struct stmt names_unknown = { .name = "job_names_unknown", .params = "USSUU", .row = &name_row_schema,
    .card = CARD_MANY, .sql = "SELECT what, tenant_id, name, project_id FROM job_names_unknown($1, $2, $3, $4, $5)" };

const struct stmt *const submit_names_stmts[] = { &names_unknown, NULL };

static bool is_asked(struct str name)
{
    return name.len && !str_eq_c(name, "default");
}

static void mark(const struct job_create *in, const struct work *who, const struct name_row *r, struct submit_names *ret)
{
    const bool is_queue = str_eq_c(r->what, "queue"), is_class = str_eq_c(r->what, "class");
    if (is_class)
        ret->no_class |= str_eq(in->cls, r->name);
    else if (!uuid_eq(who->tenant_id, r->tenant_id))
        return;
    else if (is_queue)
        ret->no_queue |= str_eq(in->queue, r->name);
    else if (uuid_eq(project_choice(who, in->project_id), r->project_id)) {
        ret->no_project |= str_eq_c(r->what, "project");
        ret->is_closed |= str_eq_c(r->what, "closed");
    }
}

enum errc submit_names_ask(struct work *w, const struct job_create *const *in, const struct work *const *who, size_t n,
                           struct submit_names *ret, struct err *e)
{
    struct slice rows = { 0 };
    struct uuid *tenants = ARENA_ARRAY(w->arena, struct uuid, n + 1), *owners = ARENA_ARRAY(w->arena, struct uuid, n + 1);
    struct uuid *projects = ARENA_ARRAY(w->arena, struct uuid, n + 1);
    struct str *queues = ARENA_ARRAY(w->arena, struct str, n + 1), *classes = ARENA_ARRAY(w->arena, struct str, n + 1);
    size_t nq = 0, nc = 0, np = 0;
    for (size_t i = 0; i < n; i++) {
        const struct uuid project = project_choice(who[i], in[i]->project_id);
        ret[i] = (struct submit_names){ 0 };
        if (is_asked(in[i]->cls))
            classes[nc++] = in[i]->cls;
        if (is_asked(in[i]->queue)) {
            tenants[nq] = who[i]->tenant_id;
            queues[nq++] = in[i]->queue;
        }
        if (!uuid_is_nil(project)) {
            owners[np] = who[i]->tenant_id;
            projects[np++] = project;
        }
    }
    if (!nq && !nc && !np)
        return ERR_OK;
    TRY(RUN_SYSTEM(w, w->app->pool, TX_READ_ONLY | TX_SINGLE, db_many(w->tx, &names_unknown,
                   ARGS(A_UUIDS(tenants, nq), A_STRS(queues, nq), A_STRS(classes, nc), A_UUIDS(owners, np),
                        A_UUIDS(projects, np)), &rows, nq + nc + np, e), e));
    const struct name_row *r = rows.items;
    for (size_t k = 0; k < rows.n; k++)
        for (size_t i = 0; i < n; i++)
            mark(in[i], who[i], &r[k], &ret[i]);
    return ERR_OK;
}

enum errc submit_names_project(const struct work *w, const struct job_create *in, const struct submit_names *names,
                               struct uuid *ret, struct err *e)
{
    *ret = project_choice(w, in->project_id);
    return project_take(w, in->project_id, !names->no_project, !names->is_closed, e);
}

enum errc submit_names_check(struct work *w, const struct job *j, const struct submit_names *names, struct err *e)
{
    if (names->no_class)
        return FAIL_AT(e, INVALID, "/class", "There is no priority class %.*s", STR_ARG(j->cls));
    return names->no_queue ? RUN_READ(w, job_queue_refusal(w, j->queue, e), e) : ERR_OK;
}
