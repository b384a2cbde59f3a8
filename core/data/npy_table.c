/* SPDX-License-Identifier: Apache-2.0 */
/* npy_table.c - header, then number after number; one that two pieces share waits in `part`. */
#include "core/data/npy_table.h"
#include "core/data/data_table_int.h"
#include "core/data/npy.h"

#include <stdio.h>
#include <string.h>

enum { WIDTH_MAX = 8, COLUMN_DIGITS = 8 };

struct npy_checker {
    struct arena *arena;
    const struct data_schema *schema;
    uint64_t size_bytes, at;            /* of the whole file; bytes seen */
    bool has_head, keeps;
    char *head;
    size_t head_len, part_len, col;
    unsigned char part[WIDTH_MAX];
    struct npy array;
    struct table_plan plan;
    struct data_table table;
};

static enum errc name_columns(struct npy_checker *c, struct err *e)
{
    size_t n = c->plan.file_cols;
    char *digits = arena_try(c->arena, n * COLUMN_DIGITS);
    c->plan.file_names = arena_try(c->arena, n * sizeof *c->plan.file_names);
    if (!digits || !c->plan.file_names)
        return FAIL(e, LIMIT, "the header does not fit in memory");
    for (size_t i = 0; i < n; i++) {
        int len = snprintf(digits + i * COLUMN_DIGITS, COLUMN_DIGITS, "%zu", i);
        c->plan.file_names[i] = str_n(digits + i * COLUMN_DIGITS, (size_t)len);
    }
    return ERR_OK;
}

static enum errc begin(struct npy_checker *c, struct err *e)
{
    char where[64];
    TRY(npy_head(str_n(c->head, c->head_len), c->size_bytes, &c->array, e));
    if (c->array.rank != 2)
        return FAIL(e, BAD_DATA, "a table is an array of two dimensions, rows and columns; this one has %u", c->array.rank);
    if (c->array.dim[1] < 1 || c->array.dim[1] > TABLE_COLUMNS_MAX)
        return FAIL(e, LIMIT, "a table has 1 to %d columns, not %llu", TABLE_COLUMNS_MAX, (unsigned long long)c->array.dim[1]);
    if (c->schema->categories.n)
        return FAIL(e, BAD_DATA, "an array has no words; columns of categories are read from CSV");
    c->plan.file_cols = (size_t)c->array.dim[1];
    TRY(name_columns(c, e));
    snprintf(where, sizeof where, "the array has columns 0 to %zu", c->plan.file_cols - 1);
    TRY(table_plan_make(c->arena, c->schema, where, &c->plan, &c->table, e));
    if (c->keeps)
        TRY(table_allocate(c->arena, (size_t)c->array.dim[0], &c->table, e));
    c->has_head = true;
    return ERR_OK;
}

static enum errc take_number(struct npy_checker *c, const unsigned char *p, struct err *e)
{
    struct err why;
    c->array.data = p;
    if (table_put(&c->plan, c->schema, &c->table, c->col, npy_real(&c->array, 0), &why) != ERR_OK)
        return FAIL(e, BAD_DATA, "byte %llu: row %zu, column %zu: %s",
                    (unsigned long long)(npy_head_bytes(str_n(c->head, c->head_len))
                                         + (c->table.rows * c->plan.file_cols + c->col) * c->array.width),
                    c->table.rows, c->col, why.msg);
    c->col = c->col + 1 == c->plan.file_cols ? 0 : c->col + 1;
    return c->col ? ERR_OK : table_add_row(&c->table, e);
}

/* Bytes of the header out of what comes: how many were taken. */
static size_t take_head(struct npy_checker *c, const char *p, size_t n)
{
    size_t want = npy_head_bytes(str_n(c->head,
                                       c->head_len)), left = want > c->head_len ? want - c->head_len : 0, k = left < n ? left : n;
    memcpy(c->head + c->head_len, p, k);
    c->head_len += k;
    return k;
}

static enum errc add_head(struct npy_checker *c, const char **p, size_t *n, struct err *e)
{
    while (!c->has_head && *n > 0) {
        if (npy_head_bytes(str_n(c->head, c->head_len)) > NPY_TABLE_HEAD_MAX)
            return FAIL(e, LIMIT, "the header of a table in .npy has at most %d bytes", NPY_TABLE_HEAD_MAX);
        size_t k = take_head(c, *p, *n);
        *p += k;
        *n -= k;
        if (c->head_len == NPY_HEAD_MIN && (memcmp(c->head, "\x93NUMPY", 6) || c->head[6] < 1 || c->head[6] > 3))
            return FAIL(e, BAD_DATA, "byte 0: this is no .npy file");
        if (c->head_len >= NPY_HEAD_MIN && c->head_len >= npy_head_bytes(str_n(c->head, c->head_len)))
            TRY(begin(c, e));
    }
    return ERR_OK;
}

enum errc npy_checker_new(struct arena *a, const struct data_schema *schema, uint64_t size_bytes, struct npy_checker **ret,
                          struct err *e)
{
    struct npy_checker *c = arena_try(a, sizeof *c);
    char *head = arena_try(a, NPY_TABLE_HEAD_MAX);
    if (!c || !head)
        return FAIL(e, LIMIT, "no memory to read the file");
    TRY(table_schema_check(schema, e));
    *c = (struct npy_checker){ .arena = a, .schema = schema, .size_bytes = size_bytes, .head = head };
    *ret = c;
    return ERR_OK;
}

enum errc npy_checker_add(struct npy_checker *c, const char *p, size_t n, struct err *e)
{
    if (n > c->size_bytes - c->at)
        return FAIL(e, BAD_DATA, "the file is longer than the %llu bytes that were announced", (unsigned long long)c->size_bytes);
    c->at += n;
    TRY(add_head(c, &p, &n, e));
    while (n > 0) {
        size_t width = c->array.width, k = width - c->part_len < n ? width - c->part_len : n;
        if (!c->part_len && n >= width) {
            TRY(take_number(c, (const unsigned char *)p, e));
        } else {
            memcpy(c->part + c->part_len, p, k);
            c->part_len += k;
            if (c->part_len == width)
                TRY(take_number(c, c->part, e));
            c->part_len %= width;
        }
        p += k;
        n -= k;
    }
    return ERR_OK;
}

enum errc npy_checker_end(struct npy_checker *c, struct data_table *ret, struct err *e)
{
    if (!c->has_head)       /* says how it is cut off */
        TRY(npy_head(str_n(c->head, c->head_len), c->at, &c->array, e));
    if (c->at != c->size_bytes)
        return FAIL(e, BAD_DATA, "the file ends at byte %llu of %llu", (unsigned long long)c->at,
                    (unsigned long long)c->size_bytes);
    return table_finish(c->schema, &c->table, ret, e);
}

enum errc npy_table_read(struct arena *a, struct str bytes, const struct data_schema *schema, struct data_table *ret,
                         struct err *e)
{
    struct npy_checker *c;
    TRY(npy_checker_new(a, schema, bytes.len, &c, e));
    c->keeps = true;
    TRY(npy_checker_add(c, bytes.ptr, bytes.len, e));
    return npy_checker_end(c, ret, e);
}
