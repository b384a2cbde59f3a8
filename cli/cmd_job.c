/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_job.c - submit a job, follow its log and states, wait for its end. */
#include "cli/client.h"
#include "cli/follow.h"
#include "cli/output.h"
#include "cli/rest.h"
#include "cli/spec_flags.h"
#include "core/base/cleanup.h"
#include "core/wire/job_type.h"

enum { REQUEST_MAX = 1 << 20 };

/* --spec as it is, once it is known to be an object. */
static int whole_spec(struct cli *c, struct buf *b)
{
    struct err e = { 0 };
    const struct jval *v;
    const char *text = cli_flag(c, "spec");
    struct str spec = str_c(text);
    if (text[0] == '@' && cli_read_file(c->arena, text + 1, REQUEST_MAX, &spec, &e) != ERR_OK)
        return cli_fail_err(c, &e, NULL);
    if (jval_parse(c->arena, spec, 0, &v, &e) != ERR_OK || jval_type(v) != JT_OBJECT)
        return cli_fail(c, CLI_USAGE, "--spec '{\"dataset_id\":\"dst_…\",\"epochs\":40}', or --spec @FILE", "--spec takes a JSON object%s%s", e.msg[0] ? ": " : "", e.msg);
    buf_add_str(b, spec);
    return CLI_OK;
}

/* "afterok:JOB:JOB,after:JOB", as sbatch takes it, into a list of the request. */
static int add_dependencies(struct cli *c, const char *text, struct buf *b)
{
    struct str rest = str_c(text), group, type, id;
    bool is_first = true;
    buf_add_c(b, "\"dependencies\":[");
    for (bool more = rest.len > 0; more;) {
        more = str_cut(rest, ',', &group, &rest);
        bool has_id = str_cut(group, ':', &type, &group);
        if (!has_id || !group.len)
            return cli_fail(c, CLI_USAGE, "afterok:JOB[:JOB],after:JOB", "the dependency %.*s names no job", STR_ARG(type));
        while (has_id) {
            has_id = str_cut(group, ':', &id, &group);
            buf_add_c(b, is_first ? "{\"type\":" : ",{\"type\":");
            buf_add_json(b, type);
            buf_add_c(b, ",\"job_id\":");
            buf_add_json(b, id);
            buf_add_char(b, '}');
            is_first = false;
        }
    }
    buf_add_char(b, ']');
    return CLI_OK;
}

/* --retry CAUSE,CAUSE with its numbers, as a member of the request; nothing without it. */
static int add_retry(struct cli *c, struct buf *b)
{
    struct str body;
    if (!cli_has(c, "retry"))
        return cli_has(c, "retry-max") || cli_has(c, "retry-backoff")
                   ? cli_fail(c, CLI_USAGE, "--retry memory,timeout --retry-max 3", "--retry says which failures are tried again")
                   : CLI_OK;
    int rc = rest_body(c, "*on=retry #max=retry-max #backoff_s=retry-backoff", &body);
    if (rc != CLI_OK)
        return rc;
    buf_add_c(b, ",\"retry\":");
    buf_add_str(b, body);
    return CLI_OK;
}

