/* SPDX-License-Identifier: Apache-2.0 */
/* policies.c - a table by tenant whose rows and texts lie in one arena, thrown away as a whole. */
#include "scheduler/mirror/policies.h"
#include "core/base/assert.h"
#include "tenants/home/residency_facts.h"

#include <stdlib.h>
#include <string.h>

enum { LINES = 1 << 14, KEPT_MAX = LINES / 2 };
static const size_t TEXT_MAX = (size_t)64 << 20;        /* all texts; a plan that needs more keeps nothing */

struct policies {
    struct arena *arena;
    int64_t revision;
    size_t n, bytes;
    const struct residency_places *lines[LINES];      /* open addressing */
};

struct policies *policies_new(void)
{
    struct policies *p = calloc(1, sizeof *p);
    ASSERT(p);
    p->arena = arena_new(2 * TEXT_MAX);
    return p;
}

void policies_free(struct policies *p)
{
    if (p)
        arena_free(p->arena);
    free(p);
}

static void forget(struct policies *p, int64_t revision)
{
    memset(p->lines, 0, sizeof p->lines);
    arena_reset(p->arena);
    p->n = p->bytes = 0;
    p->revision = revision;
}

/* The line of this tenant, or the free one where it belongs. */
static const struct residency_places **line_of(struct policies *p, struct uuid tenant)
{
    uint32_t at;
    memcpy(&at, tenant.b + 12, sizeof at);
    for (at %= LINES; p->lines[at] && !uuid_eq(p->lines[at]->tenant_id, tenant); at = (at + 1) % LINES)
        ;
    return &p->lines[at];
}

static void keep(struct policies *p, const struct residency_places *r)
{
    size_t bytes = r->zones.len + r->tenant.text.len + sizeof *r;
    const struct residency_places **line = line_of(p, r->tenant_id);
    if (*line || p->n == KEPT_MAX || p->bytes + bytes > TEXT_MAX)
        return;
    struct residency_places *mine = ARENA_NEW(p->arena, struct residency_places);
    *mine = (struct residency_places){ r->tenant_id, str_dup(p->arena, r->zones), { str_dup(p->arena, r->tenant.text) } };
    *line = mine;
    p->n++;
    p->bytes += bytes;
}

static bool fill_one(struct snap_tenant *t, const struct residency_places *r)
{
    t->zones = r->zones;
    t->residency = r->tenant;
    return true;
}

/* Reads those that are not filled. */
static enum errc read_missing(struct work *w, struct snap_tenant *tenants, const bool *is_filled, size_t n, struct policies *p,
                              struct err *e)
{
    struct uuid *ids = ARENA_ARRAY(w->arena, struct uuid, n + 1);
    struct slice rows = { 0 };
    size_t k = 0, at = 0;
    for (size_t i = 0; i < n; i++)
        if (!is_filled[i])
            ids[k++] = tenants[i].tenant_id;
    if (!k)
        return ERR_OK;
    TRY(residency_places_read(w, ids, k, &rows, e));
    const struct residency_places *r = rows.items;
    for (size_t i = 0; i < rows.n; i++) {
        while (at < n && !uuid_eq(tenants[at].tenant_id, r[i].tenant_id))
            at++;
        ASSERT(at < n);
        (void)fill_one(&tenants[at], &r[i]);
        if (p)
            keep(p, &r[i]);
    }
    return ERR_OK;
}

enum errc policies_fill(struct work *w, int64_t revision, struct snap_tenant *tenants, size_t n, struct err *e)
{
    struct policies *p = w->app->policies;
    bool *is_filled = ARENA_ARRAY(w->arena, bool, n + 1);
    if (p && (p->revision != revision || p->n == KEPT_MAX))
        forget(p, revision);
    for (size_t i = 0; p && i < n; i++) {
        const struct residency_places *r = *line_of(p, tenants[i].tenant_id);
        is_filled[i] = r && fill_one(&tenants[i], r);
    }
    return read_missing(w, tenants, is_filled, n, p, e);
}
