/* SPDX-License-Identifier: Apache-2.0 */
/* child_wire.c - the schema of a child's first message. */
#include "workers/lease/child_wire.h"

enum { PATH_BYTES = 4096 };

SCHEMA_EXTERN(child_grant, "A lease and the settings of its child", FIELD_SUB(child_grant, lease, &lease_grant_schema, F_REQ, .doc = "The lease"),
    FIELD(child_grant, work_dir, F_REQ, .min = 1, .max = PATH_BYTES, .doc = "Where it may write"),
    FIELD(child_grant, backend, F_REQ, .doc = "Compute backend that is asked for"),
    FIELD(child_grant, cublaslt, 0, .max = PATH_BYTES, .doc = "Library of products on a GPU"),
    FIELD(child_grant, onnxruntime, 0, .max = PATH_BYTES, .doc = "Library for models outside our operations"),
    FIELD(child_grant, ca_pem, 0, .max = CHILD_CA_MAX, .doc = "Authorities (PEM) of callers, of a kind that listens"),
    FIELD(child_grant, memory_bytes, F_REQ, .min = 0, .max = INT64_MAX, .doc = "Memory it may use"),
    FIELD(child_grant, gpu_nodes, 0, .dflt = "0", .doc = "Device nodes of its GPUs, bit m for /dev/nvidia<m>"),
    FIELD(child_grant, data_limit, F_REQ, .min = 0, .max = INT64_MAX, .doc = "Limit of its data segment; 0: none"),
    FIELD(child_grant, keeps_checkpoints, F_REQ, .doc = "A keeper takes its checkpoints"),
    FIELD(child_grant, has_door, 0, .dflt = "false", .doc = "People may be let in"),
    FIELD(child_grant, checkpoint_gap_ms, F_REQ, .min = 0, .max = INT64_MAX, .doc = "Least time from one to the next"),
    FIELD(child_grant, uid, F_REQ, .min = 0, .max = UINT32_MAX, .doc = "Account to change to; 0: none"),
    FIELD(child_grant, gid, F_REQ, .min = 0, .max = UINT32_MAX, .doc = "Its group"),
    FIELD(child_grant, needs_groups, F_REQ, .doc = "Programs run under a control group only"),
    FIELD(child_grant, runs_host, F_REQ, .doc = "Programs of tenants may be started in the machine's /usr"),
    FIELD(child_grant, image_is_flat, 0, .doc = "Its image comes unpacked"),
    FIELD(child_grant, image_most, 0, .doc = "Bytes of an unpacked image that the agent keeps"),
    FIELD(child_grant, tun_device, F_REQ, .max = 255, .doc = "Device of which a program on several machines gets its interface"),
    FIELD(child_grant, grace_ms, F_REQ, .min = 0, .max = INT64_MAX, .doc = "From SIGTERM to SIGKILL"),
    FIELD(child_grant, parent, F_REQ, .min = 1, .max = INT64_MAX, .doc = "Process of the agent"));
