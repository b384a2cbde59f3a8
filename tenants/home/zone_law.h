/* SPDX-License-Identifier: Apache-2.0 */
/* zone_law.h - the law of a zone as data, and where a tenant's classes may be; both change by approval only.
 *
 * Statutes contradict each other and change: what a zone permits, what may leave it, which clocks run and by which source is a dated row
 * that people approved, never code. A change is a new version beside the old ones; the zone names the one in force. A zone is created
 * with its first law by whoever may create zones, because nothing lies there yet; after that zone_law_request asks for four eyes
 * (approval kind zone.policy, in the platform's scope) and tenant_zones_request as well (kind tenant.zones, in the tenant's scope).
 * Memory: w->arena. Errors: NOT_FOUND, UNPROCESSABLE (an unknown zone, a date that ends before it begins), those of approval.h. */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"
#include "tenants/access/approval.h"

struct stmt;

struct zone_clock {
    struct str regime, name;
    int64_t hours;                      /* has_hours false: the law names no number */
    bool has_hours;
    struct str source_text;
    struct timestamp valid_from, valid_to;
};

struct zone_rule {
    struct str regime;
    int data_class, may_leave;          /* enum data_class, enum may_leave */
    struct slice countries;             /* struct str; none: the zone's own */
    struct str source_text;
    struct timestamp valid_from, valid_to;
};

struct zone_law {
    struct slice legal_regimes;         /* struct str */
    struct str regulator, provider;
    struct slice data_classes;          /* int: what the zone permits */
    struct slice worker_cidrs;          /* struct str; none: any address */
    struct slice clocks, rules;         /* struct zone_clock, struct zone_rule */
};
extern const struct schema zone_law_schema, zone_clock_schema, zone_rule_schema;

/* The law in force, or an older version, with its provenance. */
struct zone_law_view {
    struct str zone;
    int64_t version;
    struct str country;
    struct json legal_regimes;
    struct str regulator, provider;
    struct json data_classes, worker_cidrs, clocks, rules;
    struct uuid approval_id, set_by;
    struct json approved_by;
    struct timestamp at;
};
extern const struct schema zone_law_view_schema;

enum errc zone_law_check(const struct zone_law *law, struct err *e) MUST_CHECK;
/* At creation, or by an approval (nil: none). */
enum errc zone_law_put(struct work *w, struct str zone, const struct zone_law *law, struct uuid approval_id, struct err *e) MUST_CHECK;
/* version 0: the one in force. */
enum errc zone_law_get(struct work *w, struct str zone, int64_t version, struct zone_law_view *ret, struct err *e) MUST_CHECK;
enum errc zone_law_request(struct work *w, struct str zone, const struct zone_law *law, struct str reason, struct approval *ret, struct err *e) MUST_CHECK;
extern const struct approval_kind zone_policy_kind, tenant_zones_kind;

struct class_zones { int data_class; struct slice zones; };
struct tenant_zones {
    struct slice allowed_zones;         /* struct str; the home zone among them */
    struct slice classes;               /* struct class_zones; a class that is not named may be in all allowed zones */
};
extern const struct schema tenant_zones_schema, class_zones_schema;
struct tenant_zones_view { struct uuid tenant_id; struct str home_zone; struct json allowed_zones, classes; };
extern const struct schema tenant_zones_view_schema;
/* Of w->tenant_id. */
enum errc tenant_zones_get(struct work *w, struct tenant_zones_view *ret, struct err *e) MUST_CHECK;
enum errc tenant_zones_request(struct work *w, const struct tenant_zones *in, struct str reason, struct approval *ret, struct err *e) MUST_CHECK;

extern const struct stmt *const zone_law_stmts[];
