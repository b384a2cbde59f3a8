/* SPDX-License-Identifier: Apache-2.0 */
/* residency.h - the one judge of place: may this data be in that zone? Pure: facts in, a verdict out; no I/O, no clock.
 *
 * Every point that moves data or gives out its keys asks this function (submit, placement, key release, upload, download, serving,
 * transfer); the lease is judged once more by the database from its own rows (residency_zone_ok), so that one wrong
 * answer leaks nothing. The law is data (struct residency_rule, rows of zone_rule): no statute stands in this code.
 *
 * The verdict needs
 *   0  nothing more: the zone is the home, or allowed for the class, and the law where the data comes from lets it go there;
 *   1  a transfer policy in force for (from, to, class, purpose): the zone is not on the tenant's list, or a law asks for a basis, or
 *      no law speaks and personal or sensitive data would cross a border;
 *   2  such a policy that names its exception: a law says never, or no law speaks and the class is health, banking or gov.
 * and a zone that permits the class at all, and an address that the zone's machines may have. Everything unknown is refused.
 * The law is that of the home zone and of the zone where the data lies now; it says for a class: inside these countries (none named: the
 * zone's own), else never | with a basis | freely. Of several rules the strictest counts. Who may decide all this: docs/howto/residency.md.
 * Memory: all borrowed; the verdict's texts are its own. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "core/base/id.h"
#include "core/base/str.h"
#include "core/table/schema.h"

enum data_class { DC_PUBLIC, DC_INTERNAL, DC_PERSONAL, DC_SENSITIVE, DC_HEALTH, DC_BANKING, DC_GOV, DC_COUNT };
extern const char *const data_class_names[];

enum may_leave { LEAVE_FREE, LEAVE_WITH_BASIS, LEAVE_NEVER };       /* grows with strictness */
extern const char *const may_leave_names[];

enum residency_act { RACT_SUBMIT, RACT_PLACE, RACT_KEY, RACT_UPLOAD, RACT_DOWNLOAD, RACT_SERVE, RACT_TRANSFER };
extern const char *const residency_act_names[];

struct residency_rule {
    struct str regime;
    int data_class, may_leave;
    struct slice countries;             /* struct str; none: the zone's own */
    int64_t from_us, until_us;          /* in force; until 0: open */
};

struct residency_zone {
    struct str code, country;
    struct slice classes;               /* int: enum data_class, permitted there */
    struct slice cidrs;                 /* struct str: where its machines may call from; none: anywhere */
    struct slice rules;                 /* struct residency_rule */
};

struct residency_class_zone { int data_class; struct str zone; };

struct residency_policy {
    struct uuid policy_id;
    struct str from, to, purpose;       /* purpose "any": every one */
    int data_class;
    bool has_exception;
    int64_t from_us, until_us;
};

struct residency_facts {
    struct slice zones;                 /* struct residency_zone */
    struct str home;
    struct slice allowed;               /* struct str: for classes that class_zones does not name */
    struct slice class_zones;           /* struct residency_class_zone */
    struct slice policies;              /* struct residency_policy; active ones, their dates are judged here */
};

struct residency_question {
    int data_class;                     /* enum data_class; -1: an unknown word */
    struct str zone;                    /* where it would be */
    struct str from;                    /* where it lies now; STR_NULL: the home zone */
    struct str purpose;                 /* "training", "serving", …; STR_NULL: none, which only policies for "any" cover */
    struct str worker_ip;               /* of the machine that asks; STR_NULL: none does */
    int64_t now_us;
};

struct residency_verdict {
    bool allowed;
    const char *rule;                   /* a stable word: "home", "allowed_zone", "policy", "law", … */
    char text[200];                     /* the reason for people: names zones, classes and laws, never data */
    struct uuid policy_id;              /* rule "policy" */
    struct str regime, law_of;          /* of the facts: the law that asks for most, and the zone that has it; or STR_NULL */
};

/* Is it one of the tenant's: its home, or on one of its lists? */
bool residency_has_zone(const struct residency_facts *f, struct str zone);
struct residency_verdict residency_allows(const struct residency_facts *f, const struct residency_question *q);
