/* SPDX-License-Identifier: Apache-2.0 */
/* type_serve.c - a serve job in the child: the model in memory behind a TLS listener that only the zone's API may call.
 *
 * The agent opened the listener; nobody is told of it before READY, so what connects early waits. The key is made here, for this
 * lease, and dies with this process: the agent carries the request for its certificate to falaj-api and brings the certificate,
 * and the renewed ones, which new connections see. The machine's own key is not here (docs/adr/0034).
 * A request is read on the loop thread and computed by the batcher, answered from there; one that costs less than waking
 * another thread and being woken by it (OWN_US) the loop thread computes and answers itself. SIGTERM: what is open is served,
 * then the end. */
#include "workers/lease/type_serve_int.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "core/base/cleanup.h"
#include "core/crypto/x509.h"
#include "core/json/decode.h"
#include "core/json/encode.h"
#include "core/json/jsonvalue.h"
#include "core/wire/type_serve.h"
#include "core/wire/infer_wire.h"
#include "workers/lease/child_engine.h"
#include "workers/lease/plain.h"
#include "workers/lease/work_type.h"

/* ENGINE_MS: less than SERVING_TIMEOUT_MS of falaj-api. */
enum { DRAIN_MS = 8000, POLL_MS = 50, ENGINE_MS = 25000, OWN_US = 40, OWN_WARM_US = 20000 };
static const size_t INFO_MAX = (size_t)4 << 20, BODY_MAX = (size_t)32 << 20, REQUEST_ARENA = (size_t)256 << 20;
static const size_t HEADER_ARENA = (size_t)1 << 30;

static void serve_json(struct http_exchange *x, int status, const struct schema *schema, const void *body)
{
    struct buf b = BUF(INFO_MAX);
    json_encode(schema, body, &b);
    http_reply_buf(x, status, STR("application/json"), NULL, 0, &b);
}

void serve_fail(struct http_exchange *x, int status, const char *why)
{
    struct str text = str_c(why);
    serve_json(x, status, &infer_error_schema,
               &(struct infer_error){ str_is_utf8(text) ? text : STR("the request is not acceptable") });
}

static struct slice describe(struct arena *a, const struct sig_tensor *t, size_t n)
{
    struct infer_tensor *all = ARENA_ARRAY(a, struct infer_tensor, n);
    for (size_t i = 0; i < n; i++) {
        int64_t *dim = ARENA_ARRAY(a, int64_t, t[i].rank);
        memcpy(dim, t[i].dim, t[i].rank * sizeof *dim);
        all[i] = (struct infer_tensor){ .name = t[i].name, .datatype = t[i].datatype, .shape = { dim, t[i].rank } };
    }
    return (struct slice){ all, n };
}

/* Who gives words and numbers must know whose: the columns' names stand behind each other in the order of the inputs. */
static void name_columns(struct arena *a, const struct infer_info *info, struct slice inputs)
{
    const struct jval *names;
    struct err e = { 0 };
    size_t at = 0;
    if (!info->words.columns || jval_parse(a, str_c(info->features_json), 0, &names, &e) != ERR_OK)
        return;
    for (size_t i = 0; i < inputs.n; i++) {
        struct infer_tensor *t = (struct infer_tensor *)inputs.items + i;
        CLEANUP(buf_releasep) struct buf b = BUF(INFO_MAX);
        size_t n = t->shape.n == 2 ? (size_t)((const int64_t *)t->shape.items)[1] : 0;
        struct str *own = ARENA_ARRAY(a, struct str, n);
        for (size_t k = 0; k < n; k++)
            own[k] = jval_str(jval_at(names, at++));
        json_encode(&infer_columns_schema, &(struct infer_columns){ { own, n } }, &b);
        t->parameters.text = str_dup(a, buf_str(&b));
    }
}

static void serve_metadata(struct job_serve *s, struct http_exchange *x)
{
    const struct infer_info *info = infer_model_info(s->model);
    struct arena *a = http_exchange_request(x)->arena;
    struct slice inputs = describe(a, info->sig.inputs, info->sig.input_count);
    name_columns(a, info, inputs);
    struct str versions[] = { str_fmt(a, "%ld", (long)s->version) };
    serve_json(x, 200, &infer_metadata_schema,
               &(struct infer_metadata){ s->name, { versions, 1 },
                                         info->engine ? STR("onnxruntime_onnx") : str_fmt(a, "falaj_%s", info->family),
                                         inputs,
                                         describe(a, info->sig.outputs, info->sig.output_count) });
}

