/* SPDX-License-Identifier: Apache-2.0 */
/* queue_share.c - the rules of the queue's cohorts, each member with what it uses and what waits for it. */
#include "scheduler/jobs/queue_share.h"
#include "core/db/tx.h"
#include "scheduler/jobs/job_queue.h"
#include "scheduler/mirror/rules.h"
#include "scheduler/plan/divide.h"
#include "scheduler/plan/share.h"

#include <stdlib.h>

SCHEMA_EXTERN(queue_part, "What a queue has of a resource",
    FIELD(queue_part, resource, F_ALWAYS, .doc = "slots or gpus"), FIELD(queue_part, flavor, F_ALWAYS,
        .doc = "Flavor; empty: all together"),
    FIELD(queue_part, zone, F_ALWAYS, .doc = "Zone; empty: all together"),
    FIELD(queue_part, nominal, F_ALWAYS, .doc = "Its own: what it deserves"), FIELD(queue_part, used, F_ALWAYS,
        .doc = "In use by its running jobs"),
    FIELD(queue_part, waiting, F_ALWAYS, .doc = "What its waiting jobs ask, on whatever flavor and zone"),
    FIELD(queue_part, fair, F_ALWAYS, .doc = "What it would have if all were placed anew, by weights and by what is asked"),
    FIELD(queue_part, borrowed, F_ALWAYS, .doc = "Used beyond its own"), FIELD(queue_part, lent, F_ALWAYS,
        .doc = "Of its own, used by others"),
    FIELD(queue_part, weight, F_ALWAYS, .doc = "As it was set, in thousandths"),
    FIELD(queue_part, moved_weight, F_ALWAYS, .doc = "As its usage before has moved it"));
SCHEMA_EXTERN(queue_share, "A queue's share",
    FIELD_ID(queue_share, queue_id, "que", F_ALWAYS, .doc = "The queue"), FIELD(queue_share, name, F_ALWAYS, .doc = "Its name"),
    FIELD(queue_share, sentence, F_ALWAYS, .doc = "All of it in one sentence"),
    FIELD(queue_share, share, F_ALWAYS,
        .doc = "Dominant share of what it borrows, in millionths of what its cohort lends, by weight: the least goes first"),
    FIELD(queue_share, waiting_jobs, F_ALWAYS, .doc = "Jobs that wait for a machine; at most 100000 of the project are counted"),
    FIELD(queue_share, slot_usage, F_ALWAYS, .doc = "Slot seconds used, halved every seven days"),
    FIELD(queue_share, gpu_usage, F_ALWAYS, .doc = "GPU seconds used, halved every seven days"),
    FIELD(queue_share, usage_permille, F_ALWAYS, .doc = "Its part of the usage of the queues declared beside it"),
    FIELD_LIST(queue_share, parts, &queue_part_schema, F_ALWAYS, .doc = "For each of its quota rules"));

struct waits { struct str queue; int64_t slots, gpus, jobs; };
SCHEMA_OF(waits, "What waits for a queue", FIELD(waits, queue, 0, .doc = "Queue"), FIELD(waits, slots, 0, .doc = "Slots asked"),
    FIELD(waits, gpus, 0, .doc = "GPUs asked"), FIELD(waits, jobs, 0, .doc = "Jobs"));
static const struct stmt share_waits = { .name = "queue_share_waits", .params = "uuii", .row = &waits_schema, .card = CARD_MANY,
    .sql =
    "SELECT queue, sum(slots)::bigint AS slots, sum(gpus)::bigint AS gpus, count(*) AS jobs FROM (\n"
    "  SELECT queue, slots, gpus FROM job WHERE tenant_id = $1 AND queued AND not_before IS NULL\n"
    "     AND project_id IS NOT DISTINCT FROM $2 LIMIT $3) j GROUP BY queue ORDER BY queue COLLATE \"C\" LIMIT $4" };
const struct stmt *const queue_share_stmts[] = { &share_waits, NULL };

static int by_queue(const void *a, const void *b)
{
    return str_cmp(((const struct waits *)a)->queue, ((const struct waits *)b)->queue);
}

/* rows: in the order of by_queue. */
static const struct waits *waits_of(struct slice rows, struct str queue)
{
    const struct waits key = { .queue = queue };
    return rows.n ? bsearch(&key, rows.items, rows.n, sizeof key, by_queue) : NULL;
}

static int64_t waiting_for(struct slice rows, const struct rule *r)
{
    const struct waits *w = waits_of(rows, r->queue);
    return !w ? 0 : r->resource == RULE_GPUS ? w->gpus : w->slots;
}

/* Of what the cohort has borrowed in all, this rule's part of what is unused. */
static int64_t lent_by(const struct rulebook *b, const struct rule *r)
{
    int64_t borrowed = 0, unused = 0;
    for (size_t i = 0; i < b->rules.n; i++) {
        const struct rule *o = &b->rules.items[i];
        if (o->cohort != r->cohort)
            continue;
        borrowed += o->used > o->nominal ? o->used - o->nominal : 0;
        unused += o->used < o->nominal ? o->nominal - o->used : 0;
    }
    const int64_t mine = r->used < r->nominal ? r->nominal - r->used : 0;
    return unused ? (int64_t)((__int128)(borrowed < unused ? borrowed : unused) * mine / unused) : 0;
}

