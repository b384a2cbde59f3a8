/* SPDX-License-Identifier: Apache-2.0 */
/* check.h - looks at a backup without changing anything. */
#pragma once
#include "backup/backup.h"
#include "backup/recovery.h"

/* Every file of the set against the manifest, and every part, but the database, opened to its end where the key is there; the
 * pool by names and sizes. The first fault ends it: DAMAGED, NOT_FOUND, FORBIDDEN (the recovery key of another). */
MUST_CHECK enum errc check_files(struct backup *b, const struct set *s, const struct recovery *key, struct err *e);
/* Every object of the set by its digest; what is missing or changed is reported by name, and counted. */
MUST_CHECK enum errc check_pool(struct backup *b, const struct set *s, struct err *e);
