/* SPDX-License-Identifier: Apache-2.0 */
/* infer_stats.h - how the deployments answered in the last hour, whichever falaj-api they answered through.
 *
 * Calls are counted in memory and written every INFER_FLUSH_MS to deployment_minute, where the counts of all processes stand
 * beside each other; who reads adds them up, with its own up to this moment. A process that is killed loses what it counted since
 * its last writing, and so does the deployment that was quiet for longest when more than INFER_STATS_MAX are counted at once. One
 * that ends writes all. While the database is away counts stay in memory, for an hour.
 * Times are counted in classes that are 19 % apart, so a percentile is right to within that. Minutes are those of each process's
 * wall clock.
 * Calling order: infer_stats_new -> (infer_stats_add | infer_stats_load)* from any thread -> infer_stats_free. */
#pragma once
#include <stdbool.h>
#include "core/base/work.h"

struct stmt;
enum { INFER_STATS_MAX = 1024, INFER_MINUTES = 60, INFER_FLUSH_MS = 2000, INFER_CLASSES = 96 };

struct infer_stats;

struct infer_stats *infer_stats_new(const struct app *app);
void infer_stats_free(struct infer_stats *s);       /* writes the last counts; NULL is fine */
enum infer_end { INFER_OK, INFER_REFUSED /* the request was at fault */, INFER_FAILED };
/* What a call that made text adds. */
struct infer_text {
    int64_t tokens, first_us;           /* until the first token */
    uint32_t gaps[INFER_CLASSES];       /* of a stream: tokens by the time since the one before */
};
int infer_class(int64_t us);
/* text: NULL for all other calls. */
void infer_stats_add(struct infer_stats *s, struct uuid tenant_id, struct uuid deployment_id, int64_t now_us, int64_t took_us,
                     enum infer_end end, const struct infer_text *text);
/* Writes what has not been written; what cannot be is kept for the next time. For the thread of s, and tests. */
enum errc infer_stats_flush(struct infer_stats *s, int64_t now_us, struct err *e) MUST_CHECK;

/* The last hour of a deployment of w's tenant as of now_us; in w's arena. counted_from_us: nothing was to be counted before. */
struct infer_hour;
enum errc infer_stats_load(struct work *w, struct infer_stats *s, struct uuid deployment_id, int64_t counted_from_us,
                           int64_t now_us, const struct infer_hour **ret, struct err *e) MUST_CHECK;

struct infer_window {
    int64_t minutes, requests, errors, refused;
    double per_second;
    bool has_p50_ms, has_p95_ms, has_p99_ms;        /* all or none: nothing was answered well */
    double p50_ms, p95_ms, p99_ms;
    int64_t tokens;                     /* this and below: of texts; absent: there were none */
    double tokens_per_second;
    bool has_first_p50_ms, has_first_p95_ms, has_gap_p50_ms, has_gap_p95_ms;
    double first_p50_ms, first_p95_ms, gap_p50_ms, gap_p95_ms;
};
/* The last minutes (at most 60), the one that is not over included. */
void infer_hour_window(const struct infer_hour *h, int minutes, struct infer_window *ret);

struct infer_minute {
    struct timestamp at;                            /* its begin */
    int64_t requests, errors, refused;
    double per_second;                              /* over what of it has passed, and was counted */
    bool has_p50_ms, has_p95_ms, has_p99_ms;
    double p50_ms, p95_ms, p99_ms;
};
/* Each of the last minutes from the first one with a call, oldest first, those without calls too. Returns how many. */
size_t infer_hour_minutes(const struct infer_hour *h, struct infer_minute ret[INFER_MINUTES]);
int64_t infer_hour_since(const struct infer_hour *h);   /* an hour ago by the minute, or counted_from_us if that is later */

extern const struct stmt *const infer_stats_stmts[];
