/* SPDX-License-Identifier: Apache-2.0 */
/* model_file.c - names, shapes and metadata of the model file; tensors that PyTorch has in another order are turned on the way.
 * */
#include "workers/compute/train/model_file.h"
#include "core/base/cleanup.h"
#include "workers/compute/train/family.h"
#include "workers/compute/train/served.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Where number i of a tensor of the file lies in memory. */
static size_t place(const struct net_tensor *t, size_t i)
{
    if (t->layout == NET_TURNED)
        return i % t->dim[1] * t->dim[0] + i / t->dim[1];
    if (t->layout == NET_WINDOW) {      /* file [o, c, h, w], memory [o, h, w, c] */
        size_t pixels = t->dim[2] * t->dim[3], row = t->dim[1] * pixels;
        return i / row * row + i % pixels * t->dim[1] + i % row / pixels;
    }
    return i;
}

static enum errc tensor(struct arena *a, const struct net_tensor *t, const float *params, struct st_tensor *ret, struct err *e)
{
    *ret = (struct st_tensor){ .name = str_c(t->name), .dtype = ST_F32, .rank = t->rank, .data = (const void *)(params + t->at),
                               .size_bytes = t->count * sizeof *params };
    for (unsigned i = 0; i < t->rank; i++)
        ret->shape[i] = t->dim[i];
    if (t->layout == NET_AS_IS)
        return ERR_OK;
    float *turned = arena_try(a, ret->size_bytes);
    if (!turned)
        return FAIL(e, LIMIT, "the model file does not fit in the memory of this job");
    for (size_t i = 0; i < t->count; i++)
        turned[i] = params[t->at + place(t, i)];
    ret->data = (const void *)turned;
    return ERR_OK;
}

enum errc model_file_tensors(struct arena *a, const struct net *m, const float *numbers, const char *prefix,
                             struct st_tensor *ret,
                             struct err *e)
{
    for (size_t i = 0; i < m->tensor_count; i++) {
        TRY(tensor(a, &m->tensors[i], numbers, &ret[i], e));
        if (prefix[0])
            ret[i].name = str_fmt(a, "%s%s", prefix, m->tensors[i].name);
    }
    return ERR_OK;
}

static struct str list_text(struct arena *a, const struct slice *s)
{
    CLEANUP(buf_releasep) struct buf b = BUF(256);
    for (size_t i = 0; i < s->n; i++)
        buf_printf(&b, "%s%zu", i ? "," : "", job_list(s, i));
    return str_dup(a, buf_str(&b));
}

/* What is needed to build the same net again. */
static size_t about_family(struct arena *a, const struct net *m, struct st_pair *p)
{
    const struct train_job *s = m->spec.job;
    size_t n = 0;
    if (s->family == TRAIN_CNN) {
        p[n++] = (struct st_pair){ STR("image"), list_text(a, &s->image) };
        p[n++] = (struct st_pair){ STR("channels"), list_text(a, &s->channels) };
        p[n++] = (struct st_pair){ STR("blocks"), list_text(a, &s->blocks) };
        p[n++] = (struct st_pair){ STR("residual"), s->residual ? STR("true") : STR("false") };
    }
    if (s->family == TRAIN_GPT) {
        p[n++] = (struct st_pair){ STR("layers"), str_fmt(a, "%lld", (long long)s->layers) };
        p[n++] = (struct st_pair){ STR("width"), str_fmt(a, "%lld", (long long)s->width) };
        p[n++] = (struct st_pair){ STR("heads"), str_fmt(a, "%lld", (long long)s->heads) };
        p[n++] = (struct st_pair){ STR("kv_heads"), str_fmt(a, "%lld", (long long)(s->kv_heads ? s->kv_heads : s->heads)) };
        p[n++] = (struct st_pair){ STR("context"), str_fmt(a, "%lld", (long long)s->context) };
        p[n++] = (struct st_pair){ STR("options"), str_fmt(a, "%s%s%s", s->rms_norm ? "rms_norm " : "",
                                                           s->rotary ? "rotary " : "",
                                                           s->gated ? "gated " : "") };
    }
    return n;
}

/* The last layer of a perceptron that learnt a number in units of its deviation, so that it answers in the data's: w·scale,
 * b·scale + mean. */
static enum errc unscale(struct arena *a, const struct net *m, const struct train_data *d, const float **params, struct err *e)
{
    size_t last = m->spec.job->hidden.n, layers = last + 1;
    const struct net_tensor *w = &m->tensors[last], *b = &m->tensors[layers + last];
    float *own = arena_try(a, m->numbers * sizeof *own);
    if (!own)
        return FAIL(e, LIMIT, "the model file does not fit in the memory of this job");
    memcpy(own, *params, m->numbers * sizeof *own);
    for (size_t i = 0; i < w->count; i++)
        own[w->at + i] *= d->target_scale;
    for (size_t i = 0; i < b->count; i++)
        own[b->at + i] = own[b->at + i] * d->target_scale + d->target_mean;
    *params = own;
    return ERR_OK;
}

