/* SPDX-License-Identifier: Apache-2.0 */
/* table_array.h - what is shown of an array of jobs: by `falaj array` and by `falaj job submit --array`. */
#pragma once

#define ARRAY_COLUMNS                                                                                              \
    "array_id:ID name:NAME tasks:TASKS state:STATE total:TOTAL waiting:WAITING live:LIVE completed:COMPLETED "     \
    "failed:FAILED +again:AGAIN +message:MESSAGE created_at:CREATED"
