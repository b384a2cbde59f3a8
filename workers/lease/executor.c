/* SPDX-License-Identifier: Apache-2.0 */
/* executor.c - the course of a lease on the agent's side: prepare, run, watch, deliver, conclude.
 *
 * The watch loop waits for three things: a message of the child, a word of the book (stale, cancel), and a time (the job's limit,
 * the end of the grace). Calls to the API are repeated while the lease is good; the reporter renews it meanwhile on its own
 * thread. */
#include "workers/lease/executor_int.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include "core/base/cleanup.h"
#include "core/base/log.h"
#include "core/json/decode.h"
#include "core/json/encode.h"
#include "core/json/jsonvalue.h"
#include "workers/lease/child_int.h"
#include "workers/lease/deliver.h"
#include "workers/lease/image_cache.h"
#include "workers/lease/keeper.h"
#include "workers/lease/run_image.h"
#include "workers/lease/work_type.h"

enum { TRIES_MAX = 20, RETRY_STEP_MS = 50, CERT_LOOK_US = 1000000, METRIC_DEPTH = 4,
       DIALS_MAX = 1024 /* connections of a lease, one after another */ };
static const size_t ARENA_MAX = (size_t)256 << 20, METRIC_ARENA = (size_t)16 << 20;

static int64_t now_us(void)
{
    return clock_mono_us(&clock_system);
}

bool run_try_again(const struct run *r, enum errc rc, int n)
{
    int ms = n < TRIES_MAX ? client_retry_ms(rc, n) : -1;
    if (ms < 0)
        return false;
    for (; !held_is_stale(r->held) && !held_is_cancelled(r->held); ms -= RETRY_STEP_MS) {
        if (ms < 0)
            return true;
        poll(NULL, 0, ms < RETRY_STEP_MS ? ms + 1 : RETRY_STEP_MS);
    }
    return false;
}

static bool is_given_up(void *ctx)
{
    return held_is_stale(((const struct run *)ctx)->held);
}

static enum errc fetch_keys(struct run *r, struct release_key *keys, struct err *e)
{
    const struct executor_io *io = r->env->io;
    for (int n = 0;; n++) {
        enum errc rc = io ? io->keys(io->ctx, r->arena, r->g, keys, e) : client_keys(r->client, r->arena, r->env->node.node_id,
                                                                                     r->g, keys, e);
        if (rc == ERR_OK || !run_try_again(r, rc, n))
            return rc;
    }
}

static enum errc fetch_input(struct run *r, size_t i, struct err *e)
{
    const struct executor_io *io = r->env->io;
    if (run_image_is((const struct lease_input *)r->g->inputs.items + i)) {
        r->inputs[i] = image_cache_take(r->env->images, r->g);
        r->image_is_flat = r->inputs[i] >= 0;
        if (r->image_is_flat)
            return ERR_OK;
    }
    TRY(run_file(r, &r->inputs[i], e));
    for (int n = 0;; n++) {
        struct uuid id = ((const struct lease_input *)r->g->inputs.items)[i].object_id;
        enum errc rc = io ? io->download(io->ctx, r->arena, r->g, id, r->inputs[i], e)
            : client_download(r->client, r->arena, r->g, id, r->inputs[i], e);
        if (rc == ERR_OK && lseek(r->inputs[i], 0, SEEK_SET) != 0)
            return FAIL(e, IO, "an input cannot be read");
        if (rc == ERR_OK || !run_try_again(r, rc, n))
            return rc;
    }
}

static enum errc prepare(struct run *r, struct err *e)
{
    struct release_key keys[INPUTS_MAX];
    if (r->g->inputs.n > INPUTS_MAX)
        return FAIL(e, UNPROCESSABLE, "the job has %zu inputs, this worker takes at most %d", r->g->inputs.n, INPUTS_MAX);
    if (!r->env->io) {
        r->client = client_new(r->env->config, e);
        if (!r->client)
            return e->code;
        client_until(r->client, is_given_up, r);
    }
    if (r->env->isolation && !isolation_take(r->env->isolation, &r->uid))
        return FAIL(e, LIMIT, "every account of worker.uid_base and worker.uid_count is in use");
    TRY(run_listen(r, e));
    TRY(run_dir_make(r, e));
    const struct work_type *type = work_type_of(r->g->kind);
    if (type->keeps_checkpoint && (!r->g->rank || type->starts_programs))
        TRY(keeper_new(r, &r->keeper, &r->keeper_end, e));
    if (r->g->rank)
        keeper_forbid(r->keeper);       /* of a program every rank finds the newest; rank 0 keeps the next */
    TRY(run_file(r, &r->output, e));
    for (size_t i = 0; i < lease_grant_files(r->g); i++)
        TRY(fetch_input(r, i, e));
    enum errc rc = fetch_keys(r, keys, e);
    if (rc == ERR_OK)
        rc = run_spawn(r, e);
    if (rc == ERR_OK)
        rc = run_send_grant(r, keys, e);
    secret_wipe(keys, sizeof keys);
    return rc;
}

