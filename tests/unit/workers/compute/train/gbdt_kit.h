/* SPDX-License-Identifier: Apache-2.0 */
/* gbdt_kit.h - runs of boosted trees over tables that are made, or the digits. Included after cmocka.h. */
#pragma once
#include <math.h>

#include "run_kit.h"
#include "workers/compute/rng.h"

static inline struct train_job kit_trees(int64_t trees)
{
    return (struct train_job){ .family = TRAIN_GBDT, .trees = trees, .leaves = 31, .leaf_rows = 20, .bins = 255, .row_share = 1,
                               .column_share = 1, .learning_rate = 0.1, .seed = 1, .holdout = 0.2 };
}

/* Friedman's first regression problem (1991), every ninth of a column missing; or whether it is above 14; or both flags of it. */
static inline struct train_data kit_friedman(struct arena *a, const struct train_job *s, int target, size_t rows)
{
    enum { COLS = 6 };
    CLEANUP(buf_releasep) struct buf b = BUF(16 << 20);
    struct data_schema schema = { .label = target == TARGET_FLAGS ? STR("y*") : STR("y"), .target = target };
    struct train_data d;
    struct err e = { 0 };
    buf_printf(&b, "a,b,c,d,e,f,%s\n", target == TARGET_FLAGS ? "y1,y2" : "y");
    for (size_t i = 0; i < rows; i++) {
        double x[COLS];
        for (size_t k = 0; k < COLS; k++) {
            x[k] = (double)philox(9, k, i).v[0] * 0x1p-32;
            buf_printf(&b, "%.6f,", x[k]);
        }
        double y = 10 * sin(3.14159265 * x[0] * x[1]) + 20 * (x[2] - 0.5) * (x[2] - 0.5) + 10 * x[3] + 5 * x[4];
        y += 0.3 * philox_normal(9, 100, i);
        if (target == TARGET_NUMBER)
            buf_printf(&b, "%.6f\n", 1000 + y);
        else if (target == TARGET_CLASS)
            buf_printf(&b, "%d\n", y > 14);
        else
            buf_printf(&b, "%d,%d\n", y > 14, x[3] > 0.5);
    }
    if (train_data_rows(a, buf_str(&b), &schema, s, &d, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    return d;
}