static int build_request(struct cli *c, struct str *ret)
{
    struct err e = { 0 };
    const char *file = cli_flag(c, "file"), *kind = cli_flag(c, "kind") ? cli_flag(c, "kind") : job_types[JOB_KIND_USUAL].name;
    if (file)
        return cli_read_file(c->arena, file, REQUEST_MAX, ret, &e) == ERR_OK ? CLI_OK : cli_fail_err(c, &e, NULL);
    CLEANUP(buf_releasep) struct buf b = BUF(REQUEST_MAX);
    struct str common;
    int rc = rest_body(c, "zone=zone pool=pool #slots=slots #gpus=gpus #cpu_milli=cpu-milli #memory_bytes=memory-bytes #gpu_milli=gpu-milli gpu_models=gpu-models class=class begin_at=begin deadline_at=deadline ?force_queue=force-queue #priority=priority #max_attempts=max-attempts #max_runtime_seconds=max-runtime", &common);
    if (rc != CLI_OK)
        return rc;
    buf_add_c(&b, "{\"name\":");
    buf_add_json(&b, str_c(c->nargs ? c->args[0] : kind));
    buf_printf(&b, ",\"kind\":\"%s\",\"spec\":", kind);
    if (cli_has(c, "spec"))
        rc = whole_spec(c, &b);
    else
        rc = spec_from_flags(c, kind, &b);
    if (rc == CLI_OK && cli_has(c, "dependency")) {
        buf_add_char(&b, ',');
        rc = add_dependencies(c, cli_flag(c, "dependency"), &b);
    }
    if (rc == CLI_OK)
        rc = add_retry(c, &b);
    if (common.len > 2) {
        buf_add_char(&b, ',');
        buf_add_str(&b, str_n(common.ptr + 1, common.len - 1));
    } else {
        buf_add_char(&b, '}');
    }
    *ret = str_dup(c->arena, buf_str(&b));
    return rc;
}

static int wait_with_log(struct cli *c, const char *job)
{
    cli_note(c, "Following the log; Ctrl-C stops following, not the job.");
    struct follow f = { .c = c, .job = job, .show = FOLLOW_LOGS | FOLLOW_STATES };
    return follow_run(&f);
}

/* A refusal is an answer here: it is printed, and the exit status tells. */
static int dry_run(struct cli *c)
{
    struct api_req q = { .method = "POST", .path = "/v1/jobs:check" };
    struct api_reply r;
    int rc = build_request(c, &q.body);
    if (rc == CLI_OK)
        rc = api_do(c, &q, &r);
    if (rc != CLI_OK)
        return rc;
    output_object(c, r.json, r.body, "verdict:VERDICT detail:DETAIL ahead:AHEAD estimate:ESTIMATE nearest.lacks:NEAREST "
                  "+constraints:CONSTRAINTS +zones:ZONES +quotas:QUOTAS");
    struct str verdict = jval_str(jval_get(r.json, "verdict")), detail = jval_str(jval_get(r.json, "detail"));
    return str_eq_c(verdict, "ok") ? CLI_OK : cli_fail(c, CLI_JOB_FAILED, NULL, "it would be refused: %.*s", STR_ARG(detail));
}

int cmd_job_submit(struct cli *c)
{
    struct api_req q = { .method = "POST", .path = "/v1/jobs" };
    struct api_reply r;
    if (cli_has(c, "dry-run"))
        return dry_run(c);
    int rc = build_request(c, &q.body);
    if (rc == CLI_OK)
        rc = api_do(c, &q, &r);
    if (rc != CLI_OK)
        return rc;
    output_object(c, r.json, r.body, c->cmd->columns);
    fflush(c->out);
    struct str id = jval_str(jval_get(r.json, "job_id"));
    return cli_has(c, "wait") && id.len ? wait_with_log(c, id.ptr) : CLI_OK;
}