static void on_request(void *ctx, struct http_exchange *x)
{
    struct job_serve *s = ctx;
    const struct http_request *r = http_exchange_request(x);
    if (!str_eq_c(r->peer_identity, s->identity))
        return serve_fail(x, 403, "only the zone's API may call");
    if (r->method == HTTP_POST && str_eq_c(r->path, "/infer"))
        return serve_infer(s, x);
    if (r->method == HTTP_POST && str_eq_c(r->path, "/generate"))
        return serve_text(s, x, false);
    if (r->method == HTTP_POST && str_eq_c(r->path, "/generate_stream"))
        return serve_text(s, x, true);
    if (r->method == HTTP_GET && str_eq_c(r->path, "/metadata"))
        return serve_metadata(s, x);
    if (r->method == HTTP_GET && str_eq_c(r->path, "/ready"))
        return serve_json(x, 200, &infer_ready_schema, &(struct infer_ready){ true });
    serve_fail(x, 404, "there is no such path");
}

static void on_reject(void *ctx, struct http_exchange *x, enum errc code, const char *why)
{
    (void)ctx;
    serve_fail(x, err_row(code)->http, why);
}

static size_t queue_of(const struct serve_knobs *k)
{
    return (size_t)(k->max_queue_size ? k->max_queue_size : SERVE_QUEUE);
}

static enum errc start_batcher(struct job_serve *s, const struct serve_knobs *k, struct err *e)
{
    const struct batcher_options o = { .threads = s->child->hw.cores, .queue_requests = queue_of(k),
                                       .batch_rows = (size_t)k->max_batch_size, .delay_us = k->max_queue_delay_microseconds,
                                       .timeout_us = k->default_timeout_microseconds,
                                       .engine_us = (int64_t)ENGINE_MS * 1000 };
    TRY(batcher_new(s->model, &o, &s->batcher, e));
    return batcher_warm(s->batcher, e);
}

/* weight_bits: at most so many. */
static enum decode_type type_of(const struct serve_knobs *k)
{
    int64_t bits = k->weight_bits ? k->weight_bits : SERVE_WEIGHT_BITS;
    return bits >= 32 ? DECODE_F32 : bits >= 16 ? DECODE_BF16 : DECODE_I8;
}

/* The lease's memory is what there is, less what the process itself needs. */
static size_t room_of(const struct child *c)
{
    return (size_t)(c->grant.memory_bytes / 16 * 15);
}

static enum errc start_texts(struct job_serve *s, const struct serve_knobs *k, const struct st_file *f,
                             const struct read_once *data, struct err *e)
{
    const struct child *c = s->child;
    const struct text_options o = { type_of(k), (size_t)k->max_sequences, (size_t)k->max_context, room_of(c), data };
    const struct text_row first = { .slot = 0 };
    TRY(text_model_load(c->backend, c->pool, f, &o, &s->text_model, e));
    TRY(text_step(s->text_model, &first, 1, e));
    s->info = text_model_info(s->text_model);
    const struct text_engine_options queue = { queue_of(k), k->default_timeout_microseconds };
    TRY(text_engine_new(s->text_model, &queue, &s->text, e));
    child_log(s->child, "info: text: %zu sequences of %zu tokens at a time, %zu MiB of cache, weights in %s (%zu MiB)%s",
              s->info->max_sequences, s->info->max_context, s->info->cache_bytes >> 20, decode_type_names[s->info->weights],
              s->info->weight_bytes >> 20, s->info->vocabulary ? "" : "; no vocabulary: it takes tokens");
    return ERR_OK;
}

static enum errc open_model(struct job_serve *s, const struct serve_knobs *k, const struct plain *p, struct err *e)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(HEADER_ARENA);
    struct child *c = s->child;
    const struct infer_load how = { &p->once, room_of(c), child_engine_door(c) };
    struct st_file f;
    TRY(st_parse(a, p->bytes.ptr, p->bytes.len, &f, e));
    if (text_model_is(&f)) {
        TRY(infer_model_describe(p->bytes.ptr, p->bytes.len, &s->model, e));
        return start_texts(s, k, &f, &p->once, e);
    }
    return infer_model_load_from(c->backend, c->pool, p->bytes.ptr, p->bytes.len, &how, &s->model, e);
}

/* Clock and processor time, of all threads. */
struct span {
    int64_t us;
    clock_t cpu;
};

