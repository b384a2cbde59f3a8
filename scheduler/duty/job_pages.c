/* SPDX-License-Identifier: Apache-2.0 */
/* job_pages.c - two statements; what a page says is job_page_of's (migrations/functions/). Of a page that is right,
 * finishing writes the row alone: names and ids are kept out of line and stay where they are. */
#include "scheduler/duty/job_pages.h"
#include "core/db/tx.h"
#include "scheduler/jobs/job_search.h"

static const struct stmt pages_make = { .name = "job_pages_make", .params = "uii", .card = CARD_NONE, .sql =
    "INSERT INTO job_page (tenant_id, after_id, last_id, jobs, names, ids, facets)\n"
    "SELECT d.tenant_id, d.after_id, d.last_id, f.jobs, f.names, f.ids, f.facets\n"
    "  FROM job_pages_due($1, $2, $3) d CROSS JOIN LATERAL job_page_of(d.tenant_id, d.after_id, d.last_id) f\n"
    " ON CONFLICT DO NOTHING" };
static const struct stmt pages_finish = { .name = "job_pages_finish", .params = "ui", .card = CARD_NONE, .sql =
    "UPDATE job_page p SET is_final = true, jobs = n.jobs,\n"
    "       names = CASE WHEN n.jobs = p.jobs THEN p.names\n"
    "               ELSE (SELECT f.names FROM job_page_of(p.tenant_id, p.after_id, p.last_id) f) END,\n"
    "       ids = CASE WHEN n.jobs = p.jobs THEN p.ids\n"
    "             ELSE (SELECT f.ids FROM job_page_of(p.tenant_id, p.after_id, p.last_id) f) END,\n"
    "       facets = CASE WHEN n.jobs = p.jobs THEN p.facets\n"
    "                ELSE (SELECT f.facets FROM job_page_of(p.tenant_id, p.after_id, p.last_id) f) END\n"
    "  FROM (SELECT o.tenant_id, o.last_id,\n"
    "               (SELECT count(*) FROM job j\n"
    "                 WHERE j.tenant_id = o.tenant_id AND j.job_id > o.after_id AND j.job_id <= o.last_id) AS jobs\n"
    "          FROM job_page o WHERE NOT o.is_final AND o.last_id < $1 ORDER BY o.last_id LIMIT $2) n\n"
    " WHERE p.tenant_id = n.tenant_id AND p.last_id = n.last_id" };

const struct stmt *const job_pages_stmts[] = { &pages_make, &pages_finish, NULL };

enum errc job_pages_pass(struct work *w, int64_t limit, int64_t *ret_made, struct err *e)
{
    TRY(db_exec(w->tx, &pages_finish, ARGS(A_UUID(job_id_at(w->now_us - JOB_PAGE_FINAL_US, false)), A_I64(limit)), NULL, e));
    return db_exec(w->tx, &pages_make, ARGS(A_UUID(job_id_at(w->now_us - JOB_PAGE_AFTER_US, false)), A_I64(JOB_PAGE),
                                            A_I64(limit)), ret_made, e);
}
