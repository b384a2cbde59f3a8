/* SPDX-License-Identifier: Apache-2.0 */
/* data_rows.c - split and standardisation over a table from core/data. */
#include "workers/compute/train/data_rows.h"
#include "workers/compute/train/shuffle.h"

#include <math.h>

enum { SPLIT_EPOCH = -1 };      /* an epoch number no run reaches */

/* Mark the hold-out rows among the `n` rows listed in `rows`. */
static void mark_holdout(const struct train_job *s, const uint32_t *rows, size_t n, uint64_t salt, unsigned char *is_holdout)
{
    size_t take = (size_t)floor((double)n * s->holdout + 0.5);
    if (s->holdout > 0 && n > 1) {
        take = take < 1 ? 1 : take;
        take = take > n - 1 ? n - 1 : take;
    } else {
        take = 0;
    }
    for (size_t i = 0; i < take; i++)
        is_holdout[rows[shuffle_at((uint64_t)s->seed + salt, (uint64_t)SPLIT_EPOCH, n, i)]] = 1;
}

/* Rows grouped by class (a counting sort), so that each class is split by itself. */
static bool mark_by_class(struct arena *a, const struct train_job *s, const struct data_table *t, unsigned char *is_holdout)
{
    size_t classes = t->target_count ? 1 : (size_t)t->classes;
    uint32_t *rows = arena_try(a, t->rows * sizeof *rows);
    size_t *start = arena_try(a, (classes + 2) * sizeof *start);
    if (!rows || !start)
        return false;
    for (size_t i = 0; i < t->rows; i++)
        start[(size_t)t->labels[i] + 2]++;
    for (size_t c = 2; c < classes + 2; c++)
        start[c] += start[c - 1];
    for (size_t i = 0; i < t->rows; i++)
        rows[start[(size_t)t->labels[i] + 1]++] = (uint32_t)i;
    for (size_t c = 0; c < classes; c++)
        mark_holdout(s, rows + start[c], start[c + 1] - start[c], c, is_holdout);
    return true;
}

static enum errc split(struct arena *a, const struct train_job *s, struct train_data *d, struct err *e)
{
    const struct data_table *t = &d->table;
    unsigned char *is_holdout = arena_try(a, t->rows);
    uint32_t *train = arena_try(a, (t->rows + 1) * sizeof *train), *holdout = arena_try(a, (t->rows + 1) * sizeof *holdout);
    if (!is_holdout || !train || !holdout || !mark_by_class(a, s, t, is_holdout))
        return FAIL(e, LIMIT, "the split of %zu rows does not fit in the memory of this job", t->rows);
    for (size_t i = 0; i < t->rows; i++) {
        if (is_holdout[i])
            holdout[d->holdout_count++] = (uint32_t)i;
        else
            train[d->train_count++] = (uint32_t)i;
    }
    d->train = train;
    d->holdout = holdout;
    if (s->holdout > 0 && d->holdout_count == 0)
        return FAIL(e, BAD_DATA, "%zu row(s) are too few to keep some for validation", t->rows);
    return d->train_count ? ERR_OK : FAIL(e, BAD_DATA, "the split leaves no row to train on");
}

/* A number is learnt in units of its own deviation, so that one learning rate suits them all. */
static void standardise_target(struct train_data *d)
{
    double sum = 0, square = 0, n = (double)d->train_count;
    for (size_t i = 0; i < d->train_count; i++)
        sum += (double)d->table.targets[d->train[i]];
    for (size_t i = 0; i < d->train_count; i++) {
        double off = (double)d->table.targets[d->train[i]] - sum / n;
        square += off * off;
    }
    float deviation = (float)sqrt(square / n);
    d->target_mean = (float)(sum / n);
    d->target_scale = deviation > 1e-30f && isfinite(deviation) ? deviation : 1.0f;
}

static void fetch_numbers(const struct train_data *d, const uint32_t *rows, size_t n, void *x, void *target)
{
    size_t k = d->table.target_count;
    for (size_t i = 0; i < n; i++) {
        train_data_row(d, rows[i], (float *)x + i * d->shape.inputs);
        for (size_t j = 0; j < k; j++)
            ((float *)target)[i * k + j] = (d->table.targets[rows[i] * k + j] - d->target_mean) / d->target_scale;
    }
}

static void fetch(const struct train_data *d, const uint32_t *rows, size_t n, void *x, void *target)
{
    for (size_t i = 0; i < n; i++) {
        train_data_row(d, rows[i], (float *)x + i * d->shape.inputs);
        ((int32_t *)target)[i] = d->table.labels[rows[i]];
    }
}

static enum errc check_image(const struct train_data *d, const struct train_job *s, struct err *e)
{
    const int64_t *side = s->image.items;
    if (s->family != TRAIN_CNN || side[0] * side[1] * side[2] == (int64_t)d->table.cols)
        return ERR_OK;
    return FAIL(e, BAD_DATA,
                "the spec's image of %lld x %lld x %lld has %lld numbers; the data set has %zu columns beside the label",
                (long long)side[0], (long long)side[1], (long long)side[2], (long long)(side[0] * side[1] * side[2]),
                    d->table.cols);
}

enum errc train_data_rows(struct arena *a, struct str text, const struct data_schema *schema, const struct train_job *spec,
                         struct train_data *ret, struct err *e)
{
    return train_data_rows_from(a, text, schema, spec, NULL, ret, e);
}

enum errc train_data_rows_from(struct arena *a, struct str text, const struct data_schema *schema, const struct train_job *spec,
                               const struct st_file *start, struct train_data *ret, struct err *e)
{
    static const enum net_goal goal[] = { [TARGET_CLASS] = NET_CLASSES, [TARGET_NUMBER] = NET_REGRESSION,
                                          [TARGET_FLAGS] = NET_LABELS };
    struct train_data d = { .target_scale = 1 };
    TRY(data_formats[spec->format].read(a, text, schema, &d.table, e));
    if (schema->target == TARGET_NONE)
        return FAIL(e, UNPROCESSABLE, "a table without a label teaches nothing");
    if (schema->target == TARGET_CLASS && d.table.classes < 2)
        return FAIL(e, BAD_DATA, "the label column has only the class 0; two classes are needed");
    TRY(split(a, spec, &d, e));
    bool is_net = spec->family != TRAIN_GBDT, has_missing = schema->has_missing;
    TRY(start ? columns_of_model(a, &d.table, start, has_missing, &d.columns, e)
              : columns_make(a, &d.table, d.train, d.train_count, has_missing, is_net, &d.columns, e));
    TRY(check_image(&d, spec, e));
    if (schema->target == TARGET_NUMBER)
        standardise_target(&d);
    d.shape = (struct net_shape){ columns_inputs(&d.columns),
                                  d.table.target_count ? d.table.target_count : (size_t)d.table.classes, goal[schema->target] };
    d.fetch = d.table.target_count ? fetch_numbers : fetch;
    *ret = d;
    return ERR_OK;
}

void train_data_row(const struct train_data *d, uint32_t r, float *out)
{
    columns_row(&d->columns, d->table.x + (size_t)r * d->table.cols, out);
}
