/* SPDX-License-Identifier: Apache-2.0 */
/* test_encode.c - printed JSON byte by byte, and doubles that come back. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/json/encode.h"
#include "core/json/jsonvalue.h"
#include "sample.h"

static void every_type(void **state)
{
    (void)state;
    struct input inputs[] = { { STR("x"), 1 }, { STR("y\"\n"), 2 } };
    struct str tags[] = { STR("a"), STR("") };
    double rates[] = { 1, 0.1 };
    int64_t counts[] = { INT64_MIN };
    int states[] = { 0, 2 };
    struct sample s = { .job_id = { { 1, 2 } }, .name = STR("n"), .password = STR("secret"), .who = STR("w"), .state = 2,
                        .priority = -3, .gpus = 8, .has_seed = true, .ratio = 1e21, .made_at = { 1795222923004000 },
                        .params = { STR("{\"a\": 1.10}") }, .blob = { STR("\0\1\2\3") }, .limits = { 4, 0.5 },
                        .inputs = { inputs, 2 }, .tags = { tags, 2 }, .rates = { rates, 2 }, .counts = { counts, 1 },
                        .states = { states, 2 } };
    struct buf b = BUF(4096);
    json_encode(&sample_schema, &s, &b);
    assert_string_equal(b.ptr,
                        "{\"job_id\":\"job_01020000000000000000000000000000\",\"name\":\"n\",\"note\":null,\"state\":\"done\","
                        "\"is_urgent\":false,\"priority\":-3,\"gpus\":8,\"seed\":0,\"ratio\":1e+21,"
                        "\"made_at\":\"2026-11-21T01:02:03.004Z\",\"params\":{\"a\": 1.10},\"blob\":\"AAECAw==\","
                        "\"limits\":{\"cpus\":4,\"weight\":0.5},\"inputs\":[{\"name\":\"x\",\"bytes\":1},"
                        "{\"name\":\"y\\\"\\n\",\"bytes\":2}],\"tags\":[\"a\",\"\"],\"rates\":[1,0.1],"
                        "\"counts\":[-9223372036854775808],\"ids\":[],\"states\":[\"queued\",\"done\"]}");
    buf_clear(&b);
    json_encode_list(&input_schema, inputs, 2, &b);
    assert_string_equal(b.ptr, "[{\"name\":\"x\",\"bytes\":1},{\"name\":\"y\\\"\\n\",\"bytes\":2}]");
    buf_clear(&b);
    json_encode_list(&input_schema, NULL, 0, &b);
    assert_string_equal(b.ptr, "[]");
    buf_release(&b);
}

static void nothing_and_overflow(void **state)
{
    (void)state;
    struct limits none = { 0 };
    struct sample s = { .name = STR("n") };
    struct buf b = BUF(4096), small = BUF(20);
    json_encode_field(schema_find(&sample_schema, STR("seed")), &s, &b);
    json_encode_field(schema_find(&sample_schema, STR("gpus")), &s, &b);
    assert_string_equal(b.ptr, "null0");
    json_encode(&sample_schema, &s, &small);
    assert_true(small.overflow && small.len <= 20);
    json_encode(&limits_schema, &none, &b);
    buf_release(&b);
    buf_release(&small);
}

static double read_back(const char *text)
{
    struct arena *a = arena_new(1 << 16);
    struct err e;
    const struct jval *v;
    assert_int_equal(jval_parse(a, str_c(text), 0, &v, &e), ERR_OK);
    double d = jval_f64(v, NAN);
    arena_free(a);
    return d;
}

static void doubles(void **state)
{
    (void)state;
    static const struct { double v; const char *text; } rows[] = {
        { 0, "0" }, { 1, "1" }, { -5, "-5" }, { 0.1, "0.1" }, { 0.1 + 0.2, "0.30000000000000004" }, { 1e15, "1e+15" },
        { 999999999999999, "999999999999999" }, { NAN, "null" }, { -INFINITY, "null" }, { 1.5e300, "1.5e+300" },
        { 5e-324, "4.94065645841247e-324" }, { -0.0, "-0.0" }, { 1.0 / 3, "0.3333333333333333" },
    };
    struct buf b = BUF(4096);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        buf_clear(&b);
        json_add_f64(&b, rows[i].v);
        assert_string_equal(b.ptr, rows[i].text);
    }
    srand(3);
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = (uint64_t)rand() << 42 ^ (uint64_t)rand() << 21 ^ (uint64_t)rand();
        double v, w;
        memcpy(&v, &bits, sizeof v);
        if (!isfinite(v))
            continue;
        buf_clear(&b);
        json_add_f64(&b, v);
        w = read_back(b.ptr);
        assert_memory_equal(&v, &w, sizeof v);
    }
    buf_release(&b);
}

struct late { int64_t ranks; int way; bool is_kept; struct str name; };
static const char *const ways[] = { "fast", "slow", NULL };
SCHEMA_OF(late, "A message with members that older readers do not know",
          FIELD(late, ranks, F_LATE, .dflt = "1", .doc = "A number"),
          FIELD_ENUM(late, way, F_LATE, ways, .dflt = "fast", .doc = "A word"),
          FIELD(late, is_kept, F_LATE, .dflt = "false", .doc = "Yes or no"),
          FIELD(late, name, F_LATE, .dflt = "x", .doc = "A text"));

static void what_older_readers_do_not_know_is_left_out(void **state)
{
    (void)state;
    static const struct { struct late value; const char *text; } rows[] = {
        { { 1, 0, false, STR("x") }, "{}" },
        { { 2, 0, false, STR("x") }, "{\"ranks\":2}" },
        { { 1, 1, true, STR("x") }, "{\"way\":\"slow\",\"is_kept\":true}" },
        { { 0, 0, false, STR("xx") }, "{\"ranks\":0,\"name\":\"xx\"}" },
        { { 1, 0, false, STR("") }, "{\"name\":\"\"}" },
    };
    struct buf b = BUF(4096);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        buf_clear(&b);
        json_encode(&late_schema, &rows[i].value, &b);
        assert_string_equal(b.ptr, rows[i].text);
    }
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_type), cmocka_unit_test(nothing_and_overflow),
                                        cmocka_unit_test(doubles), cmocka_unit_test(what_older_readers_do_not_know_is_left_out) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
