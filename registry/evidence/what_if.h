/* SPDX-License-Identifier: Apache-2.0 */
/* what_if.h - what a change of a law, of a tenant's list or of its policies would make possible or forbid, before anybody asks
 * for it.
 *
 * The tenant's real things are read (data sets where they lie, jobs that have not ended, deployments), and the judge is asked
 * about each twice: by the facts as they are and as they would be (tenants/home/what_if.h). Besides these stand the acts that
 * nobody has begun: keeping such data in the zone, a job of each kind, serving, a copy from the home zone. A thing is asked
 * about where it is and where it would be. It reads only: call it in a read-only transaction. At most WHAT_IF_ROWS of each kind
 * are read; is_cut says so. Memory: w->arena. Errors: NOT_FOUND (the data set), UNPROCESSABLE (an unknown zone; no class). */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"
#include "tenants/home/shown_name.h"
#include "tenants/home/zone_law.h"

struct stmt;

enum { WHAT_IF_ROWS = 200 };

struct what_if_ask {
    struct uuid dataset_id;             /* nil: all data of the class */
    int data_class;                     /* enum data_class; -1: that of the data set */
    struct str zone;                    /* where it would be */
    struct str from;                    /* where a policy would let it come from; STR_NULL: the home zone */
    struct str law_of;                  /* the zone whose law would be `law`; STR_NULL: none */
    const struct zone_law *law;
    bool is_allowed, has_policy, has_exception;
};

struct what_if_side {
    bool allowed;
    struct str rule, text, regime, law_of, source_text;
};
struct what_if_thing {
    struct str kind, thing_id, name, state, purpose;
    SHOWN_NAME;
    int64_t version;
    struct str zone, from;
    struct what_if_side before, after;
    struct str outcome;
};
struct what_if {
    struct str data_class, zone, home_zone;
    bool is_cut;
    int64_t possible, forbidden;
    struct slice things;                /* struct what_if_thing */
    struct slice approvals;             /* struct residency_remedy: the calls that make the change, and who approves each */
};
extern const struct schema what_if_schema;

enum errc what_if_read(struct work *w, const struct what_if_ask *ask, struct what_if *ret, struct err *e) MUST_CHECK;

extern const struct stmt *const what_if_stmts[];
