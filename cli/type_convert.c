/* SPDX-License-Identifier: Apache-2.0 */
/* type_convert.c - `falaj model import`: a model file from elsewhere as a version of a model, in one command: its data set found
 * or
 * made, uploaded, converted, registered. Each step is one that the other commands do, too, so what has gone well stays when a
 * later one fails. */
#include "cli/client.h"
#include "cli/follow.h"
#include "cli/output.h"
#include "cli/sending.h"
#include "cli/spec_flags.h"
#include "core/base/cleanup.h"
#include "core/wire/job_type.h"

#include <stdlib.h>

enum { REQUEST_MAX = 65536, NAME_MAX_BYTES = 63, LIST_MAX = 200 };
#define SUFFIX "-onnx"

static const char *model_name(struct cli *c)
{
    const char *given = cli_flag(c, "name"), *slash = strrchr(c->args[0], '/');
    struct str base = str_c(slash ? slash + 1 : c->args[0]);
    if (given)
        return given;
    return arena_strndup(c->arena, base.ptr, str_ends(base, ".onnx") ? base.len - 5 : base.len);
}

static int make_dataset(struct cli *c, const char *name, const char **ret)
{
    struct api_reply r;
    const char *class = cli_flag(c, "class");
    CLEANUP(buf_releasep) struct buf b = BUF(REQUEST_MAX);
    buf_add_c(&b, "{\"name\":");
    buf_add_json(&b, str_c(name));
    if (class) {
        buf_add_c(&b, ",\"data_class\":");
        buf_add_json(&b, str_c(class));
    }
    buf_add_char(&b, '}');
    int rc = api_do(c, &(struct api_req){ .method = "POST", .path = "/v1/datasets", .body = buf_str(&b) }, &r);
    *ret = str_z(c->arena, jval_str(jval_get(r.json, "dataset_id")));
    return rc;
}

/* The data set that holds the files of this model: the next version of it, if it is there. */
static int find_dataset(struct cli *c, const char *model, const char **ret)
{
    struct api_reply r;
    const char *name = arena_printf(c->arena, "%s" SUFFIX, model);
    if (strlen(name) > NAME_MAX_BYTES)
        return cli_fail(c, CLI_USAGE, "choose a shorter --name",
                        "the name '%.80s' is too long for the data set " SUFFIX " of the model", model);
    int rc = api_get(c, arena_printf(c->arena, "/v1/datasets?page_size=%d&q=%s", LIST_MAX, api_escape(c->arena, name)), &r);
    const struct jval *data = jval_get(r.json, "data");
    for (size_t i = 0; rc == CLI_OK && i < jval_len(data); i++) {
        const struct jval *d = jval_at(data, i);
        if (!str_eq_c(jval_str(jval_get(d, "name")), name))
            continue;
        *ret = str_z(c->arena, jval_str(jval_get(d, "dataset_id")));
        return CLI_OK;
    }
    return rc == CLI_OK ? make_dataset(c, name, ret) : rc;
}

static int submit(struct cli *c, const char *model, const char *dataset, int64_t version, const char **ret)
{
    struct api_reply r;
    CLEANUP(buf_releasep) struct buf b = BUF(REQUEST_MAX);
    buf_add_c(&b, "{\"kind\":\"convert\",\"name\":");
    buf_add_json(&b, str_c(model));
    buf_printf(&b, ",\"spec\":{\"dataset_id\":\"%s\",\"dataset_version\":%lld", dataset, (long long)version);
    if (cli_flag(c, "dims")) {
        buf_add_c(&b, ",\"dims\":");
        spec_words(cli_flag(c, "dims"), &b);
    }
    if (cli_flag(c, "engine")) {
        buf_add_c(&b, ",\"engine\":");
        buf_add_json(&b, str_c(cli_flag(c, "engine")));
    }
    buf_add_c(&b, "}}");
    int rc = api_do(c, &(struct api_req){ .method = "POST", .path = "/v1/jobs", .body = buf_str(&b) }, &r);
    *ret = str_z(c->arena, jval_str(jval_get(r.json, "job_id")));
    return rc;
}

/* The log is for the person; what the command answers is the version. */
static void on_event(void *ctx, const char *type, const struct jval *data)
{
    struct cli *c = ctx;
    if (strcmp(type, "log") == 0 && !c->is_quiet)
        follow_print_log(c->err, data);
}

static int register_job(struct cli *c, const char *model, const char *job)
{
    struct api_reply r;
    const char *text = cli_flag(c, "description");
    CLEANUP(buf_releasep) struct buf b = BUF(REQUEST_MAX);
    buf_printf(&b, "{\"job_id\":\"%s\",\"name\":", job);
    buf_add_json(&b, str_c(model));
    if (text) {
        buf_add_c(&b, ",\"description\":");
        buf_add_json(&b, str_c(text));
    }
    buf_add_char(&b, '}');
    int rc = api_do(c, &(struct api_req){ .method = "POST", .path = "/v1/models", .body = buf_str(&b), .timeout_ms = 600000 },
                    &r);
    if (rc == CLI_OK)
        output_object(c, r.json, r.body, c->cmd->columns);
    return rc;
}

