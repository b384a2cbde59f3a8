/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_submit.c - so many no-op jobs to the Slurm of $SLURM_CONF through its own library, so that no sbatch is started for each.
 * usage: slurm_submit COUNT WORK_DIR; prints the seconds that it took. Built by slurm.py. */
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int submit(char *work_dir)
{
    static char *environment[] = { "PATH=/usr/bin:/bin", NULL };
    job_desc_msg_t job;
    submit_response_msg_t *answer = NULL;
    slurm_init_job_desc_msg(&job);
    job.name = "noop";
    job.script = "#!/bin/sh\nexec /bin/true\n";
    job.environment = environment;
    job.env_size = 1;
    job.work_dir = work_dir;
    job.std_out = job.std_err = "/dev/null";
    job.user_id = getuid();
    job.group_id = getgid();
    job.min_cpus = job.num_tasks = 1;
    job.time_limit = 5;
    if (slurm_submit_batch_job(&job, &answer) != SLURM_SUCCESS) {
        fprintf(stderr, "slurm_submit: %s\n", slurm_strerror(slurm_get_errno()));
        return 1;
    }
    slurm_free_submit_response_response_msg(answer);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fputs("usage: slurm_submit COUNT WORK_DIR\n", stderr);
        return 2;
    }
    slurm_init(NULL);
    const double began = now_s();
    for (int i = atoi(argv[1]); i > 0; i--)
        if (submit(argv[2]))
            return 1;
    printf("%.3f\n", now_s() - began);
    return 0;
}
