/* SPDX-License-Identifier: Apache-2.0 */
/* score.h - placement policies as rows of score.def; all of them pure functions of a machine's room, the ask and the learned
 * workload.
 *
 * A choice is a machine and, for a share, the level: how many thousandths are free on the device it goes to. The highest score
 * wins; on equal
 * scores the lowest level, then the first machine of the list. Scores of different policies say nothing about each other. */
#pragma once
#include "core/base/str.h"
#include "scheduler/plan/resource.h"
#include "scheduler/plan/workload.h"

enum score_policy {
#define SCORE(id, name, waste, direct, learns, purpose) SCORE_##id,
#include "scheduler/plan/score.def"
#undef SCORE
    SCORE_COUNT
};

/* The most of each that one machine of the fleet has: what direct scores are measured by. At least 1 each. */
struct score_scale { int64_t cpu_milli, memory_bytes, milli; };

/* Thousandths of GPU, or a monotone measure of them, that the room's free GPUs will probably not give to anybody. Only
 * differences count. */
typedef int64_t score_waste(const struct workload *w, const struct room *r);
/* before: sorted, and the ask fits at that level. is_idle: none of its GPUs is in use. */
typedef int64_t score_direct(const struct score_scale *s, const struct room *before, const struct ask *a, int level,
                             bool is_idle);

struct score_row {
    const char *name, *purpose;
    score_waste *waste;
    score_direct *direct;
    bool learns;                        /* the workload is learned as it comes; false: from all that is known beforehand */
};

const struct score_row *score_row(enum score_policy p);
/* The policy of that name, or SCORE_COUNT. */
enum score_policy score_by_name(struct str name);

score_waste waste_roll, waste_fgd;
score_direct direct_bestfit, direct_dotprod, direct_packing;
