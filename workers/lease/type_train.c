/* SPDX-License-Identifier: Apache-2.0 */
/* type_train.c - a train job in the child: spec and data set in, model and figures out.
 *
 * The data set is decrypted in memory and wiped of its text as soon as the table is read. A stop (SIGTERM) ends the run after the
 * present step, with a checkpoint when the job may keep one, and is reported as RETRY. */
#include "workers/lease/child.h"

#include <math.h>
#include <sys/resource.h>
#include "core/base/cleanup.h"
#include "core/json/decode.h"
#include "core/json/encode.h"
#include "core/wire/job_result.h"
#include "core/wire/type_train.h"
#include "workers/compute/kernels/cards.h"
#include "workers/compute/kernels/product_library.h"
#include "workers/compute/train/data_rows.h"
#include "workers/compute/train/data_tokens.h"
#include "workers/compute/train/engine.h"
#include "workers/compute/train/live.h"
#include "workers/compute/train/teacher.h"
#include "workers/compute/train/tune.h"
#include "workers/lease/child_meter.h"
#include "workers/lease/child_place.h"
#include "workers/lease/ckpt_link.h"
#include "workers/gang/comm_tcp.h"
#include "workers/lease/gang_join.h"
#include "workers/lease/work_type.h"

static const size_t RESULT_MAX = 60 * 1024, REPORT_MAX = 256 * 1024;

/* A point of the job's curves: of an evaluation, or between two of them (live.h). */
struct train_point {
    bool has_loss, has_loss_peak, has_grad_norm_peak, has_train_loss;
    bool has_holdout_loss, has_holdout_accuracy, has_samples_per_s, has_grad_norm, has_mfu, has_data_wait;
    int64_t epoch, step, skipped;
    double loss, loss_peak, grad_norm_peak, train_loss;
    double holdout_loss, holdout_accuracy, samples_per_s, grad_norm, learning_rate, gflops, mfu, data_wait;
    int64_t memory_bytes;
};
SCHEMA_OF(train_point, "Figures of one epoch, or of the last half second", FIELD(train_point, epoch, 0, .doc = "Epoch"),
    FIELD_OPT(train_point, loss, 0, .doc = "As train_loss; between evaluations that of the last step"),
    FIELD_OPT(train_point, loss_peak, 0, .doc = "Largest of a step since the point before"),
    FIELD_OPT(train_point, grad_norm_peak, 0, .doc = "Largest since the point before"),
    FIELD_OPT(train_point, train_loss, 0, .doc = "Mean over the training rows"),
    FIELD_OPT(train_point, holdout_loss, 0, .doc = "Mean over the held-out rows"),
    FIELD_OPT(train_point, holdout_accuracy, 0, .doc = "Share of the held-out rows labelled rightly"),
    FIELD_OPT(train_point, samples_per_s, 0, .doc = "Training rows, or tokens, per second"),
    FIELD(train_point, step, 0, .doc = "Steps so far"), FIELD(train_point, skipped, 0,
                                                              .doc = "Steps left out: no number came of them"),
    FIELD_OPT(train_point, grad_norm, 0, .doc = "Norm of the last gradient, before clipping"),
    FIELD(train_point, learning_rate, 0, .doc = "Learning rate of the last step"),
    FIELD(train_point, gflops, 0, .doc = "Products of the steps, 10^9 operations per second, nothing made again counted"),
    FIELD_OPT(train_point, mfu, 0, .doc = "gflops of the rate of a square product, measured when the job began, in its "
              "precision and with its threads"),
    FIELD_OPT(train_point, data_wait, 0, .doc = "Share of the time since the last point until rows were there"),
    FIELD(train_point, memory_bytes, 0, .doc = "Most memory that the process has had, in bytes"));

struct telling {
    struct child *child;
    struct train_live live;
    struct peaks peaks;
};

static double mfu_of(const struct telling *t, double flops_per_s)
{
    return t->peaks.flops > 0 && flops_per_s > 0 ? flops_per_s / t->peaks.flops : (double)NAN;
}

static int64_t memory_now(void)
{
    struct rusage use = { 0 };
    return getrusage(RUSAGE_SELF, &use) == 0 ? (int64_t)use.ru_maxrss * 1024 : 0;
}

