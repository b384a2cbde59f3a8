/* SPDX-License-Identifier: Apache-2.0 */
/* price.h - the price book: what an hour of a slot and of a GPU and a kWh cost on a flavor from a moment on, and the watts they draw.
 *
 * Rows are only added, and only for moments to come: what has been charged stays as it was. Money is in minor units (fils, cents) of the
 * row's currency. Errors: INVALID (a moment that has passed), EXISTS (two rows of one flavor and moment). Memory: w->arena. */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"

struct stmt;

struct price {
    struct uuid price_id;
    struct str flavor;
    struct timestamp valid_from;
    struct str currency;
    int64_t slot_hour, gpu_hour, kwh, slot_watts, gpu_watts;
    struct timestamp created_at;
};
extern const struct schema price_schema;

bool check_currency(struct str s, const char **why);    /* three capital letters */
bool check_flavor(struct str s, const char **why);      /* a slug, or empty */

enum errc price_add(struct work *w, const struct price *in, struct price *ret, struct err *e) MUST_CHECK;
/* Newest first; flavor STR_NULL: of all. */
enum errc price_list(struct work *w, struct str flavor, struct uuid position, int64_t limit, struct slice *ret, struct err *e) MUST_CHECK;

extern const struct stmt *const price_stmts[];
