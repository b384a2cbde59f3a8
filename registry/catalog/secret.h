/* SPDX-License-Identifier: Apache-2.0 */
/* secret.h - values that programs need and nobody reads back: passwords, tokens, keys of other services.
 *
 * A secret is a name in one zone, of a project or of the tenant as a whole; each value is a version and a sealed object of kind
 * "secret". What is sealed is SECRET_SALT_BYTES of noise and then the value, so that the digest that is kept of every object
 * tells
 * nothing about a short one. There is no way to read a value but the release of its key to a lease whose job named it
 * (secret_use), which takes it from an ACTIVE secret alone. A job keeps the version that was the newest when it was submitted.
 *
 *     ACTIVE <-> DISABLED: no lease gets the key of any version, also of a job that waits or comes back
 *
 * Of one secret the newest SECRET_VERSIONS_KEPT versions are kept, and those that an unfinished job names. Deleting forgets
 * the data
 * keys (content_delete.h), so copies of the sealed value stay closed.
 * Memory: w->arena. Errors: NOT_FOUND (also of another project), EXISTS (name), LIMIT, PRECONDITION (version), CONFLICT (jobs
 * name it, or it has no value yet), LEGAL_HOLD, RESIDENCY, FORBIDDEN (disabled), and those of object.h. */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"

struct stmt;

enum { SECRET_VALUE_MIN = 8 /* without ends of lines behind it; a shorter one cannot be kept out of logs */, 
    SECRET_VALUE_MAX = 32768,
       SECRET_SALT_BYTES = 32, SECRETS_MAX = 1000 /* of a tenant */, SECRET_VERSIONS_KEPT = 10 };
#define SECRET_KIND "secret"

enum secret_state { SECRET_ACTIVE, SECRET_DISABLED };
extern const char *const secret_state_names[];

struct secret {
    struct uuid secret_id, project_id;      /* project nil: of the tenant */
    struct str name, description, zone;
    int state;                              /* enum secret_state */
    int64_t latest_version;                 /* 0: it has no value yet */
    struct timestamp last_used_at;
    int64_t version;                        /* of the row */
    struct uuid created_by;
    struct timestamp created_at;
};
struct secret_version {
    struct uuid secret_id;
    int64_t value_version;
    struct uuid created_by;
    struct timestamp created_at;
};
extern const struct schema secret_schema, secret_version_schema;

struct secret_new {
    struct uuid project_id;
    struct str name, description, zone;     /* zone STR_NULL: the tenant's home */
};
struct secret_change { bool has_state; int state; struct str description; };     /* description STR_NULL: as it is */

enum errc secret_create(struct work *w, const struct secret_new *in, struct secret *ret, struct err *e) MUST_CHECK;
/* The next version. INVALID: too short or too long. */
enum errc secret_set_value(struct work *w, struct uuid secret_id, struct str value, struct secret_version *ret,
    struct err *e) MUST_CHECK;
/* expected_version -1: any. */
enum errc secret_set(struct work *w, struct uuid secret_id, const struct secret_change *c, int64_t expected_version,
    struct secret *ret,
                     struct err *e) MUST_CHECK;
enum errc secret_delete(struct work *w, struct uuid secret_id, int64_t expected_version, struct err *e) MUST_CHECK;
enum errc secret_get(struct work *w, struct uuid secret_id, struct secret *ret, struct err *e) MUST_CHECK;
/* Newest first, behind `position`; name STR_NULL: any. */
enum errc secret_list(struct work *w, struct str name, struct uuid position, int64_t limit, struct slice *ret,
    struct err *e) MUST_CHECK;
/* Newest first, below `before`; 0: from the newest. */
enum errc secret_version_list(struct work *w, struct uuid secret_id, int64_t before, int64_t limit, struct slice *ret,
                              struct err *e) MUST_CHECK;

/* The objects of all its values that are kept, and their versions. */
enum errc secret_objects(struct work *w, struct uuid secret_id, struct uuid **ret_objects, int64_t **ret_versions, size_t *ret_n,
                         struct err *e) MUST_CHECK;

/* What a job of a project may name: that project's, else the tenant's. version 0: the newest. */
struct secret_found {
    struct uuid secret_id, object_id;
    struct str zone;
    int64_t value_version;
};
enum errc secret_find(struct work *w, struct uuid project_id, struct str name, int64_t version, struct secret_found *ret,
                      struct err *e) MUST_CHECK;

/* System scope, before the keys of these objects go to a lease: those of secrets must be of ACTIVE ones, and are noted as used.
 * ret: struct secret_used; the caller writes an event for each. FORBIDDEN names the disabled one. */
struct secret_used {
    struct uuid secret_id;
    struct str name, state;
    int64_t value_version;
};
enum errc secret_use(struct work *w, const struct uuid *objects, size_t n, struct slice *ret, struct err *e) MUST_CHECK;

extern const struct stmt *const secret_stmts[], *const secret_node_stmts[];
