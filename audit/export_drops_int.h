/* SPDX-License-Identifier: Apache-2.0 */
/* export_drops_int.h - the retention entries of a log that list entries of a range, page by page (docs/audit-format.md). */
#pragma once
#include "audit/export_int.h"

enum { EXPORT_DROPS_PAGE = 100 };

struct export_drop {
    uint64_t tseq;
    struct str body;                    /* in x->page, until its next page */
};

/* Of the retention entries in (*after, upto] those whose lists reach into [from, to], at most EXPORT_DROPS_PAGE. *after moves
 * to where the next call goes on, and to upto when there are no more. Entries of older versions, which list nothing, are passed
 * over. */
MUST_CHECK enum errc export_drops_page(struct export *x, uint64_t from, uint64_t to, uint64_t upto, uint64_t *after,
                                       struct export_drop **ret, size_t *ret_n, struct err *e);

extern const struct stmt export_drops_stmt;
