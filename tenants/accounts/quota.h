/* SPDX-License-Identifier: Apache-2.0 */
/* quota.h - how much a tenant may hold at once, booked in the transaction of the act itself.
 *
 * quota_reserve is one conditional UPDATE: under any concurrency the sum of admitted amounts never passes the limit. Release is
 * the same row in the transaction that ends the use; jobs that end are counted beside it (docs/adr/0032). Invariant J5: what is
 * used equals what live rows explain.
 * Errors: QUOTA (with both numbers), CONFLICT (a limit below what is used), NOT_FOUND. */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"

struct stmt;

struct quota {
    struct str resource;
    int64_t hard_limit, used, version;
};
extern const struct schema quota_schema;
extern const char *const quota_resource_names[];

enum errc quota_reserve(struct work *w, const char *resource, int64_t amount, struct err *e) MUST_CHECK;
/* The limit; INT64_MAX where none is set. */
enum errc quota_most(struct work *w, const char *resource, int64_t *ret, struct err *e) MUST_CHECK;
void quota_release(struct work *w, const char *resource, int64_t amount);           /* queued */
enum errc quota_list(struct work *w, struct slice *ret, struct err *e) MUST_CHECK;
/* expected_version -1: any. */
enum errc quota_set(struct work *w, struct str resource, int64_t hard_limit, int64_t expected_version, struct quota *ret, struct err *e) MUST_CHECK;

extern const struct stmt *const quota_stmts[];

/* For a query over t with a tenant_id: s.hard_limit and g.hard_limit are what it may hold of slots and GPUs. Who judges by them
 * holds the planners' lock. */
#define QUOTA_LIMITS                                                                                                       \
    "  LEFT JOIN quota s ON s.tenant_id = t.tenant_id AND s.resource = 'slots'\n"                                           \
    "  LEFT JOIN quota g ON g.tenant_id = t.tenant_id AND g.resource = 'gpus'\n"
