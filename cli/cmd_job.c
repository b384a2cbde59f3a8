/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_job.c - look at a job: follow its log and states, wait for its end, ask why it waits and when it may begin. */
#include "cli/client.h"
#include "cli/follow.h"
#include "cli/output.h"
#include "cli/rest.h"
#include "core/base/cleanup.h"

static int print_logs(struct cli *c, const char *job)
{
    int64_t after = 0, tail = 0;
    int bad = cli_flag_i64(c, "tail", 1, 1000, &tail);
    if (bad != CLI_OK)
        return bad;
    const char *part = cli_flag(c, "grep");
    const char *more = arena_printf(c->arena, "%s%s%s", cli_has(c, "errors") ? "&errors=true" : "", part ? "&q=" : "", part ? api_escape(c->arena, part) : "");
    for (;;) {
        struct api_reply r;
        const char *from = tail ? arena_printf(c->arena, "tail=%lld", (long long)tail) : arena_printf(c->arena, "page_size=1000&after=%lld", (long long)after);
        int rc = api_get(c, arena_printf(c->arena, "/v1/jobs/%s/logs?%s%s", job, from, more), &r);
        const struct jval *data = jval_get(r.json, "data");
        if (rc != CLI_OK || jval_len(data) == 0)
            return rc;
        if (c->format == OUT_JSON) {
            output_object(c, r.json, r.body, NULL);
        } else {
            for (size_t i = 0; i < jval_len(data); i++)
                follow_print_log(c->out, jval_at(data, i));
        }
        int64_t last = jval_i64(jval_get(jval_at(data, jval_len(data) - 1), "log_id"), after);
        if (last <= after || tail)
            return CLI_OK;
        after = last;
    }
}

static int with_job(struct cli *c, const char **job)
{
    return api_resolve(c, c->cmd->noun, c->args[0], job);
}

int cmd_job_logs(struct cli *c)
{
    const char *job;
    int rc = with_job(c, &job);
    if (rc != CLI_OK)
        return rc;
    if (!cli_has(c, "follow"))
        return print_logs(c, api_escape(c->arena, job));
    struct follow f = { .c = c, .job = job, .show = FOLLOW_LOGS };
    rc = follow_run(&f);
    return rc == CLI_JOB_FAILED ? CLI_OK : rc;
}

int cmd_job_events(struct cli *c)
{
    const char *job;
    if (!cli_has(c, "follow"))
        return run_rest(c);
    int rc = with_job(c, &job);
    if (rc != CLI_OK)
        return rc;
    struct follow f = { .c = c, .job = job, .show = FOLLOW_STATES | FOLLOW_METRICS };
    rc = follow_run(&f);
    return rc == CLI_JOB_FAILED ? CLI_OK : rc;
}

static void show_list(struct cli *c, const struct jval *rows, const char *columns)
{
    struct output o;
    if (!jval_len(rows))
        return;
    fputc('\n', c->out);
    output_begin(&o, c, columns);
    output_page(&o, rows);
    output_end(&o);
}

static bool is_for_people(const struct cli *c)
{
    return c->format == OUT_TABLE || c->format == OUT_WIDE;
}

/* The object, and for people a list that it holds as a table below it. */
static int show_with(struct cli *c, const char *path, const char *columns, const char *list, const char *list_columns)
{
    struct api_reply r;
    const int rc = api_get(c, path, &r);
    if (rc != CLI_OK)
        return rc;
    output_row(c, r.json, r.body, columns);
    if (is_for_people(c))
        show_list(c, jval_get(r.json, list), list_columns);
    return CLI_OK;
}

int cmd_job_why(struct cli *c)
{
    const char *job;
    const int rc = with_job(c, &job);
    if (rc != CLI_OK)
        return rc;
    return show_with(c, arena_printf(c->arena, "/v1/jobs/%s/placement", api_escape(c->arena, job)), c->cmd->columns,
                     "constraints", "constraint:CONSTRAINT machines:MACHINES detail:DETAIL");
}

#define CLOCK_COLUMNS "at:START ends_at:END basis:BASIS name:NAME slots:SLOTS gpus:GPUS zone:ZONE "

/* For people three tables: what runs, what will start, and what will not within that time. */
static int show_clock(struct cli *c, int64_t hours)
{
    struct api_reply r;
    const int rc = api_get(c, arena_printf(c->arena, "/v1/queue/clock?hours=%ld", (long)hours), &r);
    if (rc != CLI_OK)
        return rc;
    if (!is_for_people(c)) {
        output_object(c, r.json, r.body, CLOCK_COLUMNS);
        return CLI_OK;
    }
    fprintf(c->out, "RUNNING %zu, WILL START %zu, LATE %zu\n", jval_len(jval_get(r.json, "running")),
            jval_len(jval_get(r.json, "starts")), jval_len(jval_get(r.json, "late")));
    show_list(c, jval_get(r.json, "running"), CLOCK_COLUMNS "+job_id:ID");
    show_list(c, jval_get(r.json, "starts"), CLOCK_COLUMNS "after:AFTER after_job_id:JOB +job_id:ID +detail:DETAIL");
    show_list(c, jval_get(r.json, "late"), "name:NAME slots:SLOTS gpus:GPUS reason:REASON detail:DETAIL +job_id:ID");
    return CLI_OK;
}

