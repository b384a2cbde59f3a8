/* SPDX-License-Identifier: Apache-2.0 */
/* drop_list.h - which entries lost their bodies to retention, as the log itself says (docs/audit-format.md §3).
 *
 * An audit.retention event (FLJ-AUD-006S) lists what it dropped: details dropped, from_tseq, until_tseq, and list_1, list_2 …
 * with ranges of numbers, "1-500,510". The event is an entry of the log, so the zone's key has signed the list with the head: a
 * body that is missing without it was taken by somebody else. Calling order: drop_list_add for each event; then drop_list_has
 * with any number. Memory: 16 bytes a range, at most DROP_RANGES_MAX, freed by drop_list_release. Pure. */
#pragma once
#include "audit/record_read.h"

enum { DROP_RANGES_MAX = 1 << 20 };

struct drop_range {
    uint64_t from, to;              /* inclusive */
};
struct drop_list {
    struct drop_range *items;
    size_t n, cap;
    bool is_sorted;                 /* disjoint then */
};

/* The ranges that the event at `tseq` lists. False when it is no such event, says something else than it lists, lists what
 * comes after it, or there are too many; the list is then not to be used any more. */
bool drop_list_add(struct drop_list *l, const struct audit_view *v, uint64_t tseq);
bool drop_list_has(struct drop_list *l, uint64_t tseq);
void drop_list_release(struct drop_list *l);
