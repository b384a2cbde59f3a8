/* SPDX-License-Identifier: Apache-2.0 */
/* job_result.c - the schemas of what jobs give back. */
#include "core/wire/job_result.h"
#include "core/base/assert.h"

SCHEMA_OF(train_profile_row, "An operation in a part of a step, all its calls together",
    FIELD(train_profile_row, operation, F_REQ, .max = 32, .doc = "Operation"),
    FIELD(train_profile_row, phase, F_REQ, .max = 16, .doc = "Part of the step: forward, backward, update"),
    FIELD(train_profile_row, calls, F_REQ, .min = 0, .max = INT64_MAX, .doc = "Calls in a step"),
    FIELD(train_profile_row, ms, F_REQ, .doc = "Milliseconds of a step"),
    FIELD(train_profile_row, share, F_REQ, .doc = "Share of the step's time"),
    FIELD(train_profile_row, gflops, F_REQ, .doc = "Products, 10^9 multiplications and additions per second; 0: it has none"),
    FIELD(train_profile_row, gbytes, F_REQ, .doc = "What it reads and writes, 10^9 bytes per second"),
    FIELD(train_profile_row, roof, F_REQ, .doc = "Share of what the machine can do at most, by products or by memory"),
    FIELD(train_profile_row, limit, F_REQ, .max = 16, .doc = "Which of the two limits it: products or memory"));

SCHEMA_OF(train_profile, "Where the time of some steps went",
    FIELD(train_profile, steps, F_REQ, .min = 0, .max = INT64_MAX, .doc = "Steps that were watched"),
    FIELD(train_profile, ms, F_REQ, .doc = "Milliseconds of a watched step"),
    FIELD(train_profile, data_wait, F_REQ, .doc = "Share of that time until the rows of a batch were there"),
    FIELD(train_profile, peak_gflops, F_REQ,
          .doc = "Measured on this machine: a square product in the run's precision and threads"),
    FIELD(train_profile, peak_gbytes, F_REQ, .doc = "Measured on this machine: a copy, 10^9 bytes read and written per second"),
    FIELD_LIST(train_profile, rows, &train_profile_row_schema, 0, .max = TRAIN_PROFILE_ROWS_MAX,
               .doc = "By operation, longest first"));

SCHEMA_OF(train_tuning_row, "A way of running that was tried",
    FIELD(train_tuning_row, setting, F_REQ, .max = 16,
          .doc = "What was changed: threads, ranks, prefetch, graph, precision, batches; "
          "defaults (the first row: nothing), together (the last ones: what helped)"),
    FIELD(train_tuning_row, value, F_REQ, .max = 80, .doc = "To what"),
    FIELD(train_tuning_row, ms, F_REQ, .doc = "Milliseconds of a step, the trial's lower quartile; 0: it could not be tried"),
    FIELD(train_tuning_row, gain, F_REQ, .doc = "Steps per second beside those of the first row"),
    FIELD(train_tuning_row, chosen, F_REQ, .doc = "The run goes on with it"),
    FIELD(train_tuning_row, why, F_NOEMPTY, .max = 256, .doc = "Why it could not be tried"));

SCHEMA_OF(train_tuning, "What was tried before the first step, and what was chosen",
    FIELD(train_tuning, steps, F_REQ, .min = 0, .max = INT64_MAX, .doc = "Steps of each trial, after two that warm up"),
    FIELD(train_tuning, seconds, F_REQ, .doc = "Time that all trials took"),
    FIELD(train_tuning, ms_before, F_REQ, .doc = "Milliseconds of a step by the defaults"),
    FIELD(train_tuning, ms_after, F_REQ, .doc = "Milliseconds of a step as chosen"),
    FIELD(train_tuning, bits_kept, F_REQ, .doc = "The model is the one that the spec makes without tuning, byte for byte"),
    FIELD_LIST(train_tuning, rows, &train_tuning_row_schema, 0, .max = TRAIN_TUNING_ROWS_MAX,
               .doc = "In the order of the trials"));

