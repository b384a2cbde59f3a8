/* SPDX-License-Identifier: Apache-2.0 */
/* model_mlp.h - is this safetensors file a perceptron that can be served? Asked by the registry and by the model server alike.
 *
 * Proven: metadata family "mlp" and activation "relu"; tensors mlp.0 … mlp.N-1 .weight [out, in] and .bias [out] in F32 whose sizes
 * chain; input.mean and input.scale [in], both or neither; every number finite, every scale non-zero; no tensor besides these.
 * Pointers are into the file's bytes. Errors: BAD_DATA, LIMIT. */
#pragma once
#include "core/data/model_sig.h"
#include "core/data/safetensors.h"

enum { MODEL_MLP_LAYERS_MAX = 16, MODEL_MLP_WIDTH_MAX = 65536 };

struct model_mlp {
    size_t layers, width[MODEL_MLP_LAYERS_MAX + 1];     /* width[0]: inputs, width[layers]: classes */
    const float *weight[MODEL_MLP_LAYERS_MAX], *bias[MODEL_MLP_LAYERS_MAX];
    const float *mean, *scale;                          /* NULL: the input is taken as it is */
    size_t parameters;
};

enum errc model_mlp_check(const struct st_file *f, struct model_mlp *ret, struct err *e);

/* The same of a file that comes piece by piece and is never held: its header and one piece are. Pointers of ret stay NULL. A file
 * with a graph (model_graph.h) is taken here, too: its signature is read, its tensors must be F32, BF16 or I8, and finite; ret
 * is all zero. So is one that carries an ONNX model (model_onnx.h).
 * Calling order: zeroed but for the first two members -> model_stream_add* -> model_stream_end -> model_stream_release. */
struct model_stream {
    struct arena *arena;                                /* for what the header says */
    uint64_t size_bytes;                                /* of the whole file */
    uint64_t at;                                        /* bytes seen */
    size_t header_size;
    bool has_header;
    unsigned char prefix[ST_PREFIX], part[sizeof(float)];   /* part: of a number that two pieces share */
    struct buf header;
    struct st_file file;
    struct model_mlp mlp;
    struct model_sig *sig;                              /* once the header was read */
    uint64_t inputs, outputs;                           /* numbers of a row: of the first input, of the first output */
    uint64_t scale_begin, scale_end;                    /* of input.scale in the file */
    const struct st_tensor *now;                        /* the one that the next byte belongs to */
};
enum errc model_stream_add(struct model_stream *s, const void *p, size_t n, struct err *e);
enum errc model_stream_end(struct model_stream *s, struct model_mlp *ret, struct err *e);
void model_stream_release(struct model_stream *s);
