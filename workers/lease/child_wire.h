/* SPDX-License-Identifier: Apache-2.0 */
/* child_wire.h - what the agent tells the child of a lease first: the lease itself, and the agent's settings that bind it. */
#pragma once
#include "core/wire/lease_wire.h"

enum { CHILD_CA_MAX = 32 * 1024 };

struct child_grant {
    struct lease_grant lease;
    struct str work_dir, backend;
    struct str cublaslt;                    /* library of products on a GPU, as worker.cublaslt says */
    struct str onnxruntime;                 /* library for models outside our operations, as worker.onnxruntime says; "": none */
    struct str ca_pem;                      /* of a kind that listens: who vouches for falaj-api */
    int64_t memory_bytes, data_limit;       /* data_limit 0: a cgroup holds the memory */
    int64_t uid, gid;                       /* of this lease; 0: the agent's own */
    int64_t gpu_nodes;                      /* its GPUs, bit m for /dev/nvidia<m> */
    bool keeps_checkpoints;                 /* a descriptor of the grant leads to its keeper */
    bool has_door;                          /* the last descriptor of the grant is its door (run_door.h) */
    int64_t checkpoint_gap_ms;              /* at least so long from one to the next */
    bool needs_groups;                      /* programs run under a control group only */
    bool runs_host;                         /* programs of tenants may be started in the machine's /usr */
    bool image_is_flat;                     /* its image comes unpacked (image/flat.h) */
    int64_t image_most;                     /* the agent keeps an image of so many bytes for the next lease; 0: none */
    struct str tun_device;                  /* of which a program on several machines gets its interface */
    int64_t grace_ms;                       /* from SIGTERM to SIGKILL */
    int64_t parent;                         /* process of the agent */
};
extern const struct schema child_grant_schema;
