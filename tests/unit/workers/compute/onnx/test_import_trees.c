/* SPDX-License-Identifier: Apache-2.0 */
/* test_import_trees.c - ensembles of trees as files have them, in any order of their nodes and by every mode, beside a walk over
 * the lists as they stand; what is not imported is named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "onnx_kit.h"
#include "workers/compute/rng.h"

enum { COLS = 3, OUTPUTS = 3, TREES = 7, DEPTH = 4, NODES_MAX = TREES * 31, WEIGHTS_MAX = NODES_MAX * 2, ROWS = 40 };

static const char *const modes[] = { "BRANCH_LEQ", "BRANCH_LT", "BRANCH_GT", "BRANCH_GTE", "LEAF" };

static struct {
    int64_t tree[NODES_MAX], id[NODES_MAX], column[NODES_MAX], yes[NODES_MAX], no[NODES_MAX], missing[NODES_MAX];
    float value[NODES_MAX];
    int mode[NODES_MAX];
    size_t n;
    int64_t w_tree[WEIGHTS_MAX], w_id[WEIGHTS_MAX], w_out[WEIGHTS_MAX];
    float weight[WEIGHTS_MAX];
    size_t w;
} t;
static uint64_t state;

static size_t below(size_t n)
{
    return philox(7, 8, state++).v[0] % n;
}

/* A node and what is below it; its id. Ids are odd ones in no order. */
static int64_t grow(int64_t tree, int depth, int64_t *next)
{
    const size_t at = t.n++;
    const int64_t id = (*next)++ * 37 % 1009;
    t.tree[at] = tree;
    t.id[at] = id;
    t.mode[at] = depth == DEPTH || below(5) == 0 ? 4 : (int)below(4);
    t.column[at] = (int64_t)below(COLS);
    t.value[at] = (float)below(5) - 2;
    t.missing[at] = (int64_t)below(2);
    if (t.mode[at] < 4) {
        t.yes[at] = grow(tree, depth + 1, next);
        t.no[at] = grow(tree, depth + 1, next);
        return id;
    }
    for (size_t k = 0; k < 1 + below(2); k++, t.w++) {
        t.w_tree[t.w] = tree;
        t.w_id[t.w] = id;
        t.w_out[t.w] = (int64_t)((below(OUTPUTS) + k) % OUTPUTS);
        t.weight[t.w] = (float)below(100) / 8;
    }
    return id;
}

#define SWAP(list, i, j) do { typeof(list[0]) keep = list[i]; list[i] = list[j]; list[j] = keep; } while (0)

static void shuffle(void)
{
    for (size_t i = t.n - 1; i > 0; i--) {
        size_t j = below(i + 1);
        SWAP(t.tree, i, j);
        SWAP(t.id, i, j);
        SWAP(t.column, i, j);
        SWAP(t.yes, i, j);
        SWAP(t.no, i, j);
        SWAP(t.missing, i, j);
        SWAP(t.value, i, j);
        SWAP(t.mode, i, j);
    }
}

static size_t at_of(int64_t tree, int64_t id)
{
    size_t i = 0;
    while (t.tree[i] != tree || t.id[i] != id)
        i++;
    return i;
}

static bool is_true(size_t i, const float *x)
{
    float v = x[t.column[i]], than = t.value[i];
    if (isnan(v))
        return t.missing[i];
    return t.mode[i] == 0 ? v <= than : t.mode[i] == 1 ? v < than : t.mode[i] == 2 ? v > than : v >= than;
}

static void walk(const float *x, double share, const float *base, double *ret)
{
    for (size_t k = 0; k < OUTPUTS; k++)
        ret[k] = (double)base[k];
    for (int64_t tree = 0; tree < TREES; tree++) {
        size_t i = at_of(tree * 3, 0);
        while (t.mode[i] < 4)
            i = at_of(tree * 3, is_true(i, x) ? t.yes[i] : t.no[i]);
        for (size_t k = 0; k < t.w; k++)
            if (t.w_tree[k] == t.tree[i] && t.w_id[k] == t.id[i])
                ret[t.w_out[k]] += (double)t.weight[k] * share;
    }
}