static void tell(const struct telling *t, const struct train_point *p)
{
    CLEANUP(buf_releasep) struct buf b = BUF(4096);
    json_encode(&train_point_schema, p, &b);
    child_metric(t->child, p->step, buf_str(&b));
}

static void on_epoch(void *ctx, const struct train_epoch *ep)
{
    struct telling *t = ctx;
    tell(t, &(struct train_point){
        .has_loss = isfinite(ep->train_loss), .has_train_loss = isfinite(ep->train_loss),
        .has_grad_norm = isfinite(ep->grad_norm),
        .has_holdout_loss = isfinite(ep->holdout_loss), .has_holdout_accuracy = isfinite(ep->holdout_accuracy),
        .has_samples_per_s = isfinite(ep->samples_per_s), .epoch = ep->epoch, .step = ep->step, .skipped = ep->skipped,
        .loss = ep->train_loss, .train_loss = ep->train_loss, .holdout_loss = ep->holdout_loss,
        .holdout_accuracy = ep->holdout_accuracy, .samples_per_s = ep->samples_per_s, .grad_norm = ep->grad_norm,
        .learning_rate = ep->lr, .gflops = ep->flops_per_s * 1e-9, .has_mfu = isfinite(mfu_of(t, ep->flops_per_s)),
        .mfu = mfu_of(t, ep->flops_per_s), .memory_bytes = memory_now() });
    train_live_rest(&t->live, clock_mono_us(&clock_system));
}

static void on_step(void *ctx, const struct train_step *s)
{
    struct telling *t = ctx;
    struct train_live_point p;
    if (!train_live_add(&t->live, clock_mono_us(&clock_system), s, &p))
        return;
    tell(t, &(struct train_point){
        .has_loss = isfinite(s->loss), .has_loss_peak = isfinite(p.loss_peak), .has_grad_norm = isfinite(s->grad_norm),
        .has_grad_norm_peak = isfinite(p.grad_norm_peak), .has_samples_per_s = true, .epoch = s->epoch, .step = s->step,
        .skipped = s->skipped, .loss = s->loss, .loss_peak = p.loss_peak, .grad_norm = s->grad_norm,
        .grad_norm_peak = p.grad_norm_peak, .samples_per_s = p.items_per_s, .learning_rate = s->lr,
        .gflops = p.flops_per_s * 1e-9, .has_mfu = isfinite(mfu_of(t, p.flops_per_s)), .mfu = mfu_of(t, p.flops_per_s),
        .has_data_wait = true, .data_wait = p.data_wait, .memory_bytes = memory_now() });
}

static void on_log(void *ctx, const char *line)
{
    child_log(((const struct telling *)ctx)->child, "info: %s", line);
}

static bool should_stop(void *ctx)
{
    return *((const struct telling *)ctx)->child->stop;
}

/* How the run goes: as the spec stands, or as a tuner chose. */
struct way {
    const struct train_task *task;
    struct tune_way at;
    struct train_tuning table;          /* steps 0: not tuned */
};

static void result_write(const struct child *c, const struct train_result *r, const struct way *w, double seconds, struct buf *b)
{
    bool is_net = w->task->spec->family != TRAIN_GBDT;
    struct train_figures f = {
        isfinite(r->holdout_accuracy), isfinite(r->holdout_loss), isfinite(r->train_loss), r->holdout_accuracy, r->holdout_loss,
            r->train_loss,
        .epochs = r->epochs, .seconds = seconds, .parameters = (int64_t)r->parameters, .holdout_count = (int64_t)r->holdout_count,
        .has_items = r->items > 0, .items = r->items,
        .early_stopped = r->end == TRAIN_EARLY_STOPPED,
        .backend = str_c(!is_net && (c->backend->properties & BE_DEVICE) ? "cpu" : c->backend->name),     /* trees use no card */
        .precision = is_net ? r->is_bf16 ? STR("bf16") : STR("fp32") : STR_NULL, .profile = r->profile,
        .tuning = w->table,
    };
    if (r->holdout_count <= HOLDOUT_ROWS_MAX) {
        int64_t *rows = ARENA_ARRAY(c->arena, int64_t, r->holdout_count + 1);
        for (size_t i = 0; i < r->holdout_count; i++)
            rows[i] = r->holdout_indices[i];
        f.holdout_rows = (struct slice){ rows, r->holdout_count };
    }
    json_encode(&train_figures_schema, &f, b);
}

