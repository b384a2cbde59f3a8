/* SPDX-License-Identifier: Apache-2.0 */
/* stmt.h - an SQL statement is a value: its text, the types of its parameters, the schema of its rows, how many rows it may give.
 *
 *     static const struct stmt job_get = { .name = "job_get", .params = "uu", .row = &job_schema, .card = CARD_ONE, .sql =
 *       "SELECT job_id, name, state FROM job WHERE tenant_id = $1 AND job_id = $2" };
 *     const struct stmt *const job_stmts[] = { &job_get, …, NULL };
 *
 * Parameters are sent in binary with the type their letter names, so a statement that needs another type casts: $3::inet, $4::int.
 *     u uuid   s text   i int8   f float8   b bool   t timestamptz   j jsonb   y bytea      upper case: the array of it
 * ROW_COLUMNS in the text stands for the names of all columns of the row's schema: "SELECT " ROW_COLUMNS " FROM job WHERE …", so a new
 * column is one row of the schema. Result columns are found by name in the row's schema. Types that fit: FT_BOOL bool; FT_I32 int2, int4; FT_I64 int2, int4, int8;
 * FT_F64 float4, float8; FT_STR text, varchar, bpchar, name, any enum type; FT_UUID uuid; FT_TIME timestamptz; FT_ENUM as FT_STR,
 * its text being one of field->names; FT_JSON json, jsonb; FT_BYTES bytea; FT_STR may also take json text.
 * A column that is NULL leaves the member zero (absent string, nil id, time 0).
 * Every statement must stand in a list given to db_pool_new: db_pool_check has then compared it with the database. */
#pragma once

struct schema;

#define ROW_COLUMNS "$row"

enum card {
    CARD_NONE,      /* gives no rows; any number may be affected */
    CARD_ONE,       /* no row (or, without a row schema, nothing affected) is NOT_FOUND; a second row is INTERNAL */
    CARD_MAYBE,     /* none or one */
    CARD_MANY       /* up to the limit that db_many is given */
};

struct stmt {
    const char *name;               /* unique in the pool; shows in logs and as the prepared statement's name */
    const char *params;             /* one letter for each $n; NULL or "": none */
    const struct schema *row;       /* NULL: no result columns are read */
    enum card card;
    const char *sql;
};
