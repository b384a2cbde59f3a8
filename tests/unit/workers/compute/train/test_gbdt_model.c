/* SPDX-License-Identifier: Apache-2.0 */
/* test_gbdt_model.c - the file of a run is served with the bits of the evaluation; changed trees in it are refused by name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "gbdt_kit.h"
#include "workers/compute/infer/model.h"
#include "workers/compute/train/gbdt_model.h"

static struct train_job spec;
static struct train_data data;

static void served(struct arena *a, int target, int objective, const char *signature)
{
    CLEANUP(buf_releasep) struct buf text = BUF(1024);
    struct train_result r;
    struct infer_model *m;
    struct infer_session *s;
    struct err e = { 0 };
    spec = kit_trees(12);
    spec.objective = objective;
    data = kit_friedman(a, &spec, target, 700);
    kit_train(a, &spec, &data, &r);
    if (infer_model_load(kit_backend(), NULL, r.model.ptr, r.model.len, &m, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    assert_true(model_sig_write(&text, &infer_model_info(m)->sig));
    assert_non_null(strstr(text.ptr, signature));
    assert_int_equal(infer_session_new(m, &s, &e), ERR_OK);
    double right = 0, off = 0, sum = 0, squares = 0, n = (double)data.holdout_count;
    for (size_t i = 0; i < data.holdout_count; i++) {
        uint32_t row = data.holdout[i];
        float out[2] = { 0 };
        int32_t label = 0;
        const struct infer_io io = { .in = { data.table.x + row * data.table.cols }, .out = { out, &label } };
        assert_int_equal(infer_run(s, &io, 1, &e), ERR_OK);
        const float *y = data.table.targets ? data.table.targets + row * data.table.target_count : NULL;
        right += target == TARGET_CLASS ? label == data.table.labels[row]
                 : target == TARGET_FLAGS ? ((out[0] > 0.5f) == (y[0] > 0.5f)) + ((out[1] > 0.5f) == (y[1] > 0.5f)) : 0;
        if (target == TARGET_NUMBER) {
            off += pow((double)out[0] - (double)y[0], 2);
            sum += (double)y[0] - 1000;
            squares += pow((double)y[0] - 1000, 2);
        }
    }
    double score = target == TARGET_NUMBER ? 1 - off / (squares - sum * sum / n) : right / n / (target == TARGET_FLAGS ? 2 : 1);
    assert_true(fabs(score - r.holdout_accuracy) < 1e-9);
    infer_session_free(s);
    infer_model_free(m);
    train_result_release(&r);
}

static void test_served_as_judged(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)256 << 20);
    served(a, TARGET_NUMBER, TRAIN_REGRESSION, "{\"name\":\"value\",\"datatype\":\"FP32\",\"shape\":[-1,1]}");
    served(a, TARGET_CLASS, TRAIN_CLASSIFICATION, "{\"name\":\"label\",\"datatype\":\"INT64\",\"shape\":[-1]}");
    served(a, TARGET_FLAGS, TRAIN_MULTI_LABEL, "{\"name\":\"probabilities\",\"datatype\":\"FP32\",\"shape\":[-1,2]}");
}

/* The tensor's bytes in a file. */
static float *find(struct arena *a, struct buf *b, const char *name)
{
    struct st_file f;
    struct err e;
    assert_int_equal(st_parse(a, b->ptr, b->len, &f, &e), ERR_OK);
    const struct st_tensor *t = st_find(&f, str_c(name));
    assert_non_null(t);
    return (float *)(void *)(b->ptr + t->at);
}

static void test_changed_trees_are_refused(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)256 << 20);
    struct train_result r;
    struct infer_model *m = NULL;
    struct err e = { 0 };
    spec = kit_trees(3);
    data = kit_friedman(a, &spec, TARGET_CLASS, 300);
    kit_train(a, &spec, &data, &r);
    float *nodes = find(a, &r.model, "trees.nodes"), was = nodes[TREE_LEFT];
    nodes[TREE_LEFT] = 1e6f;
    assert_int_equal(infer_model_load(kit_backend(), NULL, r.model.ptr, r.model.len, &m, &e), ERR_BAD_DATA);
    assert_non_null(strstr(e.msg, "node 0: its child 1e+06 is not behind it"));
    nodes[TREE_LEFT] = was;
    nodes[TREE_COLUMN] = 6;
    assert_int_equal(infer_model_load(kit_backend(), NULL, r.model.ptr, r.model.len, &m, &e), ERR_BAD_DATA);
    assert_non_null(strstr(e.msg, "its column is 6 of 6"));
    train_result_release(&r);
}

static void test_importance(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)256 << 20);
    struct gbdt_loss l;
    struct gbdt_model m;
    struct err e = { 0 };
    float nodes[3 * TREE_FIELDS] = { 1, 0.5f, 1, 2, 0, -1, 3, -1, 1, 0, 0, 0, -1, 0, -1, 2, 0, 0, 0, -1, 0 };
    struct gbdt_tree t = { nodes, NULL, 3, 0, 2 };
    double share[3];
    spec = kit_trees(3);
    data = kit_friedman(a, &spec, TARGET_CLASS, 100);
    assert_int_equal(gbdt_loss_new(a, NULL, &data, &l, &e), ERR_OK);
    assert_int_equal(gbdt_model_new(a, &l, &m, &e), ERR_OK);
    assert_int_equal(gbdt_model_add(&m, &t, 0, &e), ERR_OK);
    nodes[TREE_COLUMN] = 2;
    nodes[TREE_GAIN] = 1;
    assert_int_equal(gbdt_model_add(&m, &t, 0, &e), ERR_OK);
    gbdt_model_importance(&m, 3, share);
    assert_true(share[0] == 0 && share[1] == 0.75 && share[2] == 0.25);
    gbdt_model_cut(&m, 1);
    gbdt_model_importance(&m, 3, share);
    assert_true(m.node_count == 3 && share[1] == 1 && share[2] == 0);
    gbdt_model_release(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_served_as_judged), cmocka_unit_test(test_changed_trees_are_refused),
                                        cmocka_unit_test(test_importance) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
