/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_tensor.c - the numbers of a tensor: raw little-endian bytes, or a typed list of the message. */
#include "workers/compute/onnx/onnx_file.h"
#include "workers/compute/onnx/pb.h"

#include <math.h>
#include <stdbool.h>

static const struct {
    const char *name;
    size_t bytes;               /* 0: not read */
    bool is_real;
} types[ONNX_TYPES] = {
    [ONNX_NONE] = { "unknown", 0, false },       [ONNX_FLOAT] = { "FLOAT", 4, true },       [ONNX_UINT8] = { "UINT8", 1, false },
    [ONNX_INT8] = { "INT8", 1, false },          [ONNX_UINT16] = { "UINT16", 2, false },    [ONNX_INT16] = { "INT16", 2, false },
    [ONNX_INT32] = { "INT32", 4, false },        [ONNX_INT64] = { "INT64", 8, false },      [ONNX_STRING] = { "STRING", 0,
                                                                                                              false },
    [ONNX_BOOL] = { "BOOL", 1, false },          [ONNX_FLOAT16] = { "FLOAT16", 2, true },   [ONNX_DOUBLE] = { "DOUBLE", 8, true },
    [ONNX_UINT32] = { "UINT32", 4, false },      [ONNX_UINT64] = { "UINT64", 8, false },    [14] = { "COMPLEX64", 0, false },
    [15] = { "COMPLEX128", 0, false },           [ONNX_BFLOAT16] = { "BFLOAT16", 2, true },
};

const char *onnx_type_name(enum onnx_type t)
{
    return (unsigned)t < ONNX_TYPES && types[t].name ? types[t].name : "unknown";
}

size_t onnx_type_bytes(enum onnx_type t)
{
    return (unsigned)t < ONNX_TYPES ? types[t].bytes : 0;
}

const struct onnx_attr *onnx_attr_find(const struct onnx_node *n, const char *name)
{
    for (size_t i = 0; i < n->attr_count; i++)
        if (str_eq_c(n->attr[i].name, name))
            return &n->attr[i];
    return NULL;
}

static double f16_of(uint16_t h)
{
    int exponent = h >> 10 & 31, mantissa = h & 1023;
    double v = exponent == 31 ? (mantissa ? (double)NAN : (double)INFINITY)
               : exponent     ? ldexp(1024 + mantissa, exponent - 25)
                              : ldexp(mantissa, -24);
    return h >> 15 ? -v : v;
}

struct sink {                   /* one of both */
    enum onnx_type type;
    float *real;
    int64_t *whole;
};

/* bits: as the file has them, in the low bytes. */
static void put(const struct sink *s, size_t i, uint64_t bits)
{
    union { uint64_t u; double d; } wide = { bits };
    union { uint32_t u; float f; } narrow = { (uint32_t)bits };
    double real = 0;
    int64_t whole = 0;
    switch (s->type) {
    case ONNX_FLOAT: real = (double)narrow.f; break;
    case ONNX_BFLOAT16: narrow.u <<= 16; real = (double)narrow.f; break;
    case ONNX_FLOAT16: real = f16_of((uint16_t)bits); break;
    case ONNX_DOUBLE: real = wide.d; break;
    case ONNX_INT8: whole = (int8_t)bits; break;
    case ONNX_INT16: whole = (int16_t)bits; break;
    case ONNX_INT32: whole = (int32_t)bits; break;
    case ONNX_UINT8: whole = (uint8_t)bits; break;
    case ONNX_BOOL: whole = (uint8_t)bits != 0; break;
    case ONNX_UINT16: whole = (uint16_t)bits; break;
    case ONNX_UINT32: whole = (uint32_t)bits; break;
    default: whole = (int64_t)bits; break;
    }
    if (s->whole)
        s->whole[i] = whole;
    else
        s->real[i] = types[s->type].is_real ? (float)real : (float)whole;
}

/* Typed lists: FLOAT and DOUBLE are fixed, all others varints; each may come packed, one by one, or mixed. */
static enum errc read_typed(const struct onnx_tensor *t, const struct sink *s, struct err *e)
{
    struct pb p = pb_of(t->typed);
    struct pb_field f;
    size_t n = 0, width = t->type == ONNX_FLOAT ? 4 : t->type == ONNX_DOUBLE ? 8 : 0;
    while (pb_next(&p, &f)) {
        if (f.number != t->typed_field)
            continue;
        struct pb in = pb_of(f.bytes);
        uint64_t v = f.value;
        bool is_list = f.wire == PB_BYTES;
        for (bool more = !is_list || in.at < in.end; more; more = is_list && in.at < in.end) {
            if (is_list && !(width ? pb_fixed(&in, width, &v) : pb_varint(&in, &v)))
                return FAIL(e, BAD_DATA, "tensor \"%.*s\": %s", STR_ARG(t->name), in.why);
            if (n < t->count)
                put(s, n, v);
            n++;
        }
    }
    if (n != t->count)
        return FAIL(e, BAD_DATA, "tensor \"%.*s\": its shape needs %zu numbers, it has %zu", STR_ARG(t->name), t->count, n);
    return ERR_OK;
}

/* The numbers must be there before memory for them is asked for: a byte of the file for each is the least. */
static enum errc check_there(const struct onnx_tensor *t, struct err *e)
{
    size_t have = t->raw.ptr ? t->raw.len : t->typed.len;
    if (t->count > have)
        return FAIL(e, BAD_DATA, "tensor \"%.*s\": its shape needs %zu numbers, which are not in the file", STR_ARG(t->name),
                    t->count);
    return ERR_OK;
}

static enum errc read_all(const struct onnx_tensor *t, const struct sink *s, struct err *e)
{
    size_t width = onnx_type_bytes(t->type);
    struct pb p = pb_of(t->raw);
    uint64_t v;
    if (!t->raw.ptr)
        return read_typed(t, s, e);
    for (size_t i = 0; i < t->count && pb_fixed(&p, width, &v); i++)
        put(s, i, v);
    return ERR_OK;
}

enum errc onnx_numbers(struct arena *a, const struct onnx_tensor *t, float **ret, struct err *e)
{
    TRY(check_there(t, e));
    float *x = arena_try(a, (t->count + 1) * sizeof *x);
    if (!x)
        return FAIL(e, LIMIT, "tensor \"%.*s\" of %zu numbers does not fit in memory", STR_ARG(t->name), t->count);
    TRY(read_all(t, &(struct sink){ t->type, x, NULL }, e));
    *ret = x;
    return ERR_OK;
}

enum errc onnx_integers(struct arena *a, const struct onnx_tensor *t, int64_t **ret, struct err *e)
{
    if (types[t->type].is_real)
        return FAIL(e, UNPROCESSABLE, "tensor \"%.*s\" is %s where whole numbers are expected", STR_ARG(t->name),
                    onnx_type_name(t->type));
    TRY(check_there(t, e));
    int64_t *x = arena_try(a, (t->count + 1) * sizeof *x);
    if (!x)
        return FAIL(e, LIMIT, "tensor \"%.*s\" of %zu numbers does not fit in memory", STR_ARG(t->name), t->count);
    TRY(read_all(t, &(struct sink){ t->type, NULL, x }, e));
    *ret = x;
    return ERR_OK;
}
