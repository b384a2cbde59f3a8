/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_call.c - calls that fit no row of the table alone: any API call, quotas of another tenant, and questions to a model. */
#include <time.h>
#include "cli/infer_row.h"
#include "cli/client.h"
#include "cli/output.h"
#include "cli/rest.h"
#include "core/base/cleanup.h"

enum { REQUEST_MAX = 64 << 20, READY_S = 120, POLL_MS = 200 };

int cmd_api(struct cli *c)
{
    static const char *const methods[] = { "GET", "POST", "PUT", "PATCH", "DELETE", NULL };
    struct err e = { 0 };
    const char *data = cli_flag(c, "data"), *method = NULL;
    for (int i = 0; methods[i]; i++) {
        if (strcasecmp(methods[i], c->args[0]) == 0)
            method = methods[i];
    }
    if (!method || c->args[1][0] != '/')
        return cli_fail(c, CLI_USAGE, "falaj api GET /v1/jobs", "a call is a method (GET POST PUT PATCH DELETE) and a path that starts with /");
    struct api_req q = { .method = method, .path = c->args[1], .content_type = cli_flag(c, "type"), .accept = "*/*" };
    if (data && data[0] == '@') {
        if (cli_read_file(c->arena, data + 1, REQUEST_MAX, &q.body, &e) != ERR_OK)
            return cli_fail_err(c, &e, NULL);
    } else if (data) {
        q.body = str_c(data);
    }
    struct api_reply r;
    int rc = api_do(c, &q, &r);
    if (rc == CLI_OK && r.json && c->format != OUT_TABLE)
        output_object(c, r.json, r.body, NULL);
    else if (rc == CLI_OK && r.body.len)
        fprintf(c->out, "%.*s%s", STR_ARG(r.body), r.body.ptr[r.body.len - 1] == '\n' ? "" : "\n");
    return rc;
}

/* An object as JSON, or one list of it in every other form. */
static void print_list_of(struct cli *c, const struct api_reply *r, const struct jval *items)
{
    if (c->format == OUT_JSON) {
        output_object(c, r->json, r->body, c->cmd->columns);
        return;
    }
    struct output o;
    output_begin(&o, c, c->cmd->columns);
    output_page(&o, items);
    output_end(&o);
}

int cmd_job_counts(struct cli *c)
{
    struct api_reply r;
    const char *path;
    int rc = rest_path(c, &path);
    if (rc == CLI_OK)
        rc = api_get(c, path, &r);
    if (rc == CLI_OK)
        print_list_of(c, &r, jval_get(r.json, "states"));
    return rc;
}

int cmd_system_health(struct cli *c)
{
    struct api_reply r;
    int rc = api_get(c, c->cmd->path, &r);
    if (rc != CLI_OK)
        return rc;
    const struct jval *parts = jval_get(r.json, "components");
    print_list_of(c, &r, parts);
    for (size_t i = 0; i < jval_len(parts); i++)
        if (str_eq_c(jval_str(jval_get(jval_at(parts, i), "state")), "down"))
            rc = CLI_FAILED;
    return rc;
}

int cmd_quota_list(struct cli *c)
{
    const char *tenant = cli_flag(c, "tenant"), *path = "/v1/quotas";
    if (tenant) {
        int rc = api_resolve(c, c->cmd->noun, tenant, &tenant);
        if (rc != CLI_OK)
            return rc;
        path = arena_printf(c->arena, "/v1/tenants/%s/quotas", api_escape(c->arena, tenant));
    }
    struct api_reply r;
    int rc = api_get(c, path, &r);
    if (rc != CLI_OK)
        return rc;
    output_list(c, r.json, r.body, c->cmd->columns);
    return CLI_OK;
}

int cmd_quota_set(struct cli *c)
{
    static const char *const resources[] = { "jobs", "slots", "gpus", "stored_bytes", "objects", "running_jobs", "pending_jobs", "api_rate_per_minute", NULL };
    for (int i = 0; resources[i]; i++) {
        if (strcmp(resources[i], c->args[1]) == 0)
            return run_rest(c);
    }
    return cli_fail(c, CLI_USAGE, "falaj help quota set shows which there are", "there is no quota on '%.40s'", c->args[1]);
}

static int row_request(struct cli *c, const char *path, struct str *ret)
{
    const char *input = cli_flag(c, "input");
    struct api_reply meta = { 0 };
    struct err e = { 0 };
    int rc = input ? CLI_OK : api_get(c, path, &meta);
    if (rc != CLI_OK)
        return rc;
    if (infer_row(c->arena, str_c(cli_flag(c, "row")), meta.json, input, ret, &e) != ERR_OK)
        return cli_fail(c, CLI_USAGE, "--row 0,0,5,13, or --row size=0.9,colour=red", "%s", e.msg);
    return CLI_OK;
}

