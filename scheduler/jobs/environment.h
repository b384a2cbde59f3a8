/* SPDX-License-Identifier: Apache-2.0 */
/* environment.h - names for images that were checked once: what programs run in, and what is in it.
 *
 * An environment is a version of a data set of the format oci (adr/0083), a job of kind inspect that unpacked it, and that job's
 * result: digest, layers, packages. How it stands is how its job stands, so nothing has to be kept in step:
 *
 *     IMPORTING -> READY | REFUSED (the job's words name the layer and the entry)
 *
 * One that comes from a registry (ADR 0167) has a job of kind pull in its place, whose output is the archive: it becomes a
 * version of a data set of the environment's own within seconds (environment_settle); until then the environment is IMPORTING.
 * Names are no keys: an image of another digest under the same name is the next environment, and a bare name means the newest
 * READY one. A refused environment whose archive is its own (owns_archive) loses it within seconds (environment_sweep).
 * Signatures: a tenant's Ed25519 keys over the digest's text ("sha256:…", 71 bytes). environment_permits is the one judge of
 * them, asked at submit and when a lease wants the image's key; it checks the signature itself each time.
 * Memory: w->arena. Errors: NOT_FOUND (also of another project), LIMIT, CONFLICT (used), UNPROCESSABLE, FORBIDDEN (not signed),
 * and those of content_delete.h. */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"

struct stmt;

enum { ENVIRONMENTS_MAX = 1000 /* of a tenant */, ENVIRONMENT_SIG_HEX = 128 };

struct environment {
    struct uuid environment_id, project_id;     /* project nil: of the tenant */
    struct str name, description, state, reason;    /* reason: why it waits, or was refused */
    struct str digest;                          /* of its manifest; empty: not known yet */
    struct str zone, data_class;
    struct uuid dataset_id;                     /* nil: the archive is gone */
    int64_t dataset_version;
    struct uuid job_id;
    bool allow_setuid, owns_archive;
    int64_t size_bytes, unpacked_bytes, files, package_count;   /* 0: not known yet */
    struct str package_source;
    struct json layers;
    struct str signed_by;                       /* name of the key; empty: not signed, or its key is gone */
    struct timestamp signed_at;
    struct timestamp offered_at;                /* 0: the platform's staff may not publish it */
    int64_t version;
    struct str pulled_from;                     /* HOST/NAME@DIGEST; empty: its archive was sent */
    struct uuid created_by;
    struct timestamp created_at;
};
extern const struct schema environment_schema;

struct environment_new {
    struct uuid environment_id, project_id, dataset_id, object_id, job_id;
    struct str name, description, digest;       /* digest empty: the archive's only image */
    int64_t dataset_version;
    bool allow_setuid, owns_archive;
    struct str pulled_from;                     /* with it dataset_id and object_id are nil until they are there */
};
enum errc environment_insert(struct work *w, const struct environment_new *in, struct environment *ret, struct err *e) MUST_CHECK;
enum errc environment_get(struct work *w, struct uuid environment_id, struct environment *ret, struct err *e) MUST_CHECK;
/* Newest first, behind `position`; what is STR_NULL filters nothing. */
enum errc environment_list(struct work *w, struct str name, struct str state, struct uuid position, int64_t limit,
                           struct slice *ret, struct err *e) MUST_CHECK;
/* Lets the platform's staff publish it to other tenants (environment_shared.h), or no longer; what is published stays so. */
enum errc environment_offer(struct work *w, struct uuid environment_id, bool offered, struct environment *ret,
                            struct err *e) MUST_CHECK;
/* The row goes, and the archive where it is its own. CONFLICT: a job that has not ended uses it, its import runs, or it is
 * published. */
enum errc environment_delete(struct work *w, struct uuid environment_id, struct err *e) MUST_CHECK;

