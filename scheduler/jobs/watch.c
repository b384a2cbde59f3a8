/* SPDX-License-Identifier: Apache-2.0 */
/* watch.c - SQL of what is shown of a job while it runs and after. */
#include "scheduler/jobs/watch.h"
#include "core/db/tx.h"
#include "core/wire/lease_wire.h"

SCHEMA_EXTERN(job_log_line, "A piece of a job's log",
    FIELD(job_log_line, log_id, 0, .doc = "Its position; grows"), FIELD(job_log_line, at, F_ALWAYS, .doc = "When it arrived"),
    FIELD_OPT(job_log_line, line, 0, .doc = "Its number within the log, from 1; with numbered=true alone"),
    FIELD(job_log_line, stream, F_ALWAYS, .doc = "stdout, stderr or system"), FIELD(job_log_line, fence, 0, .doc = "Attempt"),
    FIELD(job_log_line, text, F_ALWAYS, .max = 1 << 20, .doc = "Text"));
SCHEMA_EXTERN(job_metric, "What a job measured at a step",
    FIELD(job_metric, metric_id, 0, .doc = "Its position; grows"), FIELD(job_metric, at, F_ALWAYS, .doc = "When it arrived"),
    FIELD(job_metric, step, 0, .doc = "Step or epoch"), FIELD(job_metric, fence, 0, .doc = "Attempt"),
    FIELD(job_metric, values, 0, .is_numbers = true, .doc = "Name and number of each"));
SCHEMA_EXTERN(attempt_member, "A machine of an attempt on several",
    FIELD(attempt_member, attempt_id, F_NOOUT, .doc = "Its attempt"),
    FIELD(attempt_member, rank, 0, .doc = "Which of them, from 0"),
    FIELD_ID(attempt_member, node_id, "nod", F_ALWAYS, .doc = "Machine"),
    FIELD(attempt_member, state, F_ALWAYS, .doc = "Where it is"),
    FIELD(attempt_member, started_at, 0, .doc = "When all had met"),
    FIELD(attempt_member, finished_at, 0, .doc = "When it ended"));
SCHEMA_EXTERN(attempt_view, "One execution of a job",
    FIELD_ID(attempt_view, attempt_id, "att", F_ALWAYS, .doc = "The attempt"), FIELD(attempt_view, fence, 0, .doc = "Its number"),
    FIELD_ID(attempt_view, node_id, "nod", F_ALWAYS, .doc = "Machine"),
    FIELD(attempt_view, state, F_ALWAYS, .doc = "Where it is"),
    FIELD(attempt_view, cause, 0, .doc = "Why it failed: machine, memory, timeout, program or output; empty: it did not"),
    FIELD(attempt_view, message, 0, .doc = "What happened"), FIELD_OPT(attempt_view, exit_code, 0, .doc = "Exit code"),
    FIELD_OPT(attempt_view, cpu_mj, 0, .doc = "Millijoules that its processors took; absent: not measured"),
    FIELD_OPT(attempt_view, gpu_mj, 0, .doc = "Millijoules that its GPUs took; absent: not measured"),
    FIELD(attempt_view, leased_at, F_ALWAYS, .doc = "When it was given to the machine"),
    FIELD(attempt_view, started_at, 0, .doc = "When it began"),
    FIELD(attempt_view, finished_at, 0, .doc = "When it ended"),
    FIELD(attempt_view, nodes, 0, .doc = "Machines that it ran on"),
    FIELD_LIST(attempt_view, members, &attempt_member_schema, F_NOCOL | F_NOEMPTY,
               .doc = "Its machines by rank; absent where there was one"));

static const struct stmt job_logs_stmt = { .name = "job_logs", .params = "uuii", .row = &job_log_line_schema, .card = CARD_MANY, .sql =
    "SELECT log_id, at, stream, fence, text FROM job_log WHERE tenant_id = $1 AND job_id = $2 AND log_id > $3 ORDER BY log_id LIMIT $4" };
/* Looks like an error: the one place that says so. A number behind "error" is a measurement ("error 0.12"), no failure. Most lines have none
 * of the words, which is seen four times as fast by looking for them than by a regular expression, whose automaton is made for each line. */
