/* SPDX-License-Identifier: Apache-2.0 */
/* orphan.h - removes blobs that no row knows: what a crash between blob and rows left behind, and what a failed transaction did.
 *
 * Looks at blobs older than age_s only, so that a transaction on its way to its commit keeps its blob. Runs in the workers' role (it must
 * see every tenant) and removes only what the database has confirmed to be unknown.
 * Errors: those of the transaction; IO. */
#pragma once
#include "core/base/work.h"

enum errc orphan_sweep(const struct app *app, struct arena *a, int64_t age_s, int64_t *ret_removed, struct err *e) MUST_CHECK;
