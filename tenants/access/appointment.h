/* SPDX-License-Identifier: Apache-2.0 */
/* appointment.h - roles that decide for others are given by two people.
 *
 * Compliance officers, zone operators and platform administrators (role_takes_two) are not granted but appointed: one person
 * asks, within what that person may grant, another who counts (second_person.h) beside the asker and beside the appointed person
 * approves. The appointed account is vouched for: what others gave it before counts no more, and every token, session, hand-made
 * link and subject of it ends, since others may hold them; the person signs in anew. Appointing somebody to a role that it holds
 * already only vouches for it: so an account that does not count for its origin can be made to count.
 * The first officer of a tenant comes from the platform: two people of the platform appoint an account of the tenant.
 * Every way to such a role asks here (binding.c refuses it elsewhere); with approval.separation = accounts roles are granted at
 * once. Calling order: appointment_request or tenant_officer_request in a route; the kinds' executors in the last approval.
 * Memory: w->arena. Errors: those of binding_grant and approval_request; UNPROCESSABLE (a role that needs no appointment, a
 * program). */
#pragma once
#include "core/base/work.h"
#include "tenants/access/approval.h"

struct appointment_new {
    struct uuid user_id;
    struct str role;
    struct str zone;                /* of a role held in a zone; STR_NULL: everywhere it can be */
    struct str reason;
};
enum errc appointment_request(struct work *w, const struct appointment_new *in, struct approval *ret, struct err *e) MUST_CHECK;
/* In the platform's scope: user_id is a person of that tenant. */
enum errc tenant_officer_request(struct work *w, struct uuid tenant_id, struct uuid user_id, struct str reason,
    struct approval *ret,
                                 struct err *e) MUST_CHECK;

extern const struct approval_kind appointment_kind, tenant_officer_kind;
extern const struct stmt *const appointment_stmts[];
