/* SPDX-License-Identifier: Apache-2.0 */
/* priority_class.h - priority classes: a value by which jobs of a tenant are ordered before their own priority, and what may be
 * done to a job of the class: whether it may be preempted, the time it is given then, how long it runs undisturbed first.
 *
 * The platform's, the same for all tenants; no tenant's jobs go before another tenant's by it. The class `default` stays and
 * keeps its value 0. Jobs of a class that was removed count as of the value 0. Memory: w->arena. Errors: NOT_FOUND, INVALID. */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"

struct stmt;

enum { PRIORITY_CLASSES_MAX = 100 };

struct priority_class {
    struct str cls;
    int64_t value;
    bool preemptible;
    int64_t grace_s, min_runtime_s;
    struct str description;
    struct timestamp created_at;
};
extern const struct schema priority_class_schema;

/* Makes the class, or changes it: of cls, value, preemptible, grace_s, min_runtime_s and description. LIMIT beyond
 * PRIORITY_CLASSES_MAX. */
enum errc priority_class_set(struct work *w, const struct priority_class *in, struct priority_class *ret,
                             struct err *e) MUST_CHECK;
enum errc priority_class_delete(struct work *w, struct str cls, struct err *e) MUST_CHECK;
enum errc priority_class_get(struct work *w, struct str cls, struct priority_class *ret, struct err *e) MUST_CHECK;
/* By name, behind `after`; STR_NULL: from the start. */
enum errc priority_class_list(struct work *w, struct str after, int64_t limit, struct slice *ret,
                              struct err *e) MUST_CHECK;

extern const struct stmt *const priority_class_stmts[];
