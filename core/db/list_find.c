/* SPDX-License-Identifier: Apache-2.0 */
/* list_find.c - the filters as two arrays for list_find (migrations/functions/), which chooses the index and finds the ids. The
 * rows themselves are read by the list's own statement, under row-level security. */
#include "core/db/list_find.h"
#include "core/base/assert.h"
#include "core/db/tx.h"

const char *const list_sort_names[] = { "-created", "created", "name", "-name", NULL };

void list_find_by(struct list_find *f, const char *filter, struct str val)
{
    if (!val.ptr)
        return;
    ASSERT(f->n < LIST_FILTERS_MAX);
    f->filters[f->n] = str_c(filter);
    f->vals[f->n++] = val;
}

void list_find_by_id(struct work *w, struct list_find *f, const char *filter, struct uuid val)
{
    if (!uuid_is_nil(val))
        list_find_by(f, filter, id_text(w->arena, NULL, val));
}

enum errc list_find(struct work *w, const struct stmt *stmt, const struct list_find *f, struct uuid position, int64_t limit,
                    struct slice *ret,
                    struct err *e)
{
    return db_many(w->tx, stmt, ARGS(A_UUID(w->tenant_id), A_UUID_OR_NULL(position),
                                     A_STR(f->sort.ptr ? f->sort : STR("-created")), A_STR(f->q),
                   A_STRS(f->filters, f->n), A_STRS(f->vals, f->n), A_I64(limit)), ret, (size_t)limit, e);
}
