/* SPDX-License-Identifier: Apache-2.0 */
/* job_lists.c - routes of many jobs: the list by any filter, how many there are of each state; of one job its checkpoints. */
#include "api/jobs_int.h"
#include "api/route.h"
#include "registry/vault/worker_checkpoint.h"
#include "scheduler/jobs/job.h"

struct job_page { PAGE_IN; struct job_filter filter; };
SCHEMA_OF(job_page, "Which jobs", PAGE_IN_FIELDS(job_page), JOB_STATE_FIELDS(job_page), JOB_FILTER_FIELDS(job_page));
struct job_counts_in { struct job_filter filter; };
SCHEMA_OF(job_counts_in, "Which jobs", JOB_FILTER_FIELDS(job_counts_in));
struct job_group_count { int group; int64_t jobs; bool is_exact; };
SCHEMA_OF(job_group_count, "How many jobs are in the states of a group", FIELD_ENUM(job_group_count, group, 0, job_group_names, .doc = "The group"),
    FIELD(job_group_count, jobs, 0, .doc = "Jobs in it"), FIELD(job_group_count, is_exact, 0, .doc = "false: there are at least so many"));
struct job_counts { struct slice states, groups; int64_t cap; };
SCHEMA_OF(job_counts, "How many jobs there are",
    FIELD_LIST(job_counts, states, &job_count_schema, 0, .max = JOB_STATE_COUNT, .doc = "Every state, in the order of a job's life"),
    FIELD_LIST(job_counts, groups, &job_group_count_schema, 0, .max = JG_COUNT, .doc = "The same, summed by group"),
    FIELD(job_counts, cap, 0, .doc = "An ended state is counted up to so many; with a filter, among so many of the newest ended jobs"));

struct checkpoints_ref { struct uuid job_id; };
SCHEMA_OF(checkpoints_ref, "Which job", FIELD_ID(checkpoints_ref, job_id, "job", F_PATH, .doc = "The job"));
struct checkpoints_out { struct slice data; };
SCHEMA_OF(checkpoints_out, "What a job can go on from",
    FIELD_LIST(checkpoints_out, data, &checkpoint_schema, 0, .max = CHECKPOINTS_LISTED, .doc = "The newest first"));

static enum errc list(struct work *w, const void *in, void *out, struct err *e)
{
    const struct job_page *page = in;
    return PAGE_BY_ID(w, page, out, job, job_id, job_list(w, &page->filter, after, limit, rows, e), e);
}

static enum errc counts(struct work *w, const void *in, void *out, struct err *e)
{
    struct job_counts *ret = out;
    struct job_count *states = ARENA_ARRAY(w->arena, struct job_count, JOB_STATE_COUNT);
    struct job_group_count *groups = ARENA_ARRAY(w->arena, struct job_group_count, JG_COUNT);
    TRY(job_count_states(w, &((const struct job_counts_in *)in)->filter, states, e));
    for (int g = 0; g < JG_COUNT; g++)
        groups[g] = (struct job_group_count){ g, 0, true };
    for (int s = 0; s < JOB_STATE_COUNT; s++) {
        groups[states[s].group].jobs += states[s].jobs;
        groups[states[s].group].is_exact &= states[s].is_exact;
    }
    *ret = (struct job_counts){ { states, JOB_STATE_COUNT }, { groups, JG_COUNT }, JOB_COUNT_CAP };
    return ERR_OK;
}

static enum errc checkpoints(struct work *w, const void *in, void *out, struct err *e)
{
    struct job j;
    TRY(job_get(w, ((const struct checkpoints_ref *)in)->job_id, &j, e));
    return checkpoint_list(w, j.job_id, &((struct checkpoints_out *)out)->data, e);
}

static const struct route rows[] = {
    { .method = HTTP_GET, .path = "/v1/jobs", .lane = LANE_CALLS,
      .op = "job_list", .perm = PERM_JOB_READ, .handler = list, .in = &job_page_schema, .status = 200,
      .out = &job_schema, .flags = R_LIST, .doc = "List jobs, newest first" },
    { .method = HTTP_GET, .path = "/v1/jobs/counts", .lane = LANE_HEAVY,
      .op = "job_counts", .perm = PERM_JOB_READ, .handler = counts, .in = &job_counts_in_schema,
      .status = 200, .out = &job_counts_schema, .doc = "How many jobs there are of each state" },
    { .method = HTTP_GET, .path = "/v1/jobs/{job_id}/checkpoints", .lane = LANE_CALLS,
      .op = "job_checkpoints", .perm = PERM_JOB_READ, .handler = checkpoints, .in = &checkpoints_ref_schema, .status = 200,
      .out = &checkpoints_out_schema, .resource = "job",
      .doc = "What the next attempt of a job would go on from; a job that has ended has none" },
};
extern const struct route_table job_list_routes;
ROUTE_TABLE(job_list_routes, rows);
