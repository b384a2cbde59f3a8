/* SPDX-License-Identifier: Apache-2.0 */
/* law_template.h - known laws as a zone's law is begun with: which classes may be there, what may leave, which clocks
 * run, by which clause.
 *
 * The rows are law_template.def and nothing else. A zone that was made from a template keeps its own rows: a later change of the
 * table changes no zone. Memory: the arena. Errors: UNPROCESSABLE at /templates (no such law). Not offered: advice; counsel
 * confirms each row. */
#pragma once
#include "core/base/arena.h"
#include "tenants/home/zone_law.h"

struct law_template_rule {
    int data_class, may_leave;
    struct slice countries;             /* struct str; none: the zone's own */
    struct str source_text, source_text_ar;
    struct timestamp valid_from;
};
struct law_template_clock {
    struct str name;
    int64_t hours;
    bool has_hours;
    struct str source_text, source_text_ar;
    struct timestamp valid_from;
};
struct law_template {
    struct str template_id, name, name_ar, regulator;
    struct slice data_classes;          /* int */
    struct slice rules, clocks;         /* struct law_template_rule, struct law_template_clock */
};
extern const struct schema law_template_schema;

/* Behind `after` (STR_NULL: from the first), in the order of the table. */
struct slice law_template_list(struct arena *a, struct str after);
/* The law that these templates (struct str) make together: every class that one of them takes, all rules and clocks. */
enum errc law_of_templates(struct arena *a, struct slice ids, struct zone_law *ret, struct err *e) MUST_CHECK;
