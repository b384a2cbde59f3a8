/* SPDX-License-Identifier: Apache-2.0 */
/* type_optimise.h - the spec of a job that makes a model smaller, with a data set that shows what it costs. */
#pragma once
#include "core/wire/job_type.h"
#include "core/wire/spec_dataset.h"

/* In the order of optimise.h and range.h. */
extern const char *const optimise_precision_names[], *const optimise_calibration_names[];

struct optimise_job {
    struct uuid model_id, dataset_id;
    int64_t model_version, dataset_version;     /* 0: the latest at submit */
    int precision, calibration;
    double percentile;
    int64_t calibration_rows;
    double max_accuracy_drop;
    SPEC_DATASET;                               /* filled in at submit; no columns of words, and no empty cells */
};
