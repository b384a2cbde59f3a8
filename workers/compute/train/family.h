/* SPDX-License-Identifier: Apache-2.0 */
/* family.h - the families of models: one builder each (fam_<name>.c), a row of the table in family.c for each enum job_family.
 *
 *   mlp  linear layers with ReLU between
 *   cnn  stages of convolutions with group norm and ReLU, plain or residual (He et al. 2016), mean over the image, a linear layer
 *   gpt  decoder of a transformer, pre-norm, head tied to the embedding: GPT-2's layout (Radford et al. 2019); with rms_norm,
 *        rotary, gated and kv_heads that of Llama (Touvron et al. 2023)
 * gbdt is no net and has no row: boosted trees (gbdt.h). */
#pragma once
#include "workers/compute/train/net.h"

struct family {
    /* Declares parameters and the way to n->logits; sets n->x and n->items. Wrong sizes: an error of the graph (graph_refuse). */
    void (*build)(struct net *n, struct graph *g);
    int (*nodes)(const struct net_spec *s);             /* at most so many of the forward pass */
    const char *activation;                             /* for the model file */
};

const struct family *family_of(int job_family);         /* enum job_family */
extern const struct family family_mlp, family_cnn, family_gpt;

/* The i-th number of a list of the job. */
static inline size_t job_list(const struct slice *s, size_t i)
{
    return (size_t)((const int64_t *)s->items)[i];
}