#define HAS_(word) "strpos(low, '" word "') > 0"
#define LOG_IS_ERROR                                                                                                                        \
    "(" HAS_("error") " OR " HAS_("exception") " OR " HAS_("fatal") " OR " HAS_("panic") " OR " HAS_("critical") " OR " HAS_("traceback")    \
    " OR " HAS_("oom") " OR " HAS_("killed") " OR " HAS_("segmentation fault") " OR " HAS_("out of memory") ") AND "                         \
    "text ~* '(error\\M(?![\\s=:]*[0-9]+\\.[0-9])|exception\\M|\\m(fatal|panic|critical|traceback|oom|killed)\\M|segmentation fault|out of memory)'"
/* Lines between $3 and $4 with the part $5, from the newer end when $6, errors alone when $7; as many as $8, and none more once $9 bytes
 * of text are passed. `low`: the line with the capitals of ASCII made small, which costs a fifth of lower() in a language; $5 is so, too.
 * When $10 the part has other letters, and then their capitals count, too. */
#define LOG_LINES                                                                                                                           \
    "FROM job_log, LATERAL (SELECT lower(text COLLATE \"C\") AS low OFFSET 0) s\n"                                                          \
    "      WHERE tenant_id = $1 AND job_id = $2 AND log_id > $3 AND log_id < $4 AND ($5::text IS NULL OR low LIKE $5 OR ($10 AND text ILIKE $5))\n" \
    "        AND (NOT $7 OR (" LOG_IS_ERROR "))"
static const struct stmt job_log_page_stmt = { .name = "job_log_page", .params = "uuiisbbiib", .row = &job_log_line_schema, .card = CARD_MANY, .sql =
    "SELECT log_id, at, stream, fence, text FROM (\n"
    "  SELECT log_id, at, stream, fence, text, sum(octet_length(text)) OVER (ORDER BY CASE WHEN $6 THEN -log_id ELSE log_id END)\n"
    "         - octet_length(text) AS bytes_before FROM (\n"
    "    (SELECT log_id, at, stream, fence, text " LOG_LINES " AND $6 ORDER BY log_id DESC LIMIT $8)\n"
    "    UNION ALL\n"
    "    (SELECT log_id, at, stream, fence, text " LOG_LINES " AND NOT $6 ORDER BY log_id LIMIT $8)) l) x\n"
    " WHERE bytes_before <= $9 ORDER BY log_id" };
struct line_count { int64_t lines; };
SCHEMA_OF(line_count, "Lines up to one", FIELD(line_count, lines, 0, .doc = "How many"));
static const struct stmt job_log_count_stmt = { .name = "job_log_count", .params = "uui", .row = &line_count_schema,
    .card = CARD_ONE, .sql = "SELECT count(*) AS lines FROM job_log WHERE tenant_id = $1 AND job_id = $2 AND log_id <= $3" };
static const struct stmt job_metrics_stmt = { .name = "job_metrics", .params = "uuii", .row = &job_metric_schema, .card = CARD_MANY, .sql =
    "SELECT metric_id, at, step, fence, values FROM job_metric\n"
    " WHERE tenant_id = $1 AND job_id = $2 AND metric_id > $3 ORDER BY metric_id LIMIT $4" };
static const struct stmt job_attempts_stmt = { .name = "job_attempts", .params = "uui", .row = &attempt_view_schema, .card = CARD_MANY, .sql =
    "SELECT attempt_id, fence, node_id, state, cause, message, exit_code, cpu_mj, gpu_mj, leased_at, started_at, finished_at,\n"
    "       nodes FROM attempt\n"
    " WHERE tenant_id = $1 AND job_id = $2 ORDER BY fence LIMIT $3" };

static const struct stmt job_members_stmt = { .name = "job_members", .params = "uUi", .row = &attempt_member_schema,
    .card = CARD_MANY, .sql =
    "SELECT attempt_id, rank, node_id, state, started_at, finished_at FROM attempt_member\n"
    " WHERE tenant_id = $1 AND attempt_id = ANY ($2) ORDER BY attempt_id, rank LIMIT $3" };

const struct stmt *const watch_stmts[] = { &job_logs_stmt, &job_log_page_stmt, &job_log_count_stmt, &job_metrics_stmt,
                                           &job_attempts_stmt, &job_members_stmt, NULL };

