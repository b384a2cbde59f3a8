/* SPDX-License-Identifier: Apache-2.0 */
/* direct.c - a model made smaller by what it is alone: no rows are needed, and none judge it. */
#include "core/base/cleanup.h"
#include "workers/compute/infer/graph_file.h"
#include "workers/compute/infer/model_graph.h"
#include "workers/compute/optimise/optimise.h"
#include "workers/compute/optimise/sites.h"

static enum errc change(struct graph *g, struct arena *a, enum optimise_precision precision, struct err *e)
{
    struct site *sites = ARENA_ARRAY(a, struct site, g->node_count + 1);
    size_t n = sites_find(g, sites);
    if (!n)
        return FAIL(e, UNPROCESSABLE, "the model has no product or convolution by constant weights of f32");
    if (precision == OPTIMISE_BF16)
        return sites_to_bf16(g, a, sites, n, e);
    for (size_t i = 0; i < n; i++) {
        TRY(site_to_bytes(g, a, &sites[i], 0, 1, e));
        struct op_attr *attr = &g->nodes[sites[i].node].attr;
        attr->alpha = attr->gamma = 0;          /* the range of each row */
    }
    return ERR_OK;
}

enum errc optimise_direct(struct arena *a, struct str model, enum optimise_precision precision, struct buf *file, struct err *e)
{
    struct st_file f;
    struct model_sig *sig = ARENA_NEW(a, struct model_sig);
    CLEANUP(graph_freep) struct graph *g = NULL;
    const struct st_pair meta[] = { { STR("precision"), precision == OPTIMISE_INT8 ? STR("int8") : STR("bf16") },
                                    { STR("falaj"), STR(FALAJ_VERSION) } };
    TRY(st_parse(a, model.ptr, model.len, &f, e));
    TRY(model_graph_open(a, &f, sig, &g, e));
    TRY(change(g, a, precision, e));
    return graph_file_write(a, g, sig, meta, sizeof meta / sizeof *meta, file, e);
}
