/* SPDX-License-Identifier: Apache-2.0 */
/* notices.c - for each entry: which event is it, which rules and people want it. */
#include "scheduler/duty/notices.h"
#include "audit/event.h"
#include "audit/tail.h"
#include "core/base/cleanup.h"
#include "core/base/log.h"
#include "core/db/run_tx.h"
#include "core/json/jsonvalue.h"
#include "scheduler/jobs/job_search.h"
#include "tenants/access/authz.h"
#include "tenants/home/legal_clock.h"
#include "tenants/notice/delivery.h"
#include "tenants/notice/event.h"
#include "tenants/notice/person.h"
#include "tenants/notice/rule.h"
#include "tenants/notice/text.h"

/* PUT_MAX: above what one entry can make, every rule with every recipient and all who approve. */
enum { PEOPLE_MAX = 2000, PUT_MAX = 6000, WAITING_MAX = 500, CLOCKS_MAX = 500, DEPTH = 4 };
static const int64_t MINUTE_US = 60000000, WINDOW_US = INT64_C(3600000000);

struct notice_job {
    struct uuid job_id, project_id, created_by;
    struct str name, ended, reason;
    struct timestamp submitted_at;
};
SCHEMA_OF(notice_job, "A job that is told of", FIELD(notice_job, job_id, 0, .doc = "Job"), FIELD(notice_job, project_id, 0,
    .doc = "Project"),
    FIELD(notice_job, created_by, 0, .doc = "Whose"), FIELD(notice_job, name, 0, .doc = "Name"), FIELD(notice_job, ended, 0,
        .doc = "How it ended"),
    FIELD(notice_job, reason, 0, .doc = "Why it waits"), FIELD(notice_job, submitted_at, 0, .doc = "Since when"));
static const struct stmt notice_jobs = { .name = "notice_jobs", .params = "uU", .row = &notice_job_schema, .card = CARD_MANY,
    .sql =
    "SELECT " ROW_COLUMNS " FROM job WHERE tenant_id = $1 AND job_id = ANY ($2)" };
/* An id says when it was made: what came to wait so long within the last hour. */
static const struct stmt notice_waiting = { .name = "notice_waiting", .params = "uuui", .row = &notice_job_schema,
    .card = CARD_MANY, .sql =
    "SELECT " ROW_COLUMNS " FROM job WHERE tenant_id = $1 AND queued AND job_id > $2 AND job_id < $3 LIMIT $4" };

const struct stmt *const notices_stmts[] = { &notice_jobs, &notice_waiting, NULL };

/* What one tenant wants, and what is queued for it. */
struct gather {
    struct work *w;
    struct uuid tenant;
    const struct notice_rule *rules;
    size_t n_rules;
    const struct notice_person *people;
    size_t n_people;
    struct slice approvers, officers;   /* struct uuid: who may decide; who manages legal clocks */
    uint32_t wanted;
    struct notice_new *out;
    size_t n, room;
};

static uint32_t mask_of(struct slice events)
{
    uint32_t m = 0;
    for (size_t i = 0; i < events.n; i++)
        m |= 1u << ((const int *)events.items)[i];
    return m;
}

static void queue(struct gather *g, const struct notice_new *what, struct uuid rule, struct uuid user)
{
    if (g->n == g->room)
        return;
    struct notice_new *to = &g->out[g->n++];
    *to = *what;
    to->delivery_id = uuid_v7(g->w->now_us);
    to->notification_id = rule;
    to->user_id = user;
    to->target = uuid_is_nil(user) ? rule : user;
    to->kind = uuid_is_nil(user) ? STR("webhook") : STR("mail");
}

static void tell_rule(struct gather *g, const struct notice_rule *r, const struct notice_new *what)
{
    const struct uuid *who = r->recipients.items;
    if (r->kind == NOTICE_WEBHOOK)
        queue(g, what, r->notification_id, UUID_NIL);
    for (size_t i = 0; r->kind == NOTICE_MAIL && i < r->recipients.n; i++)
        queue(g, what, r->notification_id, who[i]);
}

