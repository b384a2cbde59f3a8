/* SPDX-License-Identifier: Apache-2.0 */
/* break_glass.h - the account behind glass: one per zone, sealed until two custodians open it, for an hour.
 *
 * The account is a user of the platform, "break-glass-ZONE", without password, token or provider: nothing leads into it but an approved
 * request. When a second custodian approves, it gets the role zone-operator at that zone for 60 minutes, and the custodian who asked may
 * open one session in it. Its role sees no tenant's content; every audited act of the session carries the detail break_glass, and opening
 * is an event of its own (FLJ-AUT-010) in the platform's log, which the compliance officers watch.
 * Calling order: break_glass_request -> (approval) -> break_glass_open. In the platform's scope. Memory: w->arena.
 * Errors: those of approvals; break_glass_open: NOT_FOUND (not approved, not asked for by the caller, opened already, or over). */
#pragma once
#include "core/base/work.h"
#include "tenants/access/approval.h"

struct stmt;

enum { BREAK_GLASS_MINUTES = 60 };

extern const struct approval_kind break_glass_kind;

enum errc break_glass_request(struct work *w, struct str zone, struct str reason, struct approval *ret, struct err *e) MUST_CHECK;
enum errc break_glass_open(struct work *w, struct uuid approval_id, struct uuid *ret_user, int64_t *ret_left_ms, struct err *e) MUST_CHECK;

extern const struct stmt *const break_glass_stmts[];
