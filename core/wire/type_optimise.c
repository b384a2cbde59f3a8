/* SPDX-License-Identifier: Apache-2.0 */
/* type_optimise.c - the spec of an optimisation. */
#include "core/wire/type_optimise.h"

const char *const optimise_precision_names[] = { "int8", "bf16", NULL };
const char *const optimise_calibration_names[] = { "minmax", "percentile", "entropy", NULL };

SCHEMA_EXTERN(optimise_job, "A job that makes a model smaller after its training",
    FIELD_ID(optimise_job, model_id, "mdl", F_REQ, .doc = "The model"),
    FIELD(optimise_job, model_version, 0, .min = 0, .max = 1000000, .dflt = "0", .doc = "Its version; 0: the latest at submit"),
    FIELD_ID(optimise_job, dataset_id, "dst", F_REQ,
             .doc = "A table whose rows show the ranges of activations and judge both models"),
    FIELD(optimise_job, dataset_version, 0, .min = 0, .max = 1000000, .dflt = "0", .doc = "Its version; 0: the latest at submit"),
    FIELD_ENUM(optimise_job, precision, 0, optimise_precision_names, .dflt = "int8",
               .doc = "int8: weights and what they are multiplied by; bf16: weights in half of their bytes, computed in fp32"),
    FIELD_ENUM(optimise_job, calibration, F_MORE, optimise_calibration_names, .dflt = "minmax",
               .doc = "int8: which range of the activations eight bits tell apart"),
    FIELD(optimise_job, percentile, F_MORE, .real_min = 50, .real_max = 100, .dflt = "99.99",
          .doc = "percentile: how many of the numbers are within, in percent"),
    FIELD(optimise_job, calibration_rows, F_MORE, .min = 1, .max = 100000, .dflt = "512",
          .doc = "Rows that show the ranges, at most one in four; the others judge"),
    FIELD(optimise_job, max_accuracy_drop, 0, .real_min = 0, .real_max = 1, .dflt = "0.01",
          .doc = "By how much the share of rows labelled rightly may fall; more: the job fails, with its report in its log"),
    SPEC_DATASET_FIELDS(optimise_job));