enum errc job_logs(struct work *w, struct uuid job_id, int64_t after, int64_t limit, struct slice *ret, struct err *e)
{
    return db_many(w->tx, &job_logs_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(job_id), A_I64(after), A_I64(limit)), ret, (size_t)limit, e);
}

/* As a pattern of LIKE in small letters, made once and not for every line. */
static struct str pattern_of(struct arena *a, struct str part, bool *ret_other_letters)
{
    *ret_other_letters = false;
    if (!part.ptr)
        return STR_NULL;
    char *p = arena_alloc(a, 2 * part.len + 3);
    size_t n = 0;
    p[n++] = '%';
    for (size_t i = 0; i < part.len; i++) {
        if (strchr("\\%_", part.ptr[i]))
            p[n++] = '\\';
        *ret_other_letters |= (unsigned char)part.ptr[i] >= 0x80;
        p[n++] = part.ptr[i] >= 'A' && part.ptr[i] <= 'Z' ? (char)(part.ptr[i] - 'A' + 'a') : part.ptr[i];
    }
    p[n++] = '%';
    return str_n(p, n);
}

/* The lines of a page follow each other, so the number of the first one gives all. */
static enum errc number_lines(struct work *w, struct uuid job_id, struct slice *page, struct err *e)
{
    struct job_log_line *l = page->items;
    struct line_count first;
    if (page->n == 0)
        return ERR_OK;
    TRY(db_one(w->tx, &job_log_count_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(job_id), A_I64(l[0].log_id)), &first, e));
    for (size_t i = 0; i < page->n; i++) {
        l[i].line = first.lines + (int64_t)i;
        l[i].has_line = true;
    }
    return ERR_OK;
}

enum errc job_log_page(struct work *w, struct uuid job_id, const struct job_log_ask *q, int64_t limit, struct slice *ret, struct err *e)
{
    bool other_letters;
    struct str pattern = pattern_of(w->arena, q->part, &other_letters);
    if (q->is_numbered && (q->part.ptr || q->errors_only))
        return FAIL(e, INVALID, "numbered counts all lines of a log: leave out q and errors, or numbered");
    TRY(db_many(w->tx, &job_log_page_stmt,
                ARGS(A_UUID(w->tenant_id), A_UUID(job_id), A_I64(q->after), A_I64(q->before ? q->before : INT64_MAX),
                     A_STR(pattern), A_BOOL(q->is_newest), A_BOOL(q->errors_only), A_I64(limit), A_I64(JOB_LOG_PAGE_BYTES),
                     A_BOOL(other_letters)),
                ret, (size_t)limit, e));
    return q->is_numbered ? number_lines(w, job_id, ret, e) : ERR_OK;
}

enum errc job_metrics(struct work *w, struct uuid job_id, int64_t after, int64_t limit, struct slice *ret, struct err *e)
{
    return db_many(w->tx, &job_metrics_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(job_id), A_I64(after), A_I64(limit)), ret, (size_t)limit, e);
}

/* Asked only where an attempt had several machines. */
static enum errc read_members(struct work *w, struct attempt_view *a, size_t n, struct err *e)
{
    struct uuid *ids = ARENA_ARRAY(w->arena, struct uuid, n + 1);
    struct slice rows = { 0 };
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        if (a[i].nodes > 1)
            ids[k++] = a[i].attempt_id;
    if (!k)
        return ERR_OK;
    TRY(db_many(w->tx, &job_members_stmt, ARGS(A_UUID(w->tenant_id), A_UUIDS(ids, k), A_I64((int64_t)k * GANG_NODES_MAX)), &rows,
                k * GANG_NODES_MAX, e));
    struct attempt_member *m = rows.items;
    for (size_t i = 0; i < n; i++)
        for (size_t at = 0; a[i].nodes > 1 && at < rows.n; at++)
            if (uuid_eq(m[at].attempt_id, a[i].attempt_id)) {
                a[i].members.items = a[i].members.n ? a[i].members.items : &m[at];
                a[i].members.n++;
            }
    return ERR_OK;
}

enum errc job_attempts(struct work *w, struct uuid job_id, int64_t limit, struct slice *ret, struct err *e)
{
    TRY(db_many(w->tx, &job_attempts_stmt, ARGS(A_UUID(w->tenant_id), A_UUID(job_id), A_I64(limit)), ret, (size_t)limit, e));
    return read_members(w, ret->items, ret->n, e);
}
