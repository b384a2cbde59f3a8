/* SPDX-License-Identifier: Apache-2.0 */
/* type_noop.c - a job that does nothing: {} or {"sleep_ms": n}, the pipeline without work. */
#include "core/wire/type_noop.h"

SCHEMA_EXTERN(noop_job, "A job that does nothing, for measuring and drills",
    FIELD(noop_job, sleep_ms, 0, .max = 600000, .dflt = "0", .doc = "Time to sleep"),
    FIELD(noop_job, fail, 0, .max = 200, .doc = "End as failed with this message"));
