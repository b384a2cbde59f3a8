/* SPDX-License-Identifier: Apache-2.0 */
/* what_if.h - the facts as they would be after a change that nobody has asked for yet. Pure: facts in, facts out; the judge is
 * the real one (residency_allows), which does not know that the facts are imagined.
 *
 * Memory: the arena; what a change does not touch is borrowed from the facts. Not offered: a tenant's lists taken away from. */
#pragma once
#include "core/base/arena.h"
#include "tenants/home/residency.h"

struct zone_law;

struct what_if_change {
    struct str law_of;                  /* a zone whose law would be `law`; STR_NULL: none */
    const struct zone_law *law;
    bool is_allowed;                    /* `zone` would be on the tenant's list for the class */
    bool has_policy;                    /* a transfer policy from `from` to `zone` would be in force, for every purpose */
    bool has_exception;                 /* and would name its exception */
    struct str from, zone;
    int data_class;
};

struct residency_facts what_if_facts(struct arena *a, const struct residency_facts *f, const struct what_if_change *c,
                                     int64_t now_us);