static bool is_mixed;                   /* lists of numbers have one, and whole numbers in the place of the others */

static void add_floats(struct buf *attrs, const char *name, const float *v, size_t n)
{
    struct buf a = BUF(KIT_BYTES);
    const size_t own = is_mixed ? 1 : n;
    pb_add_text(&a, 1, name);
    pb_add_bytes(&a, 7, v, own * sizeof *v);
    for (size_t i = own; i < n; i++)
        pb_add_number(&a, 8, 1);
    pb_add_message(attrs, 5, &a);
}

static void add_word(struct buf *attrs, const char *name, const char *word)
{
    struct buf a = BUF(256);
    pb_add_text(&a, 1, name);
    pb_add_text(&a, 4, word);
    pb_add_message(attrs, 5, &a);
}

static void add_modes(struct buf *attrs)
{
    struct buf a = BUF(KIT_BYTES);
    pb_add_text(&a, 1, "nodes_modes");
    for (size_t i = 0; i < t.n; i++)
        pb_add_text(&a, 9, modes[t.mode[i]]);
    pb_add_message(attrs, 5, &a);
}

static const float base[OUTPUTS] = { 0.5f, -1, 2 };

static struct buf attributes(bool is_class)
{
    struct buf a = BUF(KIT_BYTES);
    static const int64_t labels[OUTPUTS] = { 0, 1, 2 };
    pb_add_text(&a, 7, "ai.onnx.ml");
    kit_ints(&a, "nodes_treeids", t.tree, t.n);
    kit_ints(&a, "nodes_nodeids", t.id, t.n);
    kit_ints(&a, "nodes_featureids", t.column, t.n);
    kit_ints(&a, "nodes_truenodeids", t.yes, t.n);
    kit_ints(&a, "nodes_falsenodeids", t.no, t.n);
    kit_ints(&a, "nodes_missing_value_tracks_true", t.missing, t.n);
    add_floats(&a, "nodes_values", t.value, t.n);
    add_modes(&a);
    kit_ints(&a, is_class ? "class_treeids" : "target_treeids", t.w_tree, t.w);
    kit_ints(&a, is_class ? "class_nodeids" : "target_nodeids", t.w_id, t.w);
    kit_ints(&a, is_class ? "class_ids" : "target_ids", t.w_out, t.w);
    add_floats(&a, is_class ? "class_weights" : "target_weights", t.weight, t.w);
    add_floats(&a, "base_values", base, OUTPUTS);
    if (is_class)
        kit_ints(&a, "classlabels_int64s", labels, OUTPUTS);
    else
        kit_int(&a, "n_targets", OUTPUTS);
    return a;
}

static void make(uint64_t seed)
{
    memset(&t, 0, sizeof t);
    state = seed * 100000;
    for (int64_t tree = 0; tree < TREES; tree++) {
        int64_t next = 0;
        (void)grow(tree * 3, 0, &next);
    }
    shuffle();
}

static void rows_of(float *x)
{
    for (size_t i = 0; i < ROWS * COLS; i++)
        x[i] = below(9) == 0 ? (float)NAN : (float)below(9) / 2 - 2;
}

static void sums_as_the_lists_say(void **st)
{
    (void)st;
    float x[ROWS * COLS], got[KIT_OUT];
    for (uint64_t seed = 1; seed <= 12; seed++) {
        make(seed);
        rows_of(x);
        struct buf a = attributes(false);
        if (seed % 2)
            add_word(&a, "aggregate_function", "AVERAGE");
        struct buf g = kit_one_node("TreeEnsembleRegressor", "x", &a, KIT_DIMS(-1, COLS));
        assert_int_equal(kit_run_on(&backend_ref, &g, 17, x, ROWS, got), ROWS * OUTPUTS);
        for (size_t r = 0; r < ROWS; r++) {
            double want[OUTPUTS];
            walk(x + r * COLS, seed % 2 ? 1.0 / TREES : 1, base, want);
            for (size_t k = 0; k < OUTPUTS; k++)
                if (!(fabs((double)got[r * OUTPUTS + k] - want[k]) < 1e-4))
                    fail_msg("seed %d, row %zu, output %zu: %g, not %g", (int)seed, r, k, (double)got[r * OUTPUTS + k], want[k]);
        }
    }
}

