/* SPDX-License-Identifier: Apache-2.0 */
/* job_output.c - names and objects by one statement, what an object is by the registry. */
#include "scheduler/jobs/job_output.h"
#include "core/base/cleanup.h"
#include "core/db/tx.h"
#include "core/wire/lease_wire.h"
#include "registry/vault/object.h"
#include "scheduler/jobs/job.h"

struct output_name { struct str name; struct uuid object_id; };
SCHEMA_OF(output_name, "An output by name", FIELD(output_name, name, 0, .doc = "Name"), FIELD(output_name, object_id, 0,
    .doc = "Object"));
SCHEMA_EXTERN(job_output, "An output of a completed job", FIELD(job_output, name, F_ALWAYS, .doc = "Its name"),
    FIELD_ID(job_output, object_id, "obj", F_ALWAYS, .doc = "The object"),
    FIELD(job_output, kind, F_ALWAYS, .doc = "model or artifact"), FIELD(job_output, zone, F_ALWAYS, .doc = "Where it lies"),
    FIELD(job_output, data_class, F_ALWAYS, .doc = "Class of the data that the job read"),
    FIELD(job_output, sha256, F_ALWAYS, .doc = "SHA-256 of its content, hex"),
    FIELD(job_output, size_bytes, F_ALWAYS, .doc = "Bytes of its content"));

static const struct stmt job_output_names = { .name = "job_output_names", .params = "uui", .row = &output_name_schema,
    .card = CARD_MANY,
                                              .sql =
    "SELECT x.name, x.object_id FROM job_object x JOIN job j ON j.tenant_id = x.tenant_id AND j.job_id = x.job_id\n"
    " WHERE x.tenant_id = $1 AND x.job_id = $2 AND x.direction = 'output' AND x.fence = j.fence AND j.state = 'COMPLETED'\n"
    " ORDER BY x.name LIMIT $3" };
const struct stmt *const job_output_stmts[] = { &job_output_names, NULL };

static enum errc look_up(struct work *w, const struct output_name *n, struct job_output *ret, struct err *e)
{
    struct object o;
    TRY(object_get(w, n->object_id, &o, e));
    *ret = (struct job_output){ n->name, n->object_id, o.kind, o.zone, o.data_class, object_sha_hex(w->arena, o.sha256),
        o.size_bytes };
    return ERR_OK;
}

static enum errc names_of(struct work *w, struct uuid job_id, struct slice *ret, struct err *e)
{
    struct job job;
    *ret = (struct slice){ 0 };
    TRY(job_get(w, job_id, &job, e));
    return db_many(w->tx, &job_output_names, ARGS(A_UUID(w->tenant_id), A_UUID(job_id), A_I64(LEASE_OUTPUTS_MAX)), ret,
        LEASE_OUTPUTS_MAX,
                   e);
}

enum errc job_output_list(struct work *w, struct uuid job_id, struct slice *ret, struct err *e)
{
    struct slice names;
    TRY(names_of(w, job_id, &names, e));
    struct job_output *all = ARENA_ARRAY(w->arena, struct job_output, names.n + 1);
    for (size_t i = 0; i < names.n; i++)
        TRY(look_up(w, (const struct output_name *)names.items + i, &all[i], e));
    *ret = (struct slice){ all, names.n };
    return ERR_OK;
}

enum errc job_output_get(struct work *w, struct uuid job_id, struct str name, struct job_output *ret, struct err *e)
{
    struct slice names;
    TRY(names_of(w, job_id, &names, e));
    const struct output_name *n = names.items;
    for (size_t i = 0; i < names.n; i++)
        if (str_eq(n[i].name, name))
            return look_up(w, &n[i], ret, e);
    if (names.n == 0)
        return FAIL(e, NOT_FOUND, "The job has no output %.*s, nor any other: outputs are there when it is COMPLETED",
                    STR_ARG(name));
    CLEANUP(buf_releasep) struct buf all = BUF(4096);
    for (size_t i = 0; i < names.n; i++)
        buf_printf(&all, "%s%.*s", i ? ", " : "", STR_ARG(n[i].name));
    return FAIL(e, NOT_FOUND, "The job has no output %.*s; it has %.*s", STR_ARG(name), STR_ARG(buf_str(&all)));
}