/* The output "report" of a run that was watched or tuned. */
static enum errc give_report(struct child *c, const struct train_result *r, const struct way *w, struct err *e)
{
    CLEANUP(buf_releasep) struct buf b = BUF(REPORT_MAX);
    const struct train_job *s = w->task->spec;
    const struct train_report report = {
        .family = str_c(job_family_names[s->family]), .backend = str_c(c->backend->name),
        .precision = r->is_bf16 ? STR("bf16") : STR("fp32"), .falaj = STR(FALAJ_VERSION), .parameters = (int64_t)r->parameters,
        .batch_size = w->at.batch_size, .accumulate = w->at.accumulate, .ranks = w->at.ranks, .threads = w->at.threads,
        .prefetch = w->at.prefetches, .profile = r->profile, .tuning = w->table };
    struct child_place p;
    if (!r->profile.steps && !w->table.steps)
        return ERR_OK;
    json_encode(&train_report_schema, &report, &b);
    enum errc rc = child_place_open(c, STR(JOB_REPORT), &p, e);
    if (rc == ERR_OK)
        rc = child_place_add(&p, b.ptr, b.len, e);
    if (rc == ERR_OK)
        return child_place_close(&p, e);
    child_place_drop(&p);
    return rc;
}

static enum errc give(struct child *c, const struct train_result *r, const struct way *w, struct str result, struct err *e)
{
    TRY(give_report(c, r, w, e));
    return child_deliver(c, buf_str(&r->model), result, e);
}

static enum errc read_data(struct child *c, const struct train_job *job, const struct st_file *start, struct train_data *ret,
                           struct err *e)
{
    if (c->n_inputs < 1)
        return FAIL(e, INVALID, "a train job needs its data set as input");
    CLEANUP(buf_releasep) struct buf text = BUF(0);
    TRY(child_open_input(c, 0, &text, e));
    const struct data_schema schema = spec_dataset_schema(&job->set);
    if (!data_formats[job->format].is_table) {     /* sequences stay in the text, which is kept for the run */
        char *kept = arena_try(c->arena, text.len + 1);
        if (!kept)
            return FAIL(e, LIMIT, "a shard of %zu bytes does not fit in the memory of this job", text.len);
        memcpy(kept, text.ptr, text.len);
        secret_wipe(text.ptr, text.len);
        TRY(train_data_tokens(c->arena, str_n(kept, text.len), job, ret, e));
        child_log(c, "info: data opened: %zu sequences of %ld tokens, vocabulary of %zu, %zu bytes",
                  ret->train_count + ret->holdout_count,
                  (long)job->context, ret->shape.outputs, text.len);
        return ERR_OK;
    }
    enum errc rc = train_data_rows_from(c->arena, buf_str(&text), &schema, job, start, ret, e);
    secret_wipe(text.ptr, text.len);
    if (rc == ERR_OK)
        child_log(c, "info: data opened: %zu rows, %zu columns, %ld classes, %zu bytes", ret->table.rows, ret->table.cols + 1,
                  (long)ret->table.classes, text.len);
    return rc;
}

/* A model that the job reads: input number `at`, in `bytes`. what: for the log. */
static enum errc read_model(struct child *c, size_t at, const char *what, int64_t version, struct buf *bytes, struct err *e)
{
    if (c->n_inputs <= at)
        return FAIL(e, INVALID, "%s is not among the inputs", what);
    TRY(child_open_input(c, at, bytes, e));
    child_log(c, "info: %s: version %ld of a model, %zu bytes", what, (long)version, bytes->len);
    return ERR_OK;
}

/* *ret: the file in `bytes` of the model to begin with, which is the second input; NULL without one. */
static enum errc read_start(struct child *c, const struct train_job *job, struct buf *bytes, const struct st_file **ret,
                            struct err *e)
{
    struct st_file *f = ARENA_NEW(c->arena, struct st_file);
    *ret = NULL;
    if (uuid_is_nil(job->start_from))
        return ERR_OK;
    TRY(read_model(c, 1, "the model to begin with", job->start_version, bytes, e));
    TRY(st_parse(c->arena, bytes->ptr, bytes->len, f, e));
    *ret = f;
    return ERR_OK;
}

