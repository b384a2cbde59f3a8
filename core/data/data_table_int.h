/* SPDX-License-Identifier: Apache-2.0 */
/* data_table_int.h - for readers of tables: which column of a file is what, and where its numbers go. */
#pragma once
#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/data/data_table.h"

/* Of a column; else the number of a feature, or, below 0, -1 - the number of a label. CATEGORY: until its number is known. */
enum { ROLE_UNUSED = INT32_MIN, ROLE_CATEGORY = INT32_MIN + 1 };

struct table_plan {
    size_t file_cols;
    int32_t *role;
    struct str *file_names;
};

enum errc table_schema_check(const struct data_schema *s, struct err *e) MUST_CHECK;
/* Decides for each column of file_names; sets cols, names, target_count of t. where: "row 1", begins what is refused. */
enum errc table_plan_make(struct arena *a, const struct data_schema *s, const char *where, struct table_plan *p,
                          struct data_table *t,
                          struct err *e) MUST_CHECK;
enum errc table_allocate(struct arena *a, size_t rows, struct data_table *t, struct err *e) MUST_CHECK;
/* A number of column col, from 0, into row t->rows (only checked where t has no room). The reason has no place in it. */
enum errc table_put(const struct table_plan *p, const struct data_schema *s, struct data_table *t, size_t col, double v,
                    struct err *why) MUST_CHECK;
/* The same of a word, in a column of categories. */
enum errc table_put_word(struct arena *a, const struct table_plan *p, struct data_table *t, size_t col, struct str word,
                         struct err *why) MUST_CHECK;
/* An empty cell: INVALID where none may be. */
enum errc table_put_missing(const struct table_plan *p, const struct data_schema *s, struct data_table *t, size_t col,
                            struct err *why) MUST_CHECK;
bool table_is_category(const struct table_plan *p, const struct data_table *t, size_t col);
enum errc table_add_row(struct data_table *t, struct err *e) MUST_CHECK;
/* At the end: BAD_DATA without a row. */
enum errc table_finish(const struct data_schema *s, struct data_table *t, struct data_table *ret, struct err *e) MUST_CHECK;
