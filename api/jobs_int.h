/* SPDX-License-Identifier: Apache-2.0 */
/* jobs_int.h - what the route files of jobs share. */
#pragma once
#include "core/base/work.h"
#include "scheduler/jobs/job_search.h"

/* The query parameters of a `struct job_filter filter` in the input T, but its state and group. */
#define JOB_FILTER_FIELDS(T)                                                                                                        \
    FIELD_(T, filter.kind, "kind", FT_ENUM, F_QUERY, .names = job_kind_names, .has = offsetof(struct T, filter.has_kind) + 1,       \
           .doc = "Only jobs of this kind"),                                                                                        \
    FIELD_(T, filter.project_id, "project_id", FT_UUID, F_QUERY, .prefix = "prj", .doc = "Only jobs of this project"),              \
    FIELD_(T, filter.created_by, "created_by", FT_UUID, F_QUERY, .prefix = "usr", .doc = "Only jobs that this user submitted"),     \
    FIELD_AS(T, filter.zone, "zone", F_QUERY, .max = 31, .check = check_slug, .doc = "Only jobs that are pinned to this zone"),     \
    FIELD_AS(T, filter.pool, "pool", F_QUERY, .max = 63, .check = check_slug, .doc = "Only jobs of this pool"),                     \
    FIELD_AS(T, filter.q, "q", F_QUERY, .min = 3, .max = 128, .check = check_name,                                                  \
             .doc = "Only jobs whose name contains this, in any case"),                                                             \
    FIELD_AS(T, filter.submitted_after, "submitted_after", F_QUERY, .doc = "Only jobs submitted at this time or later"),            \
    FIELD_AS(T, filter.submitted_before, "submitted_before", F_QUERY, .doc = "Only jobs submitted before this time")
#define JOB_STATE_FIELDS(T)                                                                                                         \
    FIELD_(T, filter.state, "state", FT_ENUM, F_QUERY, .names = job_state_names, .has = offsetof(struct T, filter.has_state) + 1,   \
           .doc = "Only jobs in this state"),                                                                                       \
    FIELD_(T, filter.group, "group", FT_ENUM, F_QUERY, .names = job_group_names, .has = offsetof(struct T, filter.has_group) + 1,   \
           .doc = "Only jobs in the states of this group")

/* Stores a job that a call makes beside what it is asked for (a deployment, an import), in its transaction, with the job's audit
 * event, and wakes the scheduler after the commit. s: job, kind_name and inputs are filled. Errors: those of a submission; RETRY:
 * another call made the same at the same time. */
struct job_submission;
enum errc job_made_store(struct work *w, struct job_submission *s, struct err *e) MUST_CHECK;
/* Wakes whoever watches the job, and the scheduler, once the transaction has committed. */
void jobs_wake_after_commit(struct work *w, struct uuid job_id);
/* Copies the texts of a job into another arena. */
void jobs_copy(struct job *j, struct arena *a);
