/* SPDX-License-Identifier: Apache-2.0 */
/* job_result.h - what a job gives back beside its outputs: written by the lease's child, checked by the agent, kept by the API.
 * Which kind gives what stands in its row (job_type.def). Figures that are no number are absent.
 *
 * What comes with an output "model" has the member model_object_id: the agent's word, a child's is overwritten. */
#pragma once
#include "core/table/schema.h"

enum { HOLDOUT_ROWS_MAX = 2000 };

/* Where the time of some steps went (workers/compute/train/profile.h), by operation and part of the step. */
struct train_profile_row {
    struct str operation, phase, limit;
    int64_t calls;
    double ms, share, gflops, gbytes, roof;
};
struct train_profile {
    int64_t steps;
    double ms, data_wait, peak_gflops, peak_gbytes;
    struct slice rows;                  /* struct train_profile_row, at most TRAIN_PROFILE_ROWS_MAX, the longest first */
};
enum { TRAIN_PROFILE_ROWS_MAX = 64 };

/* What was tried before the first step (workers/compute/train/tune.h): each way alone beside the defaults, then together. */
struct train_tuning_row {
    struct str setting, value, why;     /* why: it could not be tried; empty: it was */
    double ms, gain;                    /* of a step; the first row's ms / this one's */
    bool chosen;
};
struct train_tuning {
    int64_t steps;                      /* of each trial; 0: none was asked for */
    double seconds, ms_before, ms_after;
    bool bits_kept;                     /* what was chosen makes the model that the spec makes untuned */
    struct slice rows;                  /* struct train_tuning_row, at most TRAIN_TUNING_ROWS_MAX */
};
enum { TRAIN_TUNING_ROWS_MAX = 32 };

struct train_figures {
    bool has_holdout_accuracy, has_holdout_loss, has_train_loss;
    double holdout_accuracy, holdout_loss, train_loss;
    int64_t epochs;
    double seconds;
    int64_t parameters, holdout_count;
    bool early_stopped;
    bool has_items;
    int64_t items;                      /* rows, or tokens, that it learnt from, each pass counted */
    struct str backend;
    struct str precision;               /* of its products; absent: of an older worker, or of trees */
    struct train_profile profile;       /* steps 0: none was asked for */
    struct train_tuning tuning;         /* steps 0: none was asked for */
    struct slice holdout_rows;          /* int64_t row numbers from 0; none when there are more than HOLDOUT_ROWS_MAX */
    struct uuid model_object_id;
};

/* The output "report" of a training that was watched or tuned, as JSON: figures to keep beside the model. */
struct train_report {
    struct str family, backend, precision, falaj;
    int64_t parameters, batch_size, accumulate, ranks, threads;
    bool prefetch;
    struct train_profile profile;
    struct train_tuning tuning;
};

struct convert_figures {
    int64_t ir, opset, nodes, operations, parameters,
        model_bytes;      /* nodes of the file, operations of the graph made of it */
    double seconds;
    struct str producer;
    struct uuid model_object_id;
};

struct optimise_figures {
    double accuracy_before, accuracy_after, accuracy_drop, agreement, latency_us_before, latency_us_after;
    int64_t model_bytes_before, model_bytes, memory_before, memory_bytes, calibration_rows, evaluation_rows, changed;
    double seconds;
    struct str backend, parent;         /* parent: MODEL@VERSION */
    struct uuid model_object_id;
};
/* A program that ended well. */
struct run_figures {
    int64_t exit_code, outputs, checkpoints;
    double seconds;
};
/* An image that was taken in, as its unpacked files are. */
struct inspect_layer {
    struct str digest;
    int64_t size_bytes, unpacked_bytes, files;      /* of the blob; of what it adds */
};
struct inspect_figures {
    struct str digest, package_source;  /* of the manifest; dpkg, apk or none */
    int64_t unpacked_bytes, files, stripped, left_out;
    int64_t package_count;
    struct slice layers;                /* struct inspect_layer */
    struct slice packages;              /* struct str "NAME VERSION ARCHITECTURE"; maybe fewer than package_count */
    double seconds;
};
/* How far a batch is, as a point of its metrics. */
struct batch_progress {
    int64_t rows_done, rows;
    double rows_per_second;
};
/* A table or a request that went through a model. */
struct batch_figures {
    int64_t rows, columns, result_bytes;
    int64_t json_bytes;                 /* of an answer: how long its JSON is; 0 of a table */
    bool has_accuracy;                  /* the rows have a class as label, and the model gives one */
    double accuracy, rows_per_second, seconds;
    struct str backend;
};
extern const struct schema train_figures_schema, train_report_schema, convert_figures_schema, optimise_figures_schema,
                           run_figures_schema, inspect_figures_schema, batch_figures_schema, batch_progress_schema;

/* Writes the output's object into the figures that go with it. */
void job_result_set_object(const struct schema *s, void *figures, struct uuid object_id);
