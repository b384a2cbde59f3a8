/* SPDX-License-Identifier: Apache-2.0 */
/* versioned.c - the reads that data sets and models share; their statements stand with their columns in dataset.c and model.c. */
#include "registry/catalog/versioned.h"
#include "core/base/arena.h"
#include "core/base/assert.h"
#include "core/db/list_find.h"
#include "core/db/tx.h"
#include "registry/registry_int.h"

const struct versioned versioned_dataset = { "dataset", "dst", &dataset_get_stmt, &dataset_list_stmt, &dataset_version_get_stmt,
                                             &dataset_version_list_stmt, &dataset_change_stmt };
const struct versioned versioned_model = { "model", "mdl", &model_get_stmt, &model_list_stmt, &model_version_get_stmt,
                                           &model_version_list_stmt, &model_change_stmt };

enum errc versioned_get(struct work *w, const struct versioned *k, struct uuid id, void *ret, struct err *e)
{
    return db_one(w->tx, k->get, ARGS(A_UUID(w->tenant_id), A_UUID(id)), ret, e);
}

enum errc versioned_change(struct work *w, const struct versioned *k, struct uuid id, const struct shown_name *names,
                           struct str description, int64_t version, void *ret, struct err *e)
{
    bool found;
    TRY(db_maybe(w->tx, k->change, ARGS(A_UUID(w->tenant_id), A_UUID(id), A_STR(names->en), A_STR(names->ar), A_STR(description),
                 A_I64(version)), ret, &found, e));
    if (found)
        return ERR_OK;
    TRY(versioned_get(w, k, id, ret, e));
    return FAIL(e, PRECONDITION, "It has changed since you read it");
}

enum errc versioned_list(struct work *w, const struct versioned *k, const struct versioned_filter *f, struct uuid position,
                         int64_t limit, struct slice *ret, struct err *e)
{
    struct list_find find = { .q = f->q, .sort = f->sort };
    list_find_by(&find, "data_class", f->data_class);
    list_find_by(&find, "zone", f->zone);
    list_find_by_id(w, &find, "project_id", f->project_id);
    list_find_by_id(w, &find, "created_by", f->created_by);
    return list_find(w, k->list, &find, position, limit, ret, e);
}

enum errc versioned_version_get(struct work *w, const struct versioned *k, struct uuid id, int64_t version, void *ret,
                                struct err *e)
{
    return db_one(w->tx, k->version_get, ARGS(A_UUID(w->tenant_id), A_UUID(id), A_I64(version)), ret, e);
}

enum errc versioned_version_list(struct work *w, const struct versioned *k, struct uuid id, int64_t before, int64_t limit,
                                 struct slice *ret, struct err *e)
{
    /* A thing that is not there is told from one without versions. */
    TRY(versioned_get(w, k, id, arena_alloc(w->arena, k->get->row->size), e));
    return db_many(w->tx, k->version_list, ARGS(A_UUID(w->tenant_id), A_UUID(id), A_I64(before), A_I64(limit)), ret,
                   (size_t)limit, e);
}

static const void *column(const struct versioned *k, const void *version, struct str name)
{
    const struct field *f = schema_find(k->version_get->row, name);
    ASSERT(f);
    return field_at(f, version);
}

int64_t versioned_number(const struct versioned *k, const void *version)
{
    return *(const int64_t *)column(k, version, STR("version"));
}

struct uuid versioned_object(const struct versioned *k, const void *version)
{
    return *(const struct uuid *)column(k, version, STR("object_id"));
}
