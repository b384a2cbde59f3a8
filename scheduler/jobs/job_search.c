/* SPDX-License-Identifier: Apache-2.0 */
/* job_search.c - the filters as parameters of job_find and job_counts (migrations/functions/), which choose the indexes. The rows
 * themselves are read here, under row-level security. */
#include "scheduler/jobs/job_search.h"
#include "core/db/tx.h"
#include "scheduler/jobs/job_repo.h"

SCHEMA_EXTERN(job_count, "How many jobs are in a state",
    FIELD_ENUM(job_count, state, 0, job_state_names, .doc = "The state"),
    FIELD_ENUM(job_count, group, F_NOCOL, job_group_names, .doc = "Its group"),
    FIELD(job_count, jobs, 0, .doc = "Jobs in it"),
    FIELD(job_count, is_exact, 0,
          .doc = "false: there are at least so many; states of jobs that a machine has are always exact"));

static const struct stmt job_find_stmt = { .name = "job_find", .params = "uuuubSSsuussstti", .row = &job_schema, .card = CARD_MANY, .sql =
    "SELECT " ROW_COLUMNS " FROM job\n"
    " WHERE tenant_id = $1 AND job_id = ANY (ARRAY(SELECT job_find($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)))\n"
    " ORDER BY job_id DESC" };

static const struct stmt job_counts_stmt = { .name = "job_counts", .params = "uuusuusssttSi", .row = &job_count_schema, .card = CARD_MANY, .sql =
    "SELECT state, jobs, is_exact FROM job_counts($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)" };

const struct stmt *const job_search_stmts[] = { &job_find_stmt, &job_counts_stmt, NULL };

struct uuid job_id_at(int64_t us, bool is_greatest)
{
    struct uuid u;
    uint64_t ms = us > 0 ? (uint64_t)(us / 1000) : 0;
    memset(u.b, is_greatest ? 0xFF : 0, sizeof u.b);
    for (int i = 0; i < 6; i++)
        u.b[i] = (uint8_t)(ms >> (8 * (5 - i)));
    return u;
}

static struct uuid floor_of(const struct job_filter *f)
{
    return f->submitted_after.us ? job_id_at(f->submitted_after.us - JOB_ID_SLACK_US, false) : UUID_NIL;
}

static struct uuid below_of(const struct job_filter *f, struct uuid position)
{
    if (!f->submitted_before.us)
        return position;
    struct uuid u = job_id_at(f->submitted_before.us + JOB_ID_SLACK_US, true);
    return uuid_is_nil(position) || uuid_cmp(u, position) < 0 ? u : position;
}

/* The states that the filter lets through, as the database asks for them; is_any: every live one, without naming them. */
struct state_sets {
    bool is_any, is_queued;
    struct str live[JOB_STATE_COUNT], ended[JOB_STATE_COUNT];
    size_t nlive, nended;
};

static struct state_sets states_of(const struct job_filter *f)
{
    struct state_sets r = { .is_any = !f->has_state && !f->has_group };
    for (int s = 0; s < JOB_STATE_COUNT; s++) {
        if ((f->has_state && f->state != s) || (f->has_group && f->group != (int)job_state_group((enum job_state)s)))
            continue;
        if (s == JOB_PENDING)
            r.is_queued = true;
        else if (job_state_is_terminal((enum job_state)s))
            r.ended[r.nended++] = str_c(job_state_names[s]);
        else
            r.live[r.nlive++] = str_c(job_state_names[s]);
    }
    return r;
}

enum errc job_list(struct work *w, const struct job_filter *f, struct uuid position, int64_t limit, struct slice *ret, struct err *e)
{
    struct state_sets s = states_of(f);
    struct arg live = s.is_any ? A_NULL('S') : A_STRS(s.live, s.nlive), ended = A_STRS(s.ended, s.nended);
    return db_many(w->tx, &job_find_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(w->tenant_id), A_UUID_OR_NULL(below_of(f, position)),
                   A_UUID_OR_NULL(floor_of(f)), A_BOOL(s.is_queued), live, ended, A_TEXT(f->has_kind ? job_kind_names[f->kind] : NULL),
                   A_UUID_OR_NULL(f->project_id), A_UUID_OR_NULL(f->created_by), A_STR(f->zone), A_STR(f->pool), A_STR(f->q),
                   A_TIME(f->submitted_after), A_TIME(f->submitted_before), A_I64(limit)), ret, (size_t)limit, e);
}

enum errc job_count_states(struct work *w, const struct job_filter *f, struct job_count ret[JOB_STATE_COUNT], struct err *e)
{
    struct str last[JOB_STATE_COUNT];
    struct slice rows = { 0 };
    size_t n = 0;
    for (int s = 0; s < JOB_STATE_COUNT; s++) {
        ret[s] = (struct job_count){ s, (int)job_state_group((enum job_state)s), 0, true };
        if (job_state_is_terminal((enum job_state)s))
            last[n++] = str_c(job_state_names[s]);
    }
    TRY(db_many(w->tx, &job_counts_stmt, ARGS(A_UUID(w->tenant_id), A_UUID_OR_NULL(below_of(f, UUID_NIL)), A_UUID_OR_NULL(floor_of(f)),
                A_TEXT(f->has_kind ? job_kind_names[f->kind] : NULL), A_UUID_OR_NULL(f->project_id), A_UUID_OR_NULL(f->created_by),
                A_STR(f->zone), A_STR(f->pool), A_STR(f->q), A_TIME(f->submitted_after), A_TIME(f->submitted_before), A_STRS(last, n),
                A_I64(JOB_COUNT_CAP)), &rows, JOB_STATE_COUNT, e));
    const struct job_count *c = rows.items;
    for (size_t i = 0; i < rows.n; i++) {
        ret[c[i].state].jobs = c[i].jobs;
        ret[c[i].state].is_exact = c[i].is_exact;
    }
    return ERR_OK;
}
