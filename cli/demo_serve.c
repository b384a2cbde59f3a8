/* SPDX-License-Identifier: Apache-2.0 */
/* demo_serve.c - step 4: register the model, serve it, and measure it on the held-out images through the Open Inference Protocol.
 *
 * The images are rows of the uploaded table; their labels never leave this program. The first DEMO_SINGLE_CALLS rows are asked one
 * by one, which gives the latency; the rest goes in batches. */
#include <stdlib.h>
#include <unistd.h>
#include "cli/demo.h"
#include "cli/dev/dev.h"
#include "core/base/cleanup.h"
#include "core/data/csv.h"

enum { READY_S = 60, GONE_S = 30 };

static int register_model(struct demo *m)
{
    struct api_reply r;
    const char *body = arena_printf(m->c->arena, "{\"name\":\"digits\",\"description\":\"Digits, 64-64-32-10\",\"job_id\":\"%s\"}", m->job_id);
    int rc = demo_call(m, m->engineer, "POST", "/v1/models", body, 201, &r);
    if (rc != CLI_OK)
        return rc;
    m->model_id = demo_text(m, &r, "model_id");
    m->model_version = jval_i64(jval_get(r.json, "version"), 0);
    demo_line(m, "model    digits version %lld registered (%s)", (long long)m->model_version, m->model_id);
    return CLI_OK;
}

/* A deployment of an earlier run is taken down first. */
static int drop_old(struct demo *m)
{
    struct api_reply r;
    int rc = demo_call(m, m->engineer, "GET", "/v1/deployments?page_size=200", NULL, 200, &r);
    const struct jval *data = jval_get(r.json, "data");
    for (size_t i = 0; rc == CLI_OK && i < jval_len(data); i++) {
        const struct jval *one = jval_at(data, i);
        struct str id = jval_str(jval_get(one, "deployment_id"));
        struct api_reply gone;
        if (!str_eq_c(jval_str(jval_get(one, "name")), "digits") || str_eq_c(jval_str(jval_get(one, "state")), "DELETED"))
            continue;
        rc = demo_try(m, m->engineer, "DELETE", arena_printf(m->c->arena, "/v1/deployments/%.*s", STR_ARG(id)), NULL, &gone);
        if (rc == CLI_OK && (gone.status < 200 || gone.status >= 300) && gone.status != 404)
            return api_tell(m->c, &gone);
        demo_line(m, "deploy   the earlier one is taken down");
    }
    return rc;
}

static int deploy(struct demo *m)
{
    struct api_reply r;
    const char *body = arena_printf(m->c->arena, "{\"name\":\"digits\",\"model_id\":\"%s\",\"model_version\":%lld}", m->model_id, (long long)m->model_version);
    double start_s = demo_now_s();
    int rc;
    do {            /* the name is free once the earlier one is gone */
        rc = demo_try(m, m->engineer, "POST", "/v1/deployments", body, &r);
        if (rc != CLI_OK || r.status != 409)
            break;
        demo_sleep_ms(200);
    } while (demo_now_s() - start_s < GONE_S);
    if (rc != CLI_OK || r.status != 201)
        return rc != CLI_OK ? rc : api_tell(m->c, &r);
    m->deployment_id = demo_text(m, &r, "deployment_id");
    for (;;) {
        struct err e = { 0 };
        struct api_req q = { .method = "GET", .path = "/v2/models/digits/ready", .token = m->engineer, .is_once = true };      /* not ready is an answer */
        if (api_send(m->c, &q, &r, &e) != ERR_OK)
            return cli_fail_err(m->c, &e, NULL);
        if (r.status == 200 && jval_bool(jval_get(r.json, "ready"), true))
            break;
        double waited_s = demo_now_s() - start_s;
        if (waited_s > READY_S)
            return cli_fail(m->c, CLI_TIMEOUT, arena_printf(m->c->arena, "falaj deploy get %s", m->deployment_id), "the deployment is not ready after %d s", READY_S);
        demo_progress(m, "waiting for the deployment, %.1f s", waited_s);
        demo_sleep_ms(50);
    }
    demo_line(m, "deploy   %s is ready after %.2f s", m->deployment_id, demo_now_s() - start_s);
    return CLI_OK;
}

static const char *request_of(struct demo *m, const struct data_table *t, size_t from, size_t n, const char *input)
{
    CLEANUP(buf_releasep) struct buf b = BUF(8 << 20);
    buf_printf(&b, "{\"inputs\":[{\"name\":\"%s\",\"shape\":[%zu,%zu],\"datatype\":\"FP32\",\"data\":[", input, n, t->cols);
    for (size_t i = from; i < from + n; i++) {
        const float *row = t->x + (size_t)m->holdout[i] * t->cols;
        for (size_t k = 0; k < t->cols; k++)
            buf_printf(&b, "%s%.9g", i > from || k ? "," : "", (double)row[k]);
    }
    buf_add_c(&b, "]}]}");
    return arena_strndup(m->c->arena, b.ptr, b.len);
}

