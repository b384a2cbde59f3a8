/* SPDX-License-Identifier: Apache-2.0 */
/* run_launch.c - slots of a hostfile are what may run at once: processors for MPI, GPUs for DeepSpeed. */
#include "workers/lease/run_launch.h"

#include <stdarg.h>
#include <stdio.h>
#include "workers/gang/packet.h"
#include "workers/lease/gang_net.h"

enum { FIRST_PORT = 29500, TEXT_MAX = 512 };

static void set(struct run_launch *l, struct arena *a, const char *fmt, ...) PRINTF_LIKE(3, 4);
static void set(struct run_launch *l, struct arena *a, const char *fmt, ...)
{
    char text[TEXT_MAX];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    l->env[l->nenv++] = str_dup(a, str_n(text, n < 0 ? 0 : (size_t)n));
}

/* Where rank's program is reached by the others; on one machine by itself. */
static const char *address_of(const struct lease_grant *g, int64_t rank, struct arena *a)
{
    return lease_grant_is_gang(g) ? arena_printf(a, PACKET_HOST, (int)rank + 1) : "127.0.0.1";
}

static int64_t machines(const struct lease_grant *g)
{
    return lease_grant_is_gang(g) ? g->nodes : 1;
}

/* By which interface frameworks shall meet, and which of the machines this is, for a torchrun that starts one process for each
 * GPU. */
static void set_gang(struct run_launch *l, const struct lease_grant *g, struct arena *a)
{
    static const char *const names[] = { "GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME", "TP_SOCKET_IFNAME", NULL };
    for (int i = 0; names[i]; i++)
        set(l, a, "%s=" GANG_NET_NAME, names[i]);
    set(l, a, "NODE_RANK=%ld", (long)g->rank);
    set(l, a, "PET_NNODES=%ld", (long)g->nodes);
    set(l, a, "PET_NODE_RANK=%ld", (long)g->rank);
    set(l, a, "PET_MASTER_ADDR=%s", address_of(g, 0, a));
    set(l, a, "PET_MASTER_PORT=%d", FIRST_PORT);
}

static void set_torch(struct run_launch *l, const struct lease_grant *g, struct arena *a)
{
    set(l, a, "RANK=%ld", (long)g->rank);
    set(l, a, "LOCAL_RANK=0");
    set(l, a, "WORLD_SIZE=%ld", (long)machines(g));
    set(l, a, "LOCAL_WORLD_SIZE=1");
    set(l, a, "MASTER_ADDR=%s", address_of(g, 0, a));
    set(l, a, "MASTER_PORT=%d", FIRST_PORT);
    if (lease_grant_is_gang(g))
        set_gang(l, g, a);
}

static void set_hostfile(struct run_launch *l, const struct lease_grant *g, struct arena *a, int64_t slots)
{
    const char *text = "";
    slots = slots > 0 ? slots : 1;
    for (int64_t r = 0; lease_grant_is_gang(g) && r < g->nodes; r++)
        text = arena_printf(a, "%srank-%ld slots=%ld\n", text, (long)r, (long)slots);
    l->hostfile = *text ? text : arena_printf(a, "localhost slots=%ld\n", (long)slots);
    set(l, a, "FALAJ_HOSTFILE=/falaj/code/" RUN_HOSTFILE);
}

static void set_mpi(struct run_launch *l, const struct lease_grant *g, struct arena *a)
{
    set_hostfile(l, g, a, (g->cpu_milli > 0 ? g->cpu_milli : g->slots * 1000) / 1000);
    set(l, a, "OMPI_MCA_orte_default_hostfile=/falaj/code/" RUN_HOSTFILE);
    set(l, a, "HWLOC_HIDE_ERRORS=2");   /* Open MPI looks for processors in /sys, and says of each rank that a box has none */
    if (!lease_grant_is_gang(g))
        return;
    l->has_rank = true;
    l->serves = g->rank > 0;
    /* Its daemons stay children of what started them, and rank 0 starts all: a box ends with its first process. */
    set(l, a, "OMPI_MCA_plm_rsh_agent=/falaj/code/" RUN_RANK);
    set(l, a, "OMPI_MCA_plm_rsh_no_tree_spawn=1");
    set(l, a, "OMPI_MCA_orte_leave_session_attached=1");
    set(l, a, "OMPI_MCA_btl_vader_single_copy_mechanism=none");         /* a box lets none read another's memory */
    set(l, a, "OMPI_MCA_pml=ob1");      /* UCX looks for interfaces in /sys, which a box has not */
    set(l, a, "OMPI_MCA_btl_tcp_if_include=" GANG_NET_NAME);
    set(l, a, "OMPI_MCA_oob_tcp_if_include=" GANG_NET_NAME);
}

static void set_tensorflow(struct run_launch *l, const struct lease_grant *g, struct arena *a)
{
    const char *workers = "";
    for (int64_t r = 0; r < machines(g); r++)
        workers = arena_printf(a, "%s%s\"%s:%d\"", workers, r ? "," : "", address_of(g, r, a), FIRST_PORT);
    set(l, a, "TF_CONFIG={\"cluster\":{\"worker\":[%s]},\"task\":{\"type\":\"worker\",\"index\":%ld}}", workers, (long)g->rank);
}

struct run_launch run_launch_of(enum run_launcher launcher, const struct lease_grant *g, struct arena *a)
{
    struct run_launch l = { 0 };
    switch (launcher) {
    case RUN_TORCHRUN:
        set_torch(&l, g, a);
        break;
    case RUN_DEEPSPEED:
        set_torch(&l, g, a);
        set_hostfile(&l, g, a, __builtin_popcountll((uint64_t)g->devices));
        break;
    case RUN_MPI:
        set_mpi(&l, g, a);
        break;
    case RUN_TENSORFLOW:
        set_tensorflow(&l, g, a);
        break;
    case RUN_PLAIN:
        break;
    }
    return l;
}
