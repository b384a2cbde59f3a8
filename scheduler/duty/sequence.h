/* SPDX-License-Identifier: Apache-2.0 */
/* sequence.h - the thread that numbers audit events and signs the heads of the logs, beside the scheduler's loop.
 *
 * Needs no leadership: the cursor row in PostgreSQL is the lock. Heads are signed each minute, when
 * sequence_wake asks for it, and at the end.
 * Calling order: sequence_new (starts the thread) -> sequence_free (last pass, signs, joins). */
#pragma once
#include "core/base/work.h"

struct sequence;

/* pool: role falaj_sequencer. zone: whose key signs; without keyd heads are not signed. */
struct sequence *sequence_new(const struct app *app, struct db_pool *pool, struct str zone);
/* Number what is new and sign the heads now: somebody waits for a head (any thread). */
void sequence_wake(struct sequence *s);
void sequence_free(struct sequence *s);