static bool is_among(struct slice ids, struct uuid id)
{
    for (size_t i = 0; i < ids.n; i++)
        if (uuid_eq(((const struct uuid *)ids.items)[i], id))
            return true;
    return false;
}

/* Whether somebody who chose the event is told of this one. actor: as in tell. */
static bool concerns(const struct gather *g, unsigned whose, struct uuid user, struct uuid actor)
{
    const bool is_own = uuid_eq(user, actor);
    if (whose & OF_CLOCKS)
        return is_among(g->officers, user);
    return whose & OF_PROJECT ? is_own : !is_own && is_among(g->approvers, user);
}

/* actor: who did it; of a job, whose job it is. only: STR_NULL, or the one rule that it is for. */
static void tell(struct gather *g, enum notice_event ev, const struct notice_new *what, struct uuid actor,
    const struct notice_rule *only)
{
    for (size_t i = 0; i < g->n_rules; i++) {
        const struct notice_rule *r = &g->rules[i];
        if ((!only || r == only) && (mask_of(r->events) & 1u << ev) && what->at.us >= r->created_at.us &&
            (uuid_is_nil(r->project_id) || uuid_eq(r->project_id, what->project_id)))
            tell_rule(g, r, what);
    }
    for (size_t i = 0; !only && i < g->n_people; i++) {
        const struct notice_person *p = &g->people[i];
        if ((mask_of(p->events) & 1u << ev) && concerns(g, notice_event_row(ev)->whose, p->user_id, actor))
            queue(g, what, UUID_NIL, p->user_id);
    }
}

/* --- who --- */

static enum errc holders_of(struct gather *g, perm_set any, struct slice *ret, struct err *e)
{
    struct str roles[ROLE_COUNT];
    size_t n = 0;
    for (int r = 0; r < ROLE_COUNT; r++)
        if (role_permissions((enum role)r) & any)
            roles[n++] = str_c(role_row((enum role)r)->wire);
    return notice_holders(g->w, g->tenant, roles, n, ret, e);
}

static enum errc approvers_of(struct gather *g, struct err *e)
{
    static const enum permission decide[] = { PERM_APPROVE_TENANT, PERM_APPROVE_RESIDENCY, PERM_APPROVE_KEY,
        PERM_APPROVE_HOLD, PERM_APPROVE_ROLE };
    perm_set any = 0;
    for (size_t i = 0; i < sizeof decide / sizeof *decide; i++)
        any |= PERM_BIT(decide[i]);
    return holders_of(g, any, &g->approvers, e);
}

static enum errc wishes(struct gather *g, struct err *e)
{
    struct slice rules, people;
    TRY(notice_rules_active(g->w, g->tenant, &rules, e));
    TRY(notice_people(g->w, g->tenant, PEOPLE_MAX, &people, e));
    g->rules = rules.items;
    g->n_rules = rules.n;
    g->people = people.items;
    g->n_people = people.n;
    for (size_t i = 0; i < g->n_rules; i++)
        g->wanted |= mask_of(g->rules[i].events);
    for (size_t i = 0; i < g->n_people; i++)
        g->wanted |= mask_of(g->people[i].events);
    if (g->wanted & (1u << NE_CLOCK_SOON | 1u << NE_CLOCK_LATE))
        TRY(holders_of(g, PERM_BIT(PERM_CLOCK_MANAGE), &g->officers, e));
    return g->wanted & 1u << NE_APPROVAL ? approvers_of(g, e) : ERR_OK;
}

/* --- what --- */

static const struct notice_job *job_of(const struct slice *jobs, struct str id)
{
    struct uuid u;
    if (!id_parse("job", id, &u))
        return NULL;
    const struct notice_job *j = jobs->items;
    for (size_t i = 0; i < jobs->n; i++)
        if (uuid_eq(j[i].job_id, u))
            return &j[i];
    return NULL;
}

