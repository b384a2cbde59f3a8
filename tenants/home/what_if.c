/* SPDX-License-Identifier: Apache-2.0 */
/* what_if.c - each part of a change is a longer copy of one list of the facts. */
#include "tenants/home/what_if.h"
#include "tenants/home/zone_law.h"

/* Room for one more behind a copy. */
#define LONGER(a, list, type)                                                             \
    __extension__({                                                                       \
        type *items_ = ARENA_ARRAY((a), type, (list).n + 1);                              \
        if ((list).n)                                                                     \
            memcpy(items_, (list).items, (list).n * sizeof(type));                        \
        items_;                                                                           \
    })

static struct slice rules_of(struct arena *a, const struct zone_law *law)
{
    const struct zone_rule *r = law->rules.items;
    struct residency_rule *items = ARENA_ARRAY(a, struct residency_rule, law->rules.n + 1);
    for (size_t i = 0; i < law->rules.n; i++)
        items[i] = (struct residency_rule){ r[i].regime, r[i].data_class, r[i].may_leave, r[i].countries, r[i].valid_from.us,
                                            r[i].valid_to.us };
    return (struct slice){ items, law->rules.n };
}

static void change_law(struct arena *a, struct residency_facts *f, const struct what_if_change *c)
{
    struct residency_zone *z = LONGER(a, f->zones, struct residency_zone);
    for (size_t i = 0; i < f->zones.n; i++)
        if (str_eq(z[i].code, c->law_of))
            z[i] = (struct residency_zone){ z[i].code, z[i].country, c->law->data_classes, c->law->worker_cidrs,
                                            rules_of(a, c->law) };
    f->zones.items = z;
}

static bool is_named(const struct residency_facts *f, int data_class)
{
    const struct residency_class_zone *c = f->class_zones.items;
    for (size_t i = 0; i < f->class_zones.n; i++)
        if (c[i].data_class == data_class)
            return true;
    return false;
}

static void change_list(struct arena *a, struct residency_facts *f, const struct what_if_change *c)
{
    if (is_named(f, c->data_class)) {
        struct residency_class_zone *all = LONGER(a, f->class_zones, struct residency_class_zone);
        all[f->class_zones.n] = (struct residency_class_zone){ c->data_class, c->zone };
        f->class_zones = (struct slice){ all, f->class_zones.n + 1 };
        return;
    }
    struct str *all = LONGER(a, f->allowed, struct str);
    all[f->allowed.n] = c->zone;
    f->allowed = (struct slice){ all, f->allowed.n + 1 };
}

static void change_policies(struct arena *a, struct residency_facts *f, const struct what_if_change *c, int64_t now_us)
{
    struct residency_policy *all = LONGER(a, f->policies, struct residency_policy);
    all[f->policies.n] = (struct residency_policy){ .from = c->from, .to = c->zone, .purpose = STR("any"),
                                                    .data_class = c->data_class, .has_exception = c->has_exception, .from_us = 0,
                                                    .until_us = now_us + 1 };
    f->policies = (struct slice){ all, f->policies.n + 1 };
}

struct residency_facts what_if_facts(struct arena *a, const struct residency_facts *f, const struct what_if_change *c,
                                     int64_t now_us)
{
    struct residency_facts changed = *f;
    if (c->law_of.ptr)
        change_law(a, &changed, c);
    if (c->is_allowed)
        change_list(a, &changed, c);
    if (c->has_policy)
        change_policies(a, &changed, c, now_us);
    return changed;
}
