/* SPDX-License-Identifier: Apache-2.0 */
/* run_launch.h - what a framework's own start-up looks for, by the launcher that the job names: variables and a file, for one
 * process on each of the job's machines. On several they are called rank-0, rank-1 … and reach each other by GANG_NET_NAME
 * (gang_net.h), which frameworks are told, or they would listen at their loopback. Sources: torchrun(1), "Environment
 * Variables" and PET_…; Open MPI's mpirun(1), --hostfile, and ompi_info(1), plm_rsh; TensorFlow's guide
 * "Multi-worker training", TF_CONFIG; DeepSpeed's
 * guide "Resource Configuration", hostfile; NCCL's and Gloo's variables …_SOCKET_IFNAME. */
#pragma once
#include "core/wire/lease_wire.h"
#include "core/wire/type_run.h"

enum { RUN_LAUNCH_MAX = 20 };
#define RUN_HOSTFILE "hostfile"         /* in BOX_CODE, where the launcher has one */
#define RUN_RANK "falaj-rank"           /* the same, where mpirun has other machines to start ranks on (workers/rank/rank.c) */

struct run_launch {
    struct str env[RUN_LAUNCH_MAX];     /* NAME=VALUE */
    size_t nenv;
    const char *hostfile;               /* its text; NULL: there is none */
    bool has_rank;                      /* RUN_RANK is needed */
    bool serves;                        /* it runs instead of the command, which is rank 0's alone */
};
struct run_launch run_launch_of(enum run_launcher launcher, const struct lease_grant *g, struct arena *a);