/* Children run tenants' data. What they say goes into the report that all leases of this machine share, and one word that the API
 * refuses would hold them all back: so it is checked, JSON is written anew, and none of it costs lasting memory. */
static enum errc object_anew(struct arena *scratch, struct str text, int depth, struct buf *ret, struct err *e)
{
    const struct jval *v;
    TRY(jval_parse(scratch, text, depth, &v, e));
    if (jval_type(v) != JT_OBJECT || !jval_encode(v, false, ret))
        return FAIL(e, DAMAGED, "the child gave figures that are no object, or too many");
    return ERR_OK;
}

static enum errc on_metric(struct run *r, struct str body, struct err *e)
{
    int64_t step;
    if (body.len <= sizeof step)
        return FAIL(e, DAMAGED, "a metric was cut");
    memcpy(&step, body.ptr, sizeof step);
    if (step < 0)
        return FAIL(e, DAMAGED, "a metric is of no step");
    CLEANUP(arena_freep) struct arena *scratch = arena_new(METRIC_ARENA);
    CLEANUP(buf_releasep) struct buf json = BUF(HELD_LINE_BYTES);
    TRY(object_anew(scratch, str_n(body.ptr + sizeof step, body.len - sizeof step), METRIC_DEPTH, &json, e));
    held_metric(r->held, step, buf_str(&json));
    return ERR_OK;
}

static enum errc on_ready(struct run *r, struct err *e)
{
    if (r->is_ready || !r->csr.len)
        return FAIL(e, DAMAGED, "the child was ready twice, or without a certificate");
    r->is_ready = true;
    held_start(r->held, str_c(r->endpoint));
    return ERR_OK;
}

const struct schema *run_result_schema(const struct run *r)
{
    const struct job_type *t = job_type_find(r->g->kind);
    return t ? t->result : NULL;
}

static enum errc on_figures(struct run *r, struct str json, struct err *e)
{
    struct err odd = { 0 };
    const struct schema *s = run_result_schema(r);
    if (!s || r->has_result)
        return FAIL(e, DAMAGED, "the child gave a result where its kind has none, or gave it twice");
    r->figures = arena_alloc(r->arena, s->size);
    if (json_decode(s, json, r->arena, r->figures, &odd) != ERR_OK)
        return FAIL(e, DAMAGED, "the child gave figures that are none: %s %s", odd.field, odd.msg);
    r->has_result = true;
    return ERR_OK;
}

static enum errc on_result(struct run *r, struct str body, struct err *e)
{
    if (body.len <= sizeof r->result || !r->has_output || r->has_result)
        return FAIL(e, DAMAGED, "a result was cut");
    memcpy(&r->result, body.ptr, sizeof r->result);
    return on_figures(r, str_n(body.ptr + sizeof r->result, body.len - sizeof r->result), e);
}

static enum errc on_line(struct run *r, struct str body, struct err *e)
{
    if (!body.len)
        return FAIL(e, DAMAGED, "a line was cut");
    const char *stream = *body.ptr == 'e' ? "stderr" : *body.ptr == 's' ? "system" : "stdout";
    held_log(r->held, stream, str_n(body.ptr + 1, body.len - 1));
    return ERR_OK;
}

static enum errc on_again(struct run *r, struct str body)
{
    r->asks_again = true;
    return FAIL(&r->failed, RETRY, "%.*s", STR_ARG(body)), ERR_OK;
}

/* What keeps machines from meeting is no failure of the program's. */
static enum errc on_certified(struct run *r, struct err *e)
{
    if (run_meet(r, e) == ERR_OK) {
        held_start(r->held, STR_NULL);
        return ERR_OK;
    }
    r->lost_others = true;
    return e->code;
}

static enum errc on_alone(struct run *r, struct str body)
{
    r->lost_others = true;
    return FAIL(&r->failed, RETRY, "%.*s", STR_ARG(body)), ERR_OK;
}

