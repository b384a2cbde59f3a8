/* SPDX-License-Identifier: Apache-2.0 */
/* audit_summary.c - route of what a search finds, counted: so many events by action, by outcome and by who acted. Nothing of an
 * event but these counts leaves, so it is a reading of the log and no export of it.
 *
 * The log is walked page by page up to the length that it had when the call came, each page in memory of its own. More than
 * SUMMARY_EVENTS are not counted, and is_cut says so; more than SUMMARY_NAMES names of a kind are counted together, without a
 * name. */
#include "api/pipeline.h"
#include "api/routes/audit_int.h"
#include "audit/actor_name.h"
#include "core/base/cleanup.h"

#include <stdlib.h>

enum { WINDOW = 50000, PAGE_ROWS = 500, PAGE_ARENA = 64 << 20, SUMMARY_EVENTS = 1000000, SUMMARY_NAMES = 500 };

struct audit_count { struct str name; int64_t events; };
SCHEMA_OF(audit_count, "How many events", FIELD(audit_count, name, 0, .doc = "Of what, or of whom; absent: of all others"),
    FIELD(audit_count, events, F_ALWAYS, .doc = "So many"));
struct audit_summary {
    int64_t events;
    bool is_cut;
    struct timestamp first_at, last_at;
    struct slice actions, outcomes, actors;
};
#define COUNTS(member, doc_) \
    FIELD_LIST(audit_summary, member, &audit_count_schema, F_ALWAYS, .max = SUMMARY_NAMES + 1, .doc = doc_)
SCHEMA_OF(audit_summary, "What a search finds, counted", FIELD(audit_summary, events, F_ALWAYS, .doc = "Events found"),
    FIELD(audit_summary, is_cut, F_ALWAYS, .doc = "There are more than a million; the oldest are counted"),
    FIELD(audit_summary, first_at, 0, .doc = "The first of them"), FIELD(audit_summary, last_at, 0, .doc = "The last of them"),
    COUNTS(actions, "By action, most often first"), COUNTS(outcomes, "By outcome: success, denied or a code"),
    COUNTS(actors, "By name of who acted, else the id, else the kind of actor"));
struct summary_in { AUDIT_WANT; };
SCHEMA_OF(summary_in, "Which events are counted", AUDIT_WANT_FIELDS(summary_in));

/* The last line has no name and takes what is too much. */
static void count(struct arena *a, struct slice *of, struct str name)
{
    struct audit_count *all = of->items;
    for (size_t i = 0; i < of->n; i++)
        if (str_eq(all[i].name, name)) {
            all[i].events++;
            return;
        }
    if (of->n < SUMMARY_NAMES) {
        all[of->n++] = (struct audit_count){ str_dup(a, name), 1 };
        return;
    }
    of->n = SUMMARY_NAMES + 1;
    all[SUMMARY_NAMES].events++;
}

static int most_first(const void *a, const void *b)
{
    const struct audit_count *x = a, *y = b;
    int by_name = str_cmp(x->name, y->name);
    return x->events != y->events ? (x->events < y->events) - (x->events > y->events) : by_name;
}

static void count_row(struct arena *a, const struct audit_row *r, struct str name, struct arena *page, struct audit_summary *s)
{
    struct str id = audit_actor_id(page, r);
    if (!s->events++)
        s->first_at.us = r->at_us;
    s->last_at.us = r->at_us ? r->at_us : s->last_at.us;
    count(a, &s->actions, r->action);
    count(a, &s->outcomes, r->outcome);
    count(a, &s->actors, name.ptr ? name : id.ptr ? id : r->actor);
}

/* One page; q->after goes on behind it. */
static enum errc count_page(struct work *w, struct arena *a, struct audit_search *q, uint64_t length, struct audit_summary *s,
                            struct err *e)
{
    struct audit_row *rows;
    struct str *names;
    size_t n;
    q->upto = length - q->after > WINDOW ? q->after + WINDOW : length;
    TRY(audit_search(w, w->tenant_id, q, PAGE_ROWS, &rows, &n, e));
    TRY(audit_actor_names(w, w->tenant_id, rows, n, &names, e));
    for (size_t i = 0; i < n; i++)
        count_row(a, &rows[i], names[i], w->arena, s);
    q->after = n == PAGE_ROWS ? rows[n - 1].tseq : q->upto;
    return ERR_OK;
}

static enum errc summary(struct work *w, const void *in, void *out, struct err *e)
{
    CLEANUP(arena_freep) struct arena *page = arena_new(PAGE_ARENA);
    struct work of_page = *w;
    struct audit_summary s = { 0 };
    struct audit_search q;
    uint64_t length;
    struct slice *const lists[] = { &s.actions, &s.outcomes, &s.actors };
    for (size_t i = 0; i < 3; i++)
        lists[i]->items = ARENA_ARRAY(w->arena, struct audit_count, SUMMARY_NAMES + 1);
    const struct summary_in *want = in;
    TRY(audit_search_of(w, AUDIT_WANT_OF(want), &q, e));
    TRY(audit_log_length(w, w->tenant_id, &length, e));
    q.is_walk = true;
    of_page.arena = page;
    while (q.after < length && s.events < SUMMARY_EVENTS) {
        arena_reset(page);
        TRY(count_page(&of_page, w->arena, &q, length, &s, e));
    }
    s.is_cut = q.after < length;
    for (size_t i = 0; i < 3; i++)
        qsort(lists[i]->items, lists[i]->n > SUMMARY_NAMES ? SUMMARY_NAMES : lists[i]->n, sizeof(struct audit_count), most_first);
    *(struct audit_summary *)out = s;
    return ERR_OK;
}

static const struct route rows[] = {
    { .method = HTTP_GET, .path = "/v1/audit/summary", .lane = LANE_HEAVY,
      .op = "audit_summary", .perm = PERM_AUDIT_READ, .handler = summary, .in = &summary_in_schema, .status = 200,
      .out = &audit_summary_schema, .resource = "audit", .audited = true, .audit = AUDIT_AUDIT_READ,
      .doc = "What a search finds, counted by action, outcome and who acted: a reading of the log, no export" },
};
extern const struct route_table audit_summary_routes;
ROUTE_TABLE(audit_summary_routes, rows);
