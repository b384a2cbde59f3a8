/* SPDX-License-Identifier: Apache-2.0 */
/* access_log.h - one line per answered request in a file that is only appended to, for the comparison with the audit log
 * (audit/reconcile.h has the format). Written with one write(2) each, so lines of several threads and processes do not mix.
 * A line that cannot be written is counted and logged once a minute at most: answering goes on. Any thread. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "core/base/id.h"
#include "core/base/str.h"

struct access_log;

/* A file that was moved away stays the one that is written until then: opens `path` anew, as log rotation needs. What cannot be
 * opened
 * is logged, and the old file goes on. NULL is fine. */
void access_log_reopen(struct access_log *l);
/* NULL when path is empty; what cannot be opened is logged, and tried again by access_log_reopen. */
struct access_log *access_log_new(const char *path);
void access_log_free(struct access_log *l);
void access_log_write(struct access_log *l, int64_t ts_us, struct uuid tenant, const char *op, int status, bool is_audited, struct str request_id);
