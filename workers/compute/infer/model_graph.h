/* SPDX-License-Identifier: Apache-2.0 */
/* model_graph.h - the graph and the signature of any model file that can be served, whoever wrote it. */
#pragma once
#include "core/data/model_sig.h"
#include "core/data/safetensors.h"
#include "workers/compute/graph/graph.h"

/* Data of the graph's constants is borrowed from the file's bytes. BAD_DATA, UNPROCESSABLE, LIMIT. */
enum errc model_graph_open(struct arena *a, const struct st_file *f, struct model_sig *ret_sig, struct graph **ret,
                           struct err *e);
