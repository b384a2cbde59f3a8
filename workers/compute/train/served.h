/* SPDX-License-Identifier: Apache-2.0 */
/* served.h - the graph with which a trained net is served: the family's builder once more, over the tensors of the model file.
 *
 * It takes "input" FP32 [-1,columns], the columns of the table as they are (standardised in the graph), and gives "probabilities"
 * FP32 [-1,classes] and "label" INT64 [-1], as a perceptron does. Constants have the names and layouts of the file; what lies
 * otherwise in memory is turned by a node, which is folded when the model is loaded.
 * A gpt takes "input" INT64 [-1,context], tokens, and gives "logits" FP32 [-1,context,vocabulary] and "next" INT64 [-1,context],
 * the likeliest token behind each.
 * A perceptron of numbers gives "value" FP32 [-1,1], one of flags "probabilities" FP32 [-1,flags].
 * Words are a second input, "categories" BYTES [-1,columns]; missing numbers are NaN (columns.h).
 * A perceptron of classes over numbers needs none (infer/perceptron.c). Cosines and sines of rotary positions are a tensor of the
 * file. */
#pragma once
#include "workers/compute/infer/graph_file.h"
#include "workers/compute/train/columns.h"
#include "workers/compute/train/net.h"

bool served_can(const struct net *n, const struct columns *c);
/* n: a net of the same spec. Errors: those of graph_file_pairs. */
enum errc served_pairs(struct arena *a, const struct net *n, const struct net_served *from, struct st_pair ret[GRAPH_FILE_PAIRS],
                       struct err *e);

/* For net.c, while the builder runs over a file. */
int served_parts(struct net *n, size_t rows);       /* of a weight whose rows are the file's next tensors */
int served_param(struct net *n, enum net_layout layout, bool is_flat);
int served_input(struct net *n, struct shape shape);
