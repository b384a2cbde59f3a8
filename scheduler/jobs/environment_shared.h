/* SPDX-License-Identifier: Apache-2.0 */
/* environment_shared.h - images that the platform's staff publish to every tenant of a zone (docs/adr/0156).
 *
 * The image is an environment of one tenant, which has offered it (environment_offer): its bytes, their key, its quota and its
 * holds stay that tenant's. What is published is a zone and a digest; jobs name the digest alone ("shared/sha256:…"), so nobody
 * can change what a job runs in, and the job's spec keeps it. Others see what the import found, never whose it is or who uses it.
 *
 *     shared_environment_publish -> PUBLISHED -> shared_environment_withdraw -> WITHDRAWN -> shared_environment_remove
 *
 * shared_environment_permits is the one judge, asked at submit, when a lease wants the image's key, and of machines that keep it
 * unpacked. publish: in the owner's scope (w->tenant_id), by staff; withdraw, remove: in the platform's; the rest in a tenant's,
 * or in the platform's, where staff see owners and how many jobs use each.
 * Memory: w->arena. Errors: NOT_FOUND, EXISTS, CONFLICT (not withdrawn yet, still used), UNPROCESSABLE (not offered, not READY,
 * not public, too many), FORBIDDEN (withdrawn, not signed, not allowed by the tenant). */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"
#include "core/wire/type_run.h"

struct stmt;

enum { SHARED_ENVIRONMENTS_MAX = 500 /* of the platform */ };

struct shared_environment {
    struct uuid shared_id;
    struct str name, description, state, zone, digest;
    struct str environment;                     /* as jobs name it */
    int64_t size_bytes, unpacked_bytes, files, package_count;
    struct str package_source;
    struct json layers;                         /* of one, not of a list */
    struct str signed_by;                       /* name of the tenant's key; empty: not signed, or its key is gone */
    struct timestamp signed_at, published_at, withdrawn_at;
    struct str withdrawn_reason;
    bool has_jobs;                              /* staff */
    int64_t jobs;                               /* that name it and have not ended */
    struct uuid owner_id, environment_id;       /* nil but for staff */
    int64_t version;
};
extern const struct schema shared_environment_schema;

struct shared_environment_new {
    struct uuid environment_id;
    struct str zone;                            /* STR_NULL: where its archive lies; else where a copy of it does */
    struct str name, description;               /* name STR_NULL: as its owner calls it */
};
enum errc shared_environment_publish(struct work *w, const struct shared_environment_new *in, struct shared_environment *ret,
                                     struct err *e) MUST_CHECK;
enum errc shared_environment_withdraw(struct work *w, struct uuid shared_id, struct str reason, struct shared_environment *ret,
                                      struct err *e) MUST_CHECK;
enum errc shared_environment_remove(struct work *w, struct uuid shared_id, struct err *e) MUST_CHECK;
enum errc shared_environment_get(struct work *w, struct uuid shared_id, struct shared_environment *ret, struct err *e) MUST_CHECK;
/* Newest first, behind `position`, in zones that the caller may use; what is STR_NULL filters nothing. */
enum errc shared_environment_list(struct work *w, struct str zone, struct str name, struct uuid position, int64_t limit,
                                  struct slice *ret, struct err *e) MUST_CHECK;
/* As environment_packages. */
enum errc shared_environment_packages(struct work *w, struct uuid shared_id, struct str q, int64_t after, int64_t limit,
                                      struct slice *ret, struct err *e) MUST_CHECK;
/* The tenant's own signature over the digest, wherever that is published. */
enum errc shared_environment_sign(struct work *w, struct uuid shared_id, struct str hex, struct shared_environment *ret,
                                  struct err *e) MUST_CHECK;

/* Where a submission finds it: in `zone` if it is published there, else in another that the tenant may use. */
struct shared_found { struct str zone, data_class; };
enum errc shared_environment_find(struct work *w, struct str digest, struct str zone, struct shared_found *ret,
                                  struct err *e) MUST_CHECK;
/* May programs of w->tenant_id run in it there now? */
enum errc shared_environment_permits(struct work *w, struct str zone, struct str digest, struct err *e) MUST_CHECK;

extern const struct stmt *const shared_environment_stmts[];
extern const struct stmt *const shared_environment_lease_stmts[];       /* in the scope of all tenants */
