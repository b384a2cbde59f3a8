/* SPDX-License-Identifier: Apache-2.0 */
/* test_field_text.c - values from paths, queries and defaults. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/table/schema.h"

struct q {
    struct uuid job_id;
    struct str text, must;
    bool flag;
    int state;
    int32_t page;
    int64_t limit;
    bool has_limit;
    double ratio;
    struct timestamp since;
    struct bytes cursor;
    struct slice states, tags, nums, reals, ids;
    struct str body;
};
static const char *const states[] = { "on", "off", NULL };
SCHEMA_OF(q, "A query", FIELD_ID(q, job_id, "job", F_PATH, .doc = "Job"), FIELD(q, text, F_QUERY, .max = 10, .doc = "Text"),
          FIELD(q, must, F_QUERY | F_REQ, .doc = "Must"), FIELD(q, flag, F_QUERY, .dflt = "true", .doc = "Flag"),
          FIELD_ENUM(q, state, F_QUERY, states, .doc = "State"), FIELD(q, page, F_QUERY, .min = 1, .max = 9, .dflt = "2", .doc = "Page"),
          FIELD_OPT(q, limit, F_QUERY, .doc = "Limit"), FIELD(q, ratio, F_QUERY, .doc = "Ratio"),
          FIELD(q, since, F_QUERY, .doc = "Since"), FIELD(q, cursor, F_QUERY, .max = 8, .doc = "Cursor"),
          FIELD_ENUMS(q, states, F_QUERY, states, .doc = "States"), FIELD_STRS(q, tags, F_QUERY, .max = 3, .doc = "Tags"),
          FIELD_I64S(q, nums, F_QUERY, .doc = "Numbers"), FIELD_F64S(q, reals, F_QUERY, .doc = "Reals"),
          FIELD_IDS(q, ids, "job", F_QUERY, .doc = "Ids"), FIELD(q, body, 0, .doc = "Body"));

static struct arena *arena;
static struct q got;
static struct err err;

static int setup(void **state)
{
    (void)state;
    arena = arena_new(1 << 16);
    memset(&got, 0, sizeof got);
    err_clear(&err);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

static enum errc query(const char *s)
{
    return schema_from_query(&q_schema, str_c(s), &got, arena, &err);
}

static void refused(const char *s, enum errc rc, const char *field)
{
    enum errc have = query(s);
    if (have != rc || strcmp(err.field, field))
        fail_msg("%s gave %s at %s: %s", s, err_row(have)->name, err.field, err.msg);
    err_clear(&err);
}

static void good(void **state)
{
    (void)state;
    assert_int_equal(query("must=%41+b%2B&text=&state=off&limit=0&ratio=-0.5&since=2026-11-21T00:00:00Z&cursor=AAE&"
                           "states=off,on&tags=a,,c&nums=1,-2&reals=1.5&ids=job_00000000000000000000000000000007&"), ERR_OK);
    assert_true(str_eq_c(got.must, "A b+"));
    assert_true(got.text.ptr && got.text.len == 0);
    assert_true(got.flag && got.page == 2);     /* defaults */
    assert_int_equal(got.state, 1);
    assert_true(got.has_limit && got.limit == 0);
    assert_true(got.ratio == -0.5);
    assert_true(got.since.us > 0);
    assert_int_equal(got.cursor.data.len, 2);
    assert_true(got.states.n == 2 && ((int *)got.states.items)[0] == 1);
    assert_true(got.tags.n == 3 && ((struct str *)got.tags.items)[1].len == 0);
    assert_true(((int64_t *)got.nums.items)[1] == -2 && ((double *)got.reals.items)[0] == 1.5);
    assert_int_equal(((struct uuid *)got.ids.items)[0].b[15], 7);
}

static void bad(void **state)
{
    (void)state;
    refused("", ERR_MISSING_FIELD, "/must");
    refused("must=1&zzz=1", ERR_UNKNOWN_FIELD, "/zzz");
    refused("must=1&body=1", ERR_UNKNOWN_FIELD, "/body");
    refused("must=1&job_id=job_00000000000000000000000000000007", ERR_UNKNOWN_FIELD, "/job_id");
    refused("must=1&must=2", ERR_INVALID, "/must");
    refused("must=%4", ERR_INVALID, "");
    refused("must=%zz", ERR_INVALID, "");
    refused("must=%00", ERR_INVALID, "/must");
    refused("must=%ff", ERR_INVALID, "/must");
    refused("%ff=1", ERR_INVALID, "");
    refused("must=1&text=12345678901", ERR_INVALID, "/text");
    refused("must=1&page=10", ERR_INVALID, "/page");
    refused("must=1&page=1x", ERR_INVALID, "/page");
    refused("must=1&page=", ERR_INVALID, "/page");
    refused("must=1&flag", ERR_INVALID, "/flag");
    refused("must=1&state=ON", ERR_INVALID, "/state");
    refused("must=1&ratio=nan", ERR_INVALID, "/ratio");
    refused("must=1&since=now", ERR_INVALID, "/since");
    refused("must=1&cursor=***", ERR_INVALID, "/cursor");
    refused("must=1&cursor=AAAAAAAAAAAAAAAA", ERR_INVALID, "/cursor");
    refused("must=1&tags=a,b,c,d", ERR_INVALID, "/tags");
    refused("must=1&nums=1,,2", ERR_INVALID, "/nums");
    refused("must=1&ids=7", ERR_INVALID, "/ids");
}

static void path(void **state)
{
    (void)state;
    const struct field *f = schema_find(&q_schema, STR("job_id"));
    assert_int_equal(field_from_text(f, STR("job_000000000000000000000000000000ff"), &got, arena, &err), ERR_OK);
    assert_int_equal(got.job_id.b[15], 255);
    assert_int_equal(field_from_text(f, STR("000000000000000000000000000000ff"), &got, arena, &err), ERR_INVALID);
    assert_string_equal(err.field, "/job_id");
    assert_int_equal(field_from_text(f, STR_NULL, &got, arena, &err), ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
        T(good), T(bad), T(path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
