/* SPDX-License-Identifier: Apache-2.0 */
/* accounts.h - accounts for leases where the agent is an ordinary user: a user namespace that has its own and those of the range,
 * and nothing else.
 *
 * An agent that holds CAP_SETUID and CAP_SETGID (the unit's drop-in of `falaj-setup worker --uid-per-lease`) maps itself to 0
 * and worker.uid_base, worker.uid_count to themselves, and is inside from there on. Within it can do to those accounts what root
 * could (change to them, give them files, end their processes), so that all of isolation.h holds as for root. Outside it has
 * less than it came with: both capabilities are gone, and files and processes of everybody else, root's first, are as out of
 * reach as for any user. Who already is root, has no such capabilities or no range stays as he is.
 * Calling order: before any thread, and before process_harden. Errors: UNAVAILABLE: the capabilities are there and the
 * namespace was refused; whoever gave them wants accounts, so the agent must not go on without.
 * Sources: user_namespaces(7), capabilities(7). */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "core/base/err.h"
#include "core/table/config.h"

MUST_CHECK enum errc accounts_enter(const struct config *cfg, struct err *e);
/* Keeps these capabilities of those it has, in its bounding set too. Async-signal-safe. */
bool caps_keep(uint64_t mask);
