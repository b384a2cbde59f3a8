/* SPDX-License-Identifier: Apache-2.0 */
/* test_served.c - the file of a convolutional network and of a decoder is a model: the registry's reader takes it, and served it
 * gives the answers of the net that wrote it; one without a graph is refused by name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

#include "core/data/model_mlp.h"
#include "run_kit.h"
#include "workers/compute/infer/model.h"
#include "workers/compute/rng.h"
#include "workers/compute/train/model_file.h"

enum { ROWS = 3, CLASSES = 5, CONTEXT = 6, COLUMNS_MAX = 72 * 70 * 2 };

struct answers {
    float logits[ROWS * CONTEXT * CLASSES], x[ROWS * COLUMNS_MAX];
    int32_t tokens[ROWS * CONTEXT];         /* instead of x, where the data has no mean */
    struct buf file;
};

/* A net of random parameters, what it says of random rows, and its file. */
static void make(struct arena *a, const struct train_job *s, struct train_data *d, struct answers *ret)
{
    struct err e = { 0 };
    struct backend_ctx *c;
    struct net *n;
    const struct backend *be = kit_backend();
    const struct net_spec spec = { ELEM_F32, s, d->shape, ROWS, .is_serving = true };
    assert_int_equal(be->open(be, NULL, &c, &e), ERR_OK);
    if (net_new(be, c, &spec, &n, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    float *params = ARENA_ARRAY(a, float, n->numbers), *x = ARENA_ARRAY(a, float, ROWS * d->shape.inputs);
    for (size_t i = 0; i < n->numbers; i++)
        params[i] = (float)(0.2 * philox_normal(1, 2, i));
    for (size_t i = 0; i < ROWS * CONTEXT; i++)
        ret->tokens[i] = (int32_t)(i * i % CLASSES);
    for (size_t i = 0; d->columns.mean && i < ROWS * d->shape.inputs; i++) {
        size_t k = i % d->shape.inputs;
        ret->x[i] = (float)philox_normal(1, 0, i);
        x[i] = (ret->x[i] - d->columns.mean[k]) / d->columns.scale[k];
    }
    be->put(c, QUEUE_COMPUTE, run_region(n->run, REGION_PARAMS), 0, params, n->numbers * sizeof *params);
    net_put(n, d->columns.mean ? (const void *)x : ret->tokens, NULL, ROWS);
    net_exec(n, ROWS, PHASE_FORWARD, false, NULL);
    run_get(n->run, n->logits, 0, ROWS, ret->logits);
    assert_int_equal(run_sync(n->run, &e), ERR_OK);
    ret->file = BUF((size_t)16 << 20);
    if (model_file_write(a, n, params, d, &(struct model_about){ 0.5, 1, STR("") }, &ret->file, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    net_free(n);
    be->close(c);
}

static struct train_data columns(struct arena *a, size_t inputs, size_t outputs)
{
    struct train_data d = { .shape = { inputs, outputs, NET_CLASSES }, .table.cols = inputs, .columns.numbers = inputs };
    struct str *names = ARENA_ARRAY(a, struct str, inputs);
    d.columns.mean = ARENA_ARRAY(a, float, inputs);
    d.columns.scale = ARENA_ARRAY(a, float, inputs);
    for (size_t i = 0; i < inputs; i++) {
        names[i] = STR("c");
        d.columns.mean[i] = (float)(i % 7) / 8;
        d.columns.scale[i] = 1 + (float)(i % 3);
    }
    d.table.names = names;
    return d;
}

static enum errc as_registered(struct arena *a, struct str file, struct model_stream *s, struct err *e)
{
    struct model_mlp mlp;
    *s = (struct model_stream){ .arena = a, .size_bytes = file.len };
    enum errc rc = model_stream_add(s, file.ptr, file.len, e);
    if (rc == ERR_OK)
        rc = model_stream_end(s, &mlp, e);
    model_stream_release(s);
    return rc;
}

static void answers_alike(size_t h, size_t w, size_t c, bool residual)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(256 << 20);
    int64_t image[] = { (int64_t)h, (int64_t)w, (int64_t)c }, channels[] = { 6, 8 }, blocks[] = { 1, 2 };
    struct train_job s = kit_spec();
    struct train_data d = columns(a, h * w * c, CLASSES);
    struct answers *want = ARENA_NEW(a, struct answers);
    struct model_stream stream;
    struct infer_model *m;
    struct infer_session *run;
    struct err e = { 0 };
    float p[ROWS * CLASSES];
    int32_t label[ROWS];
    s.family = TRAIN_CNN;
    s.image = (struct slice){ image, 3 };
    s.channels = (struct slice){ channels, 2 };
    s.blocks = (struct slice){ blocks, 2 };
    s.residual = residual;
    s.dropout = 0.5;
    make(a, &s, &d, want);
    assert_true((int64_t)want->file.len <= train_job_model_bytes(&s, (int64_t)d.shape.inputs));
    if (as_registered(a, buf_str(&want->file), &stream, &e) != ERR_OK
        || infer_model_load(kit_backend(), NULL, want->file.ptr, want->file.len, &m, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    assert_true(stream.inputs == d.shape.inputs && stream.outputs == CLASSES);
    assert_true(str_eq_c(st_meta(&stream.file, "format"), "pt") && st_find(&stream.file, STR("stages.1.1.conv1.weight")));
    assert_string_equal(infer_model_info(m)->family, "cnn");
    assert_int_equal(infer_session_new(m, &run, &e), ERR_OK);
    assert_int_equal(infer_run(run, &(struct infer_io){ .in = { want->x }, .out = { p, label } }, ROWS, &e), ERR_OK);
    for (size_t i = 0; i < ROWS; i++) {
        const float *z = want->logits + i * CLASSES;
        double sum = 0;
        for (size_t k = 0; k < CLASSES; k++) {
            sum += exp((double)(z[k] - z[label[i]]));
            assert_true(z[k] <= z[label[i]]);
        }
        for (size_t k = 0; k < CLASSES; k++)
            assert_true(fabs((double)p[i * CLASSES + k] - exp((double)(z[k] - z[label[i]])) / sum) < 1e-5);
    }
    infer_session_free(run);
    infer_model_free(m);
    buf_release(&want->file);
}

static void test_cnn(void **st)
{
    (void)st;
    answers_alike(8, 6, 3, false);
    answers_alike(8, 8, 1, true);
    answers_alike(72, 70, 2, true);         /* with the stem of large images */
}

static void decoder_alike(bool rms_norm, bool gated, bool rotary)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(256 << 20);
    struct train_job s = kit_spec();
    struct train_data d = { .shape = { CONTEXT, CLASSES, NET_CLASSES } };
    struct answers *want = ARENA_NEW(a, struct answers);
    struct model_stream stream;
    struct infer_model *m;
    struct infer_session *run;
    struct err e = { 0 };
    float logits[ROWS * CONTEXT * CLASSES];
    int32_t next[ROWS * CONTEXT];
    s.family = TRAIN_GPT;
    s.layers = 2;
    s.width = 16;
    s.heads = 4;
    s.kv_heads = 2;
    s.context = CONTEXT;
    s.classes = CLASSES;
    s.rms_norm = rms_norm;
    s.gated = gated;
    s.rotary = rotary;
    make(a, &s, &d, want);
    assert_true((int64_t)want->file.len <= train_job_model_bytes(&s, 0));
    if (as_registered(a, buf_str(&want->file), &stream, &e) != ERR_OK
        || infer_model_load(kit_backend(), NULL, want->file.ptr, want->file.len, &m, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    assert_int_equal(infer_session_new(m, &run, &e), ERR_OK);
    assert_int_equal(infer_run(run, &(struct infer_io){ .in = { want->tokens }, .out = { logits, next } }, ROWS, &e), ERR_OK);
    for (size_t i = 0; i < ROWS * CONTEXT; i++)
        for (size_t k = 0; k < CLASSES; k++) {
            float z = want->logits[i * CLASSES + k];
            assert_true(fabs((double)(logits[i * CLASSES + k] - z)) < 1e-5);
            assert_true(z <= want->logits[i * CLASSES + (size_t)next[i]]);
        }
    infer_session_free(run);
    infer_model_free(m);
    buf_release(&want->file);
}

static void test_gpt(void **st)
{
    (void)st;
    decoder_alike(false, false, false);
    decoder_alike(true, true, false);
    decoder_alike(false, false, true);
    decoder_alike(true, true, true);        /* the layout of Llama: queries, keys and values are tensors of their own */
}

static void test_no_graph(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new(256 << 20);
    CLEANUP(buf_releasep) struct buf file = BUF(65536);
    struct st_pair meta[] = { { STR("family"), STR("gpt") }, { STR("activation"), STR("gelu") } };
    struct st_tensor t[] = { { STR("w"), ST_F32, 1, { 1 }, (const void *)&(const float){ 1 }, sizeof(float) } };
    struct model_stream stream;
    struct err e = { 0 };
    assert_int_equal(st_write(&file, t, 1, meta, 2, &e), ERR_OK);
    assert_int_equal(as_registered(a, buf_str(&file), &stream, &e), ERR_BAD_DATA);
    assert_non_null(strstr(e.msg, "the family \"gpt\" and no graph"));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_cnn), cmocka_unit_test(test_gpt), cmocka_unit_test(test_no_graph) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
