/* SPDX-License-Identifier: Apache-2.0 */
/* registry_host.h - registries that images may be pulled from (ADR 0167): which of them, in which zone, and what a machine that
 * asks one may believe and reach.
 *
 * The platform's staff set them, in the platform's scope; everybody who may import images reads those of zones that they may use.
 * A row is read when a job is submitted and again when its lease is granted (lease_pull): what was changed or taken away binds
 * every lease after it. A pull runs in the row's zone alone.
 * Memory: w->arena. Errors: NOT_FOUND, EXISTS (zone and host), LIMIT, INVALID. */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"
#include "core/wire/type_pull.h"

struct stmt;

enum { REGISTRY_HOSTS_MAX = 200 };

struct registry_host {
    struct uuid registry_id;
    struct str zone, host, description;     /* host: HOST[:PORT], as references name it */
    struct slice hosts;                     /* struct str: HOST[:PORT] */
    struct str ca_pem;
    int reach;                              /* enum pull_reach */
    int64_t max_bytes, silent_s;
    bool allowed;
    struct timestamp changed_at;
    int64_t version;
};
extern const struct schema registry_host_schema;

struct registry_host_new {
    struct str zone, host, description;
    struct slice hosts;
    struct str ca_pem;
    int reach;
    int64_t max_bytes, silent_s;
};
extern const struct schema registry_host_new_schema;

enum errc registry_host_add(struct work *w, const struct registry_host_new *in, struct registry_host *ret,
                            struct err *e) MUST_CHECK;
enum errc registry_host_get(struct work *w, struct uuid registry_id, struct registry_host *ret, struct err *e) MUST_CHECK;
/* Newest first, behind `position`; zone STR_NULL: of all that the caller may use. */
enum errc registry_host_list(struct work *w, struct str zone, struct uuid position, int64_t limit, struct slice *ret,
                             struct err *e) MUST_CHECK;
enum errc registry_host_allow(struct work *w, struct uuid registry_id, bool allowed, struct registry_host *ret,
                              struct err *e) MUST_CHECK;
enum errc registry_host_remove(struct work *w, struct uuid registry_id, struct err *e) MUST_CHECK;
/* The row that lets images of this zone come from there. UNPROCESSABLE names those that it may be. */
enum errc registry_host_find(struct work *w, struct str zone, struct str host, struct registry_host *ret,
                             struct err *e) MUST_CHECK;

extern const struct stmt *const registry_host_stmts[];
