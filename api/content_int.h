/* SPDX-License-Identifier: Apache-2.0 */
/* content_int.h - sending the content of a stored object, audited. For the route files of data sets and models. */
#pragma once
#include "api/route.h"

struct content {
    enum audit_code audit;
    const char *resource, *prefix;          /* "dataset", "dst" */
    struct uuid resource_id;
    int64_t version;
    struct uuid object_id;
    const char *object_kind;
    struct str content_type;
    const char *extension;
};

/* In c->work.tx, which it commits: opens the object, verifies it (whole up to OBJECT_WHOLE_MAX, else as it goes), writes the audit event,
 * commits, answers. After OK the call is gone. On error the transaction is still the caller's. */
enum errc content_send(struct call *c, const struct content *t, struct err *e) MUST_CHECK;
