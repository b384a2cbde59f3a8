/* SPDX-License-Identifier: Apache-2.0 */
/* type_train.c - the spec of a training job. Its limits keep a job of one tenant within what a machine can hold. */
#include "core/wire/type_train.h"

const char *const job_family_names[] = { "mlp", NULL }, *const job_optimizer_names[] = { "adamw", "sgd", NULL },
                  *const job_schedule_names[] = { "const", "cosine", "linear", NULL };

SCHEMA_EXTERN(train_job, "A training job",
    FIELD_ID(train_job, dataset_id, "dst", F_REQ, .doc = "The data set to learn from"),
    FIELD(train_job, dataset_version, 0, .min = 0, .max = 1000000, .dflt = "0", .doc = "Its version; 0: the latest at submit"),
    FIELD_ENUM(train_job, family, F_MORE, job_family_names, .dflt = "mlp", .doc = "Model family"),
    FIELD_I64S(train_job, hidden, 0, .min = 0, .max = TRAIN_HIDDEN_MAX, .item_min = 1, .item_max = 8192, .dflt = "64,32",
               .doc = "Widths of the hidden layers; an empty list means the default"),
    FIELD(train_job, epochs, 0, .min = 1, .max = 10000, .dflt = "30", .doc = "Passes over the training rows"),
    FIELD(train_job, batch_size, 0, .min = 1, .max = 65536, .dflt = "32", .doc = "Rows per step"),
    FIELD_ENUM(train_job, optimizer, F_MORE, job_optimizer_names, .dflt = "adamw", .doc = "Optimiser"),
    FIELD(train_job, learning_rate, 0, .real_min = 0, .real_max = 10, .is_above = true, .dflt = "0.003", .doc = "Peak learning rate"),
    FIELD(train_job, weight_decay, F_MORE, .real_min = 0, .real_max = 1, .dflt = "0.0001", .doc = "Decoupled weight decay"),
    FIELD_ENUM(train_job, schedule, F_MORE, job_schedule_names, .dflt = "cosine", .doc = "Course of the learning rate"),
    FIELD(train_job, warmup_steps, F_MORE, .min = 0, .max = 1000000, .dflt = "0", .doc = "Steps of linear warm-up"),
    FIELD(train_job, seed, F_MORE, .min = 0, .max = INT64_MAX, .dflt = "1", .doc = "Seed of split, order and weights: same seed, same model"),
    FIELD(train_job, holdout, F_MORE, .real_min = 0.01, .real_max = 0.9, .dflt = "0.2", .doc = "Share of rows held out"),
    FIELD(train_job, early_stop_patience, F_MORE, .min = 0, .max = 10000, .dflt = "0",
          .doc = "Stop after so many epochs without improvement; 0: off"),
    FIELD(train_job, checkpoint_every, F_MORE, .min = 0, .max = 10000, .dflt = "0",
          .doc = "Epochs between checkpoints; 0: only when told to stop"),
    FIELD(train_job, label_column, F_DERIVED, .min = 1, .max = 128, .dflt = "label",
          .doc = "Column that holds the label; filled in from the data set"),
    FIELD(train_job, classes, F_DERIVED, .min = 0, .max = 65536, .dflt = "0", .doc = "Classes of the data set; 0: the largest label + 1"));

enum errc train_job_settle(struct train_job *t, struct arena *a, struct err *e)
{
    const struct field *f = schema_find(&train_job_schema, STR("hidden"));
    return t->hidden.n ? ERR_OK : field_from_text(f, str_c(f->dflt), t, a, e);
}

/* Layers of inputs x units weights and units biases, mean and scale of each input, and a header with the names of the columns.
 * Fields are limited so that nothing here overflows. */
int64_t train_job_model_bytes(const struct train_job *t, int64_t inputs)
{
    enum { HEADER = 16384, COLUMN = 160, NUMBER = 4 };
    const int64_t *units = t->hidden.items;
    int64_t numbers = 2 * inputs, in = inputs;
    for (size_t i = 0; i <= t->hidden.n; i++) {
        int64_t out = i < t->hidden.n ? units[i] : t->classes;
        numbers += in * out + out;
        in = out;
    }
    return HEADER + COLUMN * inputs + NUMBER * numbers;
}
