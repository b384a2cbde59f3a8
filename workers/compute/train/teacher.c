/* SPDX-License-Identifier: Apache-2.0 */
/* teacher.c - the teacher loaded as it is served, asked row by row of the table. */
#include "workers/compute/train/teacher.h"
#include "core/base/cleanup.h"
#include "workers/compute/infer/model.h"

#include <math.h>

static void model_freep(struct infer_model **m)
{
    infer_model_free(*m);
}

static void session_freep(struct infer_session **s)
{
    infer_session_free(*s);
}

/* The one input takes the table's columns; *ret_output: the place of the probabilities. */
static enum errc check_fits(const struct infer_info *info, const struct train_data *d, int *ret_output,
                            struct err *e)
{
    const struct model_sig *sig = &info->sig;
    const struct sig_tensor *in = sig->inputs, *out;
    size_t cols = d->table.cols, classes = d->shape.outputs;
    int at = sig_find(sig->outputs, sig->output_count, STR("probabilities"));
    if (sig->input_count != 1 || !str_eq_c(in->datatype, "FP32") || !sig_has_rows(in) || sig_count(in, 1) != cols)
        return FAIL(e, UNPROCESSABLE, "teacher: it does not take the %zu numbers of a row as its one input of FP32", cols);
    if (at < 0)
        return FAIL(e, UNPROCESSABLE, "teacher: it has no output \"probabilities\"");
    out = &sig->outputs[at];
    if (!str_eq_c(out->datatype, "FP32") || !sig_has_rows(out) || sig_count(out, 1) != classes)
        return FAIL(e, UNPROCESSABLE, "teacher: it tells %zu classes apart; the data set has %zu", sig_count(out, 1), classes);
    CLEANUP(buf_releasep) struct buf names = BUF(ST_HEADER_MAX / 2);
    if (info->features_json[0] && st_write_strings(&names, d->table.names, cols)
        && !str_eq_c(buf_str(&names), info->features_json))
        return FAIL(e, UNPROCESSABLE, "teacher: it was trained on other columns than this data set has");
    *ret_output = at;
    return ERR_OK;
}

static enum errc soften(float *p, size_t classes, double temperature, size_t row, struct err *e)
{
    double sum = 0;
    for (size_t j = 0; j < classes; j++) {
        double v = pow((double)p[j], 1 / temperature);
        sum += v;
        p[j] = (float)v;
    }
    if (!(sum > 0) || !isfinite(sum))
        return FAIL(e, UNPROCESSABLE, "teacher: what it says of row %zu is no probability", row + 1);
    for (size_t j = 0; j < classes; j++)
        p[j] = (float)((double)p[j] / sum);
    return ERR_OK;
}

enum errc teacher_ask(struct arena *a, const struct backend *be, struct pool *pool, struct str file, const struct train_data *d,
                      double temperature, const float **ret, struct err *e)
{
    CLEANUP(model_freep) struct infer_model *m = NULL;
    CLEANUP(session_freep) struct infer_session *s = NULL;
    size_t classes = d->shape.outputs, rows = d->table.rows;
    struct infer_io io = { { d->table.x } };
    struct err why = { 0 };
    int at;
    enum errc rc = infer_model_load(be, pool, file.ptr, file.len, &m, &why);
    if (rc != ERR_OK)
        return err_set(e, rc, __FILE__, __LINE__, "teacher: %s", why.msg);
    TRY(check_fits(infer_model_info(m), d, &at, e));
    float *out = arena_try(a, rows * classes * sizeof *out);
    if (!out)
        return FAIL(e, LIMIT, "what the teacher says of %zu rows does not fit in the memory of this job", rows);
    io.out[at] = out;
    TRY(infer_session_new(m, &s, e));
    TRY(infer_run(s, &io, rows, e));
    for (size_t i = 0; i < rows; i++)
        TRY(soften(out + i * classes, classes, temperature, i, e));
    *ret = out;
    return ERR_OK;
}
