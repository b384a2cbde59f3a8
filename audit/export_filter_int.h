/* SPDX-License-Identifier: Apache-2.0 */
/* export_filter_int.h - what an export with a filter can prove, and what it shows of the entries that do not fit. */
#pragma once
#include "audit/export_int.h"

/* The entries of a log whose leaves can be opened (fields.h). */
struct log_opened { int64_t opened_from, opened_to; };    /* 0 and 0: none */
MUST_CHECK enum errc export_opened(struct db_tx *tx, struct uuid tenant, struct log_opened *ret, struct err *e);

/* An entry with a body, in a filtered range: as it is when the filter lets it through, else with the body taken away and one
 * field
 * opened. view is room to read in, text (AUDIT_MEMBER_MAX bytes) for the field. CONFLICT: an older version made its leaf. */
MUST_CHECK enum errc export_withhold(const struct audit_filter *f, struct audit_view *view, char *text, struct bundle_record *r,
                                     struct err *e);

extern const struct stmt export_opened_stmt;
