/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_submit.c - submit a job, or many from a file: the request out of flags, files and their small languages; and on whom it waits. */
#include "cli/client.h"
#include "cli/follow.h"
#include "cli/output.h"
#include "cli/rest.h"
#include "cli/spec_flags.h"
#include "cli/table_array.h"
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
        return cli_fail(c, CLI_USAGE, "--spec '{\"dataset_id\":\"dst_…\",\"epochs\":40}', or --spec @FILE",
                        "--spec takes a JSON object%s%s", e.msg[0] ? ": " : "", e.msg);
    buf_add_str(b, spec);
    return CLI_OK;
}

/* "afterok:JOB:JOB,after:ARRAY", as sbatch takes it, into a list of the request. A job is an id or a name, an array an id. */
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
            bool is_array = str_starts(id, "arr_");
            const char *text_id = str_z(c->arena, id);
            int rc = is_array ? CLI_OK : api_resolve(c, noun_by_id(STR("job_id")), text_id, &text_id);
            if (rc != CLI_OK)
                return rc;
            buf_add_c(b, is_first ? "{\"type\":" : ",{\"type\":");
            buf_add_json(b, type);
            buf_add_c(b, is_array ? ",\"array_id\":" : ",\"job_id\":");
            buf_add_json(b, str_c(text_id));
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

/* --nodes N or --nodes MIN-MAX, as a member of the request. */
static int add_nodes(struct cli *c, struct buf *b)
{
    struct str body, min, max;
    if (!cli_has(c, "nodes"))
        return CLI_OK;
    if (str_cut(str_c(cli_flag(c, "nodes")), '-', &min, &max)) {
        int64_t least, most;
        if (!str_to_i64(min, 0, INT32_MAX, &least) || !str_to_i64(max, 0, INT32_MAX, &most))
            return cli_fail(c, CLI_USAGE, "--nodes 2, or --nodes 1-4", "--nodes is a number or a range, not %s",
                            cli_flag(c, "nodes"));
        buf_printf(b, ",\"nodes\":{\"min\":%ld,\"max\":%ld}", (long)least, (long)most);
        return CLI_OK;
    }
    int rc = rest_body(c, "#min=nodes #max=nodes", &body);
    if (rc != CLI_OK)
        return rc;
    buf_add_c(b, ",\"nodes\":");
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
    int rc = rest_body(c, "zone=zone pool=pool #slots=slots #gpus=gpus #cpu_milli=cpu-milli #memory_bytes=memory-bytes "
                          "#gpu_milli=gpu-milli gpu_models=gpu-models class=class begin_at=begin deadline_at=deadline "
                          "?force_queue=force-queue #priority=priority #max_attempts=max-attempts "
                          "#max_runtime_seconds=max-runtime", &common);
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
    if (rc == CLI_OK)
        rc = add_nodes(c, &b);
    if (common.len > 2) {
        buf_add_char(&b, ',');
        buf_add_str(&b, str_n(common.ptr + 1, common.len - 1));
    } else {
        buf_add_char(&b, '}');
    }
    *ret = str_dup(c->arena, buf_str(&b));
    return rc;
}

/* People see the job as it was taken, then its log. A program that asked for data gets the job as it ended and nothing else
 * on standard output; as it was taken where its end was not seen, so that its id is never lost. */
static int wait_with_log(struct cli *c, const char *job, const struct api_reply *taken)
{
    bool is_for_people = c->format == OUT_TABLE || c->format == OUT_WIDE, is_at_once = is_for_people || c->format == OUT_NAME;
    struct api_reply shown;
    if (is_at_once) {
        output_object(c, taken->json, taken->body, c->cmd->columns);
        fflush(c->out);
    }
    cli_note(c, "Following %s; Ctrl-C stops following, not the job.", job);
    struct follow f = { .c = c, .job = job, .show = FOLLOW_LOGS | FOLLOW_STATES, .logs = is_for_people ? c->out : c->err };
    int rc = follow_run(&f);
    if (is_at_once)
        return rc;
    bool has_ended = rc == CLI_OK || rc == CLI_JOB_FAILED;
    const char *path = arena_printf(c->arena, "/v1/jobs/%s", api_escape(c->arena, job));
    if (!has_ended || api_get(c, path, &shown) != CLI_OK)
        shown = *taken;
    output_object(c, shown.json, shown.body, c->cmd->columns);
    return rc;
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

static int submit_array(struct cli *c)
{
    CLEANUP(buf_releasep) struct buf b = BUF(REQUEST_MAX + 1024);
    struct api_req q = { .method = "POST", .path = "/v1/arrays" };
    struct api_reply r;
    struct str job;
    int rc = cli_has(c, "wait") ? cli_fail(c, CLI_USAGE, "falaj array get ARRAY", "--wait follows one job, and an array is many")
                                : build_request(c, &job);
    if (rc != CLI_OK)
        return rc;
    buf_add_c(&b, "{\"array\":");
    buf_add_json(&b, str_c(cli_flag(c, "array")));
    buf_add_c(&b, ",\"job\":");
    buf_add_str(&b, job);
    buf_add_char(&b, '}');
    q.body = buf_str(&b);
    rc = api_do(c, &q, &r);
    if (rc == CLI_OK)
        output_object(c, r.json, r.body, ARRAY_COLUMNS);
    return rc;
}

int cmd_job_submit(struct cli *c)
{
    struct api_req q = { .method = "POST", .path = "/v1/jobs" };
    struct api_reply r;
    if (cli_has(c, "dry-run"))
        return dry_run(c);
    if (cli_has(c, "array"))
        return submit_array(c);
    int rc = build_request(c, &q.body);
    if (rc == CLI_OK)
        rc = api_do(c, &q, &r);
    if (rc != CLI_OK)
        return rc;
    struct str id = jval_str(jval_get(r.json, "job_id"));
    if (cli_has(c, "wait") && id.len)
        return wait_with_log(c, id.ptr, &r);
    output_object(c, r.json, r.body, c->cmd->columns);
    return CLI_OK;
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

int cmd_job_depend(struct cli *c)
{
    CLEANUP(buf_releasep) struct buf b = BUF(REQUEST_MAX);
    const char *job;
    struct api_req q = { .method = c->cmd->method };
    struct api_reply r;
    int rc = api_resolve(c, c->cmd->noun, c->args[0], &job);
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
