/* SPDX-License-Identifier: Apache-2.0 */
/* rebuild.h - the steps of a restore, for the command and for the drill.
 *
 * Safe states: the database is filled under another name (<database>_restoring) and gets its own at the end; objects are written
 * to <folder>.restoring, which is renamed at the end. Whatever breaks off leaves nothing that a daemon would take for the real
 * one; the next try begins anew. Errors: CONFLICT (the place is not empty), DAMAGED, those of children and sessions. */
#pragma once
#include "backup/backup.h"
#include "backup/recovery.h"
#include "core/db/session.h"

/* Words of a connection to that database by the superuser. */
const char *admin_words(const struct backup *b, const char *database);
MUST_CHECK enum errc admin_session(const struct backup *b, const struct account *a, const char *database,
                                   struct db_session **ret, struct err *e);

/* A place is empty: no such database or one without tables; no such folder or an empty one. */
MUST_CHECK enum errc rebuild_is_empty(const struct backup *b, const struct account *a, const char *blobs, struct err *e);
MUST_CHECK enum errc rebuild_database(struct backup *b, const struct account *a, const struct set *s,
                                      const struct recovery *key, struct err *e);
/* Every step-th object that the set has, into a blob store in that folder. ret_n: how many there are now. */
MUST_CHECK enum errc rebuild_objects(struct backup *b, const struct set *s, const char *dir, int64_t step, int64_t *ret_n,
                                     struct err *e);
/* All of them, by way of <dir>.restoring, as the account's. */
MUST_CHECK enum errc rebuild_store(struct backup *b, const struct set *s, const char *dir, const struct account *owner,
                                   int64_t *ret_n,
                                   struct err *e);
void tree_give(const char *dir, const struct account *owner);
