/* SPDX-License-Identifier: Apache-2.0 */
/* filter.h - which events of a log someone asked for, and whether an event is one of them.
 *
 * The same filter stands in the query, in the manifest of the bundle that answers it (docs/audit-format.md §3) and in the verifier,
 * which refuses an entry that the filter would not have let through. A member that is empty or 0 lets everything through.
 * Words hold [A-Za-z0-9._:-] only, so that a filter has one spelling. Fixed size, no pointers. Pure. */
#pragma once
#include "audit/record_read.h"

enum { AUDIT_FILTER_WORD = 129 };

struct audit_filter {
    int64_t from_us, until_us;           /* from <= time < until; 0: open */
    char actor[AUDIT_FILTER_WORD];       /* a type ("user") or the uuid of one actor */
    char action[AUDIT_FILTER_WORD];      /* "job.submit"; with a dot at its end all that begins so: "job." */
    char resource[AUDIT_FILTER_WORD];    /* a kind ("job") or one id ("job_0189…") */
};

bool audit_filter_match(const struct audit_view *v, const struct audit_filter *f);
/* Does this one field of the event already say that the filter does not let it through? Reads nothing else of the view. */
bool audit_filter_refutes(const struct audit_view *v, enum audit_field field, const struct audit_filter *f);
/* The first field that does, or AUDIT_FIELDS where the filter lets the event through. */
enum audit_field audit_filter_refuter(const struct audit_view *v, const struct audit_filter *f);
bool audit_filter_is_empty(const struct audit_filter *f);
/* False when a word has other characters or the time range is empty: such a filter goes into no manifest. */
bool audit_filter_is_valid(const struct audit_filter *f);
/* {"from_us":…,"until_us":…,"actor":…,"action":…,"resource":…}, absent members null; the empty filter is null as a whole. */
bool audit_filter_encode(const struct audit_filter *f, struct buf *b);
/* Takes a filter off the front of s. */
bool audit_filter_scan(struct str *s, struct audit_filter *ret);
