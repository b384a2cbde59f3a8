/* SPDX-License-Identifier: Apache-2.0 */
/* arrays.c - first ends are counted, which makes room; then one batch of submissions for all arrays that have some. Rows of
 * arrays that somebody else has (array_act.c) wait for the next pass, so this waits for nobody but for the rows of quotas, as
 * every submission does. */
#include "scheduler/duty/arrays.h"
#include "audit/event.h"
#include "core/db/tx.h"
#include "core/table/schema.h"
#include "scheduler/jobs/array_tasks.h"
#include "scheduler/jobs/array_template.h"
#include "scheduler/jobs/job_repo.h"

/* Of a pass: ends, arrays, tasks, and bytes of specs, which are copied a few times on their way. */
enum { ENDS_MOST = 4000, ARRAYS_MOST = 32, TASKS_MOST = 512, BYTES_MOST = 8 << 20, LATER_S = 5 };

struct counted { int64_t n; };
SCHEMA_OF(counted, "Ends that were counted", FIELD(counted, n, 0, .doc = "How many"));
static const struct stmt arrays_close = { .name = "arrays_close", .params = "i", .row = &counted_schema, .card = CARD_ONE, .sql =
    "WITH o AS MATERIALIZED (\n"
    "  SELECT t.tenant_id, t.array_id, t.task_index, t.try, j.ended FROM array_task t CROSS JOIN LATERAL (\n"
    "    SELECT ended FROM job WHERE tenant_id = t.tenant_id AND job_id = t.job_id AND ended IS NOT NULL LIMIT 1) j\n"
    "   WHERE t.live LIMIT $1),\n"
    "a AS MATERIALIZED (\n"
    "  SELECT tenant_id, array_id FROM job_array WHERE (tenant_id, array_id) IN (SELECT tenant_id, array_id FROM o)\n"
    "   FOR NO KEY UPDATE SKIP LOCKED),\n"
    "c AS (\n"
    "  UPDATE array_task u SET live = false FROM o JOIN a ON a.tenant_id = o.tenant_id AND a.array_id = o.array_id\n"
    "   WHERE u.tenant_id = o.tenant_id AND u.array_id = o.array_id AND u.task_index = o.task_index AND u.try = o.try\n"
    "     AND u.live RETURNING u.tenant_id, u.array_id, o.ended),\n"
    "n AS (\n"
    "  SELECT tenant_id, array_id, count(*) FILTER (WHERE ended = 'COMPLETED') AS good, count(*) AS n FROM c GROUP BY 1, 2),\n"
    "u AS (\n"
    "  UPDATE job_array x SET completed = completed + n.good, failed = failed + n.n - n.good,\n"
    "         ended_at = CASE WHEN x.started = x.completed + x.failed + n.n AND again = 0\n"
    "                          AND (x.started = total OR cancelled_at IS NOT NULL) THEN now() END\n"
    "    FROM n WHERE x.tenant_id = n.tenant_id AND x.array_id = n.array_id)\n"
    "SELECT count(*) AS n FROM c" };

struct due_array {
    struct uuid tenant_id, array_id, project_id, created_by;
    int64_t first_index, step, total, started, again, room;
    bool is_closed;
    struct json template;
};
SCHEMA_OF(due_array, "An array that has room", FIELD(due_array, tenant_id, 0, .doc = "Tenant"), FIELD(due_array, array_id, 0,
                                                                                                      .doc = "Array"),
    FIELD(due_array, project_id, 0, .doc = "Project"), FIELD(due_array, created_by, 0, .doc = "Who submitted it"),
    FIELD(due_array, first_index, 0, .doc = "First index"), FIELD(due_array, step, 0, .doc = "From one to the next"),
    FIELD(due_array, total, 0, .doc = "Tasks"), FIELD(due_array, started, 0, .doc = "Of these, became jobs"),
    FIELD(due_array, again, 0, .doc = "To run once more"), FIELD(due_array, room, 0, .doc = "May become jobs now"),
    FIELD(due_array, is_closed, 0, .doc = "Its project is closed"),
    FIELD(due_array, template, 0, .doc = "What they become"));