static enum errc jobs_of(struct gather *g, const struct slice *entries, struct slice *ret, struct err *e)
{
    const struct audit_tail_row *t = entries->items;
    struct uuid *ids = ARENA_ARRAY(g->w->arena, struct uuid, entries->n + 1);
    size_t n = 0;
    for (size_t i = 0; i < entries->n; i++)
        n += str_eq_c(t[i].resource_kind, "job") && id_parse("job", t[i].resource_id, &ids[n]);
    *ret = (struct slice){ 0 };
    return n ? db_many(g->w->tx, &notice_jobs, ARGS(A_UUID(g->tenant), A_UUIDS(ids, n)), ret, n, e) : ERR_OK;
}

static void tell_job(struct gather *g, enum notice_event ev, const struct notice_job *j, struct timestamp at, struct str detail,
                     const struct notice_rule *only)
{
    struct arena *a = g->w->arena;
    const struct str id = id_text(a, "job", j->job_id);
    const struct notice_new what = { .project_id = j->project_id, .event = str_c(notice_event_row(ev)->wire),
        .source = str_fmt(a, "%s:%.*s", notice_event_row(ev)->wire, STR_ARG(id)), .resource_kind = STR("job"), .resource_id = id,
        .name = j->name, .detail = detail, .at = at };
    tell(g, ev, &what, j->created_by, only);
}

static enum errc tell_entry(struct gather *g, const struct audit_tail_row *t, const struct slice *jobs, struct err *e)
{
    struct arena *a = g->w->arena;
    const struct jval *v = NULL;
    struct str detail;
    if (t->details.text.len)
        TRY(jval_parse(a, t->details.text, DEPTH, &v, e));
    int ev = notice_event_of_entry(t->code, jval_str(jval_get(v, "step")), jval_i64(jval_get(v, "missing"), 0));
    if (ev == NE_JOB_FAILED) {
        const struct notice_job *j = job_of(jobs, t->resource_id);
        ev = j ? notice_job_event(j->ended) : -1;
        if (ev >= 0)
            tell_job(g, (enum notice_event)ev, j, t->at, str_fmt(a, "{\"state\":\"%.*s\"}", STR_ARG(j->ended)), NULL);
        return ERR_OK;
    }
    if (ev < 0)
        return ERR_OK;
    TRY(notice_text_detail(a, t->details, &detail, e));
    const struct notice_job *own = ev == NE_JOB_IDLE ? job_of(jobs, t->resource_id) : NULL;
    const struct notice_new what = { .project_id = own ? own->project_id : UUID_NIL,
        .event = str_c(notice_event_row((enum notice_event)ev)->wire),
        .source = str_fmt(a, "audit:%lld", (long long)t->tseq), .resource_kind = t->resource_kind, .resource_id = t->resource_id,
        .name = own ? own->name : STR(""), .detail = detail, .at = t->at };
    tell(g, (enum notice_event)ev, &what, own ? own->created_by : t->actor_id, NULL);
    return ERR_OK;
}

static enum errc waiting(struct gather *g, int64_t minutes, const struct notice_rule *only, struct err *e)
{
    struct slice rows;
    const int64_t until = g->w->now_us - minutes * MINUTE_US;
    TRY(db_many(g->w->tx, &notice_waiting, ARGS(A_UUID(g->tenant), A_UUID(job_id_at(until - WINDOW_US, false)),
                A_UUID(job_id_at(until, false)), A_I64(WAITING_MAX)), &rows, WAITING_MAX, e));
    const struct notice_job *j = rows.items;
    for (size_t i = 0; i < rows.n; i++) {
        CLEANUP(buf_releasep) struct buf b = BUF(1024);
        buf_add_c(&b, "{\"reason\":");
        buf_add_json(&b, j[i].reason);
        buf_printf(&b, ",\"waited_minutes\":%lld}", (long long)minutes);
        tell_job(g, NE_JOB_WAITING, &j[i], (struct timestamp){ g->w->now_us }, str_dup(g->w->arena, buf_str(&b)), only);
    }
    return ERR_OK;
}

