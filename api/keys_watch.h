/* SPDX-License-Identifier: Apache-2.0 */
/* keys_watch.h - how the falaj-keyd of each zone is, looked at once a second by a thread of its own: who asks whether this
 * process may get traffic is answered at once, even while a falaj-keyd or its token hangs.
 *
 * Calling order: keys_watch_new -> keys_watch_see* (any thread) -> keys_watch_free, which waits for a look under way. The zones
 * are those of the client, in its order; it must outlive the watch. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "keys/attest.h"

struct keyd_client;
struct keys_watch;

enum keys_state { KEYS_OK, KEYS_SEALED, KEYS_DOWN };
struct keys_seen {
    enum keys_state state;
    char reason[ATTEST_REASON_MAX];     /* why they are sealed; for operators */
};

struct keys_watch *keys_watch_new(struct keyd_client *keyd);
void keys_watch_free(struct keys_watch *w);
/* As it was last seen; before the first look this waits for it. One that owes an answer for longer than a second is down. */
struct keys_seen keys_watch_see(struct keys_watch *w, size_t zone);
