/* SPDX-License-Identifier: Apache-2.0 */
/* test_columns.c - words get codes by how often they come; a net and trees learn a real table of words, numbers and gaps, and
 * what is served is what was judged, for people nobody has heard of, too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "table_kit.h"
#include "core/data/csv.h"
#include "workers/compute/infer/model.h"

static void test_codes_and_gaps(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)16 << 20);
    static struct str words[] = { { "c", 1 } };
    const struct data_schema schema = { .label = STR("y"), .target = TARGET_NUMBER, .categories = { words, 1 },
                                        .has_missing = true };
    struct data_table t;
    struct columns c;
    struct err e = { 0 };
    static const uint32_t train[] = { 0, 1, 2, 3, 4, 5 };
    float row[8];
    const char *text = "c,a,b,y\nred,1,1,0\nblue,3,1,0\nblue,,1,0\nred,1,1,0\nblue,3,1,0\nonce,2,1,0\nred,9,,0\nonce,,9,0\n";
    assert_int_equal(csv_read(a, str_c(text), &schema, &t, &e), ERR_OK);
    assert_int_equal(columns_make(a, &t, train, 6, true, true, &c, &e), ERR_OK);
    assert_true(c.numbers == 2 && c.categories == 1 && c.codes == 2 && columns_inputs(&c) == 6);
    assert_true(str_eq_c(((struct str *)c.words[0].items)[0], "blue"));     /* three of the training rows; "once" is rare */
    assert_true(c.mean[0] == 2 && c.mean[1] == 1 && c.missing[0] == 1 && c.missing[1] == 0);
    assert_true(t.x[2] == 1 && t.x[5] == 0 && isnan(t.x[3 * 5 + 2]));
    columns_row(&c, t.x + 3 * 2, row);          /* blue, gap, 1 */
    assert_memory_equal(row, ((float[]){ 0, 0, 1, 0, 1, 0 }), 6 * sizeof *row);
    columns_row(&c, t.x + 3 * 6, row);          /* red, 9, a gap that no training row had */
    assert_true(row[0] > 1 && row[1] == 0 && row[2] == 0 && row[3] == 0 && row[4] == 0 && row[5] == 1);
    columns_row(&c, t.x + 3 * 7, row);          /* a rare word is none */
    assert_true(row[2] == 1 && row[4] == 0 && row[5] == 0);
}

static struct train_job spec(int family)
{
    static int64_t hidden[] = { 16 };
    struct train_job s = { .family = family, .hidden = { hidden, 1 }, .epochs = 8, .batch_size = 32, .accumulate = 1,
                           .learning_rate = 0.01, .seed = 3, .holdout = 0.25, .clip_norm = 0 };
    if (family == TRAIN_GBDT)
        s = (struct train_job){ .family = family, .trees = 30, .leaves = 8, .leaf_rows = 5, .bins = 255, .row_share = 1,
                                .column_share = 1, .learning_rate = 0.2, .seed = 3, .holdout = 0.25 };
    return s;
}

/* How likely somebody survived, as it is served; words as a request has them, NULL: none. */
static float ask(const struct infer_model *m, struct infer_session *run, float class, const char *sex, const char *age)
{
    const struct model_words *w = &infer_model_info(m)->words;
    const char *word[2] = { sex, age };
    float code[2], p[2];
    int32_t label;
    struct err e = { 0 };
    for (size_t i = 0; i < 2; i++) {
        int32_t found = word[i] ? words_find(&w->words[i], str_c(word[i])) : WORD_NONE;
        code[i] = found == WORD_NONE ? (float)NAN : (float)found;
    }
    const struct infer_io io = { .in = { &class, code }, .out = { p, &label } };
    assert_int_equal(infer_run(run, &io, 1, &e), ERR_OK);
    assert_true(isfinite(p[1]) && label == (p[1] > p[0]));
    return p[1];
}

/* The held-out people, asked one by one from the table's text. */
static double share_of_right(const struct infer_model *m, struct infer_session *run, struct str text,
                             const struct train_result *r)
{
    size_t right = 0, at = 0, row = 0;
    struct str line, rest = text;
    (void)str_cut(rest, '\n', &line, &rest);
    while (at < r->holdout_count && str_cut(rest, '\n', &line, &rest)) {
        if (row++ != r->holdout_indices[at])
            continue;
        char class[8] = "", sex[8], age[8];
        int survived, fields = sscanf(line.ptr, "%7[^,],%7[^,],%7[^,],%d", class, sex, age, &survived);
        if (fields < 4)
            assert_int_equal(sscanf(line.ptr, ",%7[^,],%7[^,],%d", sex, age, &survived), 3);
        float p = ask(m, run, fields < 4 ? (float)NAN : (float)atof(class), sex, age);
        right += (p > 0.5f) == survived;
        at++;
    }
    assert_int_equal(at, r->holdout_count);
    return (double)right / (double)at;
}

static void learns(int family)
{
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)256 << 20);
    const struct data_schema schema = kit_titanic_schema();
    struct train_job s = spec(family);
    struct str text = kit_titanic(a);
    struct train_data d;
    struct train_result r;
    struct infer_model *m;
    struct infer_session *run;
    struct err e = { 0 };
    if (train_data_rows(a, text, &schema, &s, &d, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    kit_train(a, &s, &d, &r);
    if (infer_model_load(kit_backend(), NULL, r.model.ptr, r.model.len, &m, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    assert_int_equal(infer_session_new(m, &run, &e), ERR_OK);
    assert_true(infer_model_info(m)->words.columns == 2 && infer_model_info(m)->words.takes_missing);
    print_message("%s: %.4f held out\n", job_family_names[family], r.holdout_accuracy);
    assert_true(r.holdout_accuracy > 0.74);
    double served = share_of_right(m, run, text, &r);
    assert_true(fabs(served - r.holdout_accuracy) < 1e-9);
    /* Of women in the first class 97 of 100 lived, of men in the third 17, of the crew's women 20 of 23: a gap is no class. */
    assert_true(ask(m, run, 1, "female", "adult") > 0.85f && ask(m, run, 3, "male", "adult") < 0.35f);
    assert_true(ask(m, run, (float)NAN, "female", "adult") > 0.7f);
    assert_true(ask(m, run, 1, "unheard of", "adult") == ask(m, run, 1, NULL, "adult"));
    assert_true((int64_t)r.model.len <= train_job_model_bytes(&s, 3));
    infer_session_free(run);
    infer_model_free(m);
    train_result_release(&r);
}

static void test_net(void **st)
{
    (void)st;
    learns(TRAIN_MLP);
}

static void test_trees(void **st)
{
    (void)st;
    learns(TRAIN_GBDT);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_codes_and_gaps), cmocka_unit_test(test_net),
                                        cmocka_unit_test(test_trees) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