/* The class of row i of an answer: an integer output of n numbers, or the greatest of n × classes scores. */
static int64_t class_of(const struct jval *outputs, size_t i, size_t n, float *scratch, size_t cap)
{
    for (size_t o = 0; o < jval_len(outputs); o++) {
        const struct jval *out = jval_at(outputs, o), *data = jval_get(out, "data");
        if (str_starts(jval_str(jval_get(out, "datatype")), "INT") && jval_len(data) == n)
            return jval_i64(jval_at(data, i), -1);
    }
    const struct jval *data = jval_get(jval_at(outputs, 0), "data");
    size_t all = jval_count_numbers(data);
    struct err e;
    if (all == 0 || all % n != 0 || all > cap || jval_to_f32(data, scratch, all, &e) != ERR_OK)
        return -1;
    size_t classes = all / n, best = 0;
    for (size_t k = 1; k < classes; k++)
        best = scratch[i * classes + k] > scratch[i * classes + best] ? k : best;
    return (int64_t)best;
}

static int ask(struct demo *m, const struct data_table *t, size_t from, size_t n, const char *input, float *scratch, size_t cap, size_t *right, double *ms)
{
    struct api_reply r;
    const char *body = request_of(m, t, from, n, input);
    double start_s = demo_now_s();
    int rc = demo_call(m, m->engineer, "POST", "/v2/models/digits/infer", body, 200, &r);
    *ms = (demo_now_s() - start_s) * 1000;
    for (size_t i = 0; rc == CLI_OK && i < n; i++)
        *right += class_of(jval_get(r.json, "outputs"), i, n, scratch, cap) == t->labels[m->holdout[from + i]];
    return rc;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A question that the reader can ask again: DATA/image.json. */
static int keep_image(struct demo *m, const struct data_table *t, const char *input)
{
    struct err e = { 0 };
    struct dev d = { .c = m->c, .arena = m->c->arena };
    m->image_class = t->labels[m->holdout[0]];
    enum errc rc = files_write(&d, arena_printf(m->c->arena, "%s/image.json", m->data), str_c(request_of(m, t, 0, 1, input)), geteuid(), getegid(), &e);
    return rc == ERR_OK ? CLI_OK : cli_fail_err(m->c, &e, NULL);
}

static int measure(struct demo *m, const struct data_table *t, const char *input)
{
    size_t right = 0, at = 0, cap = (size_t)DEMO_BATCH * 1024;
    size_t singles = m->holdout_count < DEMO_SINGLE_CALLS ? m->holdout_count : DEMO_SINGLE_CALLS;
    float *scratch = ARENA_ARRAY(m->c->arena, float, cap);
    double *ms = ARENA_ARRAY(m->c->arena, double, singles), ignored;
    for (; at < singles; at++) {
        int rc = ask(m, t, at, 1, input, scratch, cap, &right, &ms[at]);
        if (rc != CLI_OK)
            return rc;
        demo_progress(m, "image %zu of %zu, %zu right", at + 1, m->holdout_count, right);
    }
    while (at < m->holdout_count) {
        size_t n = m->holdout_count - at < DEMO_BATCH ? m->holdout_count - at : DEMO_BATCH;
        int rc = ask(m, t, at, n, input, scratch, cap, &right, &ignored);
        if (rc != CLI_OK)
            return rc;
        at += n;
    }
    qsort(ms, singles, sizeof(*ms), compare);
    m->infer_p50_ms = ms[singles / 2];
    m->infer_p95_ms = ms[singles * 95 / 100];
    m->accuracy = (double)right / (double)m->holdout_count;
    demo_line(m, "infer    %zu of %zu held-out images right: accuracy %.4f", right, m->holdout_count, m->accuracy);
    demo_line(m, "latency  p50 %.2f ms, p95 %.2f ms (%zu single calls through the API, mutual TLS to the model)", m->infer_p50_ms, m->infer_p95_ms, singles);
    if (m->accuracy < DEMO_ACCURACY_MIN)
        return cli_fail(m->c, CLI_FAILED, NULL, "the accuracy is below %.2f", DEMO_ACCURACY_MIN);
    return CLI_OK;
}

int demo_serve(struct demo *m)
{
    struct err e = { 0 };
    struct data_table table;
    struct data_schema schema = { .label = STR("label"), .classes = 10 };
    struct api_reply meta;
    demo_title(m, 4, "Serving: the model registered, deployed, and measured on held-out images");
    if (csv_read(m->c->arena, m->csv, &schema, &table, &e) != ERR_OK)
        return cli_fail_err(m->c, &e, NULL);
    for (size_t i = 0; i < m->holdout_count; i++) {
        if (m->holdout[i] < 0 || (size_t)m->holdout[i] >= table.rows)
            return cli_fail(m->c, CLI_FAILED, NULL, "the job's result names row %lld, which the data set does not have", (long long)m->holdout[i]);
    }
    int rc = register_model(m);
    if (rc == CLI_OK)
        rc = drop_old(m);
    if (rc == CLI_OK)
        rc = deploy(m);
    if (rc == CLI_OK)
        rc = demo_call(m, m->engineer, "GET", "/v2/models/digits", NULL, 200, &meta);
    if (rc != CLI_OK)
        return rc;
    const char *input = jval_str(jval_get(jval_at(jval_get(meta.json, "inputs"), 0), "name")).ptr;
    rc = keep_image(m, &table, input ? input : "input");
    return rc == CLI_OK ? measure(m, &table, input ? input : "input") : rc;
}
