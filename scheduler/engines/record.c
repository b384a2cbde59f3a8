/* SPDX-License-Identifier: Apache-2.0 */
/* record.c - rows of engines for people; the rows of runs are written by run.c alone. */
#include "scheduler/engines/record.h"
#include "core/db/tx.h"
#include "core/wire/enrol_wire.h"
#include "scheduler/engines/engine.h"
#include "scheduler/engines/kube_where.h"
#include "tenants/access/principal.h"
#include "tenants/home/zone.h"

static bool check_file(struct str s, const char **why)
{
    const bool ok = !s.len || check_node_name(s, why);
    if (!ok)
        *why = "be the name of a file in scheduler.engines_dir, without a folder";
    return ok;
}

static bool check_path(struct str s, const char **why)
{
    *why = "be an absolute path without control characters";
    bool ok = s.len && s.ptr[0] == '/';
    for (size_t i = 0; ok && i < s.len; i++)
        ok = (unsigned char)s.ptr[i] >= ' ' && s.ptr[i] != 127;
    return ok;
}

static bool check_word(struct str s, const char **why)
{
    *why = "be letters, digits, '.', '_' or '-'";
    bool ok = true;
    for (size_t i = 0; ok && i < s.len; i++) {
        const char c = s.ptr[i];
        ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
    }
    return ok;
}

SCHEMA_EXTERN(engine_create, "An engine to add",
    FIELD(engine_create, name, F_REQ, .max = 48, .check = check_slug, .doc = "Its name; its machines are <name>-1, <name>-2 …"),
    FIELD(engine_create, kind, 0, .max = 16, .dflt = "slurm", .doc = "What it is: " ENGINE_KINDS),
    FIELD(engine_create, zone, F_REQ, .min = 2, .max = 31, .check = check_slug, .doc = "Residency zone its machines stand in"),
    FIELD(engine_create, pool, 0, .max = 63, .check = check_slug, .doc = "Pool that jobs name to run there; absent: its name"),
    FIELD(engine_create, address, F_REQ, .max = 256, .check = engine_address_check, .example = "https://slurm.example:6820",
        .doc = "Where it is asked: https, http on the scheduler's own machine, or unix:/PATH"),
    FIELD(engine_create, account, 0, .max = 64, .check = check_word,
        .doc = "Account there that the jobs are of; of kubernetes its namespace"),
    FIELD(engine_create, credential, 0, .max = 63, .check = check_file,
        .doc = "File with its token, or a client certificate and its key, in scheduler.engines_dir, which only the scheduler may "
               "read; absent: none is needed"),
    FIELD(engine_create, authority, 0, .max = 63, .check = check_file,
        .doc = "File with authorities (PEM) there that its certificate is known by; absent: the system's"),
    FIELD(engine_create, place, 0, .max = 64, .check = check_word, 
        .doc = "Partition there; absent: its default. Of kubernetes the LocalQueue of Kueue; absent: pods begin as there is "
               "room"),
    FIELD(engine_create, image, 0, .max = 512, .check = kube_image_check,
        .example = "registry.example/falaj-worker@sha256:6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b",
        .doc = "Image with the worker, by its digest (kubernetes)"),
    FIELD(engine_create, node_selector, 0, .max = 512, .check = kube_selector_check, .example = "gpu=h100,team=falaj",
        .doc = "Labels of its nodes, KEY=VALUE between commas (kubernetes)"),
    FIELD(engine_create, tolerations, 0, .max = 512, .check = kube_tolerations_check, .example = "gpu=yes:NoSchedule",
        .doc = "Taints that its pods bear, KEY[=VALUE]:EFFECT between commas (kubernetes)"),
    FIELD(engine_create, worker, 0, .max = 256, .check = check_path, .dflt = "/usr/bin/falaj-worker",
        .doc = "The worker's program on its machines"),
    FIELD(engine_create, worker_config, 0, .max = 256, .check = check_path, .dflt = "/etc/falaj/worker.conf",
        .doc = "The worker's settings there: the URLs of the API and their authorities"),
    FIELD(engine_create, folder, 0, .max = 256, .check = check_path, .dflt = "/tmp",
        .doc = "Folder there in which each worker makes one of its own and removes it"),
    FIELD(engine_create, machines, 0, .min = 1, .max = 1000, .dflt = "8", .doc = "Most machines that it lends at once"),
    FIELD(engine_create, longest_seconds, 0, .min = 60, .max = 31622400, .dflt = "86400",
        .doc = "Jobs that may run for longer (max_runtime_seconds) are not sent there"));