SCHEMA_EXTERN(train_report, "The output report of a training: how it was run, and where its time went",
    FIELD(train_report, family, F_REQ, .max = 16, .doc = "Model family"),
    FIELD(train_report, backend, F_REQ, .max = 32, .doc = "Compute backend"),
    FIELD(train_report, precision, F_REQ, .max = 8, .doc = "Of the numbers that its products multiply"),
    FIELD(train_report, falaj, F_REQ, .max = 32, .doc = "Version of the worker"),
    FIELD(train_report, parameters, F_REQ, .min = 0, .max = INT64_MAX, .doc = "Numbers in the model"),
    FIELD(train_report, batch_size, F_REQ, .min = 0, .max = INT64_MAX, .doc = "Rows of a batch, as it was run"),
    FIELD(train_report, accumulate, F_REQ, .min = 0, .max = INT64_MAX, .doc = "Batches of a step"),
    FIELD(train_report, ranks, F_REQ, .min = 0, .max = INT64_MAX, .doc = "Ranks that shared them"),
    FIELD(train_report, threads, F_REQ, .min = 0, .max = INT64_MAX, .doc = "Threads in all"),
    FIELD(train_report, prefetch, F_REQ, .doc = "Rows were fetched by a thread of their own"),
    FIELD_SUB(train_report, profile, &train_profile_schema, 0, .doc = "Where the time of the steps of `profile_steps` went"),
    FIELD_SUB(train_report, tuning, &train_tuning_schema, 0, .doc = "What was tried for `tune_steps`"));

SCHEMA_EXTERN(train_figures, "Figures of a trained model",
    FIELD_OPT(train_figures, holdout_accuracy, 0, .doc = "Share of the held-out rows that it labels rightly"),
    FIELD_OPT(train_figures, holdout_loss, 0, .doc = "Mean loss over the held-out rows"),
    FIELD_OPT(train_figures, train_loss, 0, .doc = "Mean loss over the training rows in its epoch"),
    FIELD(train_figures, epochs, F_REQ, .min = 0, .max = INT64_MAX, .doc = "Epochs that were run"),
    FIELD(train_figures, seconds, F_REQ, .doc = "Time of this attempt's training"),
    FIELD(train_figures, parameters, F_REQ, .min = 0, .max = INT64_MAX, .doc = "Numbers in the model"),
    FIELD(train_figures, holdout_count, F_REQ, .min = 0, .max = INT64_MAX, .doc = "Held-out rows"),
    FIELD(train_figures, early_stopped, F_REQ, .doc = "It ended before its last epoch, having grown no better"),
    FIELD_OPT(train_figures, items, 0, .min = 0, .max = INT64_MAX,
              .doc = "mlp, cnn, gpt: rows, or tokens, that its steps were made of, of all attempts that it goes on from"),
    FIELD(train_figures, backend, F_REQ, .max = 32, .doc = "Compute backend"),
    FIELD(train_figures, precision, 0, .max = 8, .doc = "Of the numbers that its products multiply: fp32 or bf16"),
    FIELD_SUB(train_figures, profile, &train_profile_schema, 0, .doc = "Where the time of the steps of `profile_steps` went"),
    FIELD_SUB(train_figures, tuning, &train_tuning_schema, 0, .doc = "What was tried for `tune_steps`, and what was chosen"),
    FIELD_I64S(train_figures, holdout_rows, F_NOEMPTY, .max = HOLDOUT_ROWS_MAX, .doc = "Numbers of the held-out rows, if they are few"),
    FIELD_ID(train_figures, model_object_id, "obj", 0, .doc = "The model"));