/* The source names the moment too: an extended clock is due soon once more. What finds no room comes with the next patrol. */
static enum errc clocks(struct gather *g, enum notice_event ev, enum legal_clock_told told, struct err *e)
{
    struct arena *a = g->w->arena;
    struct slice rows;
    if (!(g->wanted & 1u << ev))
        return ERR_OK;
    TRY(legal_clocks_untold(g->w, g->tenant, told, CLOCKS_MAX, &rows, e));
    const struct legal_clock_untold *c = rows.items;
    struct uuid *ids = ARENA_ARRAY(a, struct uuid, rows.n + 1);
    size_t n = 0;
    for (; n < rows.n; n++) {
        const size_t before = g->n;
        const struct str id = id_text(a, "clk", c[n].clock_id);
        char due[TIME_TEXT];
        time_text(c[n].due_at.us, due);
        const struct notice_new what = { .event = str_c(notice_event_row(ev)->wire),
            .source = str_fmt(a, "%s:%.*s:%s", notice_event_row(ev)->wire, STR_ARG(id), due), .resource_kind = STR("clock"),
            .resource_id = id, .name = c[n].reference, .at = { g->w->now_us },
            .detail = str_fmt(a, "{\"deadline\":\"%s\",\"kind\":\"%.*s\"}", due, STR_ARG(c[n].kind)) };
        tell(g, ev, &what, UUID_NIL, NULL);
        if (g->n == g->room) {
            g->n = before;
            break;
        }
        ids[n] = c[n].clock_id;
    }
    return legal_clocks_tell(g->w, g->tenant, told, ids, n, e);
}

static enum errc patrol(struct gather *g, struct err *e)
{
    TRY(clocks(g, NE_CLOCK_LATE, LCT_OVERDUE, e));
    TRY(clocks(g, NE_CLOCK_SOON, LCT_SOON, e));
    if (!(g->wanted & 1u << NE_JOB_WAITING))
        return ERR_OK;
    for (size_t i = 0; i < g->n_rules; i++)
        if (mask_of(g->rules[i].events) & 1u << NE_JOB_WAITING)
            TRY(waiting(g, g->rules[i].wait_minutes, &g->rules[i], e));
    const size_t n_rules = g->n_rules;
    g->n_rules = 0;                     /* people's own hour */
    const enum errc rc = g->n_people ? waiting(g, NOTICE_WAIT_DEFAULT, NULL, e) : ERR_OK;
    g->n_rules = n_rules;
    return rc;
}

static enum errc note_dead(struct gather *g, int64_t dead, struct err *e)
{
    if (!dead)
        return ERR_OK;
    struct audit_event ev = audit_event_of(g->w, AUDIT_NOTICE_DEAD);
    ev.tenant_id = g->tenant;
    ev.resource_kind = STR("delivery");
    audit_event_detail(&ev, AUDIT_D_INT("deliveries", dead));
    audit_event_detail(&ev, AUDIT_D_STR("why", STR("backlog")));
    return audit_append(g->w, &ev, e);
}

