/* SPDX-License-Identifier: Apache-2.0 */
/* type_noop.c - a job that does nothing: the agent itself answers it, at once or when its time has passed. */
#include "core/json/decode.h"
#include "core/wire/type_noop.h"
#include "workers/agent/book.h"
#include "workers/agent/timers.h"
#include "workers/lease/work_type.h"

static void take(struct book *b, struct timers *t, struct arena *a, const struct lease_grant *g)
{
    struct noop_job job = { 0 };
    struct err e = { 0 };
    if (g->spec.text.len > 2 && json_decode(&noop_job_schema, g->spec.text, a, &job, &e) != ERR_OK)
        return book_add_done(b, g, false, str_c(e.msg));
    if (job.sleep_ms <= 0)
        return book_add_done(b, g, job.fail.len == 0, job.fail);
    struct held *h = book_add(b, g, false);
    held_start(h, STR_NULL);
    timers_add(t, h, job.sleep_ms, job.fail.len == 0, job.fail);
}

const struct work_type work_type_noop = { .take = take };
