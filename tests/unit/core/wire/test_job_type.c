/* SPDX-License-Identifier: Apache-2.0 */
/* test_job_type.c - the table of kinds is whole, the specs are read as their schemas say, at every edge, and SQL says the same.
 * */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include <math.h>
#include "core/base/arena.h"
#include "core/base/cleanup.h"
#include "core/json/decode.h"
#include "core/wire/type_train.h"

static struct err e;

static void every_row_is_whole(void **state)
{
    (void)state;
    for (int i = 0; i < JOB_KIND_COUNT; i++) {
        const struct job_type *t = &job_types[i];
        assert_int_equal(schema_check_table(t->spec, &e), ERR_OK);
        assert_string_equal(job_kind_names[i], t->name);
        assert_ptr_equal(job_type_find(str_c(t->name)), t);
        assert_true(t->purpose && *t->purpose);
        assert_true(job_is_submitted(i) ? !t->made_by : t->made_by != NULL);
        if (t->reads) {                     /* the member of the spec that a refusal of its place names */
            char room[64];
            assert_non_null(schema_find(t->spec, str_c(job_reads_pointer(i, room) + strlen("/spec/"))));
        }
    }
    assert_null(job_kind_names[JOB_KIND_COUNT]);
    assert_null(job_type_find(STR("dance")));
    assert_true(str_eq_c(job_purpose(STR("train")), "training") && str_eq_c(job_purpose(STR("dance")), "unknown"));
}

static enum errc read_train(struct arena *a, const char *members, struct train_job *ret)
{
    char text[512];
    *ret = (struct train_job){ 0 };
    snprintf(text, sizeof text, "{\"dataset_id\":\"dst_0123456789abcdef0123456789abcdef\"%s%s}", *members ? "," : "", members);
    return json_decode(&train_job_schema, str_c(text), a, ret, &e);
}

static void the_limits_of_a_training_spec(void **state)
{
    (void)state;
    static const struct { const char *members, *field; } rows[] = {
        { "\"learning_rate\":0", NULL }, { "\"learning_rate\":-0.1", "/learning_rate" }, { "\"learning_rate\":-1", "/learning_rate" },
            { "\"learning_rate\":10.0001", "/learning_rate" },
        { "\"learning_rate\":10", NULL }, { "\"learning_rate\":1e-300", NULL },
        { "\"weight_decay\":-0.1", "/weight_decay" }, { "\"weight_decay\":1.01", "/weight_decay" }, { "\"weight_decay\":1",
            NULL },
        { "\"weight_decay\":0", NULL }, { "\"holdout\":0", "/holdout" }, { "\"holdout\":0.0099", "/holdout" },
            { "\"holdout\":0.91", "/holdout" },
        { "\"holdout\":0.01", NULL }, { "\"holdout\":0.9", NULL }, { "\"hidden\":[1,8192]", NULL }, { "\"hidden\":[1,2,0]",
            "/hidden/2" },
        { "\"hidden\":[8193]", "/hidden/0" }, { "\"hidden\":[-1]", "/hidden/0" }, { "\"hidden\":[9223372036854775807]",
            "/hidden/0" },
        { "\"hidden\":[1,1,1,1,1,1,1,1,1]", "/hidden" }, { "\"epochs\":0", "/epochs" }, { "\"warmup_steps\":1000001",
            "/warmup_steps" },
    };
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct train_job t;
        enum errc rc = read_train(a, rows[i].members, &t);
        if (rc != (rows[i].field ? ERR_INVALID : ERR_OK) || (rows[i].field && strcmp(e.field, rows[i].field)))
            fail_msg("%s: %s at %s", rows[i].members, err_row(rc)->name, e.field);
    }
    struct err nan = { 0 };
    assert_int_equal(field_check_f64(schema_find(&train_job_schema, STR("holdout")), (double)NAN, &nan), ERR_INVALID);
}

