/* SPDX-License-Identifier: Apache-2.0 */
/* zone.h - a residency zone: a place under a law, with keys and machines of its own. Platform data, no tenant's.
 * Errors: EXISTS (that code), NOT_FOUND. */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"

struct stmt;

struct zone {
    struct str code, name, country;
    struct json legal_regimes;
    struct str regulator, provider;
    struct json data_classes;
    int64_t law_version;
    struct timestamp created_at;
};
extern const struct schema zone_schema;

enum errc zone_create(struct work *w, struct str code, struct str name, struct str country, struct slice regimes, struct zone *ret,
                      struct err *e) MUST_CHECK;
enum errc zone_get(struct work *w, struct str code, struct zone *ret, struct err *e) MUST_CHECK;
enum errc zone_list(struct work *w, struct str after, int64_t limit, struct slice *ret, struct err *e) MUST_CHECK;

extern const struct stmt *const zone_stmts[];
