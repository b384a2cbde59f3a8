/* SPDX-License-Identifier: Apache-2.0 */
/* test_import_linear.c - linear models, scaling, norms and the map of classes of ai.onnx.ml, and two classes by one score of
 * trees, against what ONNX Runtime 1.30 gives for the same files. */
#include "q8_kit.h"

#include <string.h>

enum { ROWS = 5 };
static const float x[ROWS * 2] = { -1, 2, 0.2f, -3, 0.6f, 0.1f, 2, 1, -0.3f, -0.4f };

static struct buf ml(void)
{
    struct buf a = BUF(KIT_BYTES);
    pb_add_text(&a, 7, "ai.onnx.ml");
    return a;
}

static void reals(struct buf *attrs, const char *name, const float *v, size_t n)
{
    struct buf a = BUF(1024);
    pb_add_text(&a, 1, name);
    pb_add_bytes(&a, 7, v, n * sizeof *v);
    pb_add_message(attrs, 5, &a);
}
#define REALS(attrs, name, ...) \
    reals(attrs, name, (const float[]){ __VA_ARGS__ }, sizeof((const float[]){ __VA_ARGS__ }) / sizeof(float))
#define INTS(attrs, name, ...) \
    kit_ints(attrs, name, (const int64_t[]){ __VA_ARGS__ }, sizeof((const int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t))

static void word(struct buf *attrs, const char *name, const char *text)
{
    struct buf a = BUF(256);
    pb_add_text(&a, 1, name);
    pb_add_text(&a, 4, text);
    pb_add_message(attrs, 5, &a);
}

/* A classifier's answers; attrs is copied for each of its outputs. */
static void gives(const char *op, struct buf *attrs, const char *labels, const float *want, size_t columns)
{
    for (int k = 0; k < 2; k++) {
        struct buf g = BUF(KIT_BYTES), own = BUF(KIT_BYTES);
        float got[KIT_OUT];
        buf_add(&own, attrs->ptr, attrs->len);
        kit_input(&g, "x", KIT_DIMS(-1, 2));
        kit_node(&g, op, "x", "label,p", &own);
        kit_output(&g, k ? "p" : "label");
        assert_int_equal(kit_run_on(&backend_ref, &g, 17, x, ROWS, got), k ? ROWS * columns : ROWS);
        for (size_t i = 0; k && i < ROWS * columns; i++)
            if (!(fabsf(got[i] - want[i]) < 1e-4f))
                fail_msg("%s: number %zu is %g, not %g", op, i, (double)got[i], (double)want[i]);
        for (size_t i = 0; !k && i < ROWS; i++) {
            int32_t label;
            memcpy(&label, &got[i], sizeof label);
            if (label != labels[i] - '0')
                fail_msg("%s: row %zu is of class %d, not of %c", op, i, label, labels[i]);
        }
    }
    buf_release(attrs);
}
#define GIVES(op, attrs, labels, columns, ...) gives(op, attrs, labels, (const float[]){ __VA_ARGS__ }, columns)

static void test_linear(void **st)
{
    (void)st;
    struct buf a = ml(), g;
    REALS(&a, "coefficients", 0.5f, -1, -0.3f, 0.2f);
    REALS(&a, "intercepts", 0.1f, -0.2f);
    kit_int(&a, "targets", 2);
    g = kit_one_node("LinearRegressor", "x", &a, KIT_DIMS(-1, 2));
    KIT_EXPECT(&g, 17, x, ROWS, -2.4f, 0.5f, 3.2f, -0.86f, 0.3f, -0.36f, 0.1f, -0.6f, 0.35f, -0.19f);
    a = ml();
    REALS(&a, "coefficients", 0.5f, -1, -0.3f, 0.2f, 0.7f, 0.1f);
    REALS(&a, "intercepts", 0.1f, -0.2f, 0.05f);
    INTS(&a, "classlabels_ints", 0, 1, 2);
    word(&a, "post_transform", "LOGISTIC");
    GIVES("LinearClassifier", &a, "10220", 3, 0.0832f, 0.6225f, 0.3894f, 0.9608f, 0.2973f, 0.4725f, 0.5744f, 0.411f, 0.6177f,
          0.525f, 0.3543f, 0.8249f, 0.5866f, 0.4526f, 0.4502f);
    a = ml();
    REALS(&a, "coefficients", 0.5f, -1, -0.3f, 0.2f);
    REALS(&a, "intercepts", 0.1f, -0.2f);
    INTS(&a, "classlabels_ints", 0, 1);
    word(&a, "post_transform", "SOFTMAX");
    GIVES("LinearClassifier", &a, "10000", 2, 0.0522f, 0.9478f, 0.983f, 0.017f, 0.6593f, 0.3407f, 0.6682f, 0.3318f, 0.6318f,
          0.3682f);
    for (int i = 0; i < 2; i++) {       /* one score */
        a = ml();
        REALS(&a, "coefficients", 0.5f, -1);
        REALS(&a, "intercepts", 0.1f);
        INTS(&a, "classlabels_ints", 0, 1);
        word(&a, "post_transform", i ? "LOGISTIC" : "NONE");
        if (i)
            GIVES("LinearClassifier", &a, "01111", 2, 0.9168f, 0.0832f, 0.0392f, 0.9608f, 0.4256f, 0.5744f, 0.475f, 0.525f,
                  0.4134f, 0.5866f);
        else
            GIVES("LinearClassifier", &a, "01111", 2, 3.4f, -2.4f, -2.2f, 3.2f, 0.7f, 0.3f, 0.9f, 0.1f, 0.65f, 0.35f);
    }
}

static void test_rows(void **st)
{
    (void)st;
    struct buf a = ml(), g;
    REALS(&a, "offset", 0.5f, 1);
    REALS(&a, "scale", 2, 0.5f);
    g = kit_one_node("Scaler", "x", &a, KIT_DIMS(-1, 2));
    KIT_EXPECT(&g, 17, x, ROWS, -3, 0.5f, -0.6f, -2, 0.2f, -0.45f, 3, 0, -1.6f, -0.7f);
    a = ml();
    word(&a, "norm", "L2");
    g = kit_one_node("Normalizer", "x", &a, KIT_DIMS(-1, 2));
    KIT_EXPECT(&g, 17, x + 6, 2, 0.894427f, 0.447214f, -0.6f, -0.8f);
    a = ml();
    word(&a, "norm", "L1");
    g = kit_one_node("Normalizer", "x", &a, KIT_DIMS(-1, 2));
    KIT_EXPECT(&g, 17, ((const float[]){ -1, 2, 0, 0 }), 2, -1.0f / 3, 2.0f / 3, 0, 0);
    a = ml();
    INTS(&a, "classlabels_int64s", 0, 1);
    g = kit_one_node("ZipMap", "x", &a, KIT_DIMS(-1, 2));
    KIT_EXPECT(&g, 17, x + 6, 1, 2, 1);
}

/* Two stumps. */
static struct buf stumps(const float weight[4], int64_t class, const char *post)
{
    struct buf a = ml(), modes = BUF(1024);
    INTS(&a, "nodes_treeids", 0, 0, 0, 1, 1, 1);
    INTS(&a, "nodes_nodeids", 0, 1, 2, 0, 1, 2);
    INTS(&a, "nodes_featureids", 0, 0, 0, 1, 0, 0);
    INTS(&a, "nodes_truenodeids", 1, 0, 0, 1, 0, 0);
    INTS(&a, "nodes_falsenodeids", 2, 0, 0, 2, 0, 0);
    REALS(&a, "nodes_values", 0, 0, 0, 0.05f, 0, 0);
    pb_add_text(&modes, 1, "nodes_modes");
    for (int i = 0; i < 6; i++)
        pb_add_text(&modes, 9, i % 3 ? "LEAF" : "BRANCH_LEQ");
    pb_add_message(&a, 5, &modes);
    INTS(&a, "class_treeids", 0, 0, 1, 1);
    INTS(&a, "class_nodeids", 1, 2, 1, 2);
    INTS(&a, "class_ids", class, class, class, class);
    reals(&a, "class_weights", weight, 4);
    INTS(&a, "classlabels_int64s", 0, 1);
    word(&a, "post_transform", post);
    return a;
}

static void test_trees_of_two_classes(void **st)
{
    (void)st;
    static const float share[] = { 0.1f, 0.4f, 0.2f, 0.5f }, low[] = { 0, 0.4f, 0.2f, 0.05f };
    static const float margin[] = { -0.1f, 0.4f, -0.7f, 0.5f };
    struct buf a = stumps(share, 0, "NONE");
    GIVES("TreeEnsembleClassifier", &a, "11110", 2, 0.4f, 0.6f, 0.4f, 0.6f, 0.1f, 0.9f, 0.1f, 0.9f, 0.7f, 0.3f);
    a = stumps(low, 0, "NONE");
    GIVES("TreeEnsembleClassifier", &a, "01000", 2, 0.95f, 0.05f, 0.4f, 0.6f, 0.55f, 0.45f, 0.55f, 0.45f, 0.8f, 0.2f);
    a = stumps(share, 0, "LOGISTIC");
    GIVES("TreeEnsembleClassifier", &a, "11110", 2, 0.3543f, 0.6457f, 0.3543f, 0.6457f, 0.2891f, 0.7109f, 0.2891f, 0.7109f,
          0.4256f, 0.5744f);
    a = stumps(margin, 0, "NONE");
    GIVES("TreeEnsembleClassifier", &a, "10110", 2, -0.4f, 0.4f, 0.3f, -0.3f, -0.9f, 0.9f, -0.9f, 0.9f, 0.8f, -0.8f);
    a = stumps(margin, 0, "LOGISTIC");
    GIVES("TreeEnsembleClassifier", &a, "10110", 2, 0.4013f, 0.5987f, 0.5744f, 0.4256f, 0.2891f, 0.7109f, 0.2891f, 0.7109f, 0.69f,
          0.31f);
}

static void refused(const char *op, struct buf *a, enum errc code, const char *why)
{
    struct buf g = BUF(KIT_BYTES);
    kit_input(&g, "x", KIT_DIMS(-1, 2));
    kit_node(&g, op, "x", "label,p", a);
    kit_output(&g, "label");
    kit_refused(&g, 17, code, why);
}

static void test_refused(void **st)
{
    (void)st;
    static const float weight[] = { 1, 2, 3, 4 };
    struct buf a = stumps(weight, 1, "NONE");
    refused("TreeEnsembleClassifier", &a, ERR_UNPROCESSABLE, "weights of both, or of the second");
    a = stumps(weight, 0, "PROBIT");
    refused("TreeEnsembleClassifier", &a, ERR_UNPROCESSABLE, "post_transform PROBIT");
    a = ml();
    INTS(&a, "classlabels_ints", 0, 1, 2);
    REALS(&a, "coefficients", 0.5f, -1);
    refused("LinearClassifier", &a, ERR_BAD_DATA, "coefficients has 2 numbers for 3 outputs of 2 columns");
    a = ml();
    INTS(&a, "classlabels_ints", 3, 4);
    refused("LinearClassifier", &a, ERR_UNPROCESSABLE, "other labels than 0, 1, 2");
    a = ml();
    REALS(&a, "scale", 1, 2, 3);
    refused("Scaler", &a, ERR_BAD_DATA, "scale has 3 numbers for 2 columns");
    a = ml();
    refused("Normalizer", &a, ERR_UNPROCESSABLE, "other than L1 and L2");
    a = ml();
    INTS(&a, "classlabels_int64s", 0, 1, 2);
    refused("ZipMap", &a, ERR_BAD_DATA, "3 classes for 2 columns");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_linear), cmocka_unit_test(test_rows),
                                        cmocka_unit_test(test_trees_of_two_classes), cmocka_unit_test(test_refused) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
