/* SPDX-License-Identifier: Apache-2.0 */
/* graph_file.h - a graph as a model file: safetensors with the graph and the signature in its metadata, and no code.
 *
 * __metadata__: that of core/data/model_graph.h; family "graph", or the family of our own training whose tensors the graph
 * reads by their names; and what the writer was told beside. graph is JSON with its members in this order:
 *
 *   {"inputs":[{"name":"x","type":"f32","shape":[-1,784]}], "constants":["fc.weight"],
 *    "nodes":[{"op":"matmul","in":[0,1],"flags":2}], "outputs":[{"name":"y","value":2}]}
 *
 * Values are numbered: inputs, constants (tensors of the file), then the outputs of the nodes in their order; -1 is an input
 * that is left out. -n as a dimension is n for each row of the batch. Operations and attributes are those of kernels/op.def
 * and struct op_attr by name; what is zero is left out; "shape" says what RESHAPE makes.
 *
 * Read as hostile input: the graph is built by graph_op, whose rules refuse every shape that a kernel could not do; sizes are
 * checked before anything is allocated by them; constants are borrowed from the bytes given.
 * Errors: BAD_DATA, UNPROCESSABLE (unknown operation, node named by its number), LIMIT. */
#pragma once
#include "core/data/model_graph.h"
#include "workers/compute/graph/graph.h"

enum { GRAPH_FILE_NODES_MAX = 20000, GRAPH_FILE_CONSTANTS_MAX = 20000, GRAPH_FILE_OP_MAX = 64,
       GRAPH_FILE_PAIRS = 3 };

/* Appends the file to out. The graph must have no parameters and no error; what no output needs is left out. meta: more pairs. */
enum errc graph_file_write(struct arena *a, const struct graph *g, const struct model_sig *sig, const struct st_pair *meta,
                           size_t meta_count, struct buf *out, struct err *e);
/* The metadata alone, for a file that holds every constant as a tensor of its name. */
enum errc graph_file_pairs(struct arena *a, const struct graph *g, const struct model_sig *sig,
                           struct st_pair ret[GRAPH_FILE_PAIRS],
                           struct err *e);
enum errc graph_file_read(struct arena *a, const struct st_file *f, struct model_sig *ret_sig, struct graph **ret, struct err *e);
/* The number type in which values of a datatype are computed; false: none. */
bool graph_file_elem(struct str datatype, enum elem *ret);
