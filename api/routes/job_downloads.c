/* SPDX-License-Identifier: Apache-2.0 */
/* job_downloads.c - routes that give a whole log, or all jobs of a list, as a file: page after page, each in a transaction of its own. */
#include "api/download.h"
#include "api/jobs_int.h"
#include "api/route.h"
#include "core/base/cleanup.h"
#include "core/db/run_tx.h"
#include "scheduler/jobs/watch.h"
#include "tenants/accounts/usage.h"

enum { LINES = 1000, JOBS = 500, PAGE_ARENA = 64 << 20, PAGE_BYTES = 8 << 20 };

struct job_ref { struct uuid job_id; };
SCHEMA_OF(job_ref, "Which job", FIELD_ID(job_ref, job_id, "job", F_PATH, .doc = "The job"));
struct job_csv_in { struct job_filter filter; };
SCHEMA_OF(job_csv_in, "Which jobs", JOB_STATE_FIELDS(job_csv_in), JOB_FILTER_FIELDS(job_csv_in));

/* Where a download stands, and how its next page is read and written. */
struct pages {
    const void *in;
    int64_t after;                      /* log_id */
    struct uuid position;               /* job_id */
    enum errc (*read)(struct work *w, struct pages *p, struct slice *ret, struct err *e);
    /* Writes the rows and moves on; false: they were the last. */
    bool (*write)(struct pages *p, struct slice rows, struct buf *out);
};

static enum errc read_page(struct work *w, struct pages *p, struct slice *ret, struct err *e)
{
    *ret = (struct slice){ 0 };
    return RUN_READ(w, p->read(w, p, ret, e), e);
}

static enum errc send_pages(struct download *d, struct pages *p, struct slice rows, struct err *e)
{
    struct work w = d->call->work;
    CLEANUP(buf_releasep) struct buf b = BUF(PAGE_BYTES);
    CLEANUP(arena_freep) struct arena *a = arena_new(PAGE_ARENA);
    w.arena = a;
    for (bool more = true; more;) {
        buf_clear(&b);
        more = p->write(p, rows, &b);
        if (b.overflow)
            return FAIL(e, LIMIT, "A page is larger than %d bytes", PAGE_BYTES);
        if (!download_send(d, buf_str(&b)))
            return FAIL(e, DEADLINE, "The client closed the connection or reads too slowly");
        arena_reset(a);
        if (more)
            TRY(read_page(&w, p, &rows, e));
    }
    return ERR_OK;
}

/* The first page is read before the answer begins, so that what is not there is an answer of its own. */
static enum errc download(struct call *c, struct pages *p, struct str content_type, struct str file, struct str head, struct err *e)
{
    struct slice rows;
    struct download d;
    TRY(read_page(&c->work, p, &rows, e));
    TRY(download_begin(&d, c, content_type, file, e));
    enum errc rc = download_send(&d, head) ? send_pages(&d, p, rows, e) : FAIL(e, DEADLINE, "The client closed the connection");
    download_end(&d, rc, e);
    return ERR_OK;
}

static enum errc read_lines(struct work *w, struct pages *p, struct slice *ret, struct err *e)
{
    struct job job;
    struct uuid id = ((const struct job_ref *)p->in)->job_id;
    if (!p->after)
        TRY(job_get(w, id, &job, e));
    return job_log_page(w, id, &(struct job_log_ask){ .after = p->after }, LINES, ret, e);
}

static bool write_lines(struct pages *p, struct slice rows, struct buf *out)
{
    const struct job_log_line *l = rows.items;
    for (size_t i = 0; i < rows.n; i++) {
        buf_add_str(out, l[i].text);
        if (!l[i].text.len || l[i].text.ptr[l[i].text.len - 1] != '\n')
            buf_add_char(out, '\n');
        p->after = l[i].log_id;
    }
    return rows.n > 0;
}

static enum errc log_text(struct call *c, struct err *e)
{
    struct pages p = { .in = c->in, .read = read_lines, .write = write_lines };
    struct str id = id_text(c->work.arena, "job", ((const struct job_ref *)c->in)->job_id);
    return download(c, &p, STR("text/plain; charset=utf-8"), str_fmt(c->work.arena, "%.*s.log", STR_ARG(id)), STR(""), e);
}

static enum errc read_jobs(struct work *w, struct pages *p, struct slice *ret, struct err *e)
{
    return job_list(w, &((const struct job_csv_in *)p->in)->filter, p->position, JOBS, ret, e);
}

static void add_id(struct buf *out, const char *prefix, struct uuid id)
{
    buf_add_char(out, ',');
    if (!uuid_is_nil(id))
        buf_add_id(out, prefix, id);
}

static void add_time(struct buf *out, struct timestamp t)
{
    char text[TIME_TEXT];
    buf_add_char(out, ',');
    if (!t.us)
        return;
    time_text(t.us, text);
    buf_add_c(out, text);
}

static const char csv_head[] = "\xef\xbb\xbf" "job_id,name,kind,state,group,reason,message,zone,pool,queue,data_class,slots,gpus,priority,created_by,project_id,"
                               "submitted_at,started_at,finished_at\r\n";

static bool write_jobs(struct pages *p, struct slice rows, struct buf *out)
{
    const struct job *jobs = rows.items;
    for (size_t i = 0; i < rows.n; i++) {
        const struct job *j = &jobs[i];
        const struct str words[] = { j->name, str_c(job_kind_names[j->kind]), str_c(job_state_names[j->state]),
                                     str_c(job_group_names[job_state_group((enum job_state)j->state)]), j->reason, j->message, j->zone, j->pool,
                                     j->queue, j->data_class };
        buf_add_id(out, "job", j->job_id);
        for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
            buf_add_char(out, ',');
            csv_cell(out, words[k]);
        }
        buf_printf(out, ",%ld,%ld,%ld", (long)j->slots, (long)j->gpus, (long)j->priority);
        add_id(out, "usr", j->created_by);
        add_id(out, "prj", j->project_id);
        add_time(out, j->submitted_at);
        add_time(out, j->started_at);
        add_time(out, j->finished_at);
        buf_add_c(out, "\r\n");
        p->position = j->job_id;
    }
    return rows.n == JOBS;
}

static enum errc jobs_csv(struct call *c, struct err *e)
{
    struct pages p = { .in = c->in, .read = read_jobs, .write = write_jobs };
    return download(c, &p, STR("text/csv; charset=utf-8"), STR("jobs.csv"), str_c(csv_head), e);
}

static const struct route rows[] = {
    { .method = HTTP_GET, .path = "/v1/jobs.csv", .lane = LANE_PACED,
      .op = "job_csv", .perm = PERM_JOB_READ, .raw = jobs_csv, .in = &job_csv_in_schema, .status = 200,
      .content_type = "text/csv; charset=utf-8", .doc = "Every job of a list as CSV for spreadsheets, newest first" },
    { .method = HTTP_GET, .path = "/v1/jobs/{job_id}/log.txt", .lane = LANE_PACED,
      .op = "job_log_text", .perm = PERM_JOB_READ, .raw = log_text, .in = &job_ref_schema,
      .status = 200, .content_type = "text/plain; charset=utf-8", .resource = "job", .doc = "The whole log of a job as text, as far as it has come" },
};
extern const struct route_table job_download_routes;
ROUTE_TABLE(job_download_routes, rows);