static struct span span_now(void)
{
    return (struct span){ clock_mono_us(&clock_system), clock() };
}

static void span_print(char out[64], struct span from, struct span to)
{
    snprintf(out, 64, "%.1f ms (%.1f of processor time)", (double)(to.us - from.us) / 1e3,
             (double)(to.cpu - from.cpu) * 1e3 / CLOCKS_PER_SEC);
}

/* What a start costs beside what it cannot do without: reading the model's bytes. */
static void log_start(const struct job_serve *s, size_t bytes, struct span began, struct span opened)
{
    char all[64], open[64];
    span_print(all, began, span_now());
    span_print(open, began, opened);
    child_log(s->child, "info: first answer after %s; decrypting and hashing %zu bytes took %s of it", all, bytes, open);
}

/* warm_us: of the first answer; a model that needed long for it is not worth a second look. */
static enum errc choose_own(struct job_serve *s, int64_t warm_us, struct err *e)
{
    size_t rows = 0;
    if (warm_us > OWN_WARM_US)
        return ERR_OK;
    TRY(batcher_own(s->batcher, OWN_US, &rows, e));
    if (rows)
        child_log(s->child, "info: a request of up to %zu rows takes at most %d us, so it is computed where it is read", rows,
                  (int)OWN_US);
    return ERR_OK;
}

static enum errc load(struct job_serve *s, const struct serve_knobs *k, struct err *e)
{
    struct child *c = s->child;
    const struct span began = span_now();
    if (c->n_inputs < 1)
        return FAIL(e, INVALID, "a serve job needs its model as input");
    struct plain file;
    enum errc rc = plain_open(c, 0, &file, e);
    const struct span opened = span_now();
    const size_t bytes = file.bytes.len;
    if (rc == ERR_OK)
        rc = open_model(s, k, &file, e);
    plain_close(&file);
    TRY(rc);
    const struct span loaded = span_now();
    if (!s->text)
        TRY(start_batcher(s, k, e));
    log_start(s, bytes, began, opened);
    return s->text ? ERR_OK : choose_own(s, span_now().us - loaded.us, e);
}

static void unload(struct job_serve *s)
{
    if (s->batcher)
        batcher_free(s->batcher);       /* answers what is queued */
    text_engine_free(s->text);
    s->batcher = NULL;
    s->text = NULL;
}

static void log_counts(struct job_serve *s)
{
    if (s->text) {
        struct text_stats t;
        text_engine_get_stats(s->text, &t);
        child_log(s->child, "info: made %lu texts of %lu tokens out of %lu, in %lu steps of %.1f rows, at most %zu at a time; "
                  "%lu left, %lu gave way, %lu came too late",
                  (unsigned long)t.ended, (unsigned long)t.tokens, (unsigned long)t.prompt_tokens, (unsigned long)t.steps,
                  t.steps ? (double)t.rows / (double)t.steps : 0, t.running_max, (unsigned long)t.gone, (unsigned long)t.gave_way,
                  (unsigned long)t.late);
        return;
    }
    struct batcher_stats stats;
    batcher_get_stats(s->batcher, &stats);
    child_log(s->child, "info: answered %lu requests of %lu rows in %lu batches, of at most %lu requests; %lu gave way, "
              "%lu came too late; %lu were computed where they were read",
              (unsigned long)stats.requests, (unsigned long)stats.rows, (unsigned long)stats.batches,
              (unsigned long)stats.batched_requests_max, (unsigned long)stats.gave_way, (unsigned long)stats.late,
              (unsigned long)stats.own);
}

/* Every POLL_MS: a caller's numbers may keep an engine busy. */
static void watch(struct job_serve *s)
{
    if (s->batcher)
        batcher_watch(s->batcher);
}

/* The next message of the agent. RETRY: told to stop; IO: the agent is gone. */
static enum errc next_frame(struct job_serve *s, struct frame *f, struct err *e)
{
    struct pollfd p = { .fd = FRAME_FD, .events = POLLIN };
    while (!*s->child->stop) {
        watch(s);
        if (poll(&p, 1, POLL_MS) <= 0)
            continue;
        TRY(frame_receive(FRAME_FD, s->room, f, e));
        frame_close_fds(f);
        return ERR_OK;
    }
    return FAIL(e, RETRY, "told to stop");
}

