/* SPDX-License-Identifier: Apache-2.0 */
/* model_file.c - names, shapes and metadata of the model file. */
#include "workers/compute/train/model_file.h"
#include "core/base/cleanup.h"

#include <math.h>

static struct st_tensor tensor(struct str name, const float *data, size_t rows, size_t cols)
{
    struct st_tensor t = { .name = name, .dtype = ST_F32, .rank = cols ? 2 : 1, .shape = { rows, cols }, .data = (const void *)data };
    t.size_bytes = rows * (cols ? cols : 1) * sizeof *data;
    return t;
}

enum errc model_file_write(struct arena *a, const struct mlp *m, const float *params, const struct train_data *d,
                           const struct model_about *about, struct buf *out, struct err *e)
{
    struct st_tensor t[2 * MLP_LAYERS_MAX + 2];
    size_t n = 0, weight = 0, bias = m->weight_count;
    for (size_t i = 0; i < m->layers; i++) {
        size_t in = m->width[i], units = m->width[i + 1];
        t[n++] = tensor(str_fmt(a, "mlp.%zu.weight", i), params + weight, units, in);
        t[n++] = tensor(str_fmt(a, "mlp.%zu.bias", i), params + bias, units, 0);
        weight += in * units;
        bias += units;
    }
    t[n++] = tensor(STR("input.mean"), d->mean, m->width[0], 0);
    t[n++] = tensor(STR("input.scale"), d->scale, m->width[0], 0);
    CLEANUP(buf_releasep) struct buf features = BUF(ST_HEADER_MAX / 2);
    if (!st_write_strings(&features, d->table.names, d->table.cols))
        return FAIL(e, LIMIT, "the names of the columns are too long for a model file");
    bool has_accuracy = !isnan(about->holdout_accuracy);
    struct st_pair meta[] = {
        { STR("family"), STR("mlp") },
        { STR("activation"), STR("relu") },
        { STR("format"), STR("pt") },
        { STR("classes"), str_fmt(a, "%zu", m->width[m->layers]) },
        { STR("inputs"), str_fmt(a, "%zu", m->width[0]) },
        { STR("layers"), str_fmt(a, "%zu", m->layers) },
        { STR("holdout_accuracy"), has_accuracy ? str_fmt(a, "%.6f", about->holdout_accuracy) : STR("") },
        { STR("seed"), str_fmt(a, "%lld", (long long)about->seed) },
        { STR("dataset"), about->dataset_digest.ptr ? about->dataset_digest : STR("") },
        { STR("features"), buf_str(&features) },
        { STR("backend"), str_c(m->be->name) },
        { STR("falaj"), STR(FALAJ_VERSION) },
    };
    return st_write(out, t, n, meta, sizeof meta / sizeof *meta, e);
}
