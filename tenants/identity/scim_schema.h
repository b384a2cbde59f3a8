/* SPDX-License-Identifier: Apache-2.0 */
/* scim_schema.h - what Falaj keeps of SCIM's core resources (RFC 7643): one table, from which /Schemas, the reading of bodies, filters,
 * PATCH paths and the choice of returned attributes are made.
 *
 * What is not in the table is not kept: a body may carry it, nothing remembers it. Names compare without regard to case. Constants only. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "core/base/str.h"

enum scim_type { SCIM_STRING, SCIM_BOOLEAN, SCIM_DATETIME, SCIM_REFERENCE, SCIM_COMPLEX };
enum scim_mutability { SCIM_READ_WRITE, SCIM_READ_ONLY, SCIM_IMMUTABLE };

struct scim_attr {
    const char *name;
    enum scim_type type;
    enum scim_mutability mutability;
    bool multi, required, case_exact, unique;
    bool common;                    /* of every resource: not part of the printed schema */
    bool always;                    /* returned whatever is asked for */
    int max;                        /* characters, or items of a list */
    const struct scim_attr *subs;   /* of SCIM_COMPLEX, ended by a row without name */
    const char *doc;
};

struct scim_resource {
    const char *name, *urn, *endpoint, *prefix, *doc;
    const struct scim_attr *attrs;  /* ended by a row without name */
};
extern const struct scim_resource scim_user_resource, scim_group_resource;

#define SCIM_LIST_URN "urn:ietf:params:scim:api:messages:2.0:ListResponse"
#define SCIM_PATCH_URN "urn:ietf:params:scim:api:messages:2.0:PatchOp"
#define SCIM_ERROR_URN "urn:ietf:params:scim:api:messages:2.0:Error"

bool scim_name_eq(struct str a, struct str b);          /* ASCII letters fold */
/* NULL: no such attribute. */
const struct scim_attr *scim_attr_find(const struct scim_attr *attrs, struct str name);
/* "userName", "name.givenName", "urn:…:User:emails.value"; *ret_sub is NULL without a sub attribute. False: no such. */
bool scim_path_find(const struct scim_resource *r, struct str path, const struct scim_attr **ret, const struct scim_attr **ret_sub);

/* The documents of discovery (RFC 7643, 5 to 7). which STR_NULL: the list of all; else the one of that id, and false when there is none. */
void scim_print_config(struct buf *out);
bool scim_print_types(struct str which, struct buf *out);
bool scim_print_schemas(struct str which, struct buf *out);
