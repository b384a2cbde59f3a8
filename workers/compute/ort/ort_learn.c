/* SPDX-License-Identifier: Apache-2.0 */
/* ort_learn.c - inputs by the file, outputs by trial, rows by comparing them alone and together. A file may compute without
 * end on numbers as small as those of a trial, so one is watched by a thread of its own. */
#include "workers/compute/ort/ort_model_int.h"
#include "core/base/cleanup.h"
#include "core/base/clock.h"
#include "core/base/mono_cond.h"

#include <math.h>
#include <string.h>

enum { TRIAL_ROWS = 3, ROW_NUMBERS_MAX = 1 << 28, TRIAL_MS = 60000, STOP_AGAIN_US = 50000 };
static const double SAME = 1e-4;
static _Atomic int trial_ms = TRIAL_MS;

struct trial_watch {
    struct ort_call *call;
    int64_t until_us;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool is_over;
};

static enum errc check_size(const struct sig_tensor *t, struct err *e)
{
    int64_t n = 1;
    for (uint32_t d = 0; d < t->rank; d++)
        if (t->dim[d] > 0 && (__builtin_mul_overflow(n, t->dim[d], &n) || n > ROW_NUMBERS_MAX))
            return FAIL(e, LIMIT, "a row of input \"%.*s\" has more than %d numbers", STR_ARG(t->name), ROW_NUMBERS_MAX);
    return ERR_OK;
}

static enum errc read_inputs(const struct onnx_file *file, const struct onnx_dims *dims, struct model_sig *sig, struct err *e)
{
    size_t with_rows = 0;
    if (!file->input_count || !file->output_count || file->input_count > SIG_TENSORS_MAX || file->output_count > SIG_TENSORS_MAX)
        return FAIL(e, UNPROCESSABLE, "the model has %zu inputs and %zu outputs; 1 to %d of each are supported",
                    file->input_count, file->output_count, SIG_TENSORS_MAX);
    for (size_t i = 0; i < file->input_count; i++) {
        TRY(onnx_sig_input(&file->inputs[i], dims, &sig->inputs[i], e));
        TRY(check_size(&sig->inputs[i], e));
        with_rows += sig_has_rows(&sig->inputs[i]);
    }
    if (with_rows && with_rows < file->input_count)
        return FAIL(e, UNPROCESSABLE,
                    "some inputs have rows and others have none: give numbers for their first dimensions (dims)");
    for (size_t i = 0; i < file->output_count; i++) {
        const struct str name = file->outputs[i].name;
        if (!name.len || name.len > SIG_NAME_MAX)
            return FAIL(e, UNPROCESSABLE, "output %zu has no name of 1 to %d bytes", i, SIG_NAME_MAX);
        sig->outputs[i].name = name;
    }
    sig->input_count = file->input_count;
    sig->output_count = file->output_count;
    return ERR_OK;
}

/* Numbers below 1 in size; indices 0 and 1, which most tables have. */
static enum errc make_rows(struct arena *a, const struct model_sig *sig, const void **in, size_t rows, struct err *e)
{
    uint64_t state = 5;
    for (size_t i = 0; i < sig->input_count; i++) {
        const struct sig_tensor *t = &sig->inputs[i];
        bool is_whole = str_eq_c(t->datatype, "INT64") || str_eq_c(t->datatype, "INT32"), is_bool = str_eq_c(t->datatype, "BOOL");
        size_t n = sig_count(t, sig_has_rows(t) ? rows : 1);
        float *real = arena_try(a, (n + 1) * sizeof *real);
        if (!real)
            return FAIL(e, LIMIT, "input \"%.*s\" does not fit in memory", STR_ARG(t->name));
        for (size_t k = 0; k < n; k++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            if (is_whole)
                ((int32_t *)(void *)real)[k] = (int32_t)(state >> 63);
            else
                real[k] = is_bool ? (float)(state >> 63) : (float)(int32_t)(state >> 32) / 2147483648.0f;
        }
        in[i] = real;
    }
    return ERR_OK;
}

/* The shape of an output, from what came of one row and of three. */
static enum errc learn_output(const struct ort_about *one, const struct ort_about *three, bool has_rows, struct sig_tensor *t,
                              struct err *e)
{
    t->datatype = str_c(onnx_datatype(one->type));
    t->rank = one->rank ? (uint32_t)one->rank : 1;
    t->dim[0] = 1;
    bool fits = one->rank == three->rank && one->type == three->type;
    for (size_t d = 0; fits && d < one->rank; d++) {
        bool is_row = d == 0 && has_rows;
        fits = is_row ? one->dim[d] == 1 && three->dim[d] == TRIAL_ROWS : one->dim[d] == three->dim[d] && one->dim[d] > 0;
        t->dim[d] = is_row ? -1 : one->dim[d];
    }
    if (!fits || (has_rows && !one->rank))
        return FAIL(e, UNPROCESSABLE,
                    "output \"%.*s\" has no row for each row of the input, or another shape for other numbers; a "
                    "number for the first dimension (dims) makes it a model without rows", STR_ARG(t->name));
    return ERR_OK;
}

static enum errc learn_outputs(struct arena *a, struct ort_call *c, const void *const *in, bool has_rows, struct model_sig *sig,
                               struct err *e)
{
    struct ort_about *one = ARENA_ARRAY(a, struct ort_about, SIG_TENSORS_MAX), three;
    size_t rows = has_rows ? TRIAL_ROWS : 1;
    ort_call_put(c, 0, in, 1);
    TRY(ort_call_run(c, 1, e));
    for (size_t i = 0; i < sig->output_count; i++)
        TRY(ort_call_about(c, i, &one[i], e));
    ort_call_put(c, 0, in, rows);
    TRY(ort_call_run(c, rows, e));
    for (size_t i = 0; i < sig->output_count; i++) {
        TRY(ort_call_about(c, i, &three, e));
        TRY(learn_output(&one[i], &three, has_rows, &sig->outputs[i], e));
    }
    return ERR_OK;
}

