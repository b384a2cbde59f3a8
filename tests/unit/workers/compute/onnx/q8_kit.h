/* SPDX-License-Identifier: Apache-2.0 */
/* q8_kit.h - scales, zero points and bytes for the tests about whole numbers of eight bits. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "onnx_kit.h"

#define KIT_U8(graph, name, data, ...) kit_tensor(graph, 5, name, ONNX_UINT8, KIT_DIMS(__VA_ARGS__), data, sizeof(data))
#define KIT_I8(graph, name, data, ...) kit_tensor(graph, 5, name, ONNX_INT8, KIT_DIMS(__VA_ARGS__), data, sizeof(data))

static inline void one_f32(struct buf *g, const char *name, float v)
{
    kit_tensor(g, 5, name, ONNX_FLOAT, NULL, 0, &v, sizeof v);
}

static inline void one_u8(struct buf *g, const char *name, uint8_t v)
{
    kit_tensor(g, 5, name, ONNX_UINT8, NULL, 0, &v, 1);
}

static inline void one_i8(struct buf *g, const char *name, int8_t v)
{
    kit_tensor(g, 5, name, ONNX_INT8, NULL, 0, &v, 1);
}

/* How often the graph of the file has an operation. */
static inline int count_op(struct buf *graph, const char *op)
{
    CLEANUP(buf_releasep) struct buf file = BUF(KIT_BYTES);
    char want[40];
    struct err e = { 0 };
    int n = 0;
    snprintf(want, sizeof want, "\\\"op\\\":\\\"%s\\\"", op);
    if (kit_convert(graph, 17, &file, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    for (size_t i = 0; i + strlen(want) <= file.len; i++)
        n += !memcmp(file.ptr + i, want, strlen(want));
    return n;
}