/* What the child may reach, its kind says by the grant; a refusal is the child's to tell. */
static enum errc on_dial(struct run *r, struct str place, struct err *e)
{
    struct err why = { 0 };
    CLEANUP(fd_closep) int fd = -1;
    const struct work_type *type = work_type_of(r->g->kind);
    if (!type->dial || r->was_killed || r->n_dials++ == DIALS_MAX)
        return FAIL(e, DAMAGED, "the child wants to be connected where it may not, or too often");
    if (type->dial(r->g, r->env->config, r->arena, place, &fd, &why) != ERR_OK)
        return frame_send(r->socket, FRAME_FAILED, STR_NULL, str_c(why.msg), NULL, 0, false, e);
    return frame_send(r->socket, FRAME_DIALLED, STR_NULL, STR(""), &fd, 1, false, e);
}

/* One message of the child. */
static enum errc on_frame(struct run *r, const struct frame *f, struct err *e)
{
    switch (f->type) {
    case FRAME_LOG:
        held_log(r->held, "stdout", f->body);
        return ERR_OK;
    case FRAME_METRIC:
        return on_metric(r, f->body, e);
    case FRAME_READY:
        return on_ready(r, e);
    case FRAME_CSR:
        TRY(run_on_csr(r, f->body, e));
        return lease_grant_is_gang(r->g) ? on_certified(r, e) : ERR_OK;
    case FRAME_ALONE:
        return lease_grant_is_gang(r->g) ? on_alone(r, f->body)
                                         : FAIL(e, DAMAGED, "the child of a job on one machine speaks of others");
    case FRAME_WANT:
        return r->has_output ? FAIL(e, DAMAGED, "the child wants a second output")
                             : run_give_place(r, STR("model"), LO_MODEL, -1, e);
    case FRAME_RESULT:
        return on_result(r, f->body, e);
    case FRAME_LINE:
        return on_line(r, f->body, e);
    case FRAME_ENERGY:
        return run_on_energy(r, e);
    case FRAME_PLACE:
        return run_on_place(r, f->body, e);
    case FRAME_GIVEN:
        return run_on_given(r, f->body, e);
    case FRAME_DIAL:
        return on_dial(r, f->body, e);
    case FRAME_IMAGE:
        return ERR_OK;                  /* taken, or not worth it, before its file was closed */
    case FRAME_ENDED:
        return on_figures(r, f->body, e);
    case FRAME_AGAIN:
        return on_again(r, f->body);
    case FRAME_FAILED:
        return FAIL(&r->failed, UNPROCESSABLE, "%.*s", STR_ARG(f->body)), ERR_OK;
    default:
        return FAIL(e, DAMAGED, "the child sent what a child does not send");
    }
}

static void ask_to_stop(struct run *r, enum lease_event event, int64_t kill_at_us)
{
    if (r->stop_event || held_is_stale(r->held))
        return;
    r->stop_event = event;
    if (event != LE_RETURN && event != LE_PREEMPT)
        keeper_forbid(r->keeper);       /* nobody goes on from here */
    r->kill_at_us = kill_at_us;
    if (r->pid > 0)
        kill(r->pid, SIGTERM);
}

/* Time and the book's word. Returns the milliseconds to wait for messages, -1 for ever; kills what must be killed. */
static int look_around(struct run *r)
{
    int64_t now = now_us(), next = INT64_MAX;
    if (held_is_stale(r->held)) {
        run_kill(r);
        return -1;
    }
    const int64_t grace_us = r->env->config->worker_grace_ms * 1000, preempt_us = held_preempt_us(r->held);
    if (held_is_cancelled(r->held))
        ask_to_stop(r, *r->env->stopping ? LE_RETURN : LE_CANCEL, now + grace_us);
    if (preempt_us)
        ask_to_stop(r, LE_PREEMPT, preempt_us);
    if (!r->stop_event && r->deadline_us && now >= r->deadline_us)
        ask_to_stop(r, LE_TIMEOUT, now + grace_us);
    if (r->stop_event && now >= r->kill_at_us) {
        run_kill(r);
        return -1;
    }
    next = r->stop_event ? r->kill_at_us : r->deadline_us ? r->deadline_us : next;
    if (job_listens(r->g->kind)) {
        run_renew_certificate(r);
        next = next < now + CERT_LOOK_US ? next : now + CERT_LOOK_US;
    }
    struct usage_sample sample;
    if (usage_due(&r->usage, now, &sample))
        held_metric(r->held, sample.step, str_c(sample.json));
    run_look_at_energy(r, now);
    run_look_at_idle(r, now);
    next = next < r->usage.next_us ? next : r->usage.next_us;
    next = next < r->energy.next_us ? next : r->energy.next_us;
    next = next < r->idle.next_us ? next : r->idle.next_us;
    return next == INT64_MAX ? -1 : (int)((next - now) / 1000 < 3600000 ? (next - now) / 1000 + 1 : 3600000);
}

