/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_message.c - tensors of a file and the lists that messages share. */
#include "workers/compute/onnx/onnx_file_int.h"

enum errc onnx_bad(const struct pb *p, const char *what, struct err *e)
{
    return FAIL(e, BAD_DATA, "%s: %s", what, p->why);
}

enum errc onnx_text(struct pb *p, const struct pb_field *f, struct str *ret)
{
    if (!pb_want(p, f, PB_BYTES))
        return ERR_BAD_DATA;
    if (f->bytes.len > ONNX_NAME_MAX || !str_is_utf8(f->bytes)) {
        pb_fail(p, "a name is longer than 512 bytes or no UTF-8");
        return ERR_BAD_DATA;
    }
    *ret = f->bytes;
    return ERR_OK;
}

bool onnx_add_ints(struct pb *p, const struct pb_field *f, int64_t *to, size_t most, size_t *n)
{
    struct pb in = f->wire == PB_BYTES ? pb_of(f->bytes) : *p;
    uint64_t v = f->value;
    if (f->wire != PB_BYTES && f->wire != PB_VARINT)
        return pb_fail(p, "a list of numbers has another wire type");
    do {
        if (f->wire == PB_BYTES && in.at == in.end)
            return true;
        if (f->wire == PB_BYTES && !pb_varint(&in, &v))
            return pb_fail(p, in.why);
        if (*n == most)
            return pb_fail(p, "a list of numbers is too long");
        to[(*n)++] = (int64_t)v;
    } while (f->wire == PB_BYTES);
    return true;
}

static enum errc tensor_check(struct onnx_tensor *t, struct err *e)
{
    t->count = 1;
    for (uint32_t i = 0; i < t->rank; i++)
        if (t->dim[i] < 0 || __builtin_mul_overflow(t->count, (size_t)t->dim[i], &t->count) || t->count > SIZE_MAX / 16)
            return FAIL(e, BAD_DATA, "tensor \"%.*s\": dimension %u is %ld", STR_ARG(t->name), i, (long)t->dim[i]);
    size_t width = onnx_type_bytes(t->type);
    if (!width)
        return FAIL(e, UNPROCESSABLE, "tensor \"%.*s\" is of type %s, which is not supported", STR_ARG(t->name),
                    onnx_type_name(t->type));
    if (t->raw.ptr && t->raw.len != t->count * width)
        return FAIL(e, BAD_DATA, "tensor \"%.*s\": its shape needs %zu bytes, it has %zu", STR_ARG(t->name), t->count * width,
                    t->raw.len);
    return ERR_OK;
}

/* The field of TensorProto that holds the numbers of a type. */
static uint32_t typed_field(enum onnx_type t)
{
    switch (t) {
    case ONNX_FLOAT: return 4;
    case ONNX_INT64: return 7;
    case ONNX_DOUBLE: return 10;
    case ONNX_UINT32: case ONNX_UINT64: return 11;
    default: return 5;
    }
}

enum errc onnx_read_tensor(struct str message, struct onnx_tensor *t, struct err *e)
{
    struct pb p = pb_of(message);
    struct pb_field f;
    size_t rank = 0;
    bool is_outside = false;
    *t = (struct onnx_tensor){ 0 };
    while (pb_next(&p, &f)) {
        if (f.number == 1 && !onnx_add_ints(&p, &f, t->dim, ONNX_DIMS_MAX, &rank))
            break;
        if (f.number == 2 && pb_want(&p, &f, PB_VARINT))
            t->type = f.value < ONNX_TYPES ? (enum onnx_type)f.value : ONNX_NONE;
        if (f.number == 8)
            (void)onnx_text(&p, &f, &t->name);
        if (f.number == 9 && pb_want(&p, &f, PB_BYTES))
            t->raw = f.bytes;
        is_outside = is_outside || f.number == 13 || (f.number == 14 && f.value);
    }
    if (p.why)
        return onnx_bad(&p, "a tensor", e);
    t->rank = (uint32_t)rank;
    if (is_outside)
        return FAIL(e, UNPROCESSABLE, "tensor \"%.*s\": its data is outside the file; save the model with its data inside",
                    STR_ARG(t->name));
    t->typed = message;
    t->typed_field = typed_field(t->type);
    return tensor_check(t, e);
}
