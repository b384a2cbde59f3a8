/* SPDX-License-Identifier: Apache-2.0 */
/* gbdt.h - a run of the family gbdt: histogram gradient boosting over a table, from train_run (engine.h), whose rules hold.
 *
 * A step is a round of boosting: one tree, or one for each class of three or more, or for each flag. An evaluation is a round or
 * eval_every rounds; early_stop_patience counts those without a lower hold-out loss, and the model then ends with the best
 * round. The model is the same whatever the number of threads, the backend and the processor are; a checkpoint holds the trees so
 * far, and a resumed run gives the bytes of one that went through. */
#pragma once
#include "workers/compute/train/engine.h"

enum errc gbdt_run(struct arena *a, const struct train_task *job, const struct train_observer *obs, struct train_result *ret,
                   struct err *e);
