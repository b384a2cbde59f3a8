/* SPDX-License-Identifier: Apache-2.0 */
/* child_wire.h - what the agent tells the child of a lease first: the lease itself, and the agent's settings that bind it. */
#pragma once
#include "core/wire/lease_wire.h"

struct child_grant {
    struct lease_grant lease;
    struct str work_dir, backend;
    struct str serve_bind, cert, key, ca;   /* of a serving child */
    int64_t memory_bytes, data_limit;       /* data_limit 0: a cgroup holds the memory */
    bool may_checkpoint, to_nobody;
    int64_t parent;                         /* process of the agent */
};
extern const struct schema child_grant_schema;
