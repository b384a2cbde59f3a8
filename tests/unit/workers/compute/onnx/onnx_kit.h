/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_kit.h - ONNX models made byte by byte, and one call that converts, loads and runs them; included after cmocka.h. */
#pragma once
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "core/base/cleanup.h"
#include "workers/compute/infer/model.h"
#include "core/data/safetensors.h"
#include "workers/compute/onnx/convert.h"

enum { KIT_BYTES = 1 << 20, KIT_OUT = 256 };

static inline void pb_add_varint(struct buf *b, uint64_t v)
{
    for (; v > 127; v >>= 7)
        buf_add_char(b, (char)(v | 128));
    buf_add_char(b, (char)v);
}
static inline void pb_add_number(struct buf *b, unsigned field, uint64_t v)
{
    pb_add_varint(b, field << 3);
    pb_add_varint(b, v);
}
static inline void pb_add_bytes(struct buf *b, unsigned field, const void *p, size_t n)
{
    pb_add_varint(b, field << 3 | 2);
    pb_add_varint(b, n);
    if (n)
        buf_add(b, p, n);
}
static inline void pb_add_text(struct buf *b, unsigned field, const char *s)
{
    pb_add_bytes(b, field, s, strlen(s));
}
static inline void pb_add_message(struct buf *b, unsigned field, struct buf *m)
{
    pb_add_bytes(b, field, m->ptr, m->len);
    buf_release(m);
}
#define KIT_DIMS(...) (const int64_t[]){ __VA_ARGS__ }, sizeof((const int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)

/* dim -1: "N", a batch. */
static inline void kit_value(struct buf *graph, unsigned field, const char *name, int type, const int64_t *dim, size_t rank)
{
    struct buf shape = BUF(KIT_BYTES), tensor = BUF(KIT_BYTES), any = BUF(KIT_BYTES), value = BUF(KIT_BYTES);
    for (size_t d = 0; d < rank; d++) {
        struct buf one = BUF(64);
        if (dim[d] < 0)
            pb_add_text(&one, 2, "N");
        else
            pb_add_number(&one, 1, (uint64_t)dim[d]);
        pb_add_message(&shape, 1, &one);
    }
    pb_add_number(&tensor, 1, (uint64_t)type);
    pb_add_message(&tensor, 2, &shape);
    pb_add_message(&any, 1, &tensor);
    pb_add_text(&value, 1, name);
    pb_add_message(&value, 2, &any);
    pb_add_message(graph, field, &value);
}
static inline void kit_input(struct buf *graph, const char *name, const int64_t *dim, size_t rank)
{
    kit_value(graph, 11, name, ONNX_FLOAT, dim, rank);
}
static inline void kit_output(struct buf *graph, const char *name)
{
    kit_value(graph, 12, name, ONNX_FLOAT, NULL, 0);
}
static inline void kit_tensor(struct buf *to, unsigned field, const char *name, int type, const int64_t *dim, size_t rank,
                              const void *data, size_t bytes)
{
    struct buf t = BUF(KIT_BYTES);
    for (size_t d = 0; d < rank; d++)
        pb_add_number(&t, 1, (uint64_t)dim[d]);
    pb_add_number(&t, 2, (uint64_t)type);
    pb_add_text(&t, 8, name);
    pb_add_bytes(&t, 9, data, bytes);
    pb_add_message(to, field, &t);
}
#define KIT_F32(graph, name, data, ...) kit_tensor(graph, 5, name, ONNX_FLOAT, KIT_DIMS(__VA_ARGS__), data, sizeof(data))
#define KIT_I64(graph, name, data, ...) kit_tensor(graph, 5, name, ONNX_INT64, KIT_DIMS(__VA_ARGS__), data, sizeof(data))

