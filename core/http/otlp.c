/* SPDX-License-Identifier: Apache-2.0 */
/* otlp.c - what waits is a list of spans already written as JSON, so that a sending is only copying; one thread sends it.
 *
 * A batch that was not taken stays the batch: the same spans are tried again, and none is told in two batches. */
#include "core/http/otlp.h"
#include "core/base/assert.h"
#include "core/base/beat.h"
#include "core/base/cleanup.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/share_count.h"
#include "core/http/client.h"
#include "core/http/otlp_json.h"
#include "core/table/config.h"
#include "core/table/metrics.h"

#include <pthread.h>
#include <stdlib.h>

enum { SPAN_JSON_MAX = 4096, BODY_MAX = OTLP_BATCH * (SPAN_JSON_MAX + 1) + 4096, METRICS_MAX = 8 << 20, CALL_ARENA = 1 << 20,
       SEND_EVERY_US = 1000000, TRY_AGAIN_US = 1000000, CONNECT_MS = 2000, TIMEOUT_MS = 5000, ANSWER_MAX = 65536 };

struct told {
    struct told *next;
    struct share *share;
    size_t len;
    char json[];
};

struct otlp {
    struct otlp_source by;
    const struct config *config;
    int64_t sample, metrics_us, start_us;
    struct http_client *client;         /* of the thread; at the end of otlp_free */
    const char *headers[2];
    struct beat *beat;
    pthread_mutex_t lock;               /* guards what waits */
    struct told *first, **last;
    size_t waiting;
    struct share_count *shares;
    /* of the thread */
    struct told *flying;
    size_t n_flying;
    int tries;
    int64_t next_try_us, next_metrics_us;
    bool is_away;                       /* the collector, as the log has it */
};

/* --- what waits --- */

bool otlp_wants(const struct otlp *o, const struct trace *t)
{
    return o && t->is_sampled;
}

struct trace otlp_job(const struct otlp *o, struct uuid job_id)
{
    return trace_of_job(job_id, o ? o->sample : 0);
}

struct trace otlp_given(const struct otlp *o, struct str traceparent)
{
    struct trace t = { 0 };
    if (!trace_parse(traceparent, &t) && o)
        t = trace_begin(o->sample);
    return t;
}

void span_text(struct span *s, const char *key, struct str text)
{
    if (text.ptr && s->nattrs < SPAN_ATTRS)
        s->attrs[s->nattrs++] = (struct span_attr){ .key = key, .text = text };
}

void span_number(struct span *s, const char *key, int64_t number)
{
    if (s->nattrs < SPAN_ATTRS)
        s->attrs[s->nattrs++] = (struct span_attr){ .key = key, .number = number };
}

static void drop(size_t n, const char *result)
{
    if (n)
        metrics_add(M_otlp_spans_total, (double)n, result);
}

static struct told *told_new(const struct buf *json)
{
    struct told *t = malloc(sizeof *t + json->len);
    ASSERT(t);
    *t = (struct told){ .len = json->len };
    memcpy(t->json, json->ptr, json->len);
    return t;
}

void otlp_tell(struct otlp *o, const struct span *s)
{
    if (!otlp_wants(o, &s->at))
        return;
    CLEANUP(buf_releasep) struct buf json = BUF(SPAN_JSON_MAX);
    otlp_json_span(&json, s);
    if (json.overflow)
        return drop(1, "dropped");
    struct told *t = told_new(&json);
    pthread_mutex_lock(&o->lock);
    bool fits = o->waiting < OTLP_WAITING && share_count_of(o->shares, s->owner.b, sizeof s->owner.b) < OTLP_SHARE;
    if (fits) {
        t->share = share_count_take(o->shares, s->owner.b, sizeof s->owner.b);
        *o->last = t;
        o->last = &t->next;
        o->waiting++;
    }
    bool is_full = fits && o->waiting % OTLP_BATCH == 0;
    pthread_mutex_unlock(&o->lock);
    if (!fits) {
        free(t);
        drop(1, "dropped");
    }
    if (is_full)
        beat_wake(o->beat);
}

