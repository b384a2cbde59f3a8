/* SPDX-License-Identifier: Apache-2.0 */
/* actor_name.h - what the people of a log are called now. Events hold ids only; a name is looked up when somebody reads, so that it is
 * gone from every reading once its person is erased. In w->tx. Memory: w->arena. Errors: those of the transaction. */
#pragma once
#include "audit/export.h"

struct stmt;

/* *ret: one name per row; STR_NULL: not a user of this tenant, or erased. */
MUST_CHECK enum errc audit_actor_names(struct work *w, struct uuid tenant, const struct audit_row *rows, size_t n, struct str **ret, struct err *e);
/* Who a search asks for: a kind of actor, an id (usr_…, nod_…, or as the log writes it), or the name of one user of this tenant.
 * *ret: a kind or the id as the log writes it. UNPROCESSABLE at /actor: none of these. */
MUST_CHECK enum errc audit_actor_resolve(struct work *w, struct uuid tenant, struct str asked, struct str *ret, struct err *e);

extern const struct stmt *const audit_actor_name_stmts[];