static enum errc make_room(struct arena *a, const struct model_sig *sig, void **out, size_t rows, struct err *e)
{
    for (size_t i = 0; i < sig->output_count; i++) {
        out[i] = arena_try(a, sig_count(&sig->outputs[i], rows) * sizeof(float) + sizeof(float));
        if (!out[i])
            return FAIL(e, LIMIT, "the outputs of %zu rows do not fit in memory", rows);
    }
    return ERR_OK;
}

static bool is_same(const struct sig_tensor *t, const void *all, const void *one, size_t row)
{
    size_t n = sig_count(t, 1);
    const float *x = (const float *)all + row * n, *y = one;
    double most = 0;
    if (str_eq_c(t->datatype, "INT64") || str_eq_c(t->datatype, "INT32"))
        return !memcmp(x, y, n * sizeof *x);
    for (size_t k = 0; k < n; k++)
        most = fabs((double)y[k]) > most ? fabs((double)y[k]) : most;
    for (size_t k = 0; k < n; k++)
        if (!(fabs((double)x[k] - (double)y[k]) <= SAME * most + 1e-7) && (isfinite(x[k]) || isfinite(y[k])))
            return false;
    return true;
}

static enum errc compare_rows(struct arena *a, struct ort_call *c, const void *const *in, const struct model_sig *sig,
                              struct err *e)
{
    void *all[SIG_TENSORS_MAX], *one[SIG_TENSORS_MAX];
    TRY(make_room(a, sig, all, TRIAL_ROWS, e));
    TRY(make_room(a, sig, one, 1, e));
    ort_call_put(c, 0, in, TRIAL_ROWS);
    TRY(ort_call_compute(c, TRIAL_ROWS, e));
    ort_call_take(c, 0, TRIAL_ROWS, all);
    for (size_t row = 0; row < TRIAL_ROWS; row++) {
        const void *at[SIG_TENSORS_MAX];
        for (size_t i = 0; i < sig->input_count; i++)
            at[i] = (const float *)in[i] + row * sig_count(&sig->inputs[i], 1);
        ort_call_put(c, 0, at, 1);
        TRY(ort_call_compute(c, 1, e));
        ort_call_take(c, 0, 1, one);
        for (size_t i = 0; i < sig->output_count; i++)
            if (!is_same(&sig->outputs[i], all[i], one[i], row))
                return FAIL(e, UNPROCESSABLE, "output \"%.*s\": a row has other numbers alone than beside others; a number for "
                            "the first dimension (dims) makes it a model without rows", STR_ARG(sig->outputs[i].name));
    }
    return ERR_OK;
}

static enum errc try_rows(struct arena *a, struct ort_call *c, struct model_sig *sig, struct err *e)
{
    const bool has_rows = sig_has_rows(&sig->inputs[0]);
    const void *in[SIG_TENSORS_MAX];
    TRY(make_rows(a, sig, in, TRIAL_ROWS, e));
    TRY(learn_outputs(a, c, in, has_rows, sig, e));
    return has_rows ? compare_rows(a, c, in, sig, e) : ERR_OK;
}

/* A stop that comes between two calls is not seen by the next one, so it is said again. */
static void *watch_main(void *arg)
{
    struct trial_watch *w = arg;
    pthread_mutex_lock(&w->lock);
    while (!w->is_over) {
        if (mono_cond_wait(&w->wake, &w->lock, w->until_us) || clock_mono_us(&clock_system) < w->until_us)
            continue;
        ort_call_stop(w->call);
        w->until_us = clock_mono_us(&clock_system) + STOP_AGAIN_US;
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static enum errc try_watched(struct arena *a, struct ort_call *c, struct model_sig *sig, struct err *e)
{
    const int ms = trial_ms;
    struct trial_watch w = { .call = c, .until_us = clock_mono_us(&clock_system) + ms * INT64_C(1000),
                             .lock = PTHREAD_MUTEX_INITIALIZER };
    pthread_t t;
    mono_cond_init(&w.wake);
    if (pthread_create(&t, NULL, watch_main, &w))
        return FAIL(e, LIMIT, "a thread that watches the model's trial cannot be started");
    enum errc rc = try_rows(a, c, sig, e);
    pthread_mutex_lock(&w.lock);
    w.is_over = true;
    pthread_cond_signal(&w.wake);
    pthread_mutex_unlock(&w.lock);
    pthread_join(t, NULL);
    pthread_cond_destroy(&w.wake);
    if (rc == ERR_DEADLINE)
        return FAIL(e, UNPROCESSABLE, "its trial, up to %d rows of small numbers, was not over after %.3g s", (int)TRIAL_ROWS,
                    ms / 1e3);
    return rc;
}

void ort_learn_set_limit(int ms)
{
    trial_ms = ms ? ms : TRIAL_MS;
}

enum errc ort_learn(struct arena *a, struct ort *o, struct str onnx, const struct onnx_file *file, const struct onnx_dims *dims,
                    struct model_sig *ret, struct err *e)
{
    struct ort_model *m = NULL;
    void *call = NULL;
    *ret = (struct model_sig){ .input_count = 0 };
    TRY(read_inputs(file, dims, ret, e));
    TRY(ort_model_open(o, onnx, file, ret, &m, e));
    enum errc rc = ort_call_open(m, TRIAL_ROWS, &call, e);
    if (rc == ERR_OK) {
        rc = try_watched(a, call, ret, e);
        ort_call_close(call);
    }
    ort_model_close(m);
    return rc;
}