enum errc model_file_write(struct arena *a, const struct net *m, const float *params, const struct train_data *d,
                           const struct model_about *about, struct buf *out, struct err *e)
{
    struct st_tensor *t = ARENA_ARRAY(a, struct st_tensor, m->tensor_count + COLUMNS_TENSORS_MAX + 1);
    size_t n = m->tensor_count, count = 0, more;
    if (d->shape.goal == NET_REGRESSION)
        TRY(unscale(a, m, d, &params, e));
    TRY(model_file_tensors(a, m, params, "", t, e));
    n += columns_tensors(&d->columns, t + n);
    if (m->derived.rank)
        t[n++] = m->derived;
    CLEANUP(buf_releasep) struct buf features = BUF(ST_HEADER_MAX / 2);
    if (!st_write_strings(&features, d->table.names, d->table.cols))
        return FAIL(e, LIMIT, "the names of the columns are too long for a model file");
    bool has_accuracy = !isnan(about->holdout_accuracy);
    struct st_pair meta[32 + COLUMNS_PAIRS_MAX] = {
        { STR("family"), str_c(job_family_names[m->spec.job->family]) },
        { STR("activation"), str_c(family_of(m->spec.job->family)->activation) },
        { STR("format"), STR("pt") },
        { STR("classes"), str_fmt(a, "%zu", m->spec.shape.outputs) },
        { STR("inputs"), str_fmt(a, "%zu", m->spec.shape.inputs) },
        { STR("layers"), str_fmt(a, "%zu", m->spec.job->hidden.n + 1) },
        { STR("holdout_accuracy"), has_accuracy ? str_fmt(a, "%.6f", about->holdout_accuracy) : STR("") },
        { STR("objective"), str_c(job_objective_names[m->spec.job->objective]) },
        { STR("seed"), str_fmt(a, "%lld", (long long)about->seed) },
        { STR("dataset"), about->dataset_digest.ptr ? about->dataset_digest : STR("") },
        { STR("features"), buf_str(&features) },
        { STR("backend"), str_c(m->be->name) },
        { STR("falaj"), STR(FALAJ_VERSION) },
    };
    while (meta[count].key.ptr)
        count++;
    if (m->spec.job->family != TRAIN_MLP)
        meta[5] = meta[--count];        /* layers are told by the family */
    count += about_family(a, m, meta + count);
    if (d->vocabulary.len)
        meta[count++] = (struct st_pair){ STR("tokenizer"), d->vocabulary };
    TRY(columns_pairs(a, &d->columns, meta + count, &more, e));
    count += more;
    if (served_can(m, &d->columns)) {
        TRY(served_pairs(a, m, &(struct net_served){ t, &d->columns }, meta + count, e));
        count += GRAPH_FILE_PAIRS;
    }
    return st_write(out, t, n, meta, count, e);
}

enum errc model_file_read(const struct st_file *f, const struct net *m, const char *prefix, float *params, struct err *e)
{
    char name[ST_NAME_MAX + 1];
    for (size_t i = 0; i < m->tensor_count; i++) {
        const struct net_tensor *t = &m->tensors[i];
        bool is_same = false;
        snprintf(name, sizeof name, "%s%s", prefix, t->name);
        const struct st_tensor *found = st_find(f, str_c(name));
        is_same = found && found->dtype == ST_F32 && found->rank == t->rank && found->size_bytes == t->count * sizeof *params;
        for (unsigned k = 0; is_same && k < t->rank; k++)
            is_same = found->shape[k] == t->dim[k];
        if (!is_same)
            return FAIL(e, BAD_DATA, "the model file has no tensor %s of f32 in the shape that the spec makes", name);
        for (size_t k = 0; k < t->count; k++)       /* a file may lie at any address */
            memcpy(&params[t->at + place(t, k)], found->data + k * sizeof *params, sizeof *params);
    }
    return ERR_OK;
}

static bool is_of_net(const struct net *m, struct str name)
{
    for (size_t i = 0; i < m->tensor_count; i++)
        if (str_eq_c(name, m->tensors[i].name))
            return true;
    return str_starts(name, "input.") || (m->derived.rank && str_eq(name, m->derived.name));
}

enum errc model_file_start(const struct st_file *f, const struct net *m, const struct train_data *d, float *params, struct err *e)
{
    TRY(model_file_read(f, m, "", params, e));
    for (size_t i = 0; i < f->tensor_count; i++)
        if (!is_of_net(m, f->tensors[i].name))
            return FAIL(e, BAD_DATA, "the model has a tensor %.*s that the spec does not make", STR_ARG(f->tensors[i].name));
    if (d->shape.goal != NET_REGRESSION)
        return ERR_OK;
    size_t last = m->spec.job->hidden.n;
    const struct net_tensor *w = &m->tensors[last], *b = &m->tensors[2 * last + 1];
    for (size_t i = 0; i < w->count; i++)
        params[w->at + i] /= d->target_scale;
    for (size_t i = 0; i < b->count; i++)
        params[b->at + i] = (params[b->at + i] - d->target_mean) / d->target_scale;
    return ERR_OK;
}
