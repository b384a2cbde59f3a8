/* SPDX-License-Identifier: Apache-2.0 */
/* inside.c - which messages hold which, as a table; numbers of fields are those of onnx/onnx.proto. */
#include "workers/compute/onnx/inside.h"
#include "workers/compute/onnx/pb.h"

enum kind { MODEL, TRAINING, GRAPH, SPARSE, NODE, ATTRIBUTE, FUNCTION, TENSOR };

static const struct {
    enum kind in;
    uint32_t number;
    enum kind holds;
} parts[] = {
    { MODEL, 7, GRAPH }, { MODEL, 20, TRAINING }, { MODEL, 25, FUNCTION }, { TRAINING, 1, GRAPH }, { TRAINING, 2, GRAPH },
    { GRAPH, 1, NODE }, { GRAPH, 5, TENSOR }, { GRAPH, 15, SPARSE }, { SPARSE, 1, TENSOR }, { SPARSE, 2, TENSOR },
    { NODE, 5, ATTRIBUTE }, { ATTRIBUTE, 5, TENSOR }, { ATTRIBUTE, 6, GRAPH }, { ATTRIBUTE, 10, TENSOR },
    { ATTRIBUTE, 11, GRAPH },
    { ATTRIBUTE, 22, SPARSE }, { ATTRIBUTE, 23, SPARSE }, { FUNCTION, 7, NODE }, { FUNCTION, 11, ATTRIBUTE },
};
enum { PARTS = sizeof parts / sizeof *parts, DATA_OUTSIDE = 13, DATA_PLACE = 14 };

static enum errc look(struct str message, enum kind kind, int depth, struct err *e)
{
    struct pb p = pb_of(message);
    struct pb_field f;
    if (depth > INSIDE_DEPTH_MAX)
        return FAIL(e, UNPROCESSABLE, "graphs inside of nodes are nested too deep");
    while (pb_next(&p, &f)) {
        if (kind == TENSOR && (f.number == DATA_OUTSIDE || (f.number == DATA_PLACE && f.value)))
            return FAIL(e, UNPROCESSABLE, "the data of a tensor is outside the file; save the model with its data inside");
        for (size_t i = 0; i < PARTS && f.wire == PB_BYTES; i++)
            if (parts[i].in == kind && parts[i].number == f.number)
                TRY(look(f.bytes, parts[i].holds, depth + 1, e));
    }
    return p.why ? FAIL(e, BAD_DATA, "no ONNX model, or a damaged one: %s", p.why) : ERR_OK;
}

enum errc onnx_is_inside(struct str bytes, struct err *e)
{
    return look(bytes, MODEL, 0, e);
}
