/* SPDX-License-Identifier: Apache-2.0 */
/* job_output.h - what a completed job left: objects by name, of its last attempt. None before it is COMPLETED.
 *
 * Memory: w->arena. Errors: NOT_FOUND (no such job, or no output of that name). */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"

struct stmt;
struct job_output {
    struct str name;
    struct uuid object_id;
    struct str kind, zone, data_class, sha256;      /* sha256 of the content, hex */
    int64_t size_bytes;
};
extern const struct schema job_output_schema;
extern const struct stmt *const job_output_stmts[];

enum errc job_output_list(struct work *w, struct uuid job_id, struct slice *ret, struct err *e) MUST_CHECK;
enum errc job_output_get(struct work *w, struct uuid job_id, struct str name, struct job_output *ret, struct err *e) MUST_CHECK;
