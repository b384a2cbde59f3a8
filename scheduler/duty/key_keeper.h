/* SPDX-License-Identifier: Apache-2.0 */
/* key_keeper.h - the leader's care for keys: rewraps go on batch by batch, due keys are destroyed, left-over data keys are found.
 *
 * A thread of its own, because each key of a batch is a call to falaj-keyd (and perhaps to an HSM) that planning must not wait for.
 * Works only while is_leading says so; each batch is one transaction, so another leader goes on where this one stopped.
 * Calling order: key_keeper_new -> key_keeper_free (waits for the batch in progress). */
#pragma once
#include <stdbool.h>
#include "core/base/work.h"

struct key_keeper;

struct key_keeper *key_keeper_new(const struct app *app, bool (*is_leading)(void *ctx), void *ctx);
void key_keeper_free(struct key_keeper *k);

/* One round, for tests and for the thread: true when there is more to do at once. */
bool key_keeper_round(const struct app *app, struct arena *a, bool with_shred, bool with_left);
