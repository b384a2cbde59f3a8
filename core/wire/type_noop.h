/* SPDX-License-Identifier: Apache-2.0 */
/* type_noop.h - the spec of a job that does nothing: {} or {"sleep_ms": n}. */
#pragma once
#include "core/wire/job_type.h"

struct noop_job {
    int64_t sleep_ms;
    struct str fail;                /* end as failed with this message; for drills */
};
