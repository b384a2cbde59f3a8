/* SPDX-License-Identifier: Apache-2.0 */
/* scim_user.h - a tenant's people as SCIM Users.
 *
 *     userName = app_user.name     active = app_user.state is ACTIVE     DELETE = user_deactivate, and the name is free again
 *     displayName, name, emails, externalId: scim_user
 *
 * active false ends sessions and tokens in the same transaction. active true brings back whom SCIM switched off, and nobody whom an
 * administrator did (CONFLICT). userName is unique without regard to case: all writes of a tenant wait for each other (binding_lock).
 * Answers are whole after the call; nothing is committed by these functions.
 * Errors: those of scim_value, scim_filter and scim_patch, EXISTS, NOT_FOUND, CONFLICT, PRECONDITION, SCIM_TOO_MANY. */
#pragma once
#include "tenants/identity/scim.h"

struct stmt;

enum errc scim_user_list(struct work *w, const struct scim_query *q, struct scim_answer *ret, struct err *e) MUST_CHECK;
enum errc scim_user_get(struct work *w, struct uuid id, const struct scim_select *select, struct scim_answer *ret, struct err *e) MUST_CHECK;
enum errc scim_user_create(struct work *w, const struct scim_write *in, struct scim_answer *ret, struct err *e) MUST_CHECK;
enum errc scim_user_replace(struct work *w, const struct scim_write *in, struct scim_answer *ret, struct err *e) MUST_CHECK;
enum errc scim_user_patch(struct work *w, const struct scim_write *in, struct scim_answer *ret, struct err *e) MUST_CHECK;
enum errc scim_user_delete(struct work *w, const struct scim_write *in, struct scim_answer *ret, struct err *e) MUST_CHECK;

extern const struct stmt *const scim_user_stmts[];
