/* SPDX-License-Identifier: Apache-2.0 */
/* dataset.c - data sets and their versions. A version's number is taken last, by the UPDATE that locks the data set's row: what is
 * checked, sealed and stored before it holds no lock that another upload waits for. */
#include "registry/catalog/dataset.h"
#include "core/base/assert.h"
#include "core/db/run_tx.h"
#include "core/db/tx.h"
#include "registry/catalog/versioned.h"
#include "registry/vault/object.h"
#include "registry/registry_int.h"
#include "core/db/list_find.h"
#include "tenants/access/principal.h"
#include "tenants/home/project.h"
#include "tenants/home/residency.h"

SCHEMA_EXTERN(dataset, "A data set",
    FIELD_ID(dataset, dataset_id, "dst", F_ALWAYS, .doc = "The data set"),
    FIELD(dataset, name, F_ALWAYS, .doc = "Name, unique in the tenant"), SHOWN_NAME_FIELDS(dataset),
    FIELD(dataset, description, F_ALWAYS, .doc = "What it is"), FIELD(dataset, data_class, F_ALWAYS, .doc = "Class of the data"),
    FIELD(dataset, label_column, F_ALWAYS, .doc = "Column that holds the label"),
    FIELD(dataset, classes, 0, .doc = "Labels are 0 to classes-1; 0: as a version has them"),
    FIELD_ENUM(dataset, target, 0, data_target_names, .doc = "What the label is: a class, a number, flags of 0 and 1, or none"),
    FIELD_STRS(dataset, ignored_columns, 0, .doc = "Columns that are neither label nor feature"),
    FIELD_STRS(dataset, category_columns, 0, .doc = "Columns that hold words"),
    FIELD(dataset, missing_values, 0, .doc = "Cells of features may be empty"),
    FIELD(dataset, latest_version, 0, .doc = "Newest version; 0: none yet"), FIELD(dataset, version, 0, .doc = "Grows with every change"),
    FIELD_ID(dataset, project_id, "prj", 0, .doc = "Its project; absent: the tenant as a whole"),
    FIELD_ID(dataset, created_by, "usr", F_ALWAYS, .doc = "Who made it"), FIELD(dataset, created_at, F_ALWAYS, .doc = "When"));
SCHEMA_EXTERN(dataset_new, "A data set to create",
    FIELD(dataset_new, name, F_REQ, .min = 1, .max = 63, .check = check_slug, .doc = "Name, unique in the tenant"),
    SHOWN_NAME_IN(dataset_new),
    FIELD(dataset_new, description, 0, .max = 1024, .dflt = "", .doc = "What it is"),
    FIELD_ENUM(dataset_new, data_class, 0, data_class_names, .dflt = "internal", .doc = "Class of the data"),
    FIELD(dataset_new, label_column, 0, .min = 1, .max = TABLE_NAME_MAX, .check = check_name, .dflt = "label",
          .doc = "Column that holds the label; of flags how the names of their columns begin, and *; of npy its number from 0"),
    FIELD(dataset_new, classes, 0, .min = 0, .max = TABLE_CLASSES_MAX, .dflt = "0",
          .doc = "Labels are 0 to classes-1; 0: as a version has them"),
    FIELD_ENUM(dataset_new, target, 0, data_target_names, .dflt = "class",
               .doc = "What the label is: a class, a number, flags (columns of 0 and 1), or none: rows to be answered"),
    FIELD_STRS(dataset_new, ignored_columns, 0, .max = TABLE_IGNORED_MAX, .doc = "Columns that are neither label nor feature"),
    FIELD_STRS(dataset_new, category_columns, 0, .max = TABLE_CATEGORIES_MAX,
               .doc = "Columns of a CSV that hold words; the families mlp and gbdt learn from them"),
    FIELD(dataset_new, missing_values, 0, .dflt = "false",
          .doc = "Cells of features may be empty; mlp and gbdt learn from such rows"),
    FIELD_ID(dataset_new, project_id, "prj", 0, .doc = "Its project; absent: the tenant as a whole, or your only project"));
SCHEMA_EXTERN(dataset_version, "A version of a data set",
    FIELD_ID(dataset_version, dataset_id, "dst", F_ALWAYS, .doc = "The data set"),
    FIELD(dataset_version, version, 0, .doc = "Its number, from 1"),
    FIELD_ID(dataset_version, object_id, "obj", F_ALWAYS, .doc = "The object that holds it"),
    FIELD(dataset_version, sha256, 0, .doc = "Digest of the content, hex"),
    FIELD(dataset_version, row_count, 0, .doc = "Rows, header not counted; tokens; of a model file 0"),
    FIELD(dataset_version, column_count, 0, .doc = "Feature columns; of tokens and model files 0"),
    FIELD_ENUM(dataset_version, format, 0, data_format_names, .doc = "Format of its content"),
    FIELD(dataset_version, classes, 0, .doc = "Classes, flags, or words of the vocabulary; 0: the data set says it, or a number"),
    FIELD(dataset_version, size_bytes, 0, .doc = "Bytes"), FIELD(dataset_version, zone, 0, .doc = "Where it lies"),
    FIELD_ID(dataset_version, created_by, "usr", F_ALWAYS, .doc = "Who uploaded it"),
    FIELD(dataset_version, created_at, F_ALWAYS, .doc = "When"));