enum errc notices_tenant(struct work *w, struct uuid tenant, int64_t after, bool is_patrol, bool *ret_more, struct err *e)
{
    struct gather g = { .w = w, .tenant = tenant, .room = PUT_MAX };
    struct str codes[NOTICE_CODES];
    struct slice entries = { 0 }, jobs;
    int64_t next = after, end, dead;
    *ret_more = false;
    TRY(wishes(&g, e));
    TRY(audit_tail_end(w, tenant, &end, e));
    if (!g.wanted)                      /* nobody wants anything: what happened until now is never told */
        return notice_cursor_move(w, tenant, end, is_patrol, e);
    g.out = ARENA_ARRAY(w->arena, struct notice_new, PUT_MAX);
    TRY(audit_tail_read(w, tenant, after, codes, notice_codes(g.wanted, codes), &entries, &next, e));
    TRY(jobs_of(&g, &entries, &jobs, e));
    for (size_t i = 0; i < entries.n; i++) {
        const struct audit_tail_row *t = (const struct audit_tail_row *)entries.items + i;
        const size_t before = g.n;
        TRY(tell_entry(&g, t, &jobs, e));
        if (g.n == g.room && i) {       /* the rest comes with the next round */
            g.n = before;
            next = t->tseq - 1;
            break;
        }
    }
    if (is_patrol)
        TRY(patrol(&g, e));
    TRY(notice_put(w, tenant, g.out, g.n, &dead, e));
    TRY(note_dead(&g, dead, e));
    *ret_more = next < end;
    return notice_cursor_move(w, tenant, next, is_patrol, e);
}

/* A page of cursors behind a tenant, and those of them whose logs have grown. */
static enum errc behind(struct work *w, struct uuid position, struct slice *ret_page, struct slice *ret_grown, struct err *e)
{
    TRY(notice_cursors(w, NOTICES_PATROL_S, position, NOTICES_PAGE, ret_page, e));
    const struct notice_behind *b = ret_page->items;
    struct uuid *ids = ARENA_ARRAY(w->arena, struct uuid, ret_page->n + 1);
    int64_t *after = ARENA_ARRAY(w->arena, int64_t, ret_page->n + 1);
    for (size_t i = 0; i < ret_page->n; i++) {
        ids[i] = b[i].tenant_id;
        after[i] = b[i].tseq;
    }
    return audit_tail_grown(w, ids, after, ret_page->n, ret_grown, e);
}

/* One tenant's trouble holds up no other's. */
static bool look_at(const struct app *app, struct arena *each, const struct notice_behind *b)
{
    struct work one = { .app = app, .arena = each, .now_us = clock_wall_us(app->clock) };
    struct err why = { 0 };
    bool more = false;
    arena_reset(each);
    if (RUN_SYSTEM(&one, app->pool, 0, notices_tenant(&one, b->tenant_id, b->tseq, b->is_patrol, &more, &why),
                   &why) != ERR_OK)
        log_err(why.code == ERR_RETRY ? LOG_INFO : LOG_ERROR, "notices.tenant", &why);
    return more;
}

/* Once around, page by page, from behind *turn to it; a round that has looked at enough stops, and the next goes on there. */
enum errc notices_round(const struct app *app, struct arena *list, struct arena *each, struct uuid *turn, bool *ret_more,
                        struct err *e)
{
    const struct uuid start = *turn;
    struct uuid at = start;
    bool is_around = uuid_is_nil(start);
    size_t done = 0;
    *ret_more = false;
    for (;;) {
        struct work w = { .app = app, .arena = list, .now_us = clock_wall_us(app->clock) };
        struct slice page, grown;
        arena_reset(list);
        TRY(RUN_SYSTEM(&w, app->pool, TX_READ_ONLY, behind(&w, at, &page, &grown, e), e));
        const struct notice_behind *b = page.items;
        for (size_t i = 0; i < page.n; i++) {
            at = b[i].tenant_id;
            if (is_around && !uuid_is_nil(start) && uuid_cmp(at, start) > 0)
                return ERR_OK;
            if (!b[i].is_patrol && !is_among(grown, at))
                continue;
            *ret_more |= look_at(app, each, &b[i]);
            if (++done == NOTICES_TENANTS) {
                *turn = at;
                *ret_more = true;
                return ERR_OK;
            }
        }
        if (page.n < NOTICES_PAGE && is_around)
            return ERR_OK;
        if (page.n < NOTICES_PAGE) {
            is_around = true;
            at = UUID_NIL;
        }
    }
}