SCHEMA_EXTERN(engine, "An outside scheduler that lends machines for one lease",
    FIELD_ID(engine, engine_id, "eng", F_ALWAYS, .doc = "The engine"), FIELD(engine, name, F_ALWAYS, .doc = "Its name"),
    FIELD(engine, kind, F_ALWAYS, .doc = "What it is: " ENGINE_KINDS),
    FIELD(engine, zone, F_ALWAYS, .doc = "Zone of its machines"),
    FIELD(engine, pool, F_ALWAYS, .doc = "Pool that jobs name"), FIELD(engine, address, F_ALWAYS, .doc = "Where it is asked"),
    FIELD(engine, account, F_ALWAYS, .doc = "Account or namespace there"),
    FIELD(engine, credential, F_ALWAYS, .doc = "File with its token in scheduler.engines_dir"),
    FIELD(engine, authority, F_ALWAYS, .doc = "File with its authorities there"),
    FIELD(engine, place, F_ALWAYS, .doc = "Partition or queue there"),
    FIELD(engine, image, F_ALWAYS, .doc = "Image with the worker (kubernetes)"),
    FIELD(engine, node_selector, F_ALWAYS, .doc = "Labels of its nodes (kubernetes)"),
    FIELD(engine, tolerations, F_ALWAYS, .doc = "Taints that its pods bear (kubernetes)"),
    FIELD(engine, worker, F_ALWAYS, .doc = "The worker's program there"),
    FIELD(engine, worker_config, F_ALWAYS, .doc = "The worker's settings there"),
    FIELD(engine, folder, F_ALWAYS, .doc = "Folder for its workers there"),
    FIELD(engine, machines, F_ALWAYS, .doc = "Most machines at once"),
    FIELD(engine, longest_seconds, F_ALWAYS, .doc = "Most seconds that a job there may run for"),
    FIELD(engine, enabled, F_ALWAYS, .doc = "It gets new runs"),
    FIELD(engine, health, F_ALWAYS, .doc = "UP, DOWN or, before it was asked, UNKNOWN"),
    FIELD(engine, health_says, F_ALWAYS, .doc = "What is wrong, as it was met"),
    FIELD(engine, heard_at, 0, .doc = "When it last answered well"), FIELD(engine, runs, F_ALWAYS, .doc = "Runs that are open"),
    FIELD_ID(engine, created_by, "usr", F_ALWAYS, .doc = "Who added it"),
    FIELD(engine, created_at, F_ALWAYS, .doc = "When it was added"));

SCHEMA_EXTERN(engine_run, "Machines that were asked of an engine for one job",
    FIELD_ID(engine_run, run_id, "egr", F_ALWAYS, .doc = "The run"),
    FIELD_ID(engine_run, tenant_id, "tnt", F_ALWAYS, .doc = "Whose job, by id alone"),
    FIELD_ID(engine_run, job_id, "job", F_ALWAYS, .doc = "For which job they were asked"),
    FIELD(engine_run, state, F_ALWAYS, .doc = "WANTED, SENT or ENDED"),
    FIELD(engine_run, machine_names, F_ALWAYS, .doc = "Names of the machines, between commas"),
    FIELD(engine_run, tries, F_ALWAYS, .doc = "How often it was submitted"),
    FIELD(engine_run, external_id, F_ALWAYS, .doc = "The engine's id of it, last seen"),
    FIELD(engine_run, external_state, F_ALWAYS, .doc = "The engine's word for its state"),
    FIELD(engine_run, says, F_ALWAYS, .doc = "What it waits for, or why it ended"),
    FIELD(engine_run, outcome, F_ALWAYS,
        .doc = "How it ended: DONE, FAILED, CANCELLED, TIMEOUT, PREEMPTED, LOST, REQUEUED, UNWANTED, ABSENT or DIFFERS"),
    FIELD(engine_run, wanted_at, F_ALWAYS, .doc = "Since when"),
    FIELD(engine_run, sent_at, 0, .doc = "When it was last submitted"),
    FIELD(engine_run, ended_at, 0, .doc = "When it ended"));