/* Until the child's end of the socket is closed. */
static void watch(struct run *r, struct err *e)
{
    char *room = arena_alloc(r->arena, FRAME_MAX);
    if (r->g->max_runtime_s > 0)
        r->deadline_us = now_us() + r->g->max_runtime_s * 1000000;
    usage_begin(&r->usage, r->pid, r->g->slots, r->env->config->worker_sample_ms, now_us());
    energy_begin(r->env->energy, &r->energy, (uint64_t)r->g->devices, r->g->gpu_milli, now_us());
    idle_begin(&r->idle, (uint64_t)r->g->devices, now_us());
    for (;;) {
        struct pollfd p[2] = { { .fd = r->socket, .events = POLLIN }, { .fd = held_wake_fd(r->held), .events = POLLIN } };
        int ms = look_around(r);
        if (poll(p, 2, ms) < 0 && errno != EINTR)
            break;
        uint64_t drain;
        if ((p[1].revents & POLLIN) && read(p[1].fd, &drain, sizeof drain) < 0)
            continue;
        if (!(p[0].revents & (POLLIN | POLLHUP | POLLERR)))
            continue;
        struct frame f = { 0 };
        if (frame_receive(r->socket, room, &f, NULL) != ERR_OK)
            break;
        if (f.type == FRAME_IMAGE && f.nfds == 1 && !r->image_is_flat && !r->image_is_kept)
            r->image_is_kept = image_cache_put(r->env->images, r->g, f.fds[0]);
        frame_close_fds(&f);
        if (on_frame(r, &f, e) != ERR_OK) {
            if (e->code != ERR_OK && r->failed.code == ERR_OK)
                r->failed = *e;
            run_kill(r);
        }
        secret_wipe(room, f.body.len);
    }
    run_reap(r);
    run_end_energy(r);
    struct usage_sample sample;
    if (usage_end(&r->usage, now_us(), r->cpu_us, r->peak_bytes, &sample))
        held_metric(r->held, sample.step, str_c(sample.json));
}

void executor_run(const struct executor_env *env, struct held *h)
{
    struct run r = { .env = env, .held = h, .g = held_grant(h), .arena = arena_new(ARENA_MAX), .output = -1, .artifact = -1,
                     .socket = -1,
                     .listener = -1, .dir_lock = -1,
                     .keeper_end = -1, .door_end = -1 };
    for (size_t i = 0; i < INPUTS_MAX; i++)
        r.inputs[i] = -1;
    struct err e = { 0 };
    run_trace_begin(&r.trace, env->otlp, r.g);
    enum errc rc = prepare(&r, &e);
    run_trace_stage(&r.trace, STR("inputs"), rc == ERR_OK);
    if (rc == ERR_OK) {
        if (!run_listens(&r))
            held_start(h, STR_NULL);
        watch(&r, &e);
        rc = r.failed.code;
        run_trace_stage(&r.trace, STR("work"), rc == ERR_OK);
    } else if (r.pid > 0) {
        run_kill(&r);
        run_reap(&r);
    }
    run_conclude(&r, rc, &e);
    run_trace_stage(&r.trace, STR("outputs"), rc == ERR_OK);
    run_trace_end(&r.trace, rc == ERR_OK ? STR_NULL : str_c(err_row(rc)->wire));
    keeper_free(r.keeper);
    held_set_door(h, -1);
    fd_closep(&r.keeper_end);
    fd_closep(&r.door_end);
    for (size_t i = 0; i < INPUTS_MAX; i++)
        fd_closep(&r.inputs[i]);
    fd_closep(&r.output);
    fd_closep(&r.artifact);
    fd_closep(&r.socket);
    fd_closep(&r.listener);
    cage_free(r.cage);
    run_dir_leave(&r);
    fd_closep(&r.dir_lock);
    if (env->isolation)
        isolation_give(env->isolation, r.uid);
    client_free(r.client);
    arena_free(r.arena);
    held_unref(h);
}
