/* SPDX-License-Identifier: Apache-2.0 */
/* outlook.c - machines and tenant of one job, read in the tenant's own scope by functions that tell sums and never whose they
 * are. */
#include "scheduler/jobs/outlook.h"
#include "core/db/tx.h"
#include "scheduler/jobs/job_snap.h"
#include "scheduler/mirror/rules.h"
#include "tenants/accounts/quota.h"
#include "tenants/home/residency_facts.h"

/* Machines that are alike. */
struct kind {
    struct str zone, pool, flavor, gpu_model, held, build, kept, engines;
    bool gpu_shared, programs, gangs, gang_programs;
    int64_t slots, gpus, cpu_milli, memory_bytes, used_slots, used_gpus, used_cpu_milli, used_memory_bytes, machines;
};
SCHEMA_OF(kind, "Ready machines that are alike", FIELD(kind, zone, 0, .doc = "Zone"), FIELD(kind, pool, 0, .doc = "Pool"),
    FIELD(kind, flavor, 0, .doc = "Flavor"), FIELD(kind, gpu_model, 0, .doc = "Of its GPUs"),
    FIELD(kind, gpu_shared, 0, .doc = "They keep shares apart"), FIELD(kind, programs, 0, .doc = "They run programs"),
    FIELD(kind, gangs, 0, .doc = "They run parts of jobs on several"), FIELD(kind, gang_programs, 0, .doc = "And of programs"),
    FIELD(kind, engines, 0, .doc = "Of models"), FIELD(kind, build, 0, .doc = "Of their agents"),
    FIELD(kind, kept, 0, .doc = "Their windows"),
    FIELD(kind, slots, 0, .doc = "Slots"),
    FIELD(kind, gpus, 0, .doc = "GPUs"), FIELD(kind, cpu_milli, 0, .doc = "Processors"),
    FIELD(kind, memory_bytes, 0, .doc = "Memory"), FIELD(kind, used_slots, 0, .doc = "Held"),
    FIELD(kind, used_gpus, 0, .doc = "Held"), FIELD(kind, used_cpu_milli, 0, .doc = "Held"),
    FIELD(kind, used_memory_bytes, 0, .doc = "Held"), FIELD(kind, held, 0, .doc = "Devices held"),
    FIELD(kind, machines, 0, .doc = "How many"));
SCHEMA_EXTERN(zone_outlook, "What a zone has for a job", FIELD(zone_outlook, zone, F_ALWAYS, .doc = "Zone"),
    FIELD(zone_outlook, allowed, 0, .doc = "The job may run there"), FIELD(zone_outlook, reason, 0, .doc = "Why not"),
    FIELD(zone_outlook, ready_nodes, 0, .doc = "Ready machines of the job's pool there"),
    FIELD(zone_outlook, free_slots, 0, .doc = "Most slots free on one of them"),
    FIELD(zone_outlook, free_gpus, 0, .doc = "Most GPUs free on one of them"),
    FIELD(zone_outlook, fits_now, 0, .doc = "The job may run there and one machine has room for it now"));
static const struct stmt machine_kinds_stmt = { .name = "machine_kinds", .params = "si", .row = &kind_schema,
    .card = CARD_MANY, .sql =
    "SELECT zone, pool, flavor, gpu_model, gpu_shared, programs, gangs, gang_programs, engines, build, kept, slots, gpus,\n"
    "       cpu_milli, memory_bytes, used_slots, used_gpus,\n"
    "       used_cpu_milli, used_memory_bytes, held, machines FROM machine_kinds($1, $2)" };
const struct stmt *const outlook_stmts[] = { &machine_kinds_stmt, NULL };

static struct str why_not(const struct residency_facts *f, const struct job *j, struct str zone, struct work *w)
{
    struct residency_question q = { .data_class = data_class_of(j->data_class), .zone = zone,
                                    .purpose = str_c(job_types[j->kind].purpose), .now_us = w->now_us };
    if (j->zone.ptr && !str_eq(j->zone, zone))
        return str_fmt(w->arena, "The job is pinned to %.*s", STR_ARG(j->zone));
    struct residency_verdict v = residency_allows(f, &q);
    return v.allowed ? STR_NULL : str_dup(w->arena, str_c(v.text));
}

