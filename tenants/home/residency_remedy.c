/* SPDX-License-Identifier: Apache-2.0 */
/* residency_remedy.c - a row, and the roles whose permissions it names. */
#include "tenants/home/residency_remedy.h"
#include "tenants/access/authz.h"

SCHEMA_EXTERN(residency_remedy, "What is missing where data may not be somewhere, and who may set it",
    FIELD(residency_remedy, rule, F_ALWAYS, .doc = "The rule that refused, a stable word"),
    FIELD(residency_remedy, missing, F_ALWAYS, .doc = "What is missing"),
    FIELD(residency_remedy, operation, F_ALWAYS, .doc = "The operation that sets it or asks for it"),
    FIELD_STRS(residency_remedy, roles, F_ALWAYS, .max = ROLE_COUNT, .doc = "Roles that may call it"),
    FIELD_STRS(residency_remedy, approved_by, F_ALWAYS, .max = ROLE_COUNT,
        .doc = "Roles that approve it; empty: it needs no approval"),
    FIELD(residency_remedy, approved_in, F_ALWAYS, .doc = "Whose people approve it: tenant or platform"),
    FIELD(residency_remedy, data_class, 0, .doc = "Of which data"), FIELD(residency_remedy, zone, 0, .doc = "Where it would be"),
    FIELD(residency_remedy, from, 0, .doc = "Where it lies now; absent: the home zone"));

static const struct remedy_row {
    const char *rule, *operation;
    enum permission asks, approves;
    enum role_place place;
    const char *missing;
} rows[] = {
#define REMEDY(rule_, operation_, asks_, approves_, place_, missing_) \
    { #rule_, #operation_, PERM_##asks_, PERM_##approves_, ROLE_AT_##place_, missing_ },
#include "tenants/home/residency_remedy.def"
#undef REMEDY
};

static struct slice roles_with(struct arena *a, enum permission p)
{
    struct str *items = ARENA_ARRAY(a, struct str, ROLE_COUNT);
    size_t n = 0;
    for (int r = 0; p != PERM_NONE && r < ROLE_COUNT; r++)
        if (role_permissions((enum role)r) & PERM_BIT(p))
            items[n++] = str_c(role_row((enum role)r)->wire);
    return (struct slice){ items, n };
}

bool residency_remedy_of(struct arena *a, struct str rule, struct str data_class, struct str zone, struct str from,
                         struct residency_remedy *ret)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct remedy_row *r = &rows[i];
        if (!rule.ptr || !str_eq_c(rule, r->rule))
            continue;
        *ret = (struct residency_remedy){ str_c(r->rule), str_c(r->missing), str_c(r->operation), roles_with(a, r->asks),
                                          roles_with(a, r->approves),
                                          r->place == ROLE_AT_PLATFORM ? STR("platform") : STR("tenant"),
                                          data_class, zone, from };
        return true;
    }
    return false;
}
