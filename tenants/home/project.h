/* SPDX-License-Identifier: Apache-2.0 */
/* project.h - a part of a tenant: data sets, models, deployments and jobs may belong to one.
 *
 *     ACTIVE -> CLOSED: what is in it stays readable, nothing new begins in it. For good.
 *
 * Who holds roles in projects only sees and touches only their rows: the transaction of each call names them (work.projects,
 * core/db/tx.h) and the policies in_projects of migrations/0005 hide the rest, from statements and from foreign keys in bodies alike. A
 * row of no project belongs to the tenant as a whole and is hidden from them too. Names are unique in the tenant.
 * Errors: NOT_FOUND, EXISTS (name), PRECONDITION (version), CONFLICT (closed). */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"
#include "tenants/home/shown_name.h"

struct db_tx;
struct stmt;

struct project {
    struct uuid project_id;
    struct str name;
    SHOWN_NAME;
    struct str state;
    int64_t version;
    struct uuid created_by;
    struct timestamp created_at;
};
extern const struct schema project_schema;

struct project_filter {
    struct str name, state;         /* name: begins with; STR_NULL: any */
    struct str q, sort;             /* as in list_find.h; q: also of the names for people */
};

/* names->en STR_NULL: as name. */
enum errc project_create(struct work *w, struct str name, const struct shown_name *names, struct project *ret,
                         struct err *e) MUST_CHECK;
enum errc project_get(struct work *w, struct uuid project_id, struct project *ret, struct err *e) MUST_CHECK;
enum errc project_list(struct work *w, const struct project_filter *f, struct uuid position, int64_t limit, struct slice *ret,
                       struct err *e) MUST_CHECK;
/* name STR_NULL: as it is. version -1: any. */
enum errc project_update(struct work *w, struct uuid project_id, struct str name, const struct shown_name *names, int64_t version,
                         struct project *ret, struct err *e) MUST_CHECK;
/* Twice is the same as once. */
enum errc project_close(struct work *w, struct uuid project_id, int64_t version, struct project *ret, struct err *e) MUST_CHECK;

/* The two halves of project_for_new, for who has read otherwise whether the project is there and open: which one it is, nil where
 * there is none to look for, and whether something new may begin in it. */
struct uuid project_choice(const struct work *w, struct uuid given);
enum errc project_take(const struct work *w, struct uuid given, bool is_there, bool is_open, struct err *e) MUST_CHECK;
/* The project of something new: the given one if it is there, seen and open; for who may act in one project only, that one; for who may
 * act in several, one must be given. *ret nil: the tenant as a whole. Errors point at /project_id. */
enum errc project_for_new(struct work *w, struct db_tx *tx, struct uuid given, struct uuid *ret, struct err *e) MUST_CHECK;
/* May a caller with these projects (work.projects) see a row of this project? For rows that row-level security did not filter. */
bool project_is_in(struct slice projects, struct uuid project_id);

extern const struct stmt *const project_stmts[];