static const struct stmt add = { .name = "engine_add", .params = "ussssssssssssiiusss", .card = CARD_NONE, .sql =
    "INSERT INTO engine (engine_id, name, kind, zone, pool, address, account, credential, authority, place, worker,\n"
    "                    worker_config, folder, machines, longest_seconds, created_by, image, node_selector,\n"
    "                    tolerations)\n"
    "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)" };
static const struct stmt get = { .name = "engine_get", .params = "u", .row = &engine_schema, .card = CARD_ONE, .sql =
    "SELECT " ROW_COLUMNS FROM_ENGINES "engine_id = $1" };
static const struct stmt list = { .name = "engine_list", .params = "ui", .row = &engine_schema, .card = CARD_MANY, .sql =
    "SELECT " ROW_COLUMNS FROM_ENGINES "$1::uuid IS NULL OR engine_id < $1 ORDER BY engine_id DESC LIMIT $2" };
static const struct stmt enable = { .name = "engine_enable", .params = "ub", .card = CARD_NONE, .sql =
    "UPDATE engine SET enabled = $2 WHERE engine_id = $1" };
static const struct stmt runs_end = { .name = "engine_runs_remove", .params = "u", .card = CARD_NONE, .sql =
    "DELETE FROM engine_run r USING engine g\n"
    " WHERE g.engine_id = $1 AND r.engine_id = $1 AND r.state = 'ENDED' AND (NOT r.is_left OR g.health <> 'UP')" };
static const struct stmt remove_ = { .name = "engine_remove", .params = "u", .card = CARD_NONE, .sql =
    "DELETE FROM engine WHERE engine_id = $1 AND cardinality(told_jobs) = 0\n"
    "   AND NOT EXISTS (SELECT FROM engine_run r WHERE r.engine_id = $1)" };
static const struct stmt runs = { .name = "engine_runs", .params = "uui", .row = &engine_run_schema, .card = CARD_MANY, .sql =
    "SELECT r.run_id, r.for_tenant AS tenant_id, r.for_job AS job_id, r.state, r.tries, r.external_id, r.external_state,\n"
    "       r.says, r.outcome, r.wanted_at, r.sent_at, r.ended_at,\n"
    "       (SELECT string_agg(g.name || '-' || s, ', ') FROM unnest(r.seats) s) AS machine_names\n"
    "  FROM engine_run r JOIN engine g ON g.engine_id = r.engine_id\n"
    " WHERE r.engine_id = $1 AND ($2::uuid IS NULL OR r.run_id < $2) ORDER BY r.run_id DESC LIMIT $3" };

const struct stmt *const engine_stmts[] = { &add, &get, &list, &enable, &runs_end, &remove_, &runs, NULL };

/* What one kind needs and another has no use for. */
static enum errc check_kind(const struct engine_create *in, struct err *e)
{
    const struct engine_door *door = engine_door_of(in->kind);
    if (!door)
        return FAIL_AT(e, INVALID, "/kind", "must be " ENGINE_KINDS);
    if (door->has_images && !in->image.len)
        return FAIL_AT(e, INVALID, "/image", "is needed for %s: the image with the worker, by its digest", door->kind);
    if (door->has_images && !kube_namespace_check(in->account))
        return FAIL_AT(e, INVALID, "/account", "must be its namespace for %s: small letters, digits and '-'", door->kind);
    if (!door->has_images && in->image.len)
        return FAIL_AT(e, INVALID, "/image", "is not for %s, which starts no containers", door->kind);
    if (!door->has_images && in->node_selector.len)
        return FAIL_AT(e, INVALID, "/node_selector", "is not for %s", door->kind);
    if (!door->has_images && in->tolerations.len)
        return FAIL_AT(e, INVALID, "/tolerations", "is not for %s", door->kind);
    return ERR_OK;
}