#define VERSION_COLUMNS "v.dataset_id, v.version, v.object_id, encode(o.sha256, 'hex') AS sha256, v.row_count, v.column_count, v.format, v.classes, o.size_bytes, o.zone,\n" \
    "       v.created_by, v.created_at\n"

const struct stmt dataset_create_stmt = { .name = "dataset_create", .params = "uusssisuusSSbss", .row = &dataset_schema, .card = CARD_ONE, .sql =
    "INSERT INTO dataset (tenant_id, dataset_id, name, description, label_column, classes, data_class, created_by,\n"
    "                     project_id, target, ignored_columns, category_columns, missing_values,\n"
    "                     display_name, display_name_ar)\n"
    "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13,\n"
    "        coalesce($14, ''), coalesce($15, '')) RETURNING " ROW_COLUMNS };
const struct stmt dataset_change_stmt = { .name = "dataset_change", .params = VERSIONED_CHANGE_PARAMS, .row = &dataset_schema,
                                         .card = CARD_MAYBE, .sql = VERSIONED_CHANGE("dataset") };
const struct stmt dataset_get_stmt = { .name = "dataset_get", .params = "uu", .row = &dataset_schema, .card = CARD_ONE, .sql =
    "SELECT " ROW_COLUMNS " FROM dataset WHERE tenant_id = $1 AND dataset_id = $2" };
const struct stmt dataset_list_stmt = { .name = "dataset_list", .params = LIST_FIND_PARAMS, .row = &dataset_schema, .card = CARD_MANY, .sql =
    "SELECT " ROW_COLUMNS " FROM " LIST_FIND("dataset")
    "  JOIN dataset ON tenant_id = $1 AND dataset_id = found_id ORDER BY found_place" };
const struct stmt dataset_next_stmt = { .name = "dataset_next", .params = "uu", .row = &dataset_schema, .card = CARD_ONE, .sql =
    "UPDATE dataset SET latest_version = latest_version + 1, version = version + 1\n"
    " WHERE tenant_id = $1 AND dataset_id = $2 RETURNING " ROW_COLUMNS };
const struct stmt dataset_version_insert_stmt = { .name = "dataset_version_insert", .params = "uuiuiiusi", .card = CARD_NONE, .sql =
    "INSERT INTO dataset_version (tenant_id, dataset_id, version, object_id, row_count, column_count, created_by, format, classes)\n"
    "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)" };
const struct stmt dataset_version_get_stmt = { .name = "dataset_version_get", .params = "uui", .row = &dataset_version_schema, .card = CARD_ONE, .sql =
    "SELECT " VERSION_COLUMNS
    "  FROM dataset_version v JOIN object o ON o.tenant_id = v.tenant_id AND o.object_id = v.object_id\n"
    " WHERE v.tenant_id = $1 AND v.dataset_id = $2 AND ($3 = 0 OR v.version = $3) ORDER BY v.version DESC LIMIT 1" };
const struct stmt dataset_version_list_stmt = { .name = "dataset_version_list", .params = "uuii", .row = &dataset_version_schema, .card = CARD_MANY, .sql =
    "SELECT " VERSION_COLUMNS
    "  FROM dataset_version v JOIN object o ON o.tenant_id = v.tenant_id AND o.object_id = v.object_id\n"
    " WHERE v.tenant_id = $1 AND v.dataset_id = $2 AND ($3 = 0 OR v.version < $3) ORDER BY v.version DESC LIMIT $4" };

struct data_schema dataset_columns(const struct dataset *d)
{
    return (struct data_schema){ .label = d->label_column, .classes = d->classes, .target = d->target,
                                 .ignored = d->ignored_columns, .categories = d->category_columns,
                                 .has_missing = d->missing_values };
}

/* As the reader of a content would, but before there is one. */
static enum errc check_columns(const struct dataset_new *in, struct err *e)
{
    if (in->classes == 1)
        return FAIL_AT(e, INVALID, "/classes", "must be 0 or at least 2: with one class there is nothing to learn");
    if (in->classes && in->target != TARGET_CLASS)
        return FAIL_AT(e, INVALID, "/classes", "must be 0 where the target is %s", data_target_names[in->target]);
    if (in->target == TARGET_FLAGS && (in->label_column.len < 2 || in->label_column.ptr[in->label_column.len - 1] != '*'))
        return FAIL_AT(e, INVALID, "/label_column", "must be how the names of the flags' columns begin, and *: topic_*");
    return ERR_OK;
}