/* What the teacher says of the rows, into the task; it is the input behind the model to begin with. */
static enum errc ask_teacher(struct child *c, const struct train_job *job, const struct train_data *d, struct train_task *task,
                             struct err *e)
{
    CLEANUP(buf_releasep) struct buf file = BUF(0);
    size_t at = uuid_is_nil(job->start_from) ? 1 : 2;
    if (uuid_is_nil(job->teacher))
        return ERR_OK;
    TRY(read_model(c, at, "the teacher", job->teacher_version, &file, e));
    TRY(teacher_ask(c->arena, c->backend, c->pool, buf_str(&file), d, job->temperature, &task->taught, e));
    task->teacher_digest = c->inputs[at].about.sha256;
    return ERR_OK;
}

/* Measured on the threads that the run has. Not where the lease has little memory: the run needs it, and the plan says
 * whether its model fits. */
static enum errc measure(struct child *c, const struct train_job *job, struct peaks *ret, struct err *e)
{
    struct backend_ctx *ctx;
    char line[256];
    const int64_t little = 8 * (int64_t)PEAKS_BYTES;
    if (job->family == TRAIN_GBDT || (c->grant.memory_bytes > 0 && c->grant.memory_bytes < little))
        return ERR_OK;
    TRY(c->backend->open(c->backend, c->pool, &ctx, e));
    if (c->backend->library)
        c->backend->library->use(ctx, c->grant.cublaslt.ptr, true, line, sizeof line);      /* the run says what came of it */
    enum errc rc = peaks_measure(c->backend, ctx, net_is_bf16(job, c->backend), ret, e);
    c->backend->close(ctx);
    return rc;
}

/* Ranks are threads on the processors, or on the cards, of this lease. */
static void settle_ranks(const struct child *c, struct train_job *job)
{
    const struct card_ops *cards = backend_cards(c->backend);
    int places = cards ? cards->count() : c->hw.cores;
    if (lease_grant_is_gang(&c->grant.lease))
        job->ranks = 1;                 /* each machine is one */
    if (!job->ranks)
        job->ranks = train_job_ranks(job, places);
    int64_t ranks = job->tensor_ranks > 1 ? job->tensor_ranks : job->ranks;
    if (cards && ranks < places && job->family != TRAIN_GBDT)
        child_log(c, "warning: this training uses %ld of its %d cards: ranks 0 takes as many as divide accumulate, which is %ld",
                  (long)ranks, places, (long)job->accumulate);
    if (!cards && ranks > c->hw.cores && !lease_grant_is_gang(&c->grant.lease))
        child_log(c, "warning: %ld ranks take turns on %d processor(s): fewer ranks, or more processors, are faster",
                  (long)ranks, c->hw.cores);
}

static void comm_freep(struct comm **c)
{
    comm_tcp_free(*c);
}

/* Alone, or as one of several machines; rank 0 alone is observed. *ret_comm: for as long as the others may still read. */
static enum errc train(struct child *c, struct train_task *task, const struct train_observer *obs, struct comm **ret_comm,
                       struct train_result *ret, struct err *e)
{
    if (!lease_grant_is_gang(&c->grant.lease))
        return train_run(c->arena, task, obs, ret, e);
    if (!comm_is_size((int)c->grant.lease.nodes))
        return FAIL(e, INVALID, "a training runs on 1, 2, 4 or 8 machines; this one has %ld", (long)c->grant.lease.nodes);
    if (task->spec->tensor_ranks > 1 && task->spec->tensor_ranks != c->grant.lease.nodes)
        return FAIL(e, INVALID, "tensor_ranks is %ld on %ld machines", (long)task->spec->tensor_ranks,
                    (long)c->grant.lease.nodes);
    if (gang_join(c, 0, ret_comm, e) != ERR_OK)
        return gang_failed(NULL, e);
    task->comm = *ret_comm;
    task->is_machine = true;
    task->begins_anew = true;           /* the others cannot: they have joined this run */
    enum errc rc = train_run(c->arena, task, task->comm->rank ? NULL : obs, ret, e);
    if (rc == ERR_OK)
        return rc;
    task->comm->ops->abort(task->comm, e);
    return gang_failed(task->comm, e);
}

