/* SPDX-License-Identifier: Apache-2.0 */
/* dataset.h - a named table of numbers, or text as tokens, in versions that never change.
 *
 * Invariants: version numbers are dense from 1; a version was accepted by the reader of its format
 * (core/data/data_format.h) with the data set's label and classes, so what is here trains; the column count is that of the
 * features. Each version is one object.
 * Memory: w->arena. Errors: NOT_FOUND, EXISTS (name), BAD_DATA (row and column), and those of object.h. */
#pragma once
#include "core/base/work.h"
#include "core/data/data_format.h"
#include "core/table/schema.h"
#include "tenants/home/shown_name.h"

struct dataset {
    struct uuid dataset_id;
    struct str name;
    SHOWN_NAME;
    struct str description, data_class, label_column;
    int64_t classes, latest_version, version;
    int target;                             /* enum data_target */
    struct slice ignored_columns;           /* struct str */
    struct slice category_columns;          /* struct str: columns of words */
    bool missing_values;                    /* cells of features may be empty */
    struct uuid project_id;                 /* nil: of the tenant as a whole */
    struct uuid created_by;
    struct timestamp created_at;
};
extern const struct schema dataset_schema;

struct dataset_new {
    struct str name, description;
    int data_class;                         /* enum data_class */
    struct str label_column;
    int64_t classes;                        /* 0: what a version has */
    struct uuid project_id;
    int target;                             /* enum data_target */
    struct slice ignored_columns, category_columns;     /* struct str */
    bool missing_values;
    SHOWN_NAME;                             /* absent: none */
};
extern const struct schema dataset_new_schema;

struct dataset_version {
    struct uuid dataset_id;
    int64_t version;
    struct uuid object_id;
    struct str sha256;                      /* hex, of the plaintext */
    int64_t row_count, column_count, size_bytes;
    int format;                             /* enum data_format */
    int64_t classes;                        /* found in it: classes, flags, words of a vocabulary; 0: not said */
    struct str zone;
    struct uuid created_by;
    struct timestamp created_at;
};
extern const struct schema dataset_version_schema;

enum errc dataset_create(struct work *w, const struct dataset_new *in, struct dataset *ret, struct err *e) MUST_CHECK;
enum errc dataset_get(struct work *w, struct uuid dataset_id, struct dataset *ret, struct err *e) MUST_CHECK;
/* What its versions are read with. */
struct data_schema dataset_columns(const struct dataset *d);
/* A content as a version, in two steps: read by the strict reader and sealed without a transaction (w->tx is NULL), with short
 * ones of its own; then made a version inside one. zone STR_NULL: the home zone. format: enum data_format. In w->arena. What does
 * not become a version is dropped, or is found by orphan_sweep. */
struct dataset_content;
enum errc dataset_content_seal(struct work *w, struct uuid dataset_id, struct str zone, int format, struct str content,
                               const struct dataset_content **ret, struct err *e) MUST_CHECK;
enum errc dataset_version_add(struct work *w, const struct dataset_content *c, struct dataset_version *ret,
                              struct err *e) MUST_CHECK;
void dataset_content_drop(struct work *w, const struct dataset_content *c);
/* A data set whose one version is an object of kind "dataset" that a job has made and checked. by: who asked for the job; in a
 * transaction of the tenant's without a caller. EXISTS: the name. */
enum errc dataset_of_object(struct work *w, const struct dataset_new *in, struct uuid by, struct uuid object_id, int format,
                            struct dataset_version *ret, struct err *e) MUST_CHECK;
/* version 0: the latest. Lists, and what models and data sets share: versioned.h. */
enum errc dataset_version_get(struct work *w, struct uuid dataset_id, int64_t version, struct dataset_version *ret, struct err *e) MUST_CHECK;
