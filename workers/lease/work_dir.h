/* SPDX-License-Identifier: Apache-2.0 */
/* work_dir.h - what leases leave in worker.work_dir, and how it goes.
 *
 * A lease's directory is "lease-<attempt>", that of a job that may go on here "job-<job>". Each is removed by the run that made it, except
 * when the job may come back to this machine. What nobody came back for, and what a killed agent left, is swept after WORK_DIR_KEEP_S. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { WORK_DIR_KEEP_S = 24 * 3600, WORK_DIR_SWEEP_S = 600 };

void work_dir_remove(const char *path);         /* with all that is in it */
/* Makes the directory and the files in it an account's, root only. What has a second name outside is not touched. False: it was
 * refused. */
bool work_dir_give(const char *path, uid_t uid, gid_t gid);
/* Remove directories of leases and jobs that nobody holds a lock on and that are untouched for keep_s. Returns how many. */
size_t work_dir_sweep(const char *work_dir, int64_t keep_s);
