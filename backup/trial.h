/* SPDX-License-Identifier: Apache-2.0 */
/* trial.h - a backup restored beside the original: a PostgreSQL of its own on a socket of its own in a folder that goes away
 * again, and in it the questions that only content answers. Nothing of the original is touched.
 *
 * Looks at: every audit log from its first entry to the newest head, by the code of falaj-verify and against the keys that the
 * manifest names; a sample of objects, opened chunk by chunk with the keys of falaj-keyd, where it answers.
 * Errors: those of restore.h. What is damaged is a row of the report. */
#pragma once
#include "backup/backup.h"
#include "backup/recovery.h"

/* with_all: all objects are restored (a drill), else only those of the sample. */
MUST_CHECK enum errc scratch_look(struct backup *b, const struct set *s, const struct recovery *key, bool with_all,
                                  struct err *e);
