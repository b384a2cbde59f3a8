/* SPDX-License-Identifier: Apache-2.0 */
/* Every parameter type goes to PostgreSQL and comes back the same, arrays and NULL included; what does not fit is found at start. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/base/cleanup.h"
#include "core/db/pool.h"
#include "core/db/tx.h"
#include "core/table/schema.h"
#include "tests/db/harness.h"

#include <stdio.h>
#include <string.h>

static const char *const colours[] = { "red", "green", "blue", NULL };

struct thing {
    struct uuid id;
    struct str name;
    int32_t small;
    int64_t big;
    double ratio;
    bool is_on;
    struct timestamp at;
    struct json doc;
    struct bytes raw;
    int colour;
    bool has_seed;
    int64_t seed;
    struct slice tags, ids, numbers, ratios;
    struct str not_selected;
};
SCHEMA_OF(thing, "All types", FIELD(thing, id, 0), FIELD(thing, name, 0), FIELD(thing, small, 0),
          FIELD(thing, big, 0), FIELD(thing, ratio, 0), FIELD_AS(thing, is_on, "is_on", 0),
          FIELD(thing, at, 0), FIELD(thing, doc, 0), FIELD(thing, raw, 0),
          FIELD_ENUM(thing, colour, 0, colours), FIELD_OPT(thing, seed, 0), FIELD_STRS(thing, tags, 0),
          FIELD_IDS(thing, ids, NULL, 0), FIELD_I64S(thing, numbers, 0), FIELD_F64S(thing, ratios, 0),
          FIELD(thing, not_selected, 0));

#define COLUMNS "id, name, small, big, ratio, is_on, at, doc, raw, colour, seed, tags, ids, numbers, ratios"
static const struct stmt thing_put = { .name = "thing_put", .params = "usiifbtjysiSUIF", .row = &thing_schema, .card = CARD_ONE, .sql =
    "INSERT INTO thing (" COLUMNS ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::colour, $11, $12, $13, $14, $15)\n"
    "RETURNING " COLUMNS };
static const struct stmt things_put = { .name = "things_put", .params = "USIFBTJY", .card = CARD_NONE, .sql =
    "INSERT INTO thing (id, name, big, ratio, is_on, at, doc, raw)\n"
    "SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8)" };
static const struct stmt things_get = { .name = "things_get", .params = "U", .row = &thing_schema, .card = CARD_MANY, .sql =
    "SELECT " COLUMNS " FROM thing WHERE id = ANY($1) ORDER BY id" };
/* "colour" stands in both schemas; the order is the schema's. */
struct shade {
    struct str name, colour;
    int64_t big;
};
SCHEMA_OF(shade, "x", FIELD(shade, colour, 0), FIELD(shade, name, 0), FIELD(shade, big, 0));
static const struct stmt shades_get = { .name = "shades_get", .params = "u", .row = &shade_schema, .card = CARD_ONE, .sql =
    "WITH s AS (SELECT " ROW_COLUMNS " FROM thing WHERE id = $1) SELECT " ROW_COLUMNS " FROM s" };
static const struct stmt *const good_list[] = { &thing_put, &things_put, &things_get, &shades_get, NULL };

static struct pg_harness *pg;

static struct db_pool *pool_with(const struct stmt *const *list, const char *user, unsigned allow)
{
    const struct stmt *const *lists[] = { list, NULL };
    return db_pool_new(&(struct db_pool_opts){ .conninfo = pg_harness_conninfo(pg, user, NULL), .size = 2, .lists = lists,
                                               .role_allow = allow });
}

static int setup(void **state)
{
    (void)state;
    pg = pg_harness_new();
    pg_harness_exec(pg, NULL,
                    "CREATE ROLE app LOGIN; CREATE ROLE boss LOGIN BYPASSRLS; CREATE ROLE owner LOGIN;"
                    "CREATE TYPE colour AS ENUM ('red', 'green', 'blue');"
                    "CREATE TABLE thing (id uuid PRIMARY KEY, name text, small int, big bigint, ratio float8, is_on bool, at timestamptz,"
                    " doc jsonb, raw bytea, colour colour, seed bigint, tags text[], ids uuid[], numbers bigint[], ratios float8[]);"
                    "GRANT ALL ON thing TO app, boss; CREATE TABLE mine (a int); ALTER TABLE mine OWNER TO owner");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    pg_harness_free(pg);
    return 0;
}

