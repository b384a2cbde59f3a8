/* SPDX-License-Identifier: Apache-2.0 */
/* erasure_keeper.h - sees to it that who was erased stays erased, whatever becomes of the database: a restored backup that has
 * somebody back is told by the journal (erasure_journal.h), and the person is erased again before anybody is let in.
 *
 * Invariants: an erasure that was acknowledged is in the journal; what the database has erased comes into the journal too (from
 * before there was one, or from another process). A person is erased again by the rules of the first time: who is held since
 * stays until the hold is lifted, and is told in the log of the process at each look. Each new erasure is an event
 * (person.erase_again).
 * Calling order: erasure_keeper_new -> erasure_keeper_look before the first call is taken -> { erasure_keeper_order in a
 * transaction that erases; erasure_keeper_look_if_moved every few seconds } -> erasure_keeper_free.
 * Keys of whole zones of tenants are kept in the same journal; what becomes of them is registry's (registry/vault/shred_again.h),
 * whose function stands in `keys`.
 * Memory: a look takes about 400 bytes an order while it lasts. One thread looks; any thread orders. */
#pragma once
#include "core/base/work.h"
#include "core/base/err.h"

struct erasure_keeper;
struct erasure_orders;
struct erasure_look;
struct stmt;

/* The keys' part of a look: orders whose keys a restored backup has back, and what the journal does not know of. */
typedef enum errc (*erasure_keys_fn)(struct work *w, const char *dir, const struct erasure_orders *orders,
                                     struct erasure_look *ret, struct err *e);

/* NULL for an empty dir: nothing is kept, and every call below does nothing. */
struct erasure_keeper *erasure_keeper_new(const char *dir);
/* Before the first look; NULL, as at the start: keys are not looked at. */
void erasure_keeper_set_keys(struct erasure_keeper *k, erasure_keys_fn keys);
void erasure_keeper_free(struct erasure_keeper *k);

/* In w->tx, last: the order stands on disk when this returns. When w->arena ends and the transaction did not commit, the order is
 * void. */
MUST_CHECK enum errc erasure_keeper_order(struct work *w, struct uuid user_id, struct uuid by, struct err *e);

/* The same for all versions up to this one of the tenant's keys in a zone … */
MUST_CHECK enum errc erasure_keeper_order_shred(struct work *w, struct str zone, int64_t version, struct uuid by, struct err *e);
/* … and that a version of them is kept after all: the order is not repeated. */
MUST_CHECK enum errc erasure_keeper_keep(struct work *w, struct str zone, int64_t version, struct err *e);

/* Persons and zones of keys: erased or scheduled again, held, written into the journal. */
struct erasure_look { size_t again, held, adopted; };
/* Compare journal and database, in transactions of its own. UNAVAILABLE …: those of PostgreSQL; IO, LIMIT: the journal's. */
MUST_CHECK enum errc erasure_keeper_look(const struct app *app, struct erasure_look *ret, struct err *e);
/* The same when the database stands elsewhere than at the last look, when an order's end is not known, and each hour. */
MUST_CHECK enum errc erasure_keeper_look_if_moved(const struct app *app, struct err *e);

extern const struct stmt *const erasure_keeper_stmts[];
