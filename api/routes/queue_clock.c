/* SPDX-License-Identifier: Apache-2.0 */
/* queue_clock.c - routes of the queue clock: what will start when, for a tenant and for the platform, and what would start
 * one job now. Nothing is stored. */
#include "api/route.h"
#include "scheduler/jobs/clock.h"

struct clock_in { int64_t hours; };
SCHEMA_OF(clock_in, "How far to look",
    FIELD(clock_in, hours, F_QUERY, .min = 1, .max = CLOCK_HOURS_MAX, .dflt = "24", .doc = "Hours from now"));
struct job_clock_in { struct uuid job_id; int64_t hours; };
SCHEMA_OF(job_clock_in, "Which job, and how far to look", FIELD_ID(job_clock_in, job_id, "job", F_PATH, .doc = "The job"),
    FIELD(job_clock_in, hours, F_QUERY, .min = 1, .max = CLOCK_HOURS_MAX, .dflt = "24", .doc = "Hours from now"));

static enum errc of_queue(struct work *w, const void *in, void *out, struct err *e)
{
    return queue_clock_read(w, ((const struct clock_in *)in)->hours, out, e);
}

static enum errc of_job(struct work *w, const void *in_, void *out, struct err *e)
{
    const struct job_clock_in *in = in_;
    struct job job;
    TRY(job_get(w, in->job_id, &job, e));
    return job_clock_read(w, &job, in->hours, out, e);
}

static const struct route rows[] = {
    { .method = HTTP_GET, .path = "/v1/queue/clock", .lane = LANE_HEAVY,
      .op = "queue_clock", .perm = PERM_JOB_READ, .handler = of_queue, .in = &clock_in_schema, .status = 200,
          .out = &queue_clock_schema,
      .doc = "What runs until when and what will start when, if all goes on as it is; of other tenants sums alone" },
    { .method = HTTP_GET, .path = "/v1/system/queue/clock", .lane = LANE_HEAVY,
      .op = "system_queue_clock", .perm = PERM_SYSTEM_INSPECT, .handler = of_queue, .in = &clock_in_schema, .status = 200,
      .out = &queue_clock_schema, .doc = "Who will hold what of each zone, if all goes on as it is" },
    { .method = HTTP_GET, .path = "/v1/jobs/{job_id}/clock", .lane = LANE_HEAVY,
      .op = "job_clock", .perm = PERM_JOB_READ, .handler = of_job, .in = &job_clock_in_schema, .status = 200,
          .out = &job_clock_schema,
      .resource = "job", .doc = "When a job will start, and which single change would start it now" },
};
extern const struct route_table queue_clock_routes;
ROUTE_TABLE(queue_clock_routes, rows);
