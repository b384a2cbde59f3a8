/* SPDX-License-Identifier: Apache-2.0 */
/* demo_train.c - step 3: a training job, watched through its event stream while it runs. */
#include "cli/demo.h"
#include "cli/follow.h"
#include "core/base/cleanup.h"

struct watch {
    struct demo *m;
    double start_s, loss;
    int64_t logs, metrics;
};

static double metric(const struct jval *values, const char *a, const char *b)
{
    const struct jval *v = jval_get(values, a);
    return jval_f64(v ? v : jval_get(values, b), 0);
}

static void bar(char out[24], int64_t done, int64_t all)
{
    int n = all > 0 ? (int)(20 * done / all) : 0;
    for (int i = 0; i < 20; i++)
        out[i] = i < n ? '#' : '.';
    out[20] = '\0';
}

static void show_metric(struct watch *w, const struct jval *data)
{
    struct demo *m = w->m;
    const struct jval *values = jval_get(data, "values");
    int64_t epoch = jval_i64(jval_get(values, "epoch"), jval_i64(jval_get(data, "step"), 0));
    double loss = metric(values, "train_loss", "loss"), accuracy = metric(values, "holdout_accuracy", "accuracy");
    char drawn[24];
    if (!jval_get(values, "epoch") || !jval_get(values, "train_loss"))
        return;         /* what the job takes of the machine; a point between two epochs */
    w->loss = loss;
    w->metrics++;
    bar(drawn, epoch, m->epochs);
    demo_progress(m, "[%s] epoch %lld/%lld  loss %.4f  held-out accuracy %.4f", drawn, (long long)epoch, (long long)m->epochs, loss, accuracy);
    if (epoch == m->epochs || (!m->is_live && (epoch == 1 || epoch % 10 == 0)))
        demo_line(m, "epoch    %lld/%lld  loss %.4f  held-out accuracy %.4f", (long long)epoch, (long long)m->epochs, loss, accuracy);
}

static void on_event(void *ctx, const char *type, const struct jval *data)
{
    struct watch *w = ctx;
    struct demo *m = w->m;
    if (strcmp(type, "metric") == 0) {
        show_metric(w, data);
    } else if (strcmp(type, "state") == 0) {
        struct str reason = jval_str(jval_get(data, "reason"));
        demo_line(m, "%6.2f s %.*s%s%.*s", demo_now_s() - w->start_s, STR_ARG(jval_str(jval_get(data, "state"))), reason.len ? "  " : "", STR_ARG(reason));
    } else if (strcmp(type, "log") == 0) {
        struct str text = jval_str(jval_get(data, "text"));
        w->logs++;
        if (str_starts(text, "epoch "))
            return;         /* the metrics say the same */
        while (text.len && text.ptr[text.len - 1] == '\n')
            text.len--;
        demo_line(m, "log      %.*s", (int)(text.len < 100 ? text.len : 100), text.len ? text.ptr : "");
    }
}

static int take_result(struct demo *m)
{
    struct api_reply r;
    int rc = demo_call(m, m->engineer, "GET", arena_printf(m->c->arena, "/v1/jobs/%s", m->job_id), NULL, 200, &r);
    if (rc != CLI_OK)
        return rc;
    const struct jval *result = jval_get(r.json, "result"), *rows = jval_get(result, "holdout_rows");
    m->trained_accuracy = jval_f64(jval_get(result, "holdout_accuracy"), 0);
    m->train_s = jval_f64(jval_get(result, "seconds"), 0);
    m->holdout_count = jval_len(rows);
    m->holdout = ARENA_ARRAY(m->c->arena, int64_t, m->holdout_count + 1);
    struct err e = { 0 };
    if (m->holdout_count == 0 || jval_to_i64(rows, m->holdout, m->holdout_count, &e) != ERR_OK)
        return cli_fail(m->c, CLI_FAILED, NULL, "the job's result does not say which rows were held out");
    demo_line(m, "result   held-out accuracy %.4f on %zu rows that training never saw, %.2f s of training", m->trained_accuracy, m->holdout_count, m->train_s);
    return CLI_OK;
}

int demo_train(struct demo *m)
{
    struct api_reply r;
    demo_title(m, 3, "Training: a multi-layer perceptron on 80 % of the rows, seeded");
    const char *body = arena_printf(m->c->arena, "{\"name\":\"digits-mlp\",\"kind\":\"train\",\"spec\":{\"dataset_id\":\"%s\",\"dataset_version\":%lld,\"family\":\"mlp\","
        "\"hidden\":[64,32],\"epochs\":%lld,\"batch_size\":32,\"optimizer\":\"adamw\",\"learning_rate\":0.003,\"weight_decay\":0.0001,\"schedule\":\"cosine\",\"seed\":1,"
        "\"holdout\":0.2,\"early_stop_patience\":0}}", m->dataset_id, (long long)m->dataset_version, (long long)m->epochs);
    int rc = demo_call(m, m->engineer, "POST", "/v1/jobs", body, 201, &r);
    if (rc != CLI_OK)
        return rc;
    m->job_id = demo_text(m, &r, "job_id");
    demo_line(m, "job      %s submitted", m->job_id);
    struct watch w = { .m = m, .start_s = demo_now_s() };
    struct follow f = { .c = m->c, .job = m->job_id, .token = m->engineer, .timeout_s = 300, .on_event = on_event, .ctx = &w };
    rc = follow_run(&f);
    if (rc == CLI_JOB_FAILED)
        return cli_fail(m->c, rc, NULL, "the training job ended as %s", f.state);
    if (rc == CLI_OK && (w.metrics == 0 || w.logs == 0))
        return cli_fail(m->c, CLI_FAILED, NULL, "the job completed without %s", w.metrics ? "a log" : "metrics");
    return rc == CLI_OK ? take_result(m) : rc;
}