/* ret->cert_pem is in s->room. */
static enum errc get_certificate(struct job_serve *s, struct x509_pair *ret, struct err *e)
{
    struct frame f = { 0 };
    TRY(x509_make_csr(s->child->arena, STR("falaj lease"), ret, e));
    TRY(frame_send(FRAME_FD, FRAME_CSR, STR_NULL, ret->cert_pem, NULL, 0, true, e));
    TRY(next_frame(s, &f, e));
    if (f.type != FRAME_CERT)
        return FAIL(e, INVALID, "the agent sent message %d where a certificate was expected", (int)f.type);
    ret->cert_pem = f.body;
    return ERR_OK;
}

static enum errc listen_with(struct job_serve *s, const struct x509_pair *own, struct err *e)
{
    const struct http_server_options o = {
        .listen_fd = s->child->listener, .loops = 1, .max_connections = 512, .body_max_default = BODY_MAX,
            .arena_max = REQUEST_ARENA,
        .on_request = on_request, .reject = on_reject, .ctx = s, .tls_cert_pem = own->cert_pem, .tls_key_pem = own->key_pem,
        .tls_client_ca_pem = s->child->grant.ca_pem, .require_client_cert = true,
    };
    s->server = http_server_new(&o, e);
    return s->server ? ERR_OK : e->code;
}

static enum errc begin(struct job_serve *s, const struct serve_knobs *k, struct err *e)
{
    struct x509_pair own = { 0 };
    TRY(load(s, k, e));
    enum errc rc = get_certificate(s, &own, e);
    if (rc == ERR_OK)
        rc = listen_with(s, &own, e);
    secret_wipe((void *)(uintptr_t)own.key_pem.ptr, own.key_pem.len);
    return rc;
}

/* The certificate lives for less than a model may be served; the key stays the same. */
static void renew(struct job_serve *s, const struct frame *f)
{
    struct err e = { 0 };
    if (f->type == FRAME_CERT && http_server_renew(s->server, f->body, &e) != ERR_OK)
        child_log(s->child, "warning: the renewed certificate cannot be used: %s", e.msg);
}

static void drain(struct job_serve *s)
{
    http_server_drain(s->server);
    for (int ms = 0; ms < DRAIN_MS && http_server_open_exchanges(s->server); ms += POLL_MS) {
        poll(NULL, 0, POLL_MS);
        watch(s);
    }
    log_counts(s);
}

/* Until SIGTERM, or until the agent's end of descriptor 3 is closed. */
static enum errc serve(struct job_serve *s, const struct serve_knobs *k, struct err *e)
{
    struct frame f = { 0 };
    TRY(begin(s, k, e));
    const struct infer_info *info = infer_model_info(s->model);
    CLEANUP(buf_releasep) struct buf sig = BUF(2000);
    (void)(sig_print(&sig, info->sig.inputs, info->sig.input_count) && buf_add_c(&sig, " -> ")
           && sig_print(&sig, info->sig.outputs, info->sig.output_count));
    child_log(s->child, "info: serving %.*s version %ld: %s, %zu parameters, backend %s", STR_ARG(s->name), (long)s->version,
              sig.ptr ? sig.ptr : "", info->parameters, info->engine ? info->engine : s->child->backend->name);
    pages_drop_code();
    TRY(frame_send(FRAME_FD, FRAME_READY, STR_NULL, STR_NULL, NULL, 0, true, e));
    infer_model_settle(s->model, s->child->stop);
    if (s->text)
        text_model_settle(s->text_model, s->child->stop);
    while (next_frame(s, &f, e) == ERR_OK)
        renew(s, &f);
    drain(s);
    return FAIL(e, RETRY, "told to stop");
}

static void serve_close(struct job_serve *s)
{
    http_server_refuse(s->server);
    unload(s);
    http_server_free(s->server);
    text_model_free(s->text_model);
    if (s->model)
        infer_model_free(s->model);
}

static enum errc run(struct child *c, struct err *e)
{
    struct serve_job job = { 0 };
    const struct lease_grant *g = &c->grant.lease;
    TRY(json_decode(&serve_job_schema, g->spec.text, c->arena, &job, e));
    struct job_serve s = { .child = c, .name = job.name, .version = job.model_version, .room = arena_alloc(c->arena, FRAME_MAX) };
    snprintf(s.identity, sizeof s.identity, "spiffe://%.*s/api", STR_ARG(g->zone));
    enum errc rc = serve(&s, &job.knobs, e);
    serve_close(&s);
    return rc;
}

const struct work_type work_type_serve = { .run = run, .takes_engine = true };
