/* SPDX-License-Identifier: Apache-2.0 */
/* range.h - which part of a value's numbers eight bits are to tell apart, from numbers that were seen.
 *
 * Calling order: range_see for all, then range_count for all again (not for the whole range), then range_pick. Numbers that are
 * none, or infinite, are passed over. min-max takes all that was seen. Percentile leaves out as many at each end. Entropy tries
 * ranges up to the largest magnitude and takes the one whose 255 steps tell most of the distribution (least Kullback-Leibler
 * divergence; Migacz, "8-bit inference with TensorRT", 2017). */
#pragma once
#include <stddef.h>
#include <stdint.h>

enum range_rule { RANGE_MINMAX, RANGE_PERCENTILE, RANGE_ENTROPY };
enum { RANGE_BINS = 4096 };

struct range {
    float min, max;             /* 0 is always within */
    uint64_t bins[RANGE_BINS];  /* from min to max */
};

void range_see(struct range *r, const float *x, size_t n);
void range_count(struct range *r, const float *x, size_t n);
/* percentile: of the numbers, how many are within; 99.99. */
void range_pick(const struct range *r, enum range_rule rule, double percentile, float *ret_min, float *ret_max);
/* Scale and zero point (0 … 255) of a range. */
void range_steps(float min, float max, double *ret_scale, double *ret_zero);
