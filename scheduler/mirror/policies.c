/* SPDX-License-Identifier: Apache-2.0 */
/* policies.c - a table by tenant whose rows and texts lie in one arena, thrown away as a whole; and the judge, asked once for
 * tenants with
 * the same facts and their jobs of one class and purpose. */
#include "scheduler/mirror/policies.h"
#include "core/base/assert.h"
#include "core/base/fault.h"
#include "core/wire/job_type.h"
#include "tenants/home/residency_facts.h"

#include <stdlib.h>
#include <string.h>

enum { LINES = 1 << 14, KEPT_MAX = LINES / 2 };
static const size_t TEXT_MAX = (size_t)64 << 20;        /* all texts; a plan that needs more keeps nothing */

struct policies {
    struct arena *arena;
    int64_t revision;
    size_t n, bytes;
    bool has_law;
    struct slice law;               /* with has_law: of the revision, in the arena */
    const struct snap_tenant *lines[LINES];     /* open addressing */
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
    p->has_law = false;
    p->revision = revision;
}

void policies_forget(struct policies *p)
{
    if (p)
        forget(p, -1);                  /* no revision that there is */
}

/* The line of this tenant, or the free one where it belongs. */
static const struct snap_tenant **line_of(struct policies *p, struct uuid tenant)
{
    uint32_t at;
    memcpy(&at, tenant.b + 12, sizeof at);
    for (at %= LINES; p->lines[at] && !uuid_eq(p->lines[at]->tenant_id, tenant); at = (at + 1) % LINES)
        ;
    return &p->lines[at];
}

void policies_keep(struct policies *p, const struct snap_tenant *t)
{
    size_t bytes = t->zones.len + t->residency.text.len + sizeof *t;
    const struct snap_tenant **line = p ? line_of(p, t->tenant_id) : NULL;
    if (!p || *line || p->n == KEPT_MAX || p->bytes + bytes > TEXT_MAX)
        return;
    struct snap_tenant *mine = ARENA_NEW(p->arena, struct snap_tenant);
    *mine = *t;
    mine->zones = str_dup(p->arena, t->zones);
    mine->residency.text = str_dup(p->arena, t->residency.text);
    *line = mine;
    p->n++;
    p->bytes += bytes;
}

size_t policies_recall(struct policies *p, int64_t revision, struct snap_tenant *tenants, bool *is_known, size_t n)
{
    size_t unknown = 0;
    if (p && (p->revision != revision || p->n == KEPT_MAX))
        forget(p, revision);
    for (size_t i = 0; i < n; i++) {
        const struct snap_tenant *known = p ? *line_of(p, tenants[i].tenant_id) : NULL;
        is_known[i] = known;
        if (known)
            tenants[i] = *known;
        else
            unknown++;
    }
    return unknown;
}

/* What the law is read into outlives the unit of work. */
enum errc policies_law(struct work *w, struct slice *ret, struct err *e)
{
    struct policies *p = w->app->policies;
    if (!p)
        return residency_law_read(w, ret, e);
    struct work kept = *w;
    kept.arena = p->arena;
    if (!p->has_law)
        TRY(residency_law_read(&kept, &p->law, e));
    p->has_law = true;
    *ret = p->law;
    return ERR_OK;
}

/* One answer of the judge, for all jobs of a policy that are alike in class and purpose. */
struct judged {
    struct str data_class, kind;
    struct slice zones;
    struct str denied;
    struct judged *next;
};

static struct judged *judge_all(const struct residency_facts *f, const struct snap_job *j, int64_t now_us, struct arena *a)
{
    struct judged *r = ARENA_NEW(a, struct judged);
    struct str *ok = ARENA_ARRAY(a, struct str, f->zones.n);
    const struct residency_zone *z = f->zones.items;
    struct residency_question q = { .data_class = data_class_of(j->data_class), .purpose = job_purpose(j->kind),
                                    .now_us = now_us };
    *r = (struct judged){ j->data_class, j->kind, { ok, 0 }, STR_NULL, NULL };
    for (size_t i = 0; i < f->zones.n; i++) {
        q.zone = z[i].code;
        struct residency_verdict v = residency_allows(f, &q);
        if (v.allowed || FAULT("residency_plan"))
            ok[r->zones.n++] = z[i].code;
        else if (!r->denied.ptr || str_eq(z[i].code, f->home))
            r->denied = str_dup(a, str_c(v.text));
    }
    if (r->zones.n)
        r->denied = STR_NULL;
    return r;
}

/* A job that names its zone is told what is wrong with that one. */
static struct str why_not(const struct residency_facts *f, const struct snap_job *j, int64_t now_us, struct arena *a)
{
    struct residency_question q = { .data_class = data_class_of(j->data_class), .zone = j->zone, .purpose = job_purpose(j->kind),
                                    .now_us = now_us };
    struct residency_verdict v = residency_allows(f, &q);
    return v.allowed || FAULT("residency_plan") ? STR_NULL : str_dup(a, str_c(v.text));
}

/* For each tenant the first one whose facts are the same to the letter: what the judge says of one it says of all. */
static size_t *same_policy(const struct snapshot *s, struct arena *a)
{
    size_t mask = 15, *first = ARENA_ARRAY(a, size_t, s->tenants.n + 1);
    while (mask < 2 * s->tenants.n)
        mask = mask * 2 + 1;
    size_t *table = ARENA_ARRAY(a, size_t, mask + 1);       /* index + 1 */
    for (size_t i = 0; i < s->tenants.n; i++) {
        struct str facts = s->tenants.items[i].residency.text;
        size_t at = str_hash(facts) & mask;
        while (table[at] && !str_eq(s->tenants.items[table[at] - 1].residency.text, facts))
            at = (at + 1) & mask;
        if (!table[at])
            table[at] = i + 1;
        first[i] = table[at] - 1;
    }
    return first;
}

enum errc snapshot_judge(struct snapshot *s, struct slice zones, int64_t now_us, struct arena *a, struct err *e)
{
    struct judged **known = ARENA_ARRAY(a, struct judged *, s->tenants.n + 1);
    struct residency_facts *facts = ARENA_ARRAY(a, struct residency_facts, s->tenants.n + 1);
    const size_t *policy = same_policy(s, a);
    for (size_t i = 0; i < s->jobs.n; i++) {
        struct snap_job *j = &s->jobs.items[i];
        size_t who = policy[j->tenant];
        struct judged *r = known[who];
        if (!r)
            TRY(residency_facts_make(a, zones, s->tenants.items[who].residency.text, &facts[who], e));
        while (r && !(str_eq(r->data_class, j->data_class) && str_eq(r->kind, j->kind)))
            r = r->next;
        if (!r) {
            r = judge_all(&facts[who], j, now_us, a);
            r->next = known[who];
            known[who] = r;
        }
        j->zones = r->zones;
        j->denied = j->zone.ptr ? why_not(&facts[who], j, now_us, a) : r->denied;
    }
    return ERR_OK;
}