static const struct stmt arrays_due = { .name = "arrays_due", .params = "i", .row = &due_array_schema, .card = CARD_MANY, .sql =
    "SELECT a.tenant_id, a.array_id, a.project_id, a.created_by, a.first_index, a.step, a.total, a.started, a.again,\n"
    "       a.most - (a.started - a.completed - a.failed - a.again) AS room, a.template,\n"
    "       NOT project_goes(a.tenant_id, a.project_id) AS is_closed\n"
    "  FROM job_array a\n"
    " WHERE a.ended_at IS NULL AND a.cancelled_at IS NULL AND a.paused = '' AND a.turn_at <= now() AND tenant_goes(a.tenant_id)\n"
    "   AND (a.started < a.total OR a.again > 0) AND a.most > a.started - a.completed - a.failed - a.again\n"
    " ORDER BY a.turn_at LIMIT $1 FOR NO KEY UPDATE OF a SKIP LOCKED" };
struct again_task { int64_t task_index, try; };
SCHEMA_OF(again_task, "A task to run once more", FIELD(again_task, task_index, 0, .doc = "Its index"), FIELD(again_task, try, 0,
    .doc = "Its newest try"));
static const struct stmt arrays_again = { .name = "arrays_again", .params = "uui", .row = &again_task_schema, .card = CARD_MANY,
    .sql =
    "SELECT task_index, try FROM array_task WHERE tenant_id = $1 AND array_id = $2 AND again ORDER BY task_index LIMIT $3" };
static const struct stmt arrays_old = { .name = "arrays_old", .params = "UUII", .card = CARD_NONE, .sql =
    "UPDATE array_task t SET newest = false, again = false FROM unnest($1, $2, $3, $4) AS i(tenant_id, array_id, task_index, "
    "try)\n"
    " WHERE t.tenant_id = i.tenant_id AND t.array_id = i.array_id AND t.task_index = i.task_index AND t.try = i.try - 1" };
static const struct stmt arrays_put = { .name = "arrays_put", .params = "UUIIU", .card = CARD_NONE, .sql =
    "INSERT INTO array_task (tenant_id, array_id, task_index, try, job_id) SELECT * FROM unnest($1, $2, $3, $4, $5)" };
static const struct stmt arrays_turn = { .name = "arrays_turn", .params = "UUIISIB", .card = CARD_NONE, .sql =
    "WITH i AS MATERIALIZED (\n"
    "  SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7) AS u(tenant_id, array_id, fresh, old, message, later_s, is_over)),\n"
    "t AS (UPDATE array_task t SET again = false FROM i\n"
    "       WHERE i.is_over AND t.tenant_id = i.tenant_id AND t.array_id = i.array_id AND t.again)\n"
    "UPDATE job_array a SET started = a.started + i.fresh, again = CASE WHEN i.is_over THEN 0 ELSE a.again - i.old END,\n"
    "       failed = a.failed + CASE WHEN i.is_over THEN a.again - i.old ELSE 0 END, message = i.message,\n"
    "       turn_at = clock_timestamp() + i.later_s * interval '1 second',\n"
    "       cancelled_at = CASE WHEN i.is_over THEN now() END,\n"
    "       ended_at = CASE WHEN i.is_over AND a.started + i.fresh = a.completed + a.failed + a.again - i.old THEN now() END\n"
    "  FROM i WHERE a.tenant_id = i.tenant_id AND a.array_id = i.array_id" };
const struct stmt *const arrays_stmts[] = { &arrays_close, &arrays_due, &arrays_again, &arrays_old, &arrays_put, &arrays_turn,
    NULL };

struct turn {
    struct uuid tenant_id, array_id;
    int64_t fresh, old;                 /* tasks that became jobs: for the first time, once more */
    struct str message;
    int64_t later_s;
    bool is_over;
};
struct start {
    struct uuid tenant_id, array_id, job_id;
    int64_t index, try;
    size_t turn;
    struct job_submission s;
};
struct pass {
    struct turn *turns;
    struct start *starts;
    size_t nstarts, room, bytes;        /* room: tasks that may still be taken */
};

