/* SPDX-License-Identifier: Apache-2.0 */
/* passport.h - all that is known of one data set, for who must answer for it: where each version lies and under which key, which
 * law holds there, who has read its content, which jobs had it as input, each crossing of a border, and what models were made of
 * it.
 *
 * Made from the rows and the log at the moment it is asked for; nothing is kept. Readers are those that the log names, each with
 * the number and the id of the newest such event, so that a proof of the log can be asked for it. Each list is cut at
 * PASSPORT_ROWS and the log is read up to PASSPORT_READS readings; `is_cut` says so.
 * The tenant is w->tenant_id. Memory: w->arena. Errors: NOT_FOUND (no such data set, or another tenant's). */
#pragma once
#include "registry/catalog/dataset.h"

struct stmt;

enum { PASSPORT_ROWS = 200, PASSPORT_READS = 5000 };

/* Where a version or its copy lies. */
struct passport_place {
    int64_t version;
    struct str zone;
    bool is_copy;
    struct uuid object_id;
    struct str sha256;
    int64_t size_bytes, row_count;
    struct timestamp created_at;
    int64_t key_version;
    struct str key_state, key_tier, key_origin, key_provider;
};
struct passport {
    struct dataset dataset;
    struct timestamp generated_at;
    bool is_cut;
    int64_t log_size;                   /* entries of the log when it was made */
    struct slice places;                /* struct passport_place */
    struct slice laws, readers, jobs, crossings, models;
};
extern const struct schema passport_schema;

enum errc passport_read(struct work *w, struct uuid dataset_id, struct passport *ret, struct err *e) MUST_CHECK;

extern const struct stmt *const passport_stmts[];
