/* SPDX-License-Identifier: Apache-2.0 */
/* run_launch.c - slots of a hostfile are what may run at once: processors for MPI, GPUs for DeepSpeed. */
#include "workers/lease/run_launch.h"

#include <stdarg.h>
#include <stdio.h>

enum { FIRST_PORT = 29500 };
static const char tf_config[] =
    "TF_CONFIG={\"cluster\":{\"worker\":[\"127.0.0.1:29500\"]},\"task\":{\"type\":\"worker\",\"index\":0}}";

static void set(struct run_launch *l, struct arena *a, const char *fmt, ...) PRINTF_LIKE(3, 4);
static void set(struct run_launch *l, struct arena *a, const char *fmt, ...)
{
    char text[256];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    l->env[l->nenv++] = str_dup(a, str_n(text, n < 0 ? 0 : (size_t)n));
}

static void set_torch(struct run_launch *l, struct arena *a)
{
    set(l, a, "RANK=0");
    set(l, a, "LOCAL_RANK=0");
    set(l, a, "WORLD_SIZE=1");
    set(l, a, "LOCAL_WORLD_SIZE=1");
    set(l, a, "MASTER_ADDR=127.0.0.1");
    set(l, a, "MASTER_PORT=%d", FIRST_PORT);
}

static void set_hostfile(struct run_launch *l, struct arena *a, int64_t slots)
{
    l->hostfile = arena_printf(a, "localhost slots=%ld\n", (long)(slots > 0 ? slots : 1));
    set(l, a, "FALAJ_HOSTFILE=/falaj/code/" RUN_HOSTFILE);
}

struct run_launch run_launch_of(enum run_launcher launcher, const struct lease_grant *g, struct arena *a)
{
    struct run_launch l = { 0 };
    const int64_t cpus = (g->cpu_milli > 0 ? g->cpu_milli : g->slots * 1000) / 1000;
    switch (launcher) {
    case RUN_TORCHRUN:
        set_torch(&l, a);
        break;
    case RUN_DEEPSPEED:
        set_torch(&l, a);
        set_hostfile(&l, a, __builtin_popcountll((uint64_t)g->devices));
        break;
    case RUN_MPI:
        set_hostfile(&l, a, cpus);
        set(&l, a, "OMPI_MCA_orte_default_hostfile=/falaj/code/" RUN_HOSTFILE);
        break;
    case RUN_TENSORFLOW:
        l.env[l.nenv++] = str_c(tf_config);
        break;
    case RUN_PLAIN:
        break;
    }
    return l;
}
