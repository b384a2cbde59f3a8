/* SPDX-License-Identifier: Apache-2.0 */
/* trace_files.h - files of a trace for one test, in a folder that the test removes. */
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "scheduler/plan/random.h"

struct files { char dir[64], nodes[96], tasks[96], out[96]; };

static inline void files_write(const char *path, const char *text)
{
    FILE *f = fopen(path, "wb");
    if (!f || fputs(text, f) < 0 || fclose(f) != 0)
        abort();
}

static inline void files_init(struct files *f)
{
    strcpy(f->dir, "/tmp/falaj-trace-XXXXXX");
    if (!mkdtemp(f->dir))
        abort();
    snprintf(f->nodes, sizeof f->nodes, "%s/nodes.csv", f->dir);
    snprintf(f->tasks, sizeof f->tasks, "%s/tasks.csv", f->dir);
    snprintf(f->out, sizeof f->out, "%s/out.csv", f->dir);
    files_write(f->nodes, "sn,cpu_milli,memory_mib,gpu,model\na,8000,8192,2,T4\nb,8000,8192,1,V100\n");
    files_write(f->tasks,
                "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\np,1000,1024,1,500,\nq,1000,1024,1,1000,V100|T4\n");
}

static inline void files_release(struct files *f)
{
    (void)unlink(f->nodes);             /* what a test did not write is not there */
    (void)unlink(f->tasks);
    (void)unlink(f->out);
    (void)rmdir(f->dir);
}

/* A cluster like a real one: few kinds of machines, and shares that leave awkward remainders beside whole GPUs. */
static inline void files_generate(struct files *f, int machines, int tasks)
{
    static const struct { int cpu, gpus; const char *model; } kinds[] = { { 96000, 8, "G2" }, { 104000, 2, "T4" }, { 32000, 4,
                                                                                                                     "V100" },
                                                                         { 16000, 2, "P100" } };
    static const int shares[] = { 1000, 1000, 1000, 1000, 810, 810, 470, 470, 320, 650, 230, 160 };
    struct random r = { 42 };
    FILE *n = fopen(f->nodes, "wb"), *t = fopen(f->tasks, "wb");
    if (!n || !t)
        abort();
    fputs("sn,cpu_milli,memory_mib,gpu,model\n", n);
    for (int i = 0; i < machines; i++) {
        size_t k = random_below(&r, 10) < 5 ? 0 : random_below(&r, 4);
        fprintf(n, "m%d,%d,%d,%d,%s\n", i, kinds[k].cpu, kinds[k].cpu * 4, kinds[k].gpus, kinds[k].model);
    }
    fputs("name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n", t);
    for (int i = 0; i < tasks; i++) {
        int gpus = random_below(&r, 8) ? 1 : random_below(&r, 3) ? 0 : 1 << random_below(&r, 4);
        int milli = gpus == 1 ? shares[random_below(&r, 12)] : gpus ? 1000 : 0, cpu = 2000 * (1 + (int)random_below(&r, 6));
        fprintf(t, "t%d,%d,%d,%d,%d,%s,%s,Running,%d,%d,%d\n", i, cpu, cpu * 2, gpus, milli, random_below(&r, 9) ? "" : "G2|V100",
                i % 3 ? "LS" : "BE", i * 10, i * 10 + 3000 + (int)random_below(&r, 9000), i * 10);
    }
    if (fclose(n) != 0 || fclose(t) != 0)
        abort();
}