/* Label and likelihoods; kit_run_on reads the first output, which is the one of this name. */
static void classes_and_how_likely_they_are(void **st)
{
    (void)st;
    float x[ROWS * COLS], got[KIT_OUT];
    make(3);
    rows_of(x);
    struct buf a = attributes(true), g = BUF(KIT_BYTES);
    add_word(&a, "post_transform", "SOFTMAX");
    kit_input(&g, "x", KIT_DIMS(-1, COLS));
    kit_node(&g, "TreeEnsembleClassifier", "x", "label,y", &a);
    kit_output(&g, "y");
    assert_int_equal(kit_run_on(&backend_ref, &g, 17, x, ROWS, got), ROWS * OUTPUTS);
    for (size_t r = 0; r < ROWS; r++) {
        double want[OUTPUTS], all = 0;
        walk(x + r * COLS, 1, base, want);
        for (size_t k = 0; k < OUTPUTS; k++)
            all += exp(want[k]);
        for (size_t k = 0; k < OUTPUTS; k++)
            assert_true(fabs((double)got[r * OUTPUTS + k] - exp(want[k]) / all) < 1e-4);
    }
}

static void refused(const char *op, void (*spoil)(struct buf *a), enum errc code, const char *why)
{
    struct buf a = attributes(!strcmp(op, "TreeEnsembleClassifier"));
    if (spoil)
        spoil(&a);
    struct buf g = kit_one_node(op, "x", &a, KIT_DIMS(-1, COLS));
    kit_refused(&g, 17, code, why);
}

/* The root of a tree that has branches. */
static size_t root(void)
{
    int64_t tree = 0;
    while (t.mode[at_of(tree, 0)] == 4)
        tree += 3;
    return at_of(tree, 0);
}

static void other_transform(struct buf *a)
{
    add_word(a, "post_transform", "PROBIT");
}

static void other_sum(struct buf *a)
{
    add_word(a, "aggregate_function", "MAX");
}

static void what_is_not_imported_is_named(void **st)
{
    (void)st;
    make(5);
    refused("TreeEnsembleRegressor", other_transform, ERR_UNPROCESSABLE, "post_transform PROBIT; NONE, LOGISTIC and SOFTMAX are");
    refused("TreeEnsembleRegressor", other_sum, ERR_UNPROCESSABLE, "an aggregate_function other than SUM and AVERAGE");
    make(5);
    t.id[1] = t.id[0];
    t.tree[1] = t.tree[0];
    refused("TreeEnsembleRegressor", NULL, ERR_BAD_DATA, "is there twice");
    make(5);
    t.yes[root()] = 1008;
    refused("TreeEnsembleRegressor", NULL, ERR_BAD_DATA, "leads to a node that is not there");
    make(5);
    t.yes[root()] = 0;                          /* its own parent */
    refused("TreeEnsembleRegressor", NULL, ERR_BAD_DATA, "nodes in a circle");
    make(5);
    t.w_out[0] = OUTPUTS;
    refused("TreeEnsembleRegressor", NULL, ERR_BAD_DATA, "expected a leaf and one of 3 outputs");
    make(5);
    t.column[root()] = COLS;
    refused("TreeEnsembleRegressor", NULL, ERR_BAD_DATA, "its column is 3 of 3");
    make(5);
    t.w--;
    t.w_tree[0] = 1;
    refused("TreeEnsembleRegressor", NULL, ERR_BAD_DATA, "weight 0 is of node");
}

/* As long as it should be, but of two kinds: what is read as numbers would lie behind the only one. */
static void a_list_of_two_kinds_is_refused(void **st)
{
    (void)st;
    make(5);
    is_mixed = true;
    refused("TreeEnsembleRegressor", NULL, ERR_BAD_DATA, "nodes_values has 1 numbers");
    is_mixed = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(sums_as_the_lists_say),
                                        cmocka_unit_test(classes_and_how_likely_they_are),
                                        cmocka_unit_test(what_is_not_imported_is_named),
                                        cmocka_unit_test(a_list_of_two_kinds_is_refused) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