int cmd_job_clock(struct cli *c)
{
    const char *job;
    int64_t hours = 24;
    int rc = cli_flag_i64(c, "hours", 1, 336, &hours);
    if (rc == CLI_OK && !c->nargs)
        return show_clock(c, hours);
    if (rc == CLI_OK)
        rc = with_job(c, &job);
    if (rc != CLI_OK)
        return rc;
    return show_with(c, arena_printf(c->arena, "/v1/jobs/%s/clock?hours=%ld", api_escape(c->arena, job), (long)hours),
                     "state:STATE start.at:START reason:REASON detail:DETAIL +is_partial:PARTIAL", "changes",
                     "change:CHANGE from:FROM to:TO zone:ZONE pool:POOL flavor:FLAVOR");
}

/* An object of figures, and for people its rows below it. */
static void show_part(struct cli *c, const struct jval *part, const char *columns, const char *row_columns)
{
    CLEANUP(buf_releasep) struct buf raw = BUF(1 << 20);
    (void)jval_encode(part, false, &raw);           /* of an answer that was read whole */
    output_row(c, part, buf_str(&raw), columns);
    if (is_for_people(c))
        show_list(c, jval_get(part, "rows"), row_columns);
}

/* For programs one document: {"profile": …, "tuning": …}. A profile alone is that object, as it was before there was tuning. */
static void show_both(struct cli *c, const struct jval *profile, const struct jval *tuning)
{
    CLEANUP(buf_releasep) struct buf raw = BUF(1 << 20);
    const struct jval *both = NULL;
    struct err ignored;
    buf_add_c(&raw, "{\"profile\":");
    (void)jval_encode(profile, false, &raw);
    buf_add_c(&raw, ",\"tuning\":");
    (void)jval_encode(tuning, false, &raw);
    buf_add_char(&raw, '}');
    if (jval_parse(c->arena, str_dup(c->arena, buf_str(&raw)), 0, &both, &ignored) == ERR_OK)
        output_object(c, both, buf_str(&raw), "profile.ms:MS tuning.ms_before:MS-BEFORE tuning.ms_after:MS-AFTER");
}

int cmd_job_report(struct cli *c)
{
    const char *job;
    struct api_reply r;
    int rc = with_job(c, &job);
    if (rc == CLI_OK)
        rc = api_get(c, arena_printf(c->arena, "/v1/jobs/%s", api_escape(c->arena, job)), &r);
    if (rc != CLI_OK)
        return rc;
    const struct jval *result = jval_get(r.json, "result"), *profile = jval_get(result, "profile");
    const struct jval *tuning = jval_get(result, "tuning");
    if (!profile && !tuning)
        return cli_fail(c, CLI_FAILED, "--profile-steps 20 or --tune-steps 20 of falaj job submit asks for one; it comes with "
                        "the result", "the job %s has no profile and was not tuned", c->args[0]);
    if (profile && tuning && !is_for_people(c)) {
        show_both(c, profile, tuning);
        return CLI_OK;
    }
    if (profile)
        show_part(c, profile, "steps:STEPS ms:MS data_wait:DATA-WAIT peak_gflops:PEAK-GFLOP/S peak_gbytes:PEAK-GB/S",
                  c->cmd->columns);
    if (tuning)
        show_part(c, tuning, "steps:STEPS seconds:SECONDS ms_before:MS-BEFORE ms_after:MS-AFTER bits_kept:SAME-BITS",
                  "setting:SETTING value:VALUE ms:MS gain:GAIN chosen:CHOSEN why:WHY");
    return CLI_OK;
}

int cmd_queue_share(struct cli *c)
{
    const char *queue;
    const int rc = with_job(c, &queue);
    if (rc != CLI_OK)
        return rc;
    return show_with(c, arena_printf(c->arena, "/v1/queues/%s/share", api_escape(c->arena, queue)), c->cmd->columns, "parts",
                     "resource:RESOURCE flavor:FLAVOR zone:ZONE nominal:NOMINAL used:USED borrowed:BORROWED lent:LENT "
                     "fair:FAIR waiting:WAITING weight:WEIGHT moved_weight:MOVED");
}

int cmd_job_wait(struct cli *c)
{
    const char *job;
    int64_t timeout_s = 0;
    int rc = cli_flag_i64(c, "timeout", 1, 10000000, &timeout_s);
    if (rc == CLI_OK)
        rc = with_job(c, &job);
    if (rc != CLI_OK)
        return rc;
    struct follow f = { .c = c, .job = job, .timeout_s = timeout_s };
    rc = follow_run(&f);
    if (rc != CLI_OK && rc != CLI_JOB_FAILED)
        return rc;
    struct api_reply r;
    int got = api_get(c, arena_printf(c->arena, "/v1/jobs/%s", api_escape(c->arena, job)), &r);
    if (got != CLI_OK)
        return got;
    output_object(c, r.json, r.body, "job_id:ID state:STATE");
    if (rc == CLI_JOB_FAILED)
        return cli_fail(c, rc, arena_printf(c->arena, "falaj job logs %s", job), "the job ended as %s", f.state);
    return CLI_OK;
}