static bool window_of(struct str text, struct uuid tenant_id, struct reserved *ret)
{
    struct str from, until, who, rest;
    *ret = (struct reserved){ 0 };
    if (!str_cut(text, ':', &from, &rest) || !str_cut(rest, ':', &until, &who) ||
        !str_to_i64(from, 0, INT64_MAX, &ret->from_us) || !str_to_i64(until, 0, INT64_MAX, &ret->until_us))
        return false;
    if (!str_eq_c(who, "-"))
        ret->tenant_id = tenant_id;
    return str_eq_c(who, "-") || str_eq_c(who, "*") || uuid_parse(who, &ret->project_id);
}

/* Machines that are alike have the same windows, which the first of them names for all. */
static enum errc windows_of(struct work *w, struct str text, struct snap_node *n, struct err *e)
{
    struct str one, rest = text;
    size_t most = text.len > 0;
    for (size_t i = 0; i < text.len; i++)
        most += text.ptr[i] == ',';
    struct reserved *r = ARENA_ARRAY(w->arena, struct reserved, most + 1);
    for (; n->nkept < most; n->nkept++) {
        (void)str_cut(rest, ',', &one, &rest);
        if (!window_of(one, w->tenant_id, &r[n->nkept]))
            return FAIL(e, INTERNAL, "machine_kinds: %.*s is no window", STR_ARG(one));
    }
    n->kept = r;
    n->kept_at_us = w->now_us;
    return ERR_OK;
}

/* A plan looks at windows where it is told that there are some. */
static void gather_windows(struct work *w, struct snapshot *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->nodes.n; i++)
        n += s->nodes.items[i].nkept;
    struct reserved *r = ARENA_ARRAY(w->arena, struct reserved, n + 1);
    s->reserved.items = r;
    for (size_t i = 0; i < s->nodes.n; i++)
        for (size_t k = 0; k < s->nodes.items[i].nkept; k++)
            r[s->reserved.n++] = s->nodes.items[i].kept[k];
}

/* A job on several machines takes as many different ones, so each of those stands for itself. */
static int64_t entries(const struct kind *k, const struct job *j)
{
    return j->nodes < 2 ? 1 : k->machines < j->nodes ? k->machines : j->nodes;
}

static enum errc read_machines(struct work *w, const struct job *j, struct outlook *ret, struct err *e)
{
    struct slice rows = { 0 };
    TRY(db_many(w->tx, &machine_kinds_stmt, ARGS(A_STR(j->pool), A_I64(OUTLOOK_KINDS)), &rows, OUTLOOK_KINDS, e));
    const struct kind *k = rows.items;
    size_t most = 1;
    for (size_t i = 0; i < rows.n; i++)
        most += (size_t)entries(&k[i], j);
    struct snap_node *n = ARENA_ARRAY(w->arena, struct snap_node, most);
    *ret = (struct outlook){ .snap = { .nodes = { n, 0 }, .now_us = w->now_us }, .alike = ARENA_ARRAY(w->arena, int64_t, most) };
    for (size_t i = 0; i < rows.n; i++) {
        struct snap_node one = { .zone = k[i].zone, .pool = k[i].pool, .flavor = k[i].flavor, .slots = k[i].slots,
            .gpus = k[i].gpus, .free_slots = k[i].slots - k[i].used_slots, .free_gpus = k[i].gpus - k[i].used_gpus,
            .cpu_milli = k[i].cpu_milli, .memory_bytes = k[i].memory_bytes, .used_cpu_milli = k[i].used_cpu_milli,
            .used_memory_bytes = k[i].used_memory_bytes, .gpu_model = k[i].gpu_model, .gpu_shared = k[i].gpu_shared,
            .programs = k[i].programs, .gangs = k[i].gangs, .gang_programs = k[i].gang_programs, .build = k[i].build,
            .engines = k[i].engines,
            .held = k[i].held };
        const int64_t times = entries(&k[i], j);
        TRY(windows_of(w, k[i].kept, &one, e));
        for (int64_t c = 0; c < times; c++) {
            ret->alike[ret->snap.nodes.n] = c ? 1 : k[i].machines - times + 1;
            n[ret->snap.nodes.n++] = one;
        }
    }
    return ERR_OK;
}

/* The tenant's zones and the one that the job names; another is of no use to it, is not named, and its machines are
 * forgotten. */