/* A file of requests as the body of a batch: {"jobs": […]} as it is, a list or one request to a line put into it. */
static int batch_body(struct cli *c, struct buf *b)
{
    struct err e = { 0 };
    struct str text, line;
    const struct jval *v;
    if (cli_read_file(c->arena, c->args[0], REQUEST_MAX, &text, &e) != ERR_OK)
        return cli_fail_err(c, &e, "a request has at most 1 MiB: submit the file in parts");
    enum errc whole = jval_parse(c->arena, text, 0, &v, &e);
    if (whole == ERR_OK && jval_type(jval_get(v, "jobs")) == JT_ARRAY) {
        buf_add_str(b, text);
        return CLI_OK;
    }
    buf_add_c(b, "{\"jobs\":");
    if (whole == ERR_OK && jval_type(v) == JT_ARRAY) {
        buf_add_str(b, text);
        buf_add_char(b, '}');
        return CLI_OK;
    }
    buf_add_char(b, '[');
    int number = 0, count = 0;
    for (bool more = true; more;) {
        more = str_cut(text, '\n', &line, &text);
        number++;
        if (!str_trim(line).len)
            continue;
        if (jval_parse(c->arena, line, 0, &v, &e) != ERR_OK || jval_type(v) != JT_OBJECT)
            return cli_fail(c, CLI_USAGE, "a JSON array of requests, {\"jobs\": [...]}, or one request to a line",
                "%s:%d is no request as JSON%s%s",
                            c->args[0], number, e.msg[0] ? ": " : "", e.msg);
        buf_add_c(b, count++ ? "," : "");
        buf_add_str(b, line);
    }
    buf_add_c(b, "]}");
    return count ? CLI_OK : cli_fail(c, CLI_USAGE, NULL, "%s holds no request", c->args[0]);
}

int cmd_job_batch(struct cli *c)
{
    CLEANUP(buf_releasep) struct buf b = BUF(2 * REQUEST_MAX);
    struct api_reply r;
    int rc = batch_body(c, &b);
    if (rc == CLI_OK)
        rc = api_do(c, &(struct api_req){ .method = c->cmd->method, .path = c->cmd->path, .body = buf_str(&b) }, &r);
    if (rc != CLI_OK)
        return rc;
    const struct jval *data = jval_get(r.json, "data");
    size_t refused = 0;
    for (size_t i = 0; i < jval_len(data); i++)
        refused += !jval_str(jval_get(jval_at(data, i), "job_id")).len;
    if (c->format == OUT_JSON) {
        output_object(c, r.json, r.body, NULL);
    } else {
        struct output o;
        output_begin(&o, c, c->cmd->columns);
        output_page(&o, data);
        output_end(&o);
    }
    return refused ? cli_fail(c, CLI_FAILED, NULL, "%zu of %zu jobs were refused", refused, jval_len(data)) : CLI_OK;
}

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
                follow_print_log(c, jval_at(data, i));
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

int cmd_job_depend(struct cli *c)
{
    CLEANUP(buf_releasep) struct buf b = BUF(REQUEST_MAX);
    const char *job;
    struct api_req q = { .method = c->cmd->method };
    struct api_reply r;
    int rc = with_job(c, &job);
    buf_add_char(&b, '{');
    if (rc == CLI_OK)
        rc = add_dependencies(c, c->nargs > 1 ? c->args[1] : "", &b);
    buf_add_char(&b, '}');
    if (rc != CLI_OK)
        return rc;
    q.path = arena_printf(c->arena, "/v1/jobs/%s/dependencies", api_escape(c->arena, job));
    q.body = buf_str(&b);
    rc = api_do(c, &q, &r);
    if (rc != CLI_OK)
        return rc;
    output_list(c, r.json, r.body, c->cmd->columns);
    return CLI_OK;
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
    output_object(c, r.json, r.body, columns);
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
                     "state:STATE start.at:START", "changes", "change:CHANGE from:FROM to:TO zone:ZONE pool:POOL flavor:FLAVOR");
}

/* The figures of the whole step, and for people the operations as a table below them. */
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
    if (!profile)
        return cli_fail(c, CLI_FAILED, "--profile-steps 20 of falaj job submit asks for one; it comes with the result",
                        "the job %s has no profile", c->args[0]);
    CLEANUP(buf_releasep) struct buf raw = BUF(1 << 20);
    (void)jval_encode(profile, false, &raw);        /* of an answer that was read whole */
    output_object(c, profile, buf_str(&raw),
                  "steps:STEPS ms:MS data_wait:DATA-WAIT peak_gflops:PEAK-GFLOP/S peak_gbytes:PEAK-GB/S");
    if (is_for_people(c))
        show_list(c, jval_get(profile, "rows"), c->cmd->columns);
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
