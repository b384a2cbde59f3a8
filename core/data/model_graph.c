/* SPDX-License-Identifier: Apache-2.0 */
/* model_graph.c - the members of the metadata that make a file a graph. */
#include "core/data/model_graph.h"

bool model_graph_is(const struct st_file *f)
{
    return str_eq_c(st_meta(f, "family"), "graph") || st_meta(f, "graph").len;
}

enum errc model_graph_check(struct arena *a, const struct st_file *f, struct model_sig *ret, struct err *e)
{
    if (!st_meta(f, "graph").len || !str_eq_c(st_meta(f, "graph_format"), MODEL_GRAPH_FORMAT))
        return FAIL(e, BAD_DATA, "the model file has no graph of the format " MODEL_GRAPH_FORMAT);
    return model_sig_parse(a, st_meta(f, "signature"), ret, e);
}