/* At most a batch of what waits; it is the thread's from then on. */
static void take_batch(struct otlp *o)
{
    pthread_mutex_lock(&o->lock);
    o->flying = o->first;
    struct told **end = &o->first;
    for (o->n_flying = 0; *end && o->n_flying < OTLP_BATCH; o->n_flying++) {
        share_count_give((*end)->share);
        end = &(*end)->next;
    }
    o->first = *end;
    *end = NULL;
    if (!o->first)
        o->last = &o->first;
    o->waiting -= o->n_flying;
    pthread_mutex_unlock(&o->lock);
    o->tries = 0;
}

static void free_all(struct told *t)
{
    while (t) {
        struct told *next = t->next;
        free(t);
        t = next;
    }
}

static void forget_batch(struct otlp *o, size_t sent, const char *otherwise)
{
    drop(sent, "sent");
    drop(o->n_flying - sent, otherwise);
    free_all(TAKE(o->flying));
    o->n_flying = 0;
}

/* --- sending --- */

/* OTLP/HTTP: these answers say that the same request may do better later; all others that it will not. */
static bool is_for_later(int status)
{
    return status == 429 || status == 502 || status == 503 || status == 504;
}

enum outcome { SENT, LATER, REFUSED };

static void note_outcome(struct otlp *o, enum outcome is, const char *path, int status, const struct err *e)
{
    if (is == SENT && o->is_away)
        log_event(LOG_INFO, "otlp.back", "endpoint", LOG_S(o->config->otlp_endpoint), NULL);
    else if (is != SENT && !o->is_away)
        log_event(LOG_WARN, "otlp.away", "endpoint", LOG_S(o->config->otlp_endpoint), "path", LOG_S(path), "status",
                  LOG_I(status), "why", LOG_S(status ? "the collector did not take it" : e->msg), NULL);
    o->is_away = is != SENT;
}

static enum outcome post(struct otlp *o, const char *path, const struct buf *body, int64_t *ret_rejected)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(CALL_ARENA);
    struct err e = { 0 };
    struct http_result r = { 0 };
    const struct http_call call = { .method = "POST", .path = path, .body = buf_str(body), .response_max = ANSWER_MAX,
                                    .headers = o->headers[0] ? o->headers : NULL };
    enum errc rc = http_client_call(o->client, a, &call, &r, &e);
    enum outcome is = rc != ERR_OK || is_for_later(r.status) ? LATER : r.status / 100 == 2 ? SENT : REFUSED;
    note_outcome(o, is, path, rc == ERR_OK ? r.status : 0, &e);
    *ret_rejected = is == SENT ? otlp_json_rejected(r.body) : 0;
    return is;
}

static enum outcome send_batch(struct otlp *o)
{
    CLEANUP(buf_releasep) struct buf body = BUF(BODY_MAX);
    int64_t rejected;
    otlp_json_spans_begin(&body, &o->by);
    for (const struct told *t = o->flying; t; t = t->next) {
        buf_add(&body, t->json, t->len);
        buf_add_c(&body, t->next ? "," : "");
    }
    otlp_json_end(&body);
    ASSERT(!body.overflow);
    enum outcome is = post(o, "/v1/traces", &body, &rejected);
    size_t sent = rejected < (int64_t)o->n_flying ? o->n_flying - (size_t)rejected : 0;
    o->tries++;
    if (is != LATER || o->tries == OTLP_TRIES)
        forget_batch(o, is == SENT ? sent : 0, "failed");
    return is;
}

static void send_metrics(struct otlp *o)
{
    CLEANUP(buf_releasep) struct buf body = BUF(METRICS_MAX);
    int64_t rejected;
    otlp_json_metrics_begin(&body, &o->by);
    metrics_print_otlp(&body, o->by.service, o->start_us, clock_wall_us(&clock_system));
    otlp_json_end(&body);
    if (!body.overflow)
        (void)post(o, "/v1/metrics", &body, &rejected);     /* the next ones have it all, so these are not tried again */
}

