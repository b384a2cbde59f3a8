/* SPDX-License-Identifier: Apache-2.0 */
/* principal.c - reference counting; the arena inside holds every string, so one free ends it. */
#include "tenants/access/principal.h"
#include "core/base/assert.h"

#include <stdlib.h>

enum { PRINCIPAL_MAX = 1 << 20 };

struct principal *principal_new(void)
{
    struct principal *p = calloc(1, sizeof *p);
    ASSERT(p);
    p->refs = 1;
    p->arena = arena_new(PRINCIPAL_MAX);
    return p;
}

struct principal *principal_ref(struct principal *p)
{
    atomic_fetch_add_explicit(&p->refs, 1, memory_order_relaxed);
    return p;
}

void principal_unref(struct principal *p)
{
    if (!p || atomic_fetch_sub_explicit(&p->refs, 1, memory_order_acq_rel) != 1)
        return;
    arena_free(p->arena);
    free(p);
}

bool principal_zone_allowed(const struct principal *p, struct str zone)
{
    const struct str *zones = p->allowed_zones.items;
    for (size_t i = 0; i < p->allowed_zones.n; i++)
        if (str_eq(zones[i], zone))
            return true;
    return false;
}