enum errc engine_add(struct work *w, const struct engine_create *in, struct engine *ret, struct err *e)
{
    const struct uuid id = uuid_v7(w->now_us);
    const struct str none = STR(""), pool = in->pool.len ? in->pool : in->name;
    struct slice rows = { 0 };
    struct zone zone;
    TRY(check_kind(in, e));
    if (str_eq_c(pool, "default"))
        return FAIL_AT(e, INVALID, "/pool", "must not be default: that pool is of machines that stay");
    if (!str_starts(in->address, "unix:") && !in->credential.len)
        return FAIL_AT(e, INVALID, "/credential", "is needed where the engine is not asked by a Unix socket");
    if (in->credential.len && !in->account.len)
        return FAIL_AT(e, INVALID, "/account", "is needed with a credential: whose it is");
    if (zone_get(w, in->zone, &zone, e) != ERR_OK)
        return e->code == ERR_NOT_FOUND ? FAIL_AT(e, NOT_FOUND, "/zone", "there is no zone %.*s", STR_ARG(in->zone)) : e->code;
    TRY(engine_list(w, UUID_NIL, ENGINES_MAX, &rows, e));
    if (rows.n >= ENGINES_MAX)
        return FAIL(e, LIMIT, "There are %d engines; remove one first", ENGINES_MAX);
#define OR_NONE(s) A_STR((s).ptr ? (s) : none)
    TRY(db_exec(w->tx, &add, ARGS(A_UUID(id), A_STR(in->name), A_STR(in->kind), A_STR(in->zone), A_STR(pool), A_STR(in->address),
                OR_NONE(in->account), OR_NONE(in->credential), OR_NONE(in->authority), OR_NONE(in->place), A_STR(in->worker),
                A_STR(in->worker_config), A_STR(in->folder), A_I64(in->machines), A_I64(in->longest_seconds),
                A_UUID(w->principal->user_id), OR_NONE(in->image), OR_NONE(in->node_selector), OR_NONE(in->tolerations)),
                NULL, e));
    return engine_get(w, id, ret, e);
}

enum errc engine_get(struct work *w, struct uuid id, struct engine *ret, struct err *e)
{
    return db_one(w->tx, &get, ARGS(A_UUID(id)), ret, e);
}

enum errc engine_list(struct work *w, struct uuid after, int64_t limit, struct slice *ret, struct err *e)
{
    return db_many(w->tx, &list, ARGS(A_UUID_OR_NULL(after), A_I64(limit)), ret, (size_t)limit, e);
}

enum errc engine_enable(struct work *w, struct uuid id, bool on, struct engine *ret, struct err *e)
{
    TRY(db_exec(w->tx, &enable, ARGS(A_UUID(id), A_BOOL(on)), NULL, e));
    return engine_get(w, id, ret, e);
}

enum errc engine_remove(struct work *w, struct uuid id, struct engine *ret, struct err *e)
{
    int64_t n;
    TRY(engine_get(w, id, ret, e));
    TRY(db_exec(w->tx, &runs_end, ARGS(A_UUID(id)), NULL, e));
    TRY(db_exec(w->tx, &remove_, ARGS(A_UUID(id)), &n, e));
    if (n)
        return ERR_OK;
    if (!ret->runs)
        return FAIL(e, CONFLICT, "Jobs say that they wait for its machines, or what ended runs left there is being removed; "
                                 "disable it and try again in a moment");
    return FAIL(e, CONFLICT, "%lld of its runs are open; disable it and wait until they have ended", (long long)ret->runs);
}

enum errc engine_runs(struct work *w, struct uuid id, struct uuid before, int64_t limit, struct slice *ret, struct err *e)
{
    struct engine g;
    TRY(engine_get(w, id, &g, e));
    return db_many(w->tx, &runs, ARGS(A_UUID(id), A_UUID_OR_NULL(before), A_I64(limit)), ret, (size_t)limit, e);
}