static const struct train_meter *meter_of(struct child *c, const struct train_job *job)
{
    return job->max_joules ? child_meter_new(c) : NULL;
}

static enum errc run(struct child *c, struct err *e)
{
    struct train_job job = { 0 };
    struct train_data data = { 0 };
    TRY(json_decode(&train_job_schema, c->grant.lease.spec.text, c->arena, &job, e));
    TRY(train_job_settle(&job, c->arena, e));
    bool ranks_are_free = job.ranks <= 1 && job.tensor_ranks <= 1;
    settle_ranks(c, &job);
    CLEANUP(tuned_release) struct tuned tuned = { 0 };
    CLEANUP(ckpt_link_freep) struct ckpt_link *link = NULL;
    CLEANUP(buf_releasep) struct buf weights = BUF(0);
    const struct st_file *start;
    TRY(read_start(c, &job, &weights, &start, e));
    TRY(read_data(c, &job, start, &data, e));
    if (c->keeper >= 0)
        TRY(ckpt_link_new(c, c->grant.checkpoint_gap_ms, &link, e));
    int64_t rows = job.family == TRAIN_GBDT ? (int64_t)data.train_count : job.batch_size * job.accumulate;
    int64_t steps = ((int64_t)data.train_count + rows - 1) / rows;
    struct train_task task = { .spec = &job, .data = &data, .backend = c->backend, .pool = c->pool, .clock = &clock_system,
                                     .dataset_digest = c->inputs[0].about.sha256, .start = start,
                                     .start_digest = start ? c->inputs[1].about.sha256 : STR_NULL,
                                     .store = link ? ckpt_link_store(link) : NULL,
                                     .checkpoint_every_steps = job.checkpoint_every * steps, .meter = meter_of(c, &job),
                                     .memory_max_bytes = (size_t)c->grant.memory_bytes / 4 * 3 };
    struct telling telling = { .child = c };
    TRY(ask_teacher(c, &job, &data, &task, e));
    TRY(measure(c, &job, &telling.peaks, e));
    task.peaks = &telling.peaks, task.library = c->grant.cublaslt.ptr;
    const struct train_observer obs = { .ctx = &telling, .on_step = on_step, .on_epoch = on_epoch, .on_log = on_log,
                                        .should_stop = should_stop };
    struct train_result r = { 0 };
    int64_t began = clock_mono_us(&clock_system);
    struct way way = { &task, { pool_threads(c->pool), job.ranks, job.batch_size, job.accumulate, false, false }, { 0 } };
    if (job.tune_steps) {
        TRY(tune(c->arena, &task, pool_threads(c->pool), ranks_are_free, &obs, &tuned, e));
        task = tuned.task;
        way.at = tuned.way;
        way.table = tuned.table;
    }
    CLEANUP(comm_freep) struct comm *comm = NULL;
    enum errc rc = train(c, &task, &obs, &comm, &r, e);
    if (rc == ERR_CONFLICT && link && !lease_grant_is_gang(&c->grant.lease)) {
        /* of this job, so another version of Falaj or another backend wrote it */
        child_log(c, "warning: %s; starting anew", e->msg);
        err_clear(e);
        ckpt_link_forget(link);
        rc = train_run(c->arena, &task, &obs, &r, e);
    }
    ckpt_link_freep(&link);             /* the model's way is free */
    TRY(rc);
    CLEANUP(buf_releasep) struct buf json = BUF(RESULT_MAX);
    if (r.end == TRAIN_PREEMPTED) {
        rc = FAIL(e, RETRY, "told to stop after step %ld", (long)r.steps);
    } else if (!comm_rank(comm)) {      /* rank 0 gives what all made */
        result_write(c, &r, &way, (double)(clock_mono_us(&clock_system) - began) / 1e6, &json);
        rc = give(c, &r, &way, buf_str(&json), e);
    }
    train_result_release(&r);
    return rc;
}

const struct work_type work_type_train = { .run = run, .keeps_checkpoint = true };