static enum errc tell(struct work *w, struct start *s, struct err *e)
{
    static const char no_sha[32];
    struct audit_event ev = audit_event_of(w, AUDIT_JOB_SUBMIT);
    struct audit_rows rows;
    ev.tenant_id = s->tenant_id;
    ev.zone = s->s.job.zone;
    ev.resource_kind = STR("job");
    ev.resource_prefix = "job";
    ev.resource_id = s->s.job.job_id;
    ev.rule = STR("array");
    audit_event_detail(&ev, AUDIT_D_STR("kind", s->s.kind_name));
    audit_event_detail(&ev, AUDIT_D_STR("array", id_text(w->arena, "arr", s->array_id)));
    audit_event_detail(&ev, AUDIT_D_INT("index", s->index));
    TRY(audit_encode_many(w->arena, &ev, 1, &rows, e));
    s->s.event_id = rows.event_ids[0];
    s->s.event = rows.bodies[0];
    s->s.route = STR("array_task");
    s->s.key = str_fmt(w->arena, "%.*s %ld %ld", STR_ARG(id_text(w->arena, "arr", s->array_id)), (long)s->index, (long)s->try);
    s->s.sha = str_n(no_sha, sizeof no_sha);
    return ERR_OK;
}

static enum errc add(struct work *w, struct pass *p, const struct due_array *a, size_t turn, int64_t index, int64_t try,
                     struct err *e)
{
    struct start *s = &p->starts[p->nstarts];
    *s = (struct start){ .tenant_id = a->tenant_id, .array_id = a->array_id, .index = index, .try = try, .turn = turn };
    TRY(array_template_read(a->template.text, w->arena, &s->s, e));
    struct job *j = &s->s.job;
    j->tenant_id = a->tenant_id;
    j->project_id = a->project_id;
    j->created_by = a->created_by;
    s->job_id = j->job_id = uuid_v7(w->now_us);
    j->name = array_task_name(j->name, index, w->arena);
    TRY(array_task_spec(j->kind, j->spec.text, index, w->arena, &j->spec.text, e));
    TRY(tell(w, s, e));
    p->nstarts++;
    p->room--;
    p->bytes += a->template.text.len;
    return ERR_OK;
}

/* What fails and has failed comes first: it is older. */
static enum errc take_array(struct work *w, struct pass *p, const struct due_array *a, size_t turn, size_t part, struct err *e)
{
    size_t room = (size_t)a->room < part ? (size_t)a->room : part;
    if (room > p->room)
        room = p->room;
    struct slice again = { 0 };
    if (a->again)
        TRY(db_many(w->tx, &arrays_again, ARGS(A_UUID(a->tenant_id), A_UUID(a->array_id), A_I64((int64_t)room)), &again, room,
                    e));
    const struct again_task *g = again.items;
    for (size_t i = 0; i < again.n && p->bytes < BYTES_MOST; i++, room--)
        TRY(add(w, p, a, turn, g[i].task_index, g[i].try + 1, e));
    for (int64_t nth = a->started; nth < a->total && room && p->bytes < BYTES_MOST; nth++, room--)
        TRY(add(w, p, a, turn, a->first_index + nth * a->step, 1, e));
    return ERR_OK;
}

static void put_off(struct turn *t, struct str why)
{
    t->later_s = LATER_S;
    t->message = why;
}

/* What cannot start holds up its own array alone, and says so: a project that takes nothing new, a text that this program cannot
 * read. */
static enum errc take(struct work *w, struct pass *p, const struct due_array *a, size_t n, struct err *e)
{
    for (size_t i = 0; i < n; i++) {
        const size_t before = p->nstarts, left = p->room;
        p->turns[i] = (struct turn){ .tenant_id = a[i].tenant_id, .array_id = a[i].array_id, .message = STR("") };
        if (a[i].is_closed) {
            put_off(&p->turns[i], STR("The project is closed"));
            continue;
        }
        if (take_array(w, p, &a[i], i, (p->room + n - i - 1) / (n - i), e) == ERR_OK)
            continue;
        if (db_is_failed(w->tx))
            return e->code;
        p->nstarts = before;
        p->room = left;
        put_off(&p->turns[i], str_fmt(w->arena, "Its tasks cannot be made: %s", e->msg));
        *e = (struct err){ 0 };
    }
    return ERR_OK;
}

