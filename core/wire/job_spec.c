/* SPDX-License-Identifier: Apache-2.0 */
/* job_spec.c - the schemas of job specs. Limits keep a job of one tenant within what a machine can hold. */
#include "core/wire/job_spec.h"

const char *const job_family_names[] = { "mlp", NULL }, *const job_optimizer_names[] = { "adamw", "sgd", NULL },
                  *const job_schedule_names[] = { "const", "cosine", "linear", NULL };

SCHEMA_EXTERN(noop_job, "A job that does nothing, for measuring and drills",
    FIELD(noop_job, sleep_ms, 0, .max = 600000, .dflt = "0", .doc = "Time to sleep"),
    FIELD(noop_job, fail, 0, .max = 200, .doc = "End as failed with this message"));

SCHEMA_EXTERN(train_job, "A training job",
    FIELD_ID(train_job, dataset_id, "dst", F_REQ, .doc = "The data set to learn from"),
    FIELD(train_job, dataset_version, 0, .min = 0, .max = 1000000, .dflt = "0", .doc = "Its version; 0: the latest at submit"),
    FIELD_ENUM(train_job, family, 0, job_family_names, .dflt = "mlp", .doc = "Model family"),
    FIELD_I64S(train_job, hidden, 0, .min = 0, .max = 8, .doc = "Widths of the hidden layers; none given: 64, 32"),
    FIELD(train_job, epochs, 0, .min = 1, .max = 10000, .dflt = "30", .doc = "Passes over the training rows"),
    FIELD(train_job, batch_size, 0, .min = 1, .max = 65536, .dflt = "32", .doc = "Rows per step"),
    FIELD_ENUM(train_job, optimizer, 0, job_optimizer_names, .dflt = "adamw", .doc = "Optimiser"),
    FIELD(train_job, learning_rate, 0, .dflt = "0.003", .doc = "Peak learning rate, above 0 and at most 10"),
    FIELD(train_job, weight_decay, 0, .dflt = "0.0001", .doc = "Decoupled weight decay, 0 to 1"),
    FIELD_ENUM(train_job, schedule, 0, job_schedule_names, .dflt = "cosine", .doc = "Course of the learning rate"),
    FIELD(train_job, warmup_steps, 0, .min = 0, .max = 1000000, .dflt = "0", .doc = "Steps of linear warm-up"),
    FIELD(train_job, seed, 0, .min = 0, .max = INT64_MAX, .dflt = "1", .doc = "Seed of split, order and weights: same seed, same model"),
    FIELD(train_job, holdout, 0, .dflt = "0.2", .doc = "Share of rows held out, 0.01 to 0.9"),
    FIELD(train_job, early_stop_patience, 0, .min = 0, .max = 10000, .dflt = "0", .doc = "Stop after so many epochs without improvement; 0: off"),
    FIELD(train_job, checkpoint_every, 0, .min = 0, .max = 10000, .dflt = "0", .doc = "Epochs between checkpoints; 0: only when told to stop"),
    FIELD(train_job, label_column, 0, .min = 1, .max = 128, .dflt = "label", .doc = "Column that holds the label; filled in from the data set"),
    FIELD(train_job, classes, 0, .min = 0, .max = 65536, .dflt = "0", .doc = "Classes of the data set; 0: the largest label + 1"));

SCHEMA_EXTERN(serve_job, "A serving job, made by a deployment",
    FIELD(serve_job, name, F_REQ, .min = 1, .max = 63, .doc = "Name that clients call"),
    FIELD_ID(serve_job, model_id, "mdl", F_REQ, .doc = "Model"),
    FIELD(serve_job, model_version, F_REQ, .min = 1, .max = INT64_MAX, .doc = "Version of the model"),
    FIELD_ID(serve_job, model_object_id, "obj", F_REQ, .doc = "Object that holds the weights"));

enum errc train_job_check(const struct train_job *t, struct err *e)
{
    const int64_t *widths = t->hidden.items;
    for (size_t i = 0; i < t->hidden.n; i++)
        if (widths[i] < 1 || widths[i] > 8192) {
            FAIL(e, INVALID, "A hidden layer has 1 to 8192 units, not %ld", (long)widths[i]);
            return err_field(e, "/spec/hidden/%zu", i);
        }
    if (!(t->learning_rate > 0 && t->learning_rate <= 10))
        return FAIL_AT(e, INVALID, "/spec/learning_rate", "The learning rate must be above 0 and at most 10");
    if (!(t->weight_decay >= 0 && t->weight_decay <= 1))
        return FAIL_AT(e, INVALID, "/spec/weight_decay", "The weight decay must be from 0 to 1");
    if (!(t->holdout >= 0.01 && t->holdout <= 0.9))
        return FAIL_AT(e, INVALID, "/spec/holdout", "The share held out must be from 0.01 to 0.9");
    return ERR_OK;
}