static void no_layers_are_the_usual_ones(void **state)
{
    (void)state;
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    static const char *const same[] = { "", "\"hidden\":[]" };
    for (size_t i = 0; i < 2; i++) {
        struct train_job t;
        assert_int_equal(read_train(a, same[i], &t), ERR_OK);
        assert_int_equal(train_job_settle(&t, a, &e), ERR_OK);
        assert_int_equal(t.hidden.n, 2);
        assert_true(((const int64_t *)t.hidden.items)[0] == 64 && ((const int64_t *)t.hidden.items)[1] == 32);
    }
    struct train_job own;
    assert_int_equal(read_train(a, "\"hidden\":[7]", &own), ERR_OK);
    assert_int_equal(train_job_settle(&own, a, &e), ERR_OK);
    assert_int_equal(own.hidden.n, 1);
}

static void no_rate_is_the_usual_one(void **state)
{
    (void)state;
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    static const struct { const char *members; double rate; } rows[] = {
        { "\"epochs\":1", 0.003 }, { "\"family\":\"gbdt\"", 0.1 }, { "\"family\":\"gbdt\",\"learning_rate\":0.3", 0.3 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct train_job t;
        assert_int_equal(read_train(a, rows[i].members, &t), ERR_OK);
        assert_int_equal(train_job_settle(&t, a, &e), ERR_OK);
        assert_true(t.learning_rate == rows[i].rate);
    }
}

#define TEACHER "\"teacher\":\"mdl_00000000000000000000000000000001\""

/* What the members of a family must be to each other: each refusal names its member. */
static void members_of_a_family_must_fit(void **state)
{
    (void)state;
    static const struct { const char *members, *field; } rows[] = {
        { "\"family\":\"cnn\"", "/image" }, { "\"family\":\"cnn\",\"image\":[8,8]", "/image" },
        { "\"family\":\"cnn\",\"image\":[8,8,1]", NULL }, { "\"family\":\"gpt\"", NULL },
        { "\"family\":\"gpt\",\"heads\":3", "/heads" }, { "\"family\":\"gpt\",\"heads\":8,\"kv_heads\":3", "/kv_heads" },
        { "\"family\":\"gpt\",\"width\":12,\"rotary\":true", "/rotary" }, { "\"family\":\"gpt\",\"gated\":true", "/gated" },
        { "\"family\":\"cnn\",\"image\":[8,8,1],\"objective\":\"regression\"", "/objective" },
        { "\"family\":\"gbdt\",\"objective\":\"regression\",\"target\":\"number\"", NULL },
        { "\"family\":\"gbdt\",\"precision\":\"bf16\"", "/precision" }, { "\"family\":\"gbdt\",\"precision\":\"auto\"", NULL },
        { "\"precision\":\"bf16\"", NULL }, { "\"teacher_version\":2", "/teacher_version" },
        { "\"recompute\":\"on\"", "/recompute" }, { "\"recompute\":\"on\",\"family\":\"gbdt\"", "/recompute" },
        { "\"recompute\":\"on\",\"family\":\"gpt\"", NULL }, { "\"recompute\":\"off\"", NULL },
        { "\"tune_batches\":true", "/tune_batches" }, { "\"tune_batches\":true,\"tune_steps\":5", NULL },
        { "\"tune_steps\":5,\"family\":\"gbdt\"", "/tune_steps" }, { "\"ranks\":2", "/ranks" },
        { "\"ranks\":2,\"accumulate\":6", NULL }, { "\"ranks\":4,\"accumulate\":6", "/ranks" },
        { "\"ranks\":3,\"accumulate\":3", "/ranks" }, { "\"ranks\":0", NULL },
        { "\"ranks\":8,\"accumulate\":8,\"family\":\"gbdt\"", "/ranks" },
        { "\"tensor_ranks\":2", "/tensor_ranks" }, { "\"tensor_ranks\":2,\"family\":\"gpt\"", NULL },
        { "\"tensor_ranks\":3,\"family\":\"gpt\",\"heads\":3,\"width\":12", "/tensor_ranks" },
        { "\"tensor_ranks\":4,\"family\":\"gpt\",\"heads\":2,\"width\":12", "/tensor_ranks" },
        { "\"tensor_ranks\":4,\"family\":\"gpt\",\"heads\":4,\"kv_heads\":2", "/tensor_ranks" },
        { "\"tensor_ranks\":2,\"family\":\"gpt\",\"ranks\":2,\"accumulate\":2", "/tensor_ranks" },
        { TEACHER, NULL }, { TEACHER ",\"family\":\"gbdt\"", "/teacher" }, { TEACHER ",\"family\":\"gpt\"", "/teacher" },
        { TEACHER ",\"objective\":\"regression\",\"target\":\"number\"", "/teacher" },
        { TEACHER ",\"category_columns\":[\"colour\"]", "/teacher" },
        { "\"objective\":\"regression\",\"target\":\"number\"", NULL }, { "\"target\":\"flags\"", "/objective" },
        { "\"objective\":\"multi-label\"", "/objective" }, { "\"objective\":\"multi-label\",\"target\":\"flags\"", NULL },
        { "\"family\":\"gpt\",\"gated\":true,\"rms_norm\":true,\"rotary\":true,\"kv_heads\":2", NULL },
    };
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct train_job t;
        e = (struct err){ 0 };
        assert_int_equal(read_train(a, rows[i].members, &t), ERR_OK);
        enum errc rc = train_job_settle(&t, a, &e);
        if (rc != (rows[i].field ? ERR_INVALID : ERR_OK) || (rows[i].field && strcmp(e.field, rows[i].field)))
            fail_msg("%s: %s at %s", rows[i].members, err_row(rc)->name, e.field);
    }
}