static void judge(struct work *w, struct pass *p, const struct start *s)
{
    struct turn *t = &p->turns[s->turn];
    struct err why = { 0 };
    if (job_verdict_err(&s->s, &why) == ERR_OK) {
        t->fresh += s->try == 1;
        t->old += s->try > 1;
        return;
    }
    t->is_over |= s->s.verdict == JOB_INPUT_GONE;
    put_off(t, str_dup(w->arena, str_c(why.msg)));
}

static enum errc write_turns(struct work *w, const struct pass *p, size_t n, struct err *e)
{
    const struct turn *t = p->turns;
    struct start *kept = ARENA_ARRAY(w->arena, struct start, p->nstarts + 1);
    size_t k = 0, nold = 0;
    for (size_t i = 0; i < p->nstarts; i++) {
        struct err none = { 0 };
        if (job_verdict_err(&p->starts[i].s, &none) != ERR_OK)
            continue;
        kept[k] = p->starts[i];
        kept[k].job_id = p->starts[i].s.job.job_id;
        nold += kept[k++].try > 1;
    }
    if (nold)
        TRY(db_exec(w->tx, &arrays_old, ARGS(A_UUIDS_OF(kept, k, tenant_id), A_UUIDS_OF(kept, k, array_id), A_I64S_OF(kept, k,
                                                                                                                      index),
                                             A_I64S_OF(kept, k, try)), NULL, e));
    if (k)
        TRY(db_exec(w->tx, &arrays_put, ARGS(A_UUIDS_OF(kept, k, tenant_id), A_UUIDS_OF(kept, k, array_id), A_I64S_OF(kept, k,
                                                                                                                      index),
                                             A_I64S_OF(kept, k, try), A_UUIDS_OF(kept, k, job_id)), NULL, e));
    return db_exec(w->tx, &arrays_turn, ARGS(A_UUIDS_OF(t, n, tenant_id), A_UUIDS_OF(t, n, array_id), A_I64S_OF(t, n, fresh),
                   A_I64S_OF(t, n, old), A_STRS_OF(t, n, message), A_I64S_OF(t, n, later_s), A_BOOLS_OF(t, n, is_over)), NULL, e);
}

static enum errc start(struct work *w, const struct due_array *a, size_t n, struct arrays_result *ret, struct err *e)
{
    struct pass p = { .turns = ARENA_ARRAY(w->arena, struct turn, n), .starts = ARENA_ARRAY(w->arena, struct start, TASKS_MOST),
                      .room = TASKS_MOST };
    TRY(take(w, &p, a, n, e));
    struct job_submission **items = ARENA_ARRAY(w->arena, struct job_submission *, p.nstarts + 1);
    for (size_t i = 0; i < p.nstarts; i++)
        items[i] = &p.starts[i].s;
    if (p.nstarts)
        TRY(job_repo_submit_many(w->tx, items, p.nstarts, "0", e));
    for (size_t i = 0; i < p.nstarts; i++)
        judge(w, &p, &p.starts[i]);
    for (size_t i = 0; i < n; i++)
        ret->started += p.turns[i].fresh + p.turns[i].old;
    ret->is_more |= n == ARRAYS_MOST || !p.room || p.bytes >= BYTES_MOST;
    return write_turns(w, &p, n, e);
}

enum errc arrays_pass(struct work *w, struct arrays_result *ret, struct err *e)
{
    struct counted c;
    struct slice due = { 0 };
    *ret = (struct arrays_result){ 0 };
    TRY(db_one(w->tx, &arrays_close, ARGS(A_I64(ENDS_MOST)), &c, e));
    ret->closed = c.n;
    ret->is_more = c.n == ENDS_MOST;
    TRY(db_many(w->tx, &arrays_due, ARGS(A_I64(ARRAYS_MOST)), &due, ARRAYS_MOST, e));
    return due.n ? start(w, due.items, due.n, ret, e) : ERR_OK;
}
