/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_file.h - an ONNX model as it stands in its file: nodes, tensors, inputs and outputs; nothing is computed here.
 *
 * Read as hostile input: every length is checked against what holds it, counts against the limits below before a list is
 * allocated, names are UTF-8. Data of tensors is borrowed from the bytes given and taken out by onnx_numbers and
 * onnx_integers, which check shape against length before they allocate. Not read: data outside the file, sparse tensors,
 * training information, functions; what needs them is refused by name. Unknown fields are passed over, as protobuf asks.
 * Memory: the arena. Errors: BAD_DATA (file and byte), UNPROCESSABLE (what is not supported), LIMIT.
 * Source: onnx/onnx.proto, IR version 3 to 10 (onnx.ai). */
#pragma once
#include <stdint.h>
#include "core/base/str.h"

enum {
    ONNX_NODES_MAX = 20000,
    ONNX_TENSORS_MAX = 65536,
    ONNX_STRINGS_MAX = 1 << 22,
    ONNX_LIST_MAX = 1024,       /* inputs, outputs and attributes of one node; inputs and outputs of the model */
    ONNX_DIMS_MAX = 6,
    ONNX_NAME_MAX = 512
};

enum onnx_type { ONNX_NONE, ONNX_FLOAT, ONNX_UINT8, ONNX_INT8, ONNX_UINT16, ONNX_INT16, ONNX_INT32, ONNX_INT64, ONNX_STRING,
                 ONNX_BOOL, ONNX_FLOAT16, ONNX_DOUBLE, ONNX_UINT32, ONNX_UINT64, ONNX_BFLOAT16 = 16, ONNX_TYPES };

struct onnx_tensor {
    struct str name;
    enum onnx_type type;
    uint32_t rank;
    int64_t dim[ONNX_DIMS_MAX];
    size_t count;               /* product of dims; 1 for rank 0 */
    struct str raw;             /* raw_data; ptr NULL: in the typed list */
    struct str typed;           /* the message, where the numbers stand in field typed_field */
    uint32_t typed_field;
};

struct onnx_attr {
    struct str name, s;
    double f;
    int64_t i;
    bool has_i, has_f, has_s, has_graph;
    const struct onnx_tensor *t;
    int64_t *ints;
    double *floats;
    struct str *strings;
    size_t int_count, float_count, string_count;
};

struct onnx_node {
    struct str name, op, domain;
    struct str *in, *out;       /* "": left out */
    size_t in_count, out_count, attr_count;
    struct onnx_attr *attr;
};

struct onnx_value {             /* an input or output of the model */
    struct str name;
    enum onnx_type type;
    bool has_shape;
    uint32_t rank;
    int64_t dim[ONNX_DIMS_MAX]; /* -1: not said */
    struct str param[ONNX_DIMS_MAX];        /* its name, where the file gives one */
};

struct onnx_file {
    int64_t ir, opset, opset_ml;            /* opset 0: not imported */
    struct str producer;
    struct onnx_node *nodes;
    struct onnx_tensor *tensors;            /* initialisers */
    struct onnx_value *inputs, *outputs;    /* inputs that are initialisers too are left out */
    size_t node_count, tensor_count, input_count, output_count;
};

enum errc onnx_parse(struct arena *a, struct str bytes, struct onnx_file *ret, struct err *e);
const char *onnx_type_name(enum onnx_type t);                   /* "FLOAT" */
size_t onnx_type_bytes(enum onnx_type t);                       /* 0: not a number */
const struct onnx_attr *onnx_attr_find(const struct onnx_node *n, const char *name);

/* All numbers of a tensor as f32, or as whole numbers; in the arena. UNPROCESSABLE: another type (f32 takes every number). */
enum errc onnx_numbers(struct arena *a, const struct onnx_tensor *t, float **ret, struct err *e);
enum errc onnx_integers(struct arena *a, const struct onnx_tensor *t, int64_t **ret, struct err *e);
