/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_text.h - what is said to slurmrestd and what it says, as text. Pure but for the arena.
 *
 * Source: the OpenAPI document of slurmrestd 22.05 (openapi/v0.0.38) and its answers; traps that were met: a wrong token is HTTP
 * 500, so an answer is judged by its `errors`; a memory of null is "not said"; exit_code is a wait status; `requeue` false is
 * stored as true, so a job that lost its node or made room is in the queue again under its id and `restart_cnt` counts it: the
 * script ends by itself when it is started again. */
#pragma once
#include "scheduler/engines/engine.h"

#define SLURM_PATH "/slurm/v0.0.38"
enum { SLURM_ERROR_UNKNOWN_JOB = 2017, SLURM_ERROR_HAS_ENDED = 2021 };

void slurm_submit_body(const struct engine_ask *ask, struct buf *out);
/* INVALID: it refused, with its own words; UPSTREAM: no answer of slurmrestd's, or it cannot say now (no controller). */
enum errc slurm_read_submit(struct arena *a, int status, struct str body, struct str *ret_id, struct err *e) MUST_CHECK;
/* struct engine_seen of the jobs whose names are ours. A job that is not known is no error: none. ret_large: how many jobs, ours
 * or others', were larger than an answer about one: of ours such a one has what is short of it, others' are passed over. */
enum errc slurm_read_jobs(struct arena *a, int status, struct str body, struct slice *ret, size_t *ret_large,
                          struct err *e) MUST_CHECK;
/* Of ping and cancel: whether it went well. */
enum errc slurm_read_plain(struct arena *a, int status, struct str body, struct err *e) MUST_CHECK;
enum errc slurm_read_ping(struct arena *a, int status, struct str body, struct err *e) MUST_CHECK;
enum engine_state slurm_state(struct str word);