SCHEMA_EXTERN(convert_figures, "Figures of a converted model",
    FIELD(convert_figures, ir, F_REQ, .min = 0, .max = INT64_MAX, .doc = "Version of ONNX that the file is written in"),
    FIELD(convert_figures, opset, F_REQ, .min = 0, .max = INT64_MAX, .doc = "Operator set of its nodes"),
    FIELD(convert_figures, nodes, F_REQ, .min = 0, .max = INT64_MAX, .doc = "Nodes of the file"),
    FIELD(convert_figures, operations, F_REQ, .min = 0, .max = INT64_MAX, .doc = "Operations of the graph made of them"),
    FIELD(convert_figures, parameters, F_REQ, .min = 0, .max = INT64_MAX, .doc = "Numbers in the model"),
    FIELD(convert_figures, model_bytes, F_REQ, .min = 0, .max = INT64_MAX, .doc = "Bytes of the model file"),
    FIELD(convert_figures, seconds, F_REQ, .doc = "Time that it took"),
    FIELD(convert_figures, producer, 0, .max = 200, .doc = "What wrote the file, by its own word"),
    FIELD_ID(convert_figures, model_object_id, "obj", 0, .doc = "The model"));

SCHEMA_EXTERN(optimise_figures, "What making a model smaller gained, and cost",
    FIELD(optimise_figures, accuracy_before, F_REQ, .doc = "Share of rows that the model labels rightly"),
    FIELD(optimise_figures, accuracy_after, F_REQ, .doc = "Share of rows that the smaller one labels rightly"),
    FIELD(optimise_figures, accuracy_drop, F_REQ, .doc = "The difference, above 0 where the smaller one is worse"),
    FIELD(optimise_figures, agreement, F_REQ, .doc = "Share of rows that both give the same class"),
    FIELD(optimise_figures, latency_us_before, F_REQ, .doc = "Time of a single row, in turns with the next, microseconds"),
    FIELD(optimise_figures, latency_us_after, F_REQ, .doc = "Time of a single row of the smaller one"),
    FIELD(optimise_figures, model_bytes_before, F_REQ, .min = 0, .max = INT64_MAX, .doc = "Bytes of the model file"),
    FIELD(optimise_figures, model_bytes, F_REQ, .min = 0, .max = INT64_MAX, .doc = "Bytes of the smaller one's file"),
    FIELD(optimise_figures, memory_before, F_REQ, .min = 0, .max = INT64_MAX, .doc = "Bytes of constants in memory when served"),
    FIELD(optimise_figures, memory_bytes, F_REQ, .min = 0, .max = INT64_MAX, .doc = "The same of the smaller one"),
    FIELD(optimise_figures, calibration_rows, F_REQ, .min = 0, .max = INT64_MAX, .doc = "Rows that showed the ranges"),
    FIELD(optimise_figures, evaluation_rows, F_REQ, .min = 0, .max = INT64_MAX, .doc = "Other rows, that both were judged by"),
    FIELD(optimise_figures, changed, F_REQ, .min = 0, .max = INT64_MAX, .doc = "Products and convolutions that were changed"),
    FIELD(optimise_figures, seconds, F_REQ, .doc = "Time that it took"),
    FIELD(optimise_figures, backend, F_REQ, .max = 32, .doc = "Compute backend"),
    FIELD(optimise_figures, parent, F_REQ, .max = 80, .doc = "The version that it was made of, MODEL@VERSION"),
    FIELD_ID(optimise_figures, model_object_id, "obj", 0, .doc = "The smaller model"));

SCHEMA_OF(inspect_layer, "A layer of an image",
    FIELD(inspect_layer, digest, F_REQ, .max = 71, .doc = "Of its blob, sha256:…"),
    FIELD(inspect_layer, size_bytes, F_REQ, .min = 0, .max = INT64_MAX, .doc = "Bytes of the blob"),
    FIELD(inspect_layer, unpacked_bytes, F_REQ, .min = 0, .max = INT64_MAX, .doc = "Bytes of the files that it adds"),
    FIELD(inspect_layer, files, F_REQ, .min = 0, .max = INT64_MAX, .doc = "Entries that it adds"));