struct environment_package { int64_t number; struct str name, version, architecture; };
extern const struct schema environment_package_schema;
/* Sorted by name, behind the number `after`; q STR_NULL: all, else those whose name has it in it. */
enum errc environment_packages(struct work *w, struct uuid environment_id, struct str q, int64_t after, int64_t limit,
                               struct slice *ret, struct err *e) MUST_CHECK;
struct environment_use { struct uuid job_id; struct str job_name, state; struct uuid submitted_by;
    struct timestamp submitted_at; };
extern const struct schema environment_use_schema;
/* The jobs that run, or ran, in it, newest first. */
enum errc environment_uses(struct work *w, struct uuid environment_id, struct uuid position, int64_t limit, struct slice *ret,
                           struct err *e) MUST_CHECK;

/* What a submission of a job of the project means: the newest READY one that fits what is not nil, not STR_NULL. A name is looked
 * for in that project and then in the tenant as a whole, so that one project cannot change what another's job runs in; an id and
 * a digest say which image they mean. NOT_FOUND says what was looked for; UNPROCESSABLE: there is one, but it is not READY. */
struct environment_found { struct uuid dataset_id; int64_t dataset_version; struct str digest; };
enum errc environment_find(struct work *w, struct uuid project_id, struct uuid environment_id, struct str name,
                           struct str digest, struct environment_found *ret, struct err *e) MUST_CHECK;

struct environment_key { struct uuid key_id; struct str name, public_key; struct uuid created_by; struct timestamp created_at; };
extern const struct schema environment_key_schema;
struct environment_policy { bool require_signed, has_allow_shared, allow_shared; };     /* set: without allow_shared it stays */
extern const struct schema environment_policy_schema;

/* public_key_pem: an Ed25519 public key. INVALID, EXISTS, LIMIT. */
enum errc environment_key_add(struct work *w, struct str name, struct str public_key_pem, struct environment_key *ret,
                              struct err *e) MUST_CHECK;
enum errc environment_key_list(struct work *w, struct uuid position, int64_t limit, struct slice *ret, struct err *e) MUST_CHECK;
/* What it signed is no longer signed. */
enum errc environment_key_remove(struct work *w, struct uuid key_id, struct err *e) MUST_CHECK;
enum errc environment_policy_get(struct work *w, struct environment_policy *ret, struct err *e) MUST_CHECK;
enum errc environment_policy_set(struct work *w, const struct environment_policy *in, struct err *e) MUST_CHECK;
/* hex: 128 digits, over the digest's text. UNPROCESSABLE: it is of none of the tenant's keys, or the digest is not known yet. */
enum errc environment_sign(struct work *w, struct uuid environment_id, struct str hex, struct environment *ret,
                           struct err *e) MUST_CHECK;

/* May programs of the tenant run in this image now? digest STR_NULL: the archive's only one. In a transaction that sees the
 * tenant's rows. FORBIDDEN: it must be signed, and is not by a key that the tenant has. */
enum errc environment_permits(struct work *w, struct uuid dataset_id, int64_t version, struct str digest,
    struct err *e) MUST_CHECK;
/* System scope, before keys of these objects go to a lease of the job: if one is the job's image, environment_permits, or
 * shared_environment_permits. */
enum errc environment_permits_lease(struct work *w, struct uuid job_id, const struct uuid *objects, size_t n,
                                    struct err *e) MUST_CHECK;

/* Environments whose job has brought the archive get a data set of their own with it, of every tenant: READY from then on. */
enum errc environment_settle(const struct app *app, struct arena *a, int64_t *ret_settled, struct err *e) MUST_CHECK;
/* Archives of refused environments that are their own, of every tenant. */
enum errc environment_sweep(const struct app *app, struct arena *a, int64_t *ret_removed, struct err *e) MUST_CHECK;

extern const struct stmt *const environment_stmts[], *const environment_trust_stmts[];
extern const struct stmt *const environment_pull_stmts[], *const environment_pull_node_stmts[];
extern const struct stmt *const environment_node_stmts[], *const environment_lease_stmts[];     /* in the scope of all tenants */