static inline void kit_int(struct buf *attrs, const char *name, int64_t v)
{
    struct buf a = BUF(256);
    pb_add_text(&a, 1, name);
    pb_add_number(&a, 3, (uint64_t)v);
    pb_add_message(attrs, 5, &a);
}
static inline void kit_real(struct buf *attrs, const char *name, float v)
{
    struct buf a = BUF(256);
    pb_add_text(&a, 1, name);
    pb_add_varint(&a, 2 << 3 | 5);
    buf_add(&a, &v, sizeof v);
    pb_add_message(attrs, 5, &a);
}
static inline void kit_ints(struct buf *attrs, const char *name, const int64_t *v, size_t n)
{
    struct buf a = BUF(KIT_BYTES);
    pb_add_text(&a, 1, name);
    for (size_t i = 0; i < n; i++)
        pb_add_number(&a, 8, (uint64_t)v[i]);
    pb_add_message(attrs, 5, &a);
}
/* in, out: names with a comma between them. attrs: fields of NodeProto, or NULL; released. */
static inline void kit_node(struct buf *graph, const char *op, const char *in, const char *out, struct buf *attrs)
{
    struct buf n = BUF(KIT_BYTES);
    for (int k = 0; k < 2; k++) {
        struct str rest = str_c(k ? out : in), head;
        for (bool more = rest.len > 0; more;) {
            more = str_cut(rest, ',', &head, &rest);
            pb_add_bytes(&n, k ? 2 : 1, head.ptr, head.len);
        }
    }
    pb_add_text(&n, 3, "the node");
    pb_add_text(&n, 4, op);
    if (attrs && attrs->len)
        buf_add(&n, attrs->ptr, attrs->len);
    if (attrs)
        buf_release(attrs);
    pb_add_message(graph, 1, &n);
}
/* The graph of one node, from x of a shape (or from another name) to y. */
static inline struct buf kit_one_node(const char *op, const char *in, struct buf *attrs, const int64_t *dim, size_t rank)
{
    struct buf g = BUF(KIT_BYTES);
    kit_input(&g, "x", dim, rank);
    kit_node(&g, op, in, "y", attrs);
    kit_output(&g, "y");
    return g;
}
/* The model around a graph, which is released. */
static inline struct buf kit_model(struct buf *graph, int opset)
{
    struct buf m = BUF(KIT_BYTES), set = BUF(64);
    pb_add_number(&m, 1, 8);
    pb_add_text(&m, 2, "kit");
    pb_add_message(&m, 7, graph);
    pb_add_number(&set, 2, (uint64_t)opset);
    pb_add_message(&m, 8, &set);
    return m;
}
static inline enum errc kit_convert(struct buf *graph, int opset, struct buf *file, struct err *e)
{
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)64 << 20);
    CLEANUP(buf_releasep) struct buf model = kit_model(graph, opset);
    struct onnx_about about;
    return onnx_convert(a, buf_str(&model), NULL, file, &about, e);
}
/* Converts and runs one model of one input and one output in fp32 on a backend. Returns the numbers of the output. */
static inline size_t kit_run_on(const struct backend *be, struct buf *graph, int opset, const float *x, size_t rows,
                                float ret[KIT_OUT])
{
    CLEANUP(buf_releasep) struct buf file = BUF(KIT_BYTES);
    struct err e = { 0 };
    struct infer_model *m = NULL;
    struct infer_session *s = NULL;
    if (kit_convert(graph, opset, &file, &e) != ERR_OK || infer_model_load(be, NULL, file.ptr, file.len, &m, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    size_t n = sig_count(&infer_model_info(m)->sig.outputs[0], rows);
    assert_true(n <= KIT_OUT);
    assert_int_equal(infer_session_new(m, &s, &e), ERR_OK);
    assert_int_equal(infer_run(s, &(struct infer_io){ .in = { x }, .out = { ret } }, rows, &e), ERR_OK);
    infer_session_free(s);
    infer_model_free(m);
    return n;
}
/* The output must be exactly `want`, up to rounding. */
static inline void kit_expect(struct buf *graph, int opset, const float *x, size_t rows, const float *want, size_t n)
{
    float got[KIT_OUT];
    size_t have = kit_run_on(&backend_ref, graph, opset, x, rows, got);
    assert_int_equal(have, n);
    for (size_t i = 0; i < n; i++)
        if (!(fabsf(got[i] - want[i]) <= 1e-5f * (1 + fabsf(want[i]))))
            fail_msg("number %zu is %g, not %g", i, (double)got[i], (double)want[i]);
}
#define KIT_EXPECT(graph, opset, x, rows, ...) \
    kit_expect(graph, opset, x, rows, (const float[]){ __VA_ARGS__ }, sizeof((const float[]){ __VA_ARGS__ }) / sizeof(float))
/* Of a graph whose "k" is known when the model is read: its numbers. */
static inline void kit_expect_known(struct buf *graph, const float *want, size_t n)
{
    const float ones[8] = { 1, 1, 1, 1, 1, 1, 1, 1 };
    struct buf to = BUF(64);
    assert_true(n <= 8);
    kit_int(&to, "to", ONNX_FLOAT);
    kit_input(graph, "x", KIT_DIMS((int64_t)n));
    kit_node(graph, "Cast", "k", "real", &to);
    kit_node(graph, "Mul", "real,x", "y", NULL);
    kit_output(graph, "y");
    kit_expect(graph, 17, ones, 1, want, n);
}
#define KIT_EXPECT_KNOWN(graph, ...) \
    kit_expect_known(graph, (const float[]){ __VA_ARGS__ }, sizeof((const float[]){ __VA_ARGS__ }) / sizeof(float))
static inline void kit_refused(struct buf *graph, int opset, enum errc code, const char *why)
{
    CLEANUP(buf_releasep) struct buf file = BUF(KIT_BYTES);
    struct err e = { 0 };
    assert_int_equal(kit_convert(graph, opset, &file, &e), code);
    if (!strstr(e.msg, why))
        fail_msg("\"%s\" does not say \"%s\"", e.msg, why);
}
