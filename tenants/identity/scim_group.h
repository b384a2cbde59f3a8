/* SPDX-License-Identifier: Apache-2.0 */
/* scim_group.h - a tenant's groups as SCIM Groups: displayName, externalId, members. The role that a group gives is user_group.h's.
 *
 * Members are people of the tenant; groups in groups are refused (INVALID). A change of members changes their roles in the same
 * transaction. displayName is unique without regard to case. The rest is as in scim_user.h. */
#pragma once
#include "tenants/identity/scim.h"

struct stmt;

enum errc scim_group_list(struct work *w, const struct scim_query *q, struct scim_answer *ret, struct err *e) MUST_CHECK;
enum errc scim_group_get(struct work *w, struct uuid id, const struct scim_select *select, struct scim_answer *ret, struct err *e) MUST_CHECK;
enum errc scim_group_create(struct work *w, const struct scim_write *in, struct scim_answer *ret, struct err *e) MUST_CHECK;
enum errc scim_group_replace(struct work *w, const struct scim_write *in, struct scim_answer *ret, struct err *e) MUST_CHECK;
enum errc scim_group_patch(struct work *w, const struct scim_write *in, struct scim_answer *ret, struct err *e) MUST_CHECK;
enum errc scim_group_delete(struct work *w, const struct scim_write *in, struct scim_answer *ret, struct err *e) MUST_CHECK;

extern const struct stmt *const scim_group_stmts[];