static void test_scalars_round_trip(void **state)
{
    (void)state;
    struct err e = { 0 };
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    struct db_pool *pool = pool_with(good_list, "app", 0);
    if (db_pool_check(pool, &e) != ERR_OK)
        fail_msg("%s %s", e.msg, e.detail);
    struct db_tx *tx;
    assert_int_equal(db_begin(pool, SCOPE_SYSTEM, 0, a, &tx, &e), ERR_OK);
    struct uuid id = uuid_v7(1), other = uuid_v7(2);
    struct str tags[] = { STR("a"), STR_NULL, STR("") };
    struct uuid ids[] = { id, other };
    int64_t numbers[] = { INT64_MIN, 0, INT64_MAX };
    double ratios[] = { -0.5, 1e300 };
    struct thing t;
    memset(&t, 0xff, sizeof t);
    enum errc rc = db_one(tx, &thing_put,
                          ARGS(A_UUID(id), A_STR(STR("ناقة 🐪")), A_I64(-7), A_I64(INT64_MIN), A_F64(0.1), A_BOOL(true),
                               A_TIME_US(1700000000123456), A_JSON(STR("{\"a\": [1, null]}")), A_BYTES("\0\1\377", 3), A_TEXT("blue"),
                               A_I64(0), A_STRS(tags, 3), A_UUIDS(ids, 2), A_I64S(numbers, 3), A_F64S(ratios, 2)),
                          &t, &e);
    if (rc != ERR_OK)
        fail_msg("%s %s", e.msg, e.detail);
    assert_true(uuid_eq(t.id, id) && str_eq_c(t.name, "ناقة 🐪") && t.small == -7 && t.big == INT64_MIN && t.ratio == 0.1 && t.is_on);
    assert_int_equal(t.at.us, 1700000000123456);
    struct shade shade;
    assert_int_equal(db_one(tx, &shades_get, ARGS(A_UUID(id)), &shade, &e), ERR_OK);
    assert_true(str_eq_c(shade.colour, "blue") && str_eq_c(shade.name, "ناقة 🐪") && shade.big == INT64_MIN);
    assert_true(str_eq_c(t.doc.text, "{\"a\": [1, null]}"));
    assert_true(str_eq(t.raw.data, str_n("\0\1\377", 3)));
    assert_int_equal(t.colour, 2);
    assert_true(t.has_seed && t.seed == 0 && !t.not_selected.ptr);
    struct str *got = t.tags.items;
    assert_true(t.tags.n == 3 && str_eq_c(got[0], "a") && !got[1].ptr && got[2].ptr && got[2].len == 0);
    assert_true(t.ids.n == 2 && uuid_eq(((struct uuid *)t.ids.items)[1], other));
    assert_true(t.numbers.n == 3 && ((int64_t *)t.numbers.items)[0] == INT64_MIN && ((int64_t *)t.numbers.items)[2] == INT64_MAX);
    assert_true(t.ratios.n == 2 && ((double *)t.ratios.items)[1] == 1e300);
    assert_int_equal(db_commit(tx, &e), ERR_OK);
    db_pool_free(pool);
}

static void test_nulls_round_trip(void **state)
{
    (void)state;
    struct err e = { 0 };
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    struct db_pool *pool = pool_with(good_list, "app", 0);
    struct db_tx *tx;
    assert_int_equal(db_begin(pool, SCOPE_SYSTEM, 0, a, &tx, &e), ERR_OK);
    struct thing t, zero = { 0 };
    zero.id = uuid_v7(3);
    enum errc rc = db_one(tx, &thing_put,
                          ARGS(A_UUID(zero.id), A_STR(STR_NULL), A_NULL('i'), A_NULL('i'), A_NULL('f'), A_NULL('b'), A_TIME_US(0),
                               A_JSON(STR_NULL), A_BYTES(NULL, 0), A_TEXT(NULL), A_NULL('i'), A_NULL('S'), A_UUIDS(NULL, 0),
                               A_NULL('I'), A_F64S(NULL, 0)),
                          &t, &e);
    if (rc != ERR_OK)
        fail_msg("%s %s", e.msg, e.detail);
    assert_memory_equal(&t, &zero, sizeof t);
    db_rollback(tx);
    db_pool_free(pool);
}