SCHEMA_EXTERN(inspect_figures, "An image that was checked to its last byte",
    FIELD(inspect_figures, digest, F_REQ, .max = 71, .doc = "Of its manifest, sha256:…"),
    FIELD(inspect_figures, unpacked_bytes, F_REQ, .min = 0, .max = INT64_MAX, .doc = "Bytes of its files"),
    FIELD(inspect_figures, files, F_REQ, .min = 0, .max = INT64_MAX, .doc = "Entries of all its layers"),
    FIELD(inspect_figures, stripped, F_REQ, .min = 0, .max = INT64_MAX, .doc = "Files that lost setuid and setgid bits"),
    FIELD(inspect_figures, left_out, F_REQ, .min = 0, .max = INT64_MAX, .doc = "Devices below /dev that were left out"),
    FIELD(inspect_figures, package_source, F_REQ, .max = 8, .doc = "Whose database says its packages: dpkg, apk or none"),
    FIELD(inspect_figures, package_count, F_REQ, .min = 0, .max = INT64_MAX, .doc = "Packages that are installed in it"),
    FIELD_LIST(inspect_figures, layers, &inspect_layer_schema, 0, .max = 128, .doc = "Its layers, the lowest first"),
    FIELD_STRS(inspect_figures, packages, 0, .max = 20000, .doc = "NAME VERSION ARCHITECTURE, sorted; the first ones that have "
        "room"),
    FIELD(inspect_figures, seconds, F_REQ, .doc = "Time that it took"));

SCHEMA_EXTERN(run_figures, "Figures of a program that ended well",
    FIELD(run_figures, exit_code, F_REQ, .min = 0, .max = 255, .doc = "Its exit status"),
    FIELD(run_figures, outputs, F_REQ, .min = 0, .max = INT64_MAX, .doc = "Outputs that were kept"),
    FIELD(run_figures, checkpoints, F_REQ, .min = 0, .max = INT64_MAX, .doc = "Checkpoints that this attempt kept"),
    FIELD(run_figures, seconds, F_REQ, .doc = "Time that it ran"));

SCHEMA_EXTERN(batch_progress, "How far a batch is",
    FIELD(batch_progress, rows_done, F_REQ, .min = 0, .max = INT64_MAX, .doc = "Rows that are done"),
    FIELD(batch_progress, rows, F_REQ, .min = 0, .max = INT64_MAX, .doc = "Rows in all"),
    FIELD(batch_progress, rows_per_second, F_REQ, .doc = "Rows of a second so far"));

SCHEMA_EXTERN(batch_figures, "What went through a model",
    FIELD(batch_figures, rows, F_REQ, .min = 0, .max = INT64_MAX, .doc = "Rows"),
    FIELD(batch_figures, columns, 0, .min = 0, .max = INT64_MAX, .dflt = "0", .doc = "Columns of the result, of a data set"),
    FIELD(batch_figures, result_bytes, F_REQ, .min = 0, .max = INT64_MAX, .doc = "Bytes of the output result"),
    FIELD(batch_figures, json_bytes, 0, .min = 0, .max = INT64_MAX, .dflt = "0",
          .doc = "Of a request: how long the JSON of its answer is; binary tensors follow"),
    FIELD_OPT(batch_figures, accuracy, 0,
              .doc = "Share of rows whose label is the model's, where the data set has classes and the model gives one"),
    FIELD(batch_figures, rows_per_second, F_REQ, .doc = "Rows of a second"),
    FIELD(batch_figures, seconds, F_REQ, .doc = "Time from the first row to the last"),
    FIELD(batch_figures, backend, F_REQ, .max = 32, .doc = "Compute backend"));

void job_result_set_object(const struct schema *s, void *figures, struct uuid object_id)
{
    const struct field *f = schema_find(s, STR("model_object_id"));
    ASSERT(f);
    *(struct uuid *)((char *)figures + f->offset) = object_id;
}
