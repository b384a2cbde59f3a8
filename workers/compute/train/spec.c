/* SPDX-License-Identifier: Apache-2.0 */
/* spec.c - defaults, limits and the learning-rate schedule. Cosine: Loshchilov & Hutter 2017 without restarts. */
#include "workers/compute/train/spec.h"

#include <math.h>

const char *const train_family_names[FAMILY_COUNT] = { "mlp" };
const char *const train_activation_names[ACTIVATION_COUNT] = { "relu" };
const char *const train_optimizer_names[OPTIMIZER_COUNT] = { "adamw", "sgd" };
const char *const train_schedule_names[SCHEDULE_COUNT] = { "const", "cosine", "linear" };
const char *const train_precision_names[PRECISION_COUNT] = { "fp32" };

struct train_spec train_spec_defaults(void)
{
    return (struct train_spec){
        .family = FAMILY_MLP, .hidden = { 128 }, .hidden_count = 1, .activation = ACTIVATION_RELU, .epochs = 20, .batch_size = 32,
        .optimizer = OPTIMIZER_ADAMW, .lr = 1e-3, .momentum = 0.9, .weight_decay = 1e-2, .schedule = SCHEDULE_COSINE, .seed = 1,
        .holdout = 0.2, .stratified = true, .precision = PRECISION_FP32,
    };
}

static enum errc check_int(int64_t v, int64_t min, int64_t max, const char *pointer, struct err *e)
{
    if (v >= min && v <= max)
        return ERR_OK;
    return FAIL_AT(e, INVALID, pointer, "must be %lld to %lld, is %lld", (long long)min, (long long)max, (long long)v);
}

/* NaN fails, too. */
static enum errc check_real(double v, double min, double max, const char *pointer, struct err *e)
{
    return v >= min && v <= max ? ERR_OK : FAIL_AT(e, INVALID, pointer, "must be %g to %g, is %g", min, max, v);
}

static enum errc check_enum(unsigned v, unsigned count, const char *pointer, struct err *e)
{
    return v < count ? ERR_OK : FAIL_AT(e, INVALID, pointer, "is not a value this version knows");
}

enum errc train_spec_check(const struct train_spec *s, struct err *e)
{
    TRY(check_enum(s->family, FAMILY_COUNT, "/family", e));
    TRY(check_int(s->hidden_count, 0, TRAIN_HIDDEN_MAX, "/hidden", e));
    for (int64_t i = 0; i < s->hidden_count; i++)
        if (s->hidden[i] < 1 || s->hidden[i] > TRAIN_WIDTH_MAX) {
            (void)FAIL(e, INVALID, "must be 1 to %d, is %lld", TRAIN_WIDTH_MAX, (long long)s->hidden[i]);
            return err_field(e, "/hidden/%lld", (long long)i), ERR_INVALID;
        }
    TRY(check_enum(s->activation, ACTIVATION_COUNT, "/activation", e));
    TRY(check_int(s->epochs, 1, TRAIN_EPOCHS_MAX, "/epochs", e));
    TRY(check_int(s->batch_size, 1, TRAIN_BATCH_MAX, "/batch_size", e));
    TRY(check_enum(s->optimizer, OPTIMIZER_COUNT, "/optimizer", e));
    TRY(check_real(s->lr, 1e-9, 10, "/lr", e));
    TRY(check_real(s->momentum, 0, 0.9999, "/momentum", e));
    TRY(check_real(s->weight_decay, 0, 1, "/weight_decay", e));
    TRY(check_enum(s->schedule, SCHEDULE_COUNT, "/schedule", e));
    TRY(check_int(s->warmup_steps, 0, 1000000000, "/warmup_steps", e));
    TRY(check_int(s->seed, 0, INT64_MAX, "/seed", e));
    TRY(check_real(s->holdout, 0, 0.9, "/holdout", e));
    TRY(check_int(s->early_stop_patience, 0, TRAIN_EPOCHS_MAX, "/early_stop_patience", e));
    if (s->early_stop_patience > 0 && s->holdout <= 0)
        return FAIL_AT(e, INVALID, "/early_stop_patience", "needs a hold-out share above 0");
    return check_enum(s->precision, PRECISION_COUNT, "/precision", e);
}

double train_spec_lr(const struct train_spec *s, int64_t step, int64_t total_steps)
{
    if (step < s->warmup_steps)
        return s->lr * (double)(step + 1) / (double)s->warmup_steps;
    int64_t rest = total_steps - s->warmup_steps;
    double done = rest > 0 ? (double)(step - s->warmup_steps) / (double)rest : 0;
    if (s->schedule == SCHEDULE_COSINE)
        return s->lr * 0.5 * (1 + cos(3.141592653589793 * done));
    return s->schedule == SCHEDULE_LINEAR ? s->lr * (1 - done) : s->lr;
}
