/* SPDX-License-Identifier: Apache-2.0 */
/* scim_call.h - a change of a SCIM resource by a route: the body and If-Match as they came, the audit event's detail, the answer's ETag.
 * Errors: those of fn. Memory of *ret: the call's arena. */
#pragma once
#include "api/route.h"
#include "tenants/identity/scim.h"

typedef enum errc (*scim_change_fn)(struct work *w, const struct scim_write *in, struct scim_answer *ret, struct err *e);

/* op: create, replace, patch or delete, as the audit log has it. */
enum errc scim_change(struct call *c, scim_change_fn fn, const char *op, struct uuid id, struct scim_select select, struct scim_answer *ret,
                      struct err *e) MUST_CHECK;