static int64_t turn(void *ctx, bool is_woken)
{
    struct otlp *o = ctx;
    int64_t now = clock_mono_us(&clock_system);
    (void)is_woken;
    while (now >= o->next_try_us) {
        if (!o->flying)
            take_batch(o);
        if (!o->flying)
            break;
        if (send_batch(o) == LATER) {
            o->next_try_us = clock_mono_us(&clock_system) + (o->flying ? TRY_AGAIN_US << (o->tries - 1) : TRY_AGAIN_US);
            break;
        }
    }
    if (o->metrics_us && now >= o->next_metrics_us) {
        send_metrics(o);
        o->next_metrics_us = clock_mono_us(&clock_system) + o->metrics_us;
    }
    return SEND_EVERY_US;
}

/* --- life --- */

/* The host as a whole: another name may begin like it. */
static bool is_loopback(const char *url)
{
    static const char *const here[] = { "http://127.0.0.1", "http://localhost", "http://[::1]" };
    for (size_t i = 0; i < sizeof here / sizeof *here; i++) {
        const size_t n = strlen(here[i]);
        if (!strncmp(url, here[i], n) && strchr(":/", url[n]) && !strchr(url, '@'))
            return true;
    }
    return false;
}

static enum errc check_endpoint(const struct config *c, struct err *e)
{
    const char *u = c->otlp_endpoint;
    bool is_tls = !strncmp(u, "https://", 8), is_plain = !strncmp(u, "http://", 7);
    if (!is_tls && !is_plain)
        return FAIL(e, INVALID, "otlp.endpoint must be http://host:port or https://host:port, not %s", u);
    if (c->run_profile == PROFILE_PROD && is_plain && !is_loopback(u))
        return FAIL(e, INVALID, "otlp.endpoint is another machine's and not encrypted: the prod profile wants https://, not %s",
                    u);
    return ERR_OK;
}

enum errc otlp_new(const struct config *c, const char *program, struct otlp **ret, struct err *e)
{
    *ret = NULL;
    if (!*c->otlp_endpoint)
        return ERR_OK;
    TRY(check_endpoint(c, e));
    const struct http_client_options h = { .base_url = c->otlp_endpoint, .ca_file = *c->otlp_ca ? c->otlp_ca : NULL,
                                           .connect_timeout_ms = CONNECT_MS, .timeout_ms = TIMEOUT_MS };
    struct http_client *client = http_client_new(&h, e);
    if (!client)
        return e->code;
    struct otlp *o = calloc(1, sizeof *o);
    ASSERT(o);
    o->config = c;
    o->client = client;
    o->start_us = clock_wall_us(&clock_system);
    o->by = (struct otlp_source){ program, FALAJ_VERSION, uuid_v7(o->start_us) };
    o->sample = c->otlp_sample;
    o->metrics_us = c->otlp_metrics_ms * 1000;
    o->headers[0] = *c->otlp_header ? c->otlp_header : NULL;
    o->last = &o->first;
    o->shares = share_count_new();
    pthread_mutex_init(&o->lock, NULL);
    o->beat = beat_new("otlp", SEND_EVERY_US, turn, o);
    *ret = o;
    return ERR_OK;
}

void otlp_free(struct otlp *o)
{
    if (!o)
        return;
    beat_free(o->beat);
    enum outcome is = SENT;
    while (is != LATER && (o->flying || o->first)) {
        if (!o->flying)
            take_batch(o);
        is = send_batch(o);
    }
    if (o->flying)
        forget_batch(o, 0, "failed");
    drop(o->waiting, "dropped");
    for (struct told *t = o->first; t; t = t->next)
        share_count_give(t->share);
    free_all(o->first);
    share_count_free(o->shares);
    pthread_mutex_destroy(&o->lock);
    http_client_free(o->client);
    free(o);
}
