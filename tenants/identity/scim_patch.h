/* SPDX-License-Identifier: Apache-2.0 */
/* scim_patch.h - PATCH of a SCIM resource (RFC 7644, 3.5.2). Pure: a tree in, the same tree changed.
 *
 * All operations or none: after an error the tree is of no use. The result is not checked for what is required: sval_check.
 * Taken beyond the RFC, because providers send it: operation names in any case, `remove` of a list with the values to remove, members of
 * a value named by a path ("name.givenName"), and `add` to items that are not there yet when the filter says what they are like. What the
 * table does not have is passed over inside a value; as a path it is passed over where SCIM has it (other parts of a core user,
 * extensions),
 * and an error where it does not.
 * Errors: MALFORMED, INVALID, LIMIT (operations), SCIM_PATH, SCIM_FILTER, SCIM_NO_TARGET, SCIM_MUTABILITY. */
#pragma once
#include "tenants/identity/scim_filter.h"

enum errc scim_patch(struct arena *a, const struct scim_resource *r, const struct jval *body, struct sval *resource, struct err *e) MUST_CHECK;
