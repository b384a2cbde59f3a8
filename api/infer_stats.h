/* SPDX-License-Identifier: Apache-2.0 */
/* infer_stats.h - how the deployments answered lately, as this process has seen it. In memory, for an hour, and gone with the process.
 *
 * Times are counted in classes that are 19 % apart, so a percentile is right to within that. At most INFER_STATS_MAX deployments are
 * remembered; the one that was quiet for longest makes room. Any thread. */
#pragma once
#include <stdbool.h>
#include "core/base/clock.h"
#include "core/base/id.h"

enum { INFER_STATS_MAX = 1024, INFER_MINUTES = 60 };

struct infer_stats;

struct infer_stats *infer_stats_new(int64_t now_us);
void infer_stats_free(struct infer_stats *s);
enum infer_end { INFER_OK, INFER_REFUSED /* the request was at fault */, INFER_FAILED };
void infer_stats_add(struct infer_stats *s, struct uuid deployment_id, int64_t now_us, int64_t took_us, enum infer_end end);

struct infer_window {
    int64_t minutes, requests, errors, refused;
    double per_second;
    bool has_p50_ms, has_p95_ms, has_p99_ms;        /* all or none: nothing was answered well */
    double p50_ms, p95_ms, p99_ms;
};
/* The last minutes (at most 60), the one that is not over included. */
void infer_stats_read(struct infer_stats *s, struct uuid deployment_id, int64_t now_us, int minutes, struct infer_window *ret);

struct infer_minute {
    struct timestamp at;                            /* its begin */
    int64_t requests, errors, refused;
    double per_second;                              /* over what of it has passed, and was counted */
    bool has_p50_ms, has_p95_ms, has_p99_ms;
    double p50_ms, p95_ms, p99_ms;
};
/* Each of the last minutes from the first one with a call, oldest first, those without calls too. Returns how many. */
size_t infer_stats_minutes(struct infer_stats *s, struct uuid deployment_id, int64_t now_us, struct infer_minute ret[INFER_MINUTES]);
int64_t infer_stats_since(const struct infer_stats *s);