static enum errc create(struct work *w, const struct dataset_new *in, struct uuid project, struct uuid by, struct dataset *ret,
                        struct err *e)
{
    enum errc rc = db_one(w->tx, &dataset_create_stmt, ARGS(
        A_UUID(w->tenant_id), A_UUID(uuid_v7(w->now_us)), A_STR(in->name), A_STR(in->description), A_STR(in->label_column),
        A_I64(in->classes), A_TEXT(data_class_names[in->data_class]), A_UUID(by), A_UUID_OR_NULL(project),
        A_TEXT(data_target_names[in->target]), A_STRS(in->ignored_columns.items, in->ignored_columns.n),
        A_STRS(in->category_columns.items, in->category_columns.n), A_BOOL(in->missing_values), A_STR(in->display_name),
        A_STR(in->display_name_ar)), ret, e);
    return rc == ERR_EXISTS ? FAIL_AT(e, EXISTS, "/name", "Data set %.*s exists", STR_ARG(in->name)) : rc;
}

enum errc dataset_create(struct work *w, const struct dataset_new *in, struct dataset *ret, struct err *e)
{
    struct uuid project;
    TRY(check_columns(in, e));
    TRY(project_for_new(w, w->tx, in->project_id, &project, e));
    return create(w, in, project, w->principal->user_id, ret, e);
}

enum errc dataset_get(struct work *w, struct uuid dataset_id, struct dataset *ret, struct err *e)
{
    return versioned_get(w, &versioned_dataset, dataset_id, ret, e);
}

static enum errc version_of(struct work *w, struct uuid dataset_id, struct uuid object_id, int format, struct uuid by,
                            const struct data_found *found, struct dataset_version *ret, struct err *e)
{
    struct dataset d;
    TRY(db_one(w->tx, &dataset_next_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(dataset_id)), &d, e));
    TRY(db_exec(w->tx, &dataset_version_insert_stmt, ARGS(
        A_UUID(w->tenant_id), A_UUID(dataset_id), A_I64(d.latest_version), A_UUID(object_id), A_I64((int64_t)found->rows),
        A_I64((int64_t)found->columns), A_UUID(by), A_TEXT(data_format_names[format]), A_I64((int64_t)found->classes)), NULL, e));
    return dataset_version_get(w, dataset_id, d.latest_version, ret, e);
}

enum errc dataset_version_of(struct work *w, struct uuid dataset_id, struct uuid object_id, int format,
                             const struct data_found *found, struct dataset_version *ret, struct err *e)
{
    return version_of(w, dataset_id, object_id, format, w->principal->user_id, found, ret, e);
}

enum errc dataset_of_object(struct work *w, const struct dataset_new *in, struct uuid by, struct uuid object_id, int format,
                            struct dataset_version *ret, struct err *e)
{
    struct dataset d;
    TRY(create(w, in, in->project_id, by, &d, e));
    return version_of(w, d.dataset_id, object_id, format, by, &(struct data_found){ 0 }, ret, e);
}

struct dataset_content {
    struct dataset dataset;
    int format;
    struct data_found found;
    struct object_new object;
    const struct object_sealed *sealed;
};

enum errc dataset_content_seal(struct work *w, struct uuid dataset_id, struct str zone, int format, struct str content,
                               const struct dataset_content **ret, struct err *e)
{
    struct dataset_content *c = ARENA_NEW(w->arena, struct dataset_content);
    ASSERT(!w->tx);
    TRY(RUN_READ(w, dataset_get(w, dataset_id, &c->dataset, e), e));
    const struct data_schema columns = dataset_columns(&c->dataset);
    c->format = format;
    c->object = (struct object_new){ zone, "dataset", c->dataset.data_class };
    TRY(data_check(w->arena, format, &columns, content, &c->found, e));
    TRY(object_seal_whole(w, &c->object, content, &c->sealed, e));
    *ret = c;
    return ERR_OK;
}

enum errc dataset_version_add(struct work *w, const struct dataset_content *c, struct dataset_version *ret, struct err *e)
{
    struct object o;
    TRY(object_book(w, &c->object, c->sealed, &o, e));
    return dataset_version_of(w, c->dataset.dataset_id, o.object_id, c->format, &c->found, ret, e);
}

void dataset_content_drop(struct work *w, const struct dataset_content *c)
{
    object_drop(w, c->sealed);
}

enum errc dataset_version_get(struct work *w, struct uuid dataset_id, int64_t version, struct dataset_version *ret, struct err *e)
{
    return versioned_version_get(w, &versioned_dataset, dataset_id, version, ret, e);
}
