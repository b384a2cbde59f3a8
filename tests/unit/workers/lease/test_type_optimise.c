/* SPDX-License-Identifier: Apache-2.0 */
/* test_type_optimise.c - a real child makes a model smaller and gives its report; a model whose accuracy fell by more than is
 * allowed is not given out, and its report is. */
#include "executor_kit.h"

#include <math.h>
#include "../compute/onnx/onnx_kit.h"

enum { COLS = 6, CLASSES = 3, ROWS = 200 };
#define SPEC(more)                                                                                                          \
    "{\"model_id\":\"mdl_00000000000000000000000000000001\",\"model_version\":4,"                                          \
    "\"dataset_id\":\"dst_00000000000000000000000000000001\",\"dataset_version\":1,\"classes\":3" more "}"

static float number(int i, int seed)
{
    return (float)sin(seed + i * 1.7);
}

/* scores = rows * W, and a table whose labels are the largest score. */
static void make(struct buf *onnx, struct buf *csv)
{
    struct buf g = BUF(KIT_BYTES);
    float w[COLS * CLASSES];
    for (int i = 0; i < COLS * CLASSES; i++)
        w[i] = number(i, 3);
    kit_input(&g, "pixels", KIT_DIMS(-1, COLS));
    kit_tensor(&g, 5, "w", ONNX_FLOAT, KIT_DIMS(COLS, CLASSES), w, sizeof w);
    kit_node(&g, "MatMul", "pixels,w", "scores", NULL);
    kit_output(&g, "scores");
    *onnx = kit_model(&g, 17);
    *csv = BUF(KIT_BYTES);
    buf_add_c(csv, "a,b,c,d,e,f,label\n");
    for (int r = 0; r < ROWS; r++) {
        double score[CLASSES] = { 0 };
        int best = 0;
        for (int k = 0; k < COLS; k++) {
            float v = number(r * COLS + k, r);
            buf_printf(csv, "%.9g,", (double)v);
            for (int o = 0; o < CLASSES; o++)
                score[o] += (double)v * (double)w[k * CLASSES + o];
        }
        for (int o = 1; o < CLASSES; o++)
            best = score[o] > score[best] ? o : best;
        buf_printf(csv, "%d\n", best);
    }
}

/* The model is the second input, sealed under another key, where the kit keeps checkpoints. */
static void add_model(struct fixture *f, const struct buf *file)
{
    struct kit_ckpt *k = &f->store.ckpts[0];
    struct stream_sealer *sealer = NULL;
    struct err e = { 0 };
    uint8_t digest[32];
    const struct stream_ref ref = { kit_id(200), STR("model"), kit_id(KIT_CKPT_ID), 1, kit_id(61) };
    k->sealed = BUF((size_t)64 << 20);
    f->store.n_ckpts = 1;
    assert_int_equal(stream_sealer_new(&f->store.out_key, &ref, kit_to_buf, &k->sealed, &sealer, &e), ERR_OK);
    assert_int_equal(stream_sealer_feed(sealer, file->ptr, file->len, &e), ERR_OK);
    assert_int_equal(stream_sealer_finish(sealer, &e), ERR_OK);
    stream_sealer_free(sealer);
    sha256(file->ptr, file->len, digest);
    hex_encode(digest, 32, k->sha);
    k->size = (int64_t)file->len;
}

static struct held *add_job(struct fixture *f, const char *spec)
{
    static struct lease_input in[2];            /* until the grant is copied into the book */
    struct lease_grant g = kit_grant(1, "optimise", spec);
    kit_add_input(&g, &f->store, "dataset");
    in[0] = ((const struct lease_input *)g.inputs.items)[0];
    in[1] = (struct lease_input){ .name = STR("model"), .kind = STR("model"), .sha256 = str_c(f->store.ckpts[0].sha),
                                  .object_id = kit_id(KIT_CKPT_ID), .version = 1, .size_bytes = f->store.ckpts[0].size };
    g.inputs = (struct slice){ in, 2 };
    return book_add(f->book, &g, true);
}

static void begin(struct fixture *f)
{
    CLEANUP(buf_releasep) struct buf onnx = BUF(0), csv = BUF(0), file = BUF(KIT_BYTES);
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)64 << 20);
    struct onnx_about about;
    struct err e = { 0 };
    make(&onnx, &csv);
    assert_int_equal(onnx_convert(a, buf_str(&onnx), NULL, &file, &about, &e), ERR_OK);
    setup_with(f, "1g", csv.ptr, csv.len);
    add_model(f, &file);
}

static void test_a_smaller_model_and_its_report(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    run_and_expect(&f, add_job(&f, SPEC(",\"max_accuracy_drop\":0.1")), "\"event\":\"succeed\"", "\"accuracy_before\":1");
    CLEANUP(buf_releasep) struct buf file = BUF(0);
    kit_open_output(&f.store, &file);
    struct infer_model *m;
    struct err e;
    assert_int_equal(infer_model_load(&backend_ref, NULL, file.ptr, file.len, &m, &e), ERR_OK);
    assert_true(str_eq_c(infer_model_info(m)->sig.inputs[0].name, "pixels"));
    infer_model_free(m);
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 24);
    struct st_file st;
    assert_int_equal(st_parse(a, file.ptr, file.len, &st, &e), ERR_OK);
    assert_true(str_eq_c(st_meta(&st, "parent"), "mdl_00000000000000000000000000000001@4"));
    assert_true(str_eq_c(st_meta(&st, "precision"), "int8"));
    teardown(&f);
}

static void test_a_drop_beyond_the_limit_fails_with_its_report(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    struct held *h = add_job(&f, SPEC(",\"calibration\":\"percentile\",\"percentile\":50,\"max_accuracy_drop\":0"));
    executor_run(&f.env, h);
    CLEANUP(buf_releasep) struct buf report = BUF((size_t)4 << 20);
    kit_report(f.book, &report);
    const char *want[] = { "\"event\":\"fail\"", "max_accuracy_drop allows 0.0000", "accuracy 1.0000 before", "\"agreement\":" };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        if (!strstr(report.ptr, want[i]))
            fail_msg("%s is not in %s", want[i], report.ptr);
    assert_int_equal(f.store.uploads, 0);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_a_smaller_model_and_its_report),
                                        cmocka_unit_test(test_a_drop_beyond_the_limit_fails_with_its_report) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
