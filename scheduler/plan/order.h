/* SPDX-License-Identifier: Apache-2.0 */
/* order.h - which job of a tenant goes first: value of its class, priority (higher first), time of submission, id. Pure and total,
 * so replay is exact. */
#pragma once
#include "scheduler/plan/snapshot.h"

int order_compare(const struct snap_job *a, const struct snap_job *b);
/* Same project and queue: their jobs stand in one line. */
bool order_same_lane(const struct snap_job *a, const struct snap_job *b);
/* Sorts jobs by tenant index, those of tenants with rules by project and queue, then by order_compare. */
void order_jobs(struct snapshot *s);