struct item {
    int64_t pad;
    struct uuid id;
    struct str name;
    int64_t big;
    double ratio;
    bool is_on;
    struct timestamp at;
    struct json doc;
    struct bytes raw;
};

static void add_big(void *sum, const void *item)
{
    *(int64_t *)sum += ((const struct thing *)item)->big;
}

static void test_arrays_from_structs(void **state)
{
    (void)state;
    struct err e = { 0 };
    CLEANUP(arena_freep) struct arena *a = arena_new(8 << 20);
    struct db_pool *pool = pool_with(good_list, "app", 0);
    enum { N = 1000 };
    static struct item items[N];
    struct item *via[N];
    struct uuid ids[N];
    for (int i = 0; i < N; i++) {
        via[i] = &items[i];
        items[i] = (struct item){ 0, uuid_v7(1000000 + i * 1000), i % 3 ? STR("name") : STR_NULL, i, i / 2.0, i % 2, { i * 1000000LL },
                                  { i % 5 ? STR("[]") : STR_NULL }, { i % 7 ? str_n("\0x", 2) : STR_NULL } };
        ids[i] = items[i].id;
    }
    struct db_tx *tx;
    int64_t n = 0;
    assert_int_equal(db_begin(pool, SCOPE_SYSTEM, 0, a, &tx, &e), ERR_OK);
    enum errc rc = db_exec(tx, &things_put,
                           ARGS(A_UUIDS_OF(items, N / 2, id), A_STRS_OF(items, N / 2, name), A_I64S_OF(items, N / 2, big),
                                A_F64S_OF(items, N / 2, ratio), A_BOOLS_OF(items, N / 2, is_on), A_TIMES_OF(items, N / 2, at),
                                A_JSONS_OF(items, N / 2, doc.text), A_BYTESS_OF(items, N / 2, raw.data)),
                           &n, &e);
    if (rc != ERR_OK)
        fail_msg("%s %s", e.msg, e.detail);
    assert_int_equal(n, N / 2);
    struct item **rest = via + N / 2;
    db_queue(tx, &things_put,
             ARGS(A_UUIDS_VIA(rest, N / 2, id), A_STRS_VIA(rest, N / 2, name), A_I64S_VIA(rest, N / 2, big),
                  A_F64S_VIA(rest, N / 2, ratio), A_BOOLS_VIA(rest, N / 2, is_on), A_TIMES_VIA(rest, N / 2, at),
                  A_JSONS_VIA(rest, N / 2, doc.text), A_BYTESS_VIA(rest, N / 2, raw.data)),
             true);
    struct slice rows;
    assert_int_equal(db_many(tx, &things_get, ARGS(A_UUIDS(ids, N)), &rows, N - 1, &e), ERR_LIMIT);
    rc = db_many(tx, &things_get, ARGS(A_UUIDS(ids, N)), &rows, N, &e);
    if (rc != ERR_OK)
        fail_msg("%s %s", e.msg, e.detail);
    assert_int_equal(rows.n, N);
    int64_t sum = 0;
    assert_int_equal(db_each(tx, &things_get, ARGS(A_UUIDS(ids, N)), N - 1, add_big, &sum, &e), ERR_LIMIT);
    assert_int_equal(sum, 0);
    assert_int_equal(db_each(tx, &things_get, ARGS(A_UUIDS(ids, N)), N, add_big, &sum, &e), ERR_OK);
    assert_int_equal(sum, N * (N - 1) / 2);
    const struct thing *got = rows.items;
    for (int i = 0; i < N; i++) {
        assert_true(uuid_eq(got[i].id, items[i].id) && str_eq(got[i].name, items[i].name) && got[i].big == i && got[i].ratio == i / 2.0);
        assert_true(got[i].is_on == (i % 2 == 1) && got[i].at.us == items[i].at.us && str_eq(got[i].doc.text, items[i].doc.text));
        assert_true(str_eq(got[i].raw.data, items[i].raw.data) && !got[i].has_seed);
    }
    db_rollback(tx);
    db_pool_free(pool);
}