/* Follows the job to its end and registers what it made. why: what to say of a job that made nothing. */
static int made_model_register(struct cli *c, const char *model, const char *job, const char *why)
{
    struct follow f = { .c = c, .job = job, .on_event = on_event, .ctx = c };
    int rc = follow_run(&f);
    if (rc == CLI_JOB_FAILED)
        return cli_fail(c, rc, arena_printf(c->arena, "falaj job logs %s", job), "%s: the job ended as %s", why, f.state);
    return rc == CLI_OK ? register_job(c, model, job) : rc;
}

int cmd_model_import(struct cli *c)
{
    const char *model = model_name(c), *dataset = NULL, *job = NULL;
    int64_t version = 0;
    int rc = find_dataset(c, model, &dataset);
    if (rc == CLI_OK)
        rc = send_in_parts(c, dataset, c->args[0], "onnx", NULL, &version);
    if (rc == CLI_OK)
        rc = submit(c, model, dataset, version, &job);
    if (rc != CLI_OK)
        return rc;
    cli_note(c, "%s version %lld is here; job %s converts it", dataset, (long long)version, job);
    return made_model_register(c, model, job, "the file could not be converted");
}

/* --- falaj model optimise: a version made smaller, as the next one of its model or of another --- */

static int same_name(struct cli *c, const char *model, const char **ret)
{
    struct api_reply r;
    *ret = cli_flag(c, "name");
    if (*ret)
        return CLI_OK;
    int rc = api_get(c, arena_printf(c->arena, "/v1/models/%s", api_escape(c->arena, model)), &r);
    *ret = str_z(c->arena, jval_str(jval_get(r.json, "name")));
    return rc;
}

/* A flag as a member of the spec; the API says what is wrong with it. */
static void add_flag(struct cli *c, struct buf *b, const char *flag, const char *member, bool is_text)
{
    const char *v = cli_flag(c, flag);
    if (!v)
        return;
    buf_printf(b, ",\"%s\":", member);
    if (is_text)
        buf_add_json(b, str_c(v));
    else
        buf_add_c(b, v);
}

static int submit_smaller(struct cli *c, const char *name, const char *model, const char *dataset, int64_t version,
               const char **ret)
{
    struct api_reply r;
    CLEANUP(buf_releasep) struct buf b = BUF(REQUEST_MAX);
    buf_printf(&b, "{\"kind\":\"%s\",\"name\":", job_types[JOB_OPTIMISE].name);
    buf_add_json(&b, str_c(name));
    buf_printf(&b, ",\"spec\":{\"model_id\":\"%s\",\"dataset_id\":\"%s\",\"model_version\":%lld", model, dataset,
               (long long)version);
    add_flag(c, &b, "precision", "precision", true);
    add_flag(c, &b, "calibration", "calibration", true);
    add_flag(c, &b, "max-accuracy-drop", "max_accuracy_drop", false);
    buf_add_c(&b, "}}");
    int rc = api_do(c, &(struct api_req){ .method = "POST", .path = "/v1/jobs", .body = buf_str(&b) }, &r);
    *ret = str_z(c->arena, jval_str(jval_get(r.json, "job_id")));
    return rc;
}

int cmd_model_optimise(struct cli *c)
{
    const char *model, *dataset, *name = NULL, *job = NULL;
    double drop;
    int64_t version = 0;
    char *end;
    const char *given = cli_flag(c, "max-accuracy-drop");
    int rc = cli_flag_i64(c, "version", 1, INT64_MAX, &version);
    if (rc == CLI_OK && given && (!*given || (drop = strtod(given, &end)) < 0 || drop > 1 || *end))
        return cli_fail(c, CLI_USAGE, "use a share, such as 0.01", "--max-accuracy-drop %.40s is no number from 0 to 1", given);
    if (rc == CLI_OK)
        rc = api_resolve(c, c->cmd->noun, c->args[0], &model);
    if (rc == CLI_OK)
        rc = api_resolve(c, noun_by_id(STR("dataset_id")), c->args[1], &dataset);
    if (rc == CLI_OK)
        rc = same_name(c, model, &name);
    if (rc == CLI_OK)
        rc = submit_smaller(c, name, model, dataset, version, &job);
    if (rc != CLI_OK)
        return rc;
    cli_note(c, "job %s makes it smaller", job);
    return made_model_register(c, name, job, "the model was not made smaller, or not well enough");
}
