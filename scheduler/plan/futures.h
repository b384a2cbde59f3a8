/* SPDX-License-Identifier: Apache-2.0 */
/* futures.h - what likely arrivals leave free of one machine, played fast.
 *
 * A future is WORKLOAD_STEPS arrivals (workload.h). Played on a room, each arrival that fits takes its part, and one that does
 * not is skipped; a share
 * goes to the fullest device that is enough, whole GPUs to free devices. Nearly all arrivals do not fit, so they are not looked
 * at one by one:
 * for each future there are bit masks of its steps by processors, memory and GPU, and the next step that fits is the lowest bit
 * of their
 * intersection. futures_worth is the sum over futures of the square root of R, the thousandths of GPU left.
 * One of these is for one group of machines. Pure; integers only. */
#pragma once
#include "scheduler/plan/workload.h"

struct futures;

struct futures *futures_new(void);
void futures_free(struct futures *f);   /* NULL is fine */
/* Made for the futures that w has now, as far as the group accepts their arrivals. */
void futures_fill(struct futures *f, const struct workload *w, unsigned group);
uint32_t futures_epoch(const struct futures *f);        /* the workload's when it was filled; 0: never */

/* Sum over futures of sqrt(R) * 2^20, each rounded down. The room's devices are sorted. */
int64_t futures_worth(const struct futures *f, const struct room *r);
/* R of one future: for tests and explanations. */
int32_t futures_left(const struct futures *f, int future, const struct room *r);