int cmd_infer(struct cli *c)
{
    struct err e = { 0 };
    const char *path = arena_printf(c->arena, "/v2/models/%s", api_escape(c->arena, c->args[0]));
    struct api_req q = { .method = "POST", .path = arena_printf(c->arena, "%s/infer", path) };
    if (cli_has(c, "row") == (c->nargs > 1))
        return cli_fail(c, CLI_USAGE, "falaj infer NAME FILE, or falaj infer NAME --row CELL,CELL,…", "a question is a FILE or a --row");
    if (c->nargs > 1) {
        if (cli_read_file(c->arena, c->args[1], REQUEST_MAX, &q.body, &e) != ERR_OK)
            return cli_fail_err(c, &e, NULL);
    } else {
        int rc = row_request(c, path, &q.body);
        if (rc != CLI_OK)
            return rc;
    }
    struct api_reply r;
    int rc = api_do(c, &q, &r);
    if (rc != CLI_OK)
        return rc;
    if (c->format != OUT_TABLE && c->format != OUT_WIDE) {
        output_object(c, r.json, r.body, "model_name:MODEL");
        return CLI_OK;
    }
    const struct jval *outputs = jval_get(r.json, "outputs");
    for (size_t i = 0; i < jval_len(outputs); i++) {
        struct str name = jval_str(jval_get(jval_at(outputs, i), "name")), data = output_text(c->arena, jval_get(jval_at(outputs, i), "data"));
        fprintf(c->out, "%.*s  %.*s\n", STR_ARG(name), STR_ARG(data));
    }
    return CLI_OK;
}

/* Ask until it is ready; what it has become by then is in *r. */
static int wait_ready(struct cli *c, struct api_reply *r)
{
    const char *path = arena_printf(c->arena, "/v1/deployments/%s", str_z(c->arena, jval_str(jval_get(r->json, "deployment_id"))));
    for (int ms = 0; !jval_bool(jval_get(r->json, "ready"), false); ms += POLL_MS) {
        struct str state = jval_str(jval_get(r->json, "state"));
        if (ms > READY_S * 1000 || str_eq_c(state, "FAILED") || str_eq_c(state, "DELETED"))
            return cli_fail(c, str_eq_c(state, "ACTIVE") ? CLI_TIMEOUT : CLI_FAILED, "'falaj job list --kind serve' shows its job and why it waits",
                            "the deployment is %.*s and not ready", STR_ARG(state));
        nanosleep(&(struct timespec){ .tv_nsec = POLL_MS * 1000000L }, NULL);
        int rc = api_get(c, path, r);
        if (rc != CLI_OK)
            return rc;
    }
    return CLI_OK;
}

int cmd_deploy_create(struct cli *c)
{
    struct api_req q = { .method = "POST", .path = c->cmd->path };
    struct api_reply r;
    int rc = rest_body(c, c->cmd->body, &q.body);
    if (rc == CLI_OK)
        rc = api_do(c, &q, &r);
    if (rc == CLI_OK && cli_has(c, "wait"))
        rc = wait_ready(c, &r);
    if (rc == CLI_OK)
        output_object(c, r.json, r.body, c->cmd->columns);
    return rc;
}

/* Until the roll has turned or was given up. */
static int wait_turned(struct cli *c, const char *path, struct api_reply *r)
{
    for (int ms = 0; str_eq_c(jval_str(jval_get(r->json, "roll")), "LOADING"); ms += POLL_MS) {
        nanosleep(&(struct timespec){ .tv_nsec = POLL_MS * 1000000L }, NULL);
        int rc = api_get(c, path, r);
        if (rc != CLI_OK)
            return rc;
    }
    struct str why = jval_str(jval_get(r->json, "roll_error"));
    if (why.len)
        return cli_fail(c, CLI_FAILED, "the version before goes on serving; the serving job's log says more: falaj job list "
            "--kind serve",
                        "the roll was given up: %.*s", STR_ARG(why));
    return CLI_OK;
}

int cmd_deploy_roll(struct cli *c)
{
    struct api_req q = { .method = "PATCH" };
    struct api_reply r;
    int rc = rest_path(c, &q.path);
    if (rc == CLI_OK)
        rc = rest_body(c, c->cmd->body, &q.body);
    if (rc == CLI_OK)
        rc = api_do(c, &q, &r);
    if (rc == CLI_OK && cli_has(c, "wait"))
        rc = wait_turned(c, q.path, &r);
    if (rc == CLI_OK)
        output_object(c, r.json, r.body, c->cmd->columns);
    return rc;
}
