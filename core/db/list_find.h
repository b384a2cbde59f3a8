/* SPDX-License-Identifier: Apache-2.0 */
/* list_find.h - pages of a list by any filter and in any order, for a tenant of 100,000 rows.
 *
 * In the scope of the transaction: its tenant and the projects it may see. A page goes on behind a row, whatever the order.
 *     struct list_find f = { .q = STR("llama"), .sort = STR("name") };
 *     list_find_by(&f, "data_class", STR("health"));
 *     list_find(w, &dataset_list_stmt, &f, position, limit, &rows, e);
 * The filters and orders of each list are those of list_condition and list_find in migrations/functions/; asking for another is a bug.
 * Memory: results live in the arena of the work. Errors: those of the database alone. */
#pragma once
#include "core/base/work.h"
#include "core/db/stmt.h"

enum { LIST_FILTERS_MAX = 8, LIST_Q_MIN = 3, LIST_Q_MAX = 128 };

struct list_find {
    struct str q;                   /* part of the name, in any case; STR_NULL: any. Shorter than LIST_Q_MIN no index helps */
    struct str sort;                /* a column of the list, with - before it downwards; STR_NULL: newest first */
    struct str filters[LIST_FILTERS_MAX], vals[LIST_FILTERS_MAX];
    size_t n;
};

extern const char *const list_sort_names[];     /* "-created" (the default), "created", "name", "-name", NULL-ended */

/* STR_NULL and nil do not filter. */
void list_find_by(struct list_find *f, const char *filter, struct str val);
void list_find_by_id(struct work *w, struct list_find *f, const char *filter, struct uuid val);

/* What a list's statement reads from, and its parameters: found_id of each row of the page, found_place its order. The statement names the
 * tenant once more and reads under row-level security: SELECT ... FROM LIST_FIND("model") JOIN model ON tenant_id = $1 AND model_id = found_id
 * ORDER BY found_place. */
#define LIST_FIND_PARAMS "uussSSi"
#define LIST_FIND(list) \
    "unnest(ARRAY(SELECT list_find('" list "', $1, $2, $3, $4, $5, $6, $7))) WITH ORDINALITY f(found_id, found_place)\n"

/* At most `limit` rows behind `position` (nil: from the first). */
enum errc list_find(struct work *w, const struct stmt *stmt, const struct list_find *f, struct uuid position, int64_t limit, struct slice *ret,
                    struct err *e) MUST_CHECK;