static int64_t fair_of(struct work *w, const struct rulebook *b, const struct rule *r, struct slice waits)
{
    struct divide_part *parts = ARENA_ARRAY(w->arena, struct divide_part, b->rules.n + 1);
    size_t n = 0, mine = 0;
    for (size_t i = 0; i < b->rules.n; i++) {
        const struct rule *o = &b->rules.items[i];
        if (o->cohort != r->cohort)
            continue;
        if (o == r)
            mine = n;
        parts[n++] = (struct divide_part){ .nominal = o->nominal, .weight = share_weight(b, o),
            .request = o->used + waiting_for(waits, o),
            .lendable = o->lending_limit < 0 ? o->nominal : o->lending_limit,
            .most = o->borrowing_limit < 0 ? -1 : o->nominal + o->borrowing_limit };
    }
    divide(parts, n);
    return parts[mine].fair;
}

static struct queue_part part_of(struct work *w, const struct rulebook *b, const struct rule *r, struct slice waits)
{
    return (struct queue_part){ .resource = str_c(rule_resource_names[r->resource]), .flavor = r->flavor, .zone = r->zone,
        .nominal = r->nominal, .used = r->used, .waiting = waiting_for(waits, r), .fair = fair_of(w, b, r, waits),
        .borrowed = r->used > r->nominal ? r->used - r->nominal : 0, .lent = lent_by(b, r), .weight = r->weight,
        .moved_weight = share_weight(b, r) };
}

static struct str thing_of(const struct queue_part *p, struct arena *a)
{
    struct str flavor = p->flavor.len ? str_fmt(a, " of flavor %.*s", STR_ARG(p->flavor)) : STR("");
    struct str zone = p->zone.len ? str_fmt(a, " in %.*s", STR_ARG(p->zone)) : STR("");
    return str_fmt(a, "%s%.*s%.*s", str_eq_c(p->resource, "gpus") ? "GPUs" : "slots", STR_ARG(flavor), STR_ARG(zone));
}

static struct str sentence_of(const struct queue_share *s, struct arena *a)
{
    const struct queue_part *p = s->parts.items;
    if (!s->parts.n)
        return str_fmt(a,
            "No quota rule is about the queue %.*s: it takes what its project and tenant leave, and %ld of its jobs wait.",
                       STR_ARG(s->name), (long)s->waiting_jobs);
    for (size_t i = 1; i < s->parts.n; i++)         /* the one that is said: most borrowed, else most used */
        if (((const struct queue_part *)s->parts.items)[i].borrowed > p->borrowed)
            p = (const struct queue_part *)s->parts.items + i;
    return str_fmt(a, "The queue %.*s uses %ld %.*s: its own are %ld, of which others use %ld, and %ld are borrowed; "
                   "%ld would be its fair part now, and %ld of its jobs wait.", STR_ARG(s->name), (long)p->used,
                   STR_ARG(thing_of(p, a)), (long)p->nominal, (long)p->lent, (long)p->borrowed, (long)p->fair,
                       (long)s->waiting_jobs);
}

static void add_parts(struct work *w, const struct rulebook *b, const struct rule_ask *ask, struct slice waits,
    struct queue_share *ret)
{
    struct queue_part *parts = ARENA_ARRAY(w->arena, struct queue_part, b->rules.n + 1);
    int64_t all = 0, mine = 0;
    for (int resource = RULE_SLOTS; resource <= RULE_GPUS; resource++) {
        size_t n;
        const struct rule *r = rulebook_run(b, ask, RULE_QUEUE, resource, &n);
        for (size_t i = 0; r && i < n; i++)
            parts[ret->parts.n++] = part_of(w, b, &r[i], waits);
    }
    for (size_t i = 0; i < b->queues.n; i++) {
        const struct rule_queue *q = &b->queues.items[i];
        if (!uuid_eq(q->project_id, ask->project_id))
            continue;
        all += q->slot_usage;
        mine = str_eq(q->name, ask->queue) ? q->slot_usage : mine;
    }
    ret->usage_permille = all ? (int64_t)((__int128)mine * 1000 / all) : 0;
    ret->parts.items = parts;
}

enum errc queue_share_read(struct work *w, struct uuid queue_id, struct queue_share *ret, struct err *e)
{
    struct job_queue q;
    struct rulebook book;
    struct slice waits = { 0 };
    TRY(job_queue_get(w, queue_id, &q, e));
    TRY(rules_read_own(w, &book, e));
    TRY(db_many(w->tx, &share_waits, ARGS(A_UUID(w->tenant_id), A_UUID_OR_NULL(q.project_id), A_I64(SHARE_WAITING_MAX),
                A_I64(SHARE_WAITING_MAX)), &waits, SHARE_WAITING_MAX, e));
    const struct rule_ask ask = { .tenant_id = w->tenant_id, .project_id = q.project_id, .queue = q.name };
    const struct waits *mine = waits_of(waits, q.name);
    *ret = (struct queue_share){ .queue_id = queue_id, .name = q.name, .slot_usage = q.slot_usage, .gpu_usage = q.gpu_usage,
                                 .share = share_borrowed(&book, &ask, RULE_QUEUE, NULL), .waiting_jobs = mine ? mine->jobs : 0 };
    add_parts(w, &book, &ask, waits, ret);
    ret->sentence = sentence_of(ret, w->arena);
    return ERR_OK;
}
