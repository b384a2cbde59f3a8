/* SPDX-License-Identifier: Apache-2.0 */
/* model_graph.h - does this safetensors file hold the graph of a model, and what does its header say? Asked by the registry,
 * which sees headers alone, and by the model server, which then builds the graph (workers/compute/infer/graph_file.h).
 *
 * __metadata__: graph (the text), graph_format "falaj-graph-1", signature (model_sig.h). The other members are for other readers:
 * "format" is "pt" where names and layouts are PyTorch's.
 * Memory: the arena. Errors: BAD_DATA. */
#pragma once
#include "core/data/model_sig.h"
#include "core/data/safetensors.h"

#define MODEL_GRAPH_FORMAT "falaj-graph-1"

bool model_graph_is(const struct st_file *f);
/* Not proven: that the graph is sound. */
enum errc model_graph_check(struct arena *a, const struct st_file *f, struct model_sig *ret, struct err *e);
