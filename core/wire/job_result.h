/* SPDX-License-Identifier: Apache-2.0 */
/* job_result.h - what a job gives back beside its outputs, by kind: written by the lease's child, checked by the agent, kept by the API.
 *
 * kind train: struct train_figures. noop and serve give nothing back. Figures that are no number are absent. */
#pragma once
#include "core/table/schema.h"

enum { HOLDOUT_ROWS_MAX = 2000 };

struct train_figures {
    bool has_holdout_accuracy, has_holdout_loss, has_train_loss;
    double holdout_accuracy, holdout_loss, train_loss;
    int64_t epochs;
    double seconds;
    int64_t parameters, holdout_count;
    bool early_stopped;
    struct str backend;
    struct slice holdout_rows;          /* int64_t row numbers from 0; none when there are more than HOLDOUT_ROWS_MAX */
    struct uuid model_object_id;        /* the agent's word; a child's is overwritten */
};
extern const struct schema train_figures_schema;
