/* SPDX-License-Identifier: Apache-2.0 */
/* keys_int.h - what the routes of keys and the table of approvals share: how a destruction or a root rotation is asked for. */
#pragma once
#include "api/route.h"
#include "tenants/access/approval.h"

extern const struct approval_kind key_destroy_kind, root_rotate_kind, root_destroy_kind;

/* version 0: all of the zone. */
enum errc key_destroy_request(struct work *w, struct str zone, int64_t version, struct str reason, struct approval *ret, struct err *e) MUST_CHECK;
enum errc root_rotate_request(struct work *w, struct str zone, struct str reason, struct approval *ret, struct err *e) MUST_CHECK;
enum errc root_destroy_request(struct work *w, struct str zone, int64_t version, struct str reason, struct approval *ret, struct err *e) MUST_CHECK;
