/* SPDX-License-Identifier: Apache-2.0 */
/* row_int.h - result columns to struct members; only for core/db.
 *
 * A row_map is made once per prepared statement from PostgreSQL's own description, by column name; decoding then only follows it. */
#pragma once
#include <libpq-fe.h>
#include <stdbool.h>
#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/base/str.h"
#include "core/db/stmt.h"
#include "core/table/schema.h"

struct row_map {
    int ncols;
    struct row_col {
        const struct field *field;
        Oid oid;
    } cols[];
};

enum { STMT_TEXT_MAX = 1 << 16 };
/* The text to prepare: ROW_COLUMNS written out, in b if there is one. */
const char *stmt_text(const struct stmt *st, struct buf *b);
/* Can a column of type oid fill the field? Types with an oid of 16384 and more are taken for enum types. */
bool row_type_fits(const struct field *f, Oid oid);
/* desc: the result of a Describe. INTERNAL: a column without field, a type that does not fit, a column named twice. */
MUST_CHECK enum errc row_map_build(const struct stmt *st, const PGresult *desc, struct arena *a, struct row_map **ret, struct err *e);
/* Fills the zeroed struct at base. */
MUST_CHECK enum errc row_decode(const struct row_map *map, const PGresult *res, int row, void *base, struct arena *a, struct err *e);