/* Ranks by the processors: a power of two that divides the step's batches; what a spec says goes. */
static void ranks_go_by_processors_where_a_spec_leaves_it_to_them(void **state)
{
    static const struct { int64_t ranks, accumulate; int cores; int64_t want; } rows[] = {
        { 0, 8, 1, 1 }, { 0, 8, 2, 2 }, { 0, 8, 7, 4 }, { 0, 8, 64, 8 }, { 0, 6, 64, 2 }, { 0, 1, 64, 1 }, { 4, 8, 2, 4 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct train_job t = { .ranks = rows[i].ranks, .accumulate = rows[i].accumulate };
        assert_int_equal(train_job_ranks(&t, rows[i].cores), rows[i].want);
        t.family = TRAIN_GBDT;
        assert_int_equal(train_job_ranks(&t, rows[i].cores), rows[i].ranks ? rows[i].want : 1);
    }
}

static void enums_have_their_names(void **state)
{
    (void)state;
    assert_string_equal(job_family_names[TRAIN_MLP], "mlp");
    assert_string_equal(job_optimizer_names[TRAIN_SGD], "sgd");
    assert_string_equal(job_schedule_names[TRAIN_LINEAR], "linear");
    assert_string_equal(job_family_names[TRAIN_GPT], "gpt");
    assert_null(job_schedule_names[TRAIN_WSD + 1]);
}

static void sql_is_printed_from_the_same_rows(void **state)
{
    (void)state;
    CLEANUP(buf_releasep) struct buf b = BUF(1 << 16);
    assert_false(job_types_print_sql(&b, "job_dance"));
    assert_int_equal(b.len, 0);
    assert_true(job_types_print_sql(&b, "job_purpose") && job_types_print_sql(&b,
        "job_kind_is_known") && job_types_print_sql(&b, "job_stays"));
    buf_add_char(&b, '\0');
    for (int i = 0; i < JOB_KIND_COUNT; i++) {
        char when[128];
        snprintf(when, sizeof when, "WHEN '%s' THEN '%s'", job_types[i].name, job_types[i].purpose);
        assert_non_null(strstr(b.ptr, when));
    }
    assert_non_null(strstr(b.ptr, "kind IN ('serve') $$;"));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_row_is_whole), cmocka_unit_test(the_limits_of_a_training_spec),
                                        cmocka_unit_test(no_layers_are_the_usual_ones), cmocka_unit_test(no_rate_is_the_usual_one),
                                            cmocka_unit_test(members_of_a_family_must_fit),
        cmocka_unit_test(ranks_go_by_processors_where_a_spec_leaves_it_to_them),
                                                cmocka_unit_test(enums_have_their_names),
                                        cmocka_unit_test(sql_is_printed_from_the_same_rows) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
