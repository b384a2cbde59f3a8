/* SPDX-License-Identifier: Apache-2.0 */
/* record.h - the engines that an operator named: which pool of which zone each serves, where it is and what it may lend.
 *
 * No secret is here: the credential is the name of a file in scheduler.engines_dir of the machine that schedules, so a row
 * can name nothing outside that folder. Platform data: the transaction must be in the platform's scope.
 * Memory: w->arena. Errors: NOT_FOUND, EXISTS (name, or zone and pool), INVALID, CONFLICT, LIMIT. */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"

struct stmt;

enum { ENGINES_MAX = 16 };

struct engine {
    struct uuid engine_id;
    struct str name, kind, zone, pool, address, account, credential, authority, place, worker, worker_config, folder;
    struct str image, node_selector, tolerations;       /* kubernetes (kube_where.h); else empty */
    int64_t machines, longest_seconds;
    bool enabled;
    struct str health, health_says;
    struct timestamp heard_at;
    int64_t runs;                       /* open ones */
    struct uuid created_by;
    struct timestamp created_at;
};
extern const struct schema engine_schema, engine_create_schema;

struct engine_create {
    struct str name, kind, zone, pool, address, account, credential, authority, place, worker, worker_config, folder;
    struct str image, node_selector, tolerations;       /* kubernetes (kube_where.h); else empty */
    int64_t machines, longest_seconds;
};

/* Machines that were asked of an engine for one job, as staff see them: ids, no names and no data. */
struct engine_run {
    struct uuid run_id, tenant_id, job_id;
    struct str state, machine_names, external_id, external_state, says, outcome;
    int64_t tries;
    struct timestamp wanted_at, sent_at, ended_at;
};
extern const struct schema engine_run_schema;

enum errc engine_add(struct work *w, const struct engine_create *in, struct engine *ret, struct err *e) MUST_CHECK;
enum errc engine_get(struct work *w, struct uuid id, struct engine *ret, struct err *e) MUST_CHECK;
enum errc engine_list(struct work *w, struct uuid after, int64_t limit, struct slice *ret, struct err *e) MUST_CHECK;
/* Off: it gets no new runs, and those that it has not begun are cancelled. */
enum errc engine_enable(struct work *w, struct uuid id, bool on, struct engine *ret, struct err *e) MUST_CHECK;
/* CONFLICT while runs of it are open, or jobs say that places are kept (ADR 0148). Its ended ones go with it. ret: what it
 * was. */
enum errc engine_remove(struct work *w, struct uuid id, struct engine *ret, struct err *e) MUST_CHECK;
/* Newest first, open ones and those of the last seven days. */
enum errc engine_runs(struct work *w, struct uuid id, struct uuid before, int64_t limit, struct slice *ret,
                      struct err *e) MUST_CHECK;

/* Behind "SELECT " ROW_COLUMNS of engine_schema, before a condition. */
#define FROM_ENGINES                                                                                                    \
    " FROM (SELECT engine.*, (SELECT count(*) FROM engine_run r WHERE r.engine_id = engine.engine_id\n"                 \
    "                          AND r.state <> 'ENDED') AS runs FROM engine) g WHERE "

extern const struct stmt *const engine_stmts[];