struct short_row {
    struct uuid id;
    int64_t name;
};
SCHEMA_OF(short_row, "Wrong", FIELD(short_row, id, 0), FIELD(short_row, name, 0));

static void refuse(const struct stmt *st, const char *part)
{
    struct err e = { 0 };
    const struct stmt *const list[] = { st, NULL };
    struct db_pool *pool = pool_with(list, "app", 0);
    assert_int_equal(db_pool_check(pool, &e), ERR_INTERNAL);
    if (!strstr(e.msg, part))
        fail_msg("expected \"%s\" in: %s", part, e.msg);
    db_pool_free(pool);
}

static void test_drift_is_found_at_start(void **state)
{
    (void)state;
    refuse(&(struct stmt){ "a", "", &short_row_schema, CARD_MANY, "SELECT id, name FROM thing" }, "column name has a type");
    refuse(&(struct stmt){ "a", "", &short_row_schema, CARD_MANY, "SELECT id, big FROM thing" }, "column big is no member");
    refuse(&(struct stmt){ "a", "", &short_row_schema, CARD_MANY, "SELECT id, id FROM thing" }, "gives column id twice");
    refuse(&(struct stmt){ "a", "", &short_row_schema, CARD_MANY, "DELETE FROM thing" }, "gives no columns");
    refuse(&(struct stmt){ "a", "u", NULL, CARD_NONE, "DELETE FROM thing WHERE id = $1 AND name = $2" }, "parameters up to $2");
    refuse(&(struct stmt){ "a", "us", NULL, CARD_NONE, "DELETE FROM thing WHERE id = $1" }, "parameters up to $1");
    refuse(&(struct stmt){ "a", "s", NULL, CARD_NONE, "DELETE FROM thing WHERE id = $1" }, "does not fit the database");
    refuse(&(struct stmt){ "a", "q", NULL, CARD_NONE, "DELETE FROM thing WHERE id = $1" }, "no parameter type");
    refuse(&(struct stmt){ "a", "", NULL, CARD_NONE, "DELETE FROM nothing" }, "does not fit the database");
    refuse(&(struct stmt){ "a", "", &short_row_schema, CARD_MANY, "SELECT id, at::date AS name FROM thing" }, "column name has a type");
}

static void refuse_role(const char *user, const char *part)
{
    struct err e = { 0 };
    static const struct stmt *const none[] = { NULL };
    struct db_pool *pool = pool_with(none, user, 0);
    assert_int_equal(db_pool_check(pool, &e), ERR_INTERNAL);
    if (!strstr(e.msg, part))
        fail_msg("expected \"%s\" in: %s", part, e.msg);
    db_pool_free(pool);
}

static void test_strong_roles_are_refused(void **state)
{
    (void)state;
    struct err e = { 0 };
    refuse_role("postgres", "is a superuser");
    refuse_role("boss", "has BYPASSRLS");
    refuse_role("owner", "owns mine");
    pg_harness_exec(pg, NULL, "CREATE ROLE member LOGIN IN ROLE owner");
    refuse_role("member", "owns mine");
    struct db_pool *pool = pool_with(good_list, "postgres", DB_ALLOW_SUPERUSER | DB_ALLOW_BYPASSRLS | DB_ALLOW_OWNER);
    assert_int_equal(db_pool_check(pool, &e), ERR_OK);
    db_pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scalars_round_trip),      cmocka_unit_test(test_nulls_round_trip),
        cmocka_unit_test(test_arrays_from_structs),     cmocka_unit_test(test_drift_is_found_at_start),
        cmocka_unit_test(test_strong_roles_are_refused),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