static enum errc zones_of(struct work *w, const struct job *j, struct outlook *o, struct err *e)
{
    const struct residency_facts *f;
    const struct snap_job job = job_snap(j);
    const struct ask ask = snap_job_ask(&job);
    struct snap_node *n = o->snap.nodes.items;
    bool *is_named = ARENA_ARRAY(w->arena, bool, o->snap.nodes.n + 1);
    size_t named = 0, kept = 0;
    TRY(residency_facts_of(w, &f, e));
    const struct residency_zone *z = f->zones.items;
    struct zone_outlook *out = ARENA_ARRAY(w->arena, struct zone_outlook, f->zones.n + 1);
    for (size_t i = 0; i < f->zones.n; i++) {
        if (!residency_has_zone(f, z[i].code) && !(j->zone.ptr && str_eq(j->zone, z[i].code)))
            continue;
        struct zone_outlook *at = &out[named++];
        *at = (struct zone_outlook){ .zone = z[i].code, .reason = why_not(f, j, z[i].code, w) };
        at->allowed = !at->reason.ptr;
        for (size_t k = 0; k < o->snap.nodes.n; k++) {
            if (!str_eq(n[k].zone, z[i].code))
                continue;
            is_named[k] = true;
            if (!str_eq(n[k].pool, j->pool))
                continue;
            at->ready_nodes += o->alike[k];
            at->free_slots = n[k].free_slots > at->free_slots ? n[k].free_slots : at->free_slots;
            at->free_gpus = n[k].free_gpus > at->free_gpus ? n[k].free_gpus : at->free_gpus;
            at->fits_now |= at->allowed && snap_job_takes(&job, &n[k]) && snap_node_fits(&n[k], &ask) &&
                            reserved_lets(&n[k], &job);
        }
    }
    for (size_t k = 0; k < o->snap.nodes.n; k++)
        if (is_named[k]) {
            n[kept] = n[k];
            o->alike[kept++] = o->alike[k];
        }
    o->snap.nodes.n = kept;
    o->zones = (struct slice){ out, named };
    return ERR_OK;
}

/* Limits and rules of the tenant, as a plan has them. */
static enum errc read_tenant(struct work *w, struct snap_tenant *t, struct rulebook *book, struct err *e)
{
    struct slice rows = { 0 };
    TRY(quota_list(w, &rows, e));
    const struct quota *q = rows.items;
    for (size_t i = 0; i < rows.n; i++) {
        if (str_eq_c(q[i].resource, "slots")) {
            t->slots_used = q[i].used;
            t->slots_limit = q[i].hard_limit;
        } else if (str_eq_c(q[i].resource, "gpus")) {
            t->gpus_used = q[i].used;
            t->gpus_limit = q[i].hard_limit;
        }
    }
    TRY(rules_read_own(w, book, e));
    t->guarded = book->rules.n > 0 || book->queues.n > 0;
    t->slots_weight = rulebook_weight(book, t->tenant_id, RULE_SLOTS);
    t->gpus_weight = rulebook_weight(book, t->tenant_id, RULE_GPUS);
    return ERR_OK;
}

enum errc outlook_read(struct work *w, const struct job *j, struct outlook *ret, struct err *e)
{
    struct snap_tenant *t = ARENA_NEW(w->arena, struct snap_tenant);
    struct snap_job *job = ARENA_NEW(w->arena, struct snap_job);
    *t = (struct snap_tenant){ .tenant_id = w->tenant_id };
    *job = job_snap(j);
    TRY(read_machines(w, j, ret, e));
    snapshot_fill(&ret->snap);          /* it would give each machine the rows of its id, which is not told here */
    gather_windows(w, &ret->snap);
    TRY(zones_of(w, j, ret, e));
    TRY(read_tenant(w, t, &ret->snap.book, e));
    const struct zone_outlook *z = ret->zones.items;
    struct str *zones = ARENA_ARRAY(w->arena, struct str, ret->zones.n + 1);
    for (size_t i = 0; i < ret->zones.n; i++) {
        if (z[i].allowed)
            zones[job->zones.n++] = z[i].zone;
        else if (!job->denied.ptr || (j->zone.ptr && str_eq(j->zone, z[i].zone)))
            job->denied = z[i].reason;
    }
    job->zones.items = zones;
    if (job->zones.n)
        job->denied = STR_NULL;
    t->allowed_zones = job->zones;
    ret->snap.tenants.items = t;
    ret->snap.jobs.items = job;
    ret->snap.tenants.n = ret->snap.jobs.n = 1;
    return ERR_OK;
}
