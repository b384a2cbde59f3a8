/* SPDX-License-Identifier: Apache-2.0 */
/* shred_again.h - zones of tenants in which all keys were ordered destroyed stay so, whatever becomes of the database.
 *
 * A backup from before the order has the wrapped keys, and the zone's root opens them. The journal of erasures
 * (audit/erasure_journal.h) has the order: every version up to the ordered one that was made before it is scheduled for
 * destruction again. From that commit on it opens nothing; it waits keys.destroy_days like any other, so that it can be called
 * off, and is destroyed and certified by the leader. Each is an event (key.destroy, scheduled_again). A legal hold of today keeps
 * the keys, and is counted. An order of the last minute is left to the next look: its transaction may not have ended.
 * Not offered: single versions. One that was destroyed after a rotation had nothing below it that was not meant, while in an
 * older backup all that lives may hang on it (docs/adr/0044).
 * Calling order: erasure_keeper_set_keys(k, shred_again) before the first look. Errors: those of transactions and of the
 * journal. */
#pragma once
#include "audit/erasure_keeper.h"

enum errc shred_again(struct work *w, const char *dir, const struct erasure_orders *orders, struct erasure_look *ret,
                      struct err *e) MUST_CHECK;

extern const struct stmt *const shred_again_stmts[];
