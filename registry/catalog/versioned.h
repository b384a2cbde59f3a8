/* SPDX-License-Identifier: Apache-2.0 */
/* versioned.h - what data sets and models have in common: a named thing in versions that never change, each of which is one
 * object.
 *
 * Invariants: a row begins with the id of the thing; a row of a version has the columns version, object_id and zone; version
 * numbers are dense from 1. What is special to a kind (how a version comes to be) stands in dataset.h and model.h.
 * Memory: w->arena. Errors: NOT_FOUND. */
#pragma once
#include "core/base/work.h"
#include "core/db/stmt.h"
#include "core/table/schema.h"
#include "tenants/home/shown_name.h"

struct versioned {
    const char *name;               /* "dataset": its table, the kind of its objects, the resource of its events */
    const char *prefix;             /* "dst" */
    const struct stmt *get, *list, *version_get, *version_list, *change;
};
extern const struct versioned versioned_dataset, versioned_model;

/* ret: a struct of the kind's row. */
MUST_CHECK enum errc versioned_get(struct work *w, const struct versioned *k, struct uuid id, void *ret, struct err *e);
/* What the thing is called for people, and what it is; description STR_NULL: as it is. version -1: any. ret: a struct of the
 * kind's row. PRECONDITION: it has another version by now. */
MUST_CHECK enum errc versioned_change(struct work *w, const struct versioned *k, struct uuid id, const struct shown_name *names,
                                      struct str description, int64_t version, void *ret, struct err *e);
/* The statement of a kind for it. */
#define VERSIONED_CHANGE_PARAMS "uusssi"
#define VERSIONED_CHANGE(table) \
    "UPDATE \"" table "\" SET display_name = coalesce($3, display_name), display_name_ar = coalesce($4, display_name_ar),\n" \
    "       description = coalesce($5, description), version = version + 1\n" \
    " WHERE tenant_id = $1 AND " table "_id = $2 AND ($6 = -1 OR version = $6) RETURNING " ROW_COLUMNS
/* What is zero does not filter. */
struct versioned_filter {
    struct uuid project_id, created_by;
    struct str data_class, zone;    /* data_class: of data sets only; zone: with a version that lies there */
    struct str q, sort;             /* as in list_find.h */
};
MUST_CHECK enum errc versioned_list(struct work *w, const struct versioned *k, const struct versioned_filter *f,
                                    struct uuid position, int64_t limit, struct slice *ret, struct err *e);
/* version 0: the latest. */
MUST_CHECK enum errc versioned_version_get(struct work *w, const struct versioned *k, struct uuid id, int64_t version, void *ret,
                                           struct err *e);
/* Newest first, below `before` (0: from the newest). */
MUST_CHECK enum errc versioned_version_list(struct work *w, const struct versioned *k, struct uuid id, int64_t before,
                                            int64_t limit, struct slice *ret, struct err *e);
/* Number and object of a row that versioned_version_get or _list has filled. */
int64_t versioned_number(const struct versioned *k, const void *version);
struct uuid versioned_object(const struct versioned *k, const void *version);
