/* SPDX-License-Identifier: Apache-2.0 */
/* serving.c - calls to serving workers, and where they are. One lock guards the tables; no call runs under it.
 *
 * The table of targets is direct-mapped: a newer name takes the place of one that falls on the same line, which then costs one lookup. An
 * endpoint's line is given away when its deployment has not been called for longest and nobody is calling it. Tenants stand in a list as
 * long as they have calls under way, which are few. */
#include "serving/serving_int.h"
#include "core/base/assert.h"
#include "core/http/server.h"
#include "core/table/config.h"
#include "core/table/metrics.h"
#include "core/wire/lease_host.h"

#include <stdio.h>
#include <stdlib.h>

enum { TARGETS = 1024, ENDPOINTS = 256, CALLERS = 64, BUSY_SHARED = SERVING_BUSY_MAX * 3 / 4, NAME_TEXT = 64, ENDPOINT_TEXT = 300, CONNECT_MS = 2000 };
static const size_t REPLY_BYTES_MAX = (size_t)256 << 20;

struct target_line {
    struct uuid tenant;
    char name[NAME_TEXT], endpoint[ENDPOINT_TEXT], zone[NAME_TEXT], data_class[NAME_TEXT];
    struct uuid deployment_id, attempt_id;
    int64_t model_version, until_us;            /* until 0: empty */
    int64_t look_us;                            /* then somebody looks it up anew */
};

struct endpoint_line {
    char name[ENDPOINT_TEXT];                   /* "": empty */
    char host[LEASE_HOST_MAX];                  /* who must answer there: another lease at the same place is another line */
    int busy;
    unsigned short busy_of[CALLERS];            /* of that, by caller; those that fall on the same line share it */
    int64_t trust;                              /* of the authorities that target knows */
    struct http_target *target;
    int64_t used_us;
};

struct tenant_line {
    struct uuid tenant;
    int busy;
};

struct serving {
    const struct app *app;
    pthread_mutex_t lock;                       /* guards the tables, ca_pem and trust */
    char *ca_pem;                               /* NULL: no authority yet, no machine is believed */
    int64_t trust;                              /* grows with each change of ca_pem */
    struct target_line targets[TARGETS];
    struct endpoint_line endpoints[ENDPOINTS];
    struct tenant_line tenants[SERVING_CALLS_MAX];
    int tenant_count;
    int connect_ms;                             /* set before the first call */
    struct http_mux *mux;
    struct inference_counts *counts;
};

/* One call while it is under way; in the caller's arena. */
struct serving_call {
    struct serving *serving;
    struct endpoint_line *line;
    struct serving_question q;
};

struct serving *serving_new(const struct app *app)
{
    struct serving *s = calloc(1, sizeof *s);
    ASSERT(s);
    s->app = app;
    pthread_mutex_init(&s->lock, NULL);
    s->connect_ms = CONNECT_MS;
    s->mux = http_mux_new(&(struct http_mux_options){ .name = "models", .calls_max = SERVING_CALLS_MAX, .bytes_max = REPLY_BYTES_MAX,
                                                      .idle_max = SERVING_IDLE_MAX, .before_done = http_answers_hold,
                                                      .after_done = http_answers_release });
    s->counts = inference_counts_new(app);
    return s;
}

void serving_stop(struct serving *s)
{
    if (s)
        http_mux_stop(s->mux);
}

void serving_set_connect(struct serving *s, int ms)
{
    s->connect_ms = ms;
}

void serving_free(struct serving *s)
{
    if (!s)
        return;
    http_mux_free(s->mux);
    inference_counts_free(s->counts);
    for (int i = 0; i < ENDPOINTS; i++)
        http_target_unref(s->endpoints[i].target);
    pthread_mutex_destroy(&s->lock);
    free(s->ca_pem);
    free(s);
}

void serving_trust(struct serving *s, struct str ca_pem)
{
    char *fresh = ca_pem.len ? str_dup_heap(ca_pem) : NULL;
    pthread_mutex_lock(&s->lock);
    free(s->ca_pem);
    s->ca_pem = fresh;
    s->trust++;
    pthread_mutex_unlock(&s->lock);
}

void serving_note(struct serving *s, const struct serving_caller *who, struct str zone, bool ok)
{
    inference_counts_add(s->counts, who, zone, ok);
}

bool serving_has_room(struct serving *s)
{
    return inference_counts_have_room(s->counts);
}

void serving_flush(struct serving *s)
{
    inference_counts_flush(s->counts);
}

static bool fits(struct str s, size_t room)
{
    return s.len > 0 && s.len < room;
}

static void put_text(char *to, struct str s)
{
    memcpy(to, s.ptr, s.len);
    to[s.len] = 0;
}

static struct target_line *line_of(struct serving *s, struct uuid tenant, struct str name)
{
    uint64_t h = str_hash(name) ^ str_hash(str_n((const char *)tenant.b, 16)) * UINT64_C(0x9e3779b97f4a7c15);
    return &s->targets[(h ^ h >> 32) % TARGETS];
}

static bool line_is(const struct target_line *t, struct uuid tenant, struct str name)
{
    return t->until_us && uuid_eq(t->tenant, tenant) && str_eq_c(name, t->name);
}

bool serving_target_find(struct serving *s, struct uuid tenant, struct str name, bool may_look, struct arena *a,
                         struct deployment_target *ret)
{
    int64_t now_us = clock_mono_us(s->app->clock);
    pthread_mutex_lock(&s->lock);
    struct target_line *t = line_of(s, tenant, name);
    bool found = line_is(t, tenant, name) && now_us < t->until_us;
    if (found && now_us >= t->look_us) {
        t->look_us = may_look ? t->until_us : t->look_us;
        found = false;
    }
    if (found)
        *ret = (struct deployment_target){ t->deployment_id, t->attempt_id, str_dup(a, str_c(t->endpoint)),
                                           str_dup(a, str_c(t->zone)),
                                           str_dup(a, str_c(t->data_class)), t->model_version };
    pthread_mutex_unlock(&s->lock);
    return found;
}

void serving_target_keep(struct serving *s, struct uuid tenant, struct str name, const struct deployment_target *d)
{
    if (!fits(name, NAME_TEXT) || !fits(d->endpoint, ENDPOINT_TEXT) || !fits(d->zone, NAME_TEXT) || !fits(d->data_class, NAME_TEXT))
        return;
    pthread_mutex_lock(&s->lock);
    struct target_line *t = line_of(s, tenant, name);
    t->tenant = tenant;
    t->deployment_id = d->deployment_id;
    t->attempt_id = d->attempt_id;
    t->model_version = d->model_version;
    put_text(t->name, name);
    put_text(t->endpoint, d->endpoint);
    put_text(t->zone, d->zone);
    put_text(t->data_class, d->data_class);
    t->until_us = clock_mono_us(s->app->clock) + SERVING_TARGET_MS * 1000;
    t->look_us = t->until_us - SERVING_REFRESH_MS * 1000;
    pthread_mutex_unlock(&s->lock);
}

void serving_target_forget(struct serving *s, struct uuid tenant, struct str name)
{
    pthread_mutex_lock(&s->lock);
    struct target_line *t = line_of(s, tenant, name);
    if (line_is(t, tenant, name))
        t->until_us = 0;
    pthread_mutex_unlock(&s->lock);
}

/* The endpoint's line, or one made free for it; NULL: all are in use. The lock is held. */
static struct endpoint_line *endpoint_of(struct serving *s, struct str name, const char *host)
{
    struct endpoint_line *best = NULL;
    for (int i = 0; i < ENDPOINTS; i++) {
        struct endpoint_line *l = &s->endpoints[i];
        if (l->name[0] && str_eq_c(name, l->name) && strcmp(host, l->host) == 0)
            return l;
        if (!l->busy && (!best || l->used_us < best->used_us))
            best = l;
    }
    if (!best)
        return NULL;
    http_target_unref(best->target);
    *best = (struct endpoint_line){ .busy = 0 };
    put_text(best->name, name);
    put_text(best->host, str_c(host));
    return best;
}

/* The tenant's line; NULL: it has none yet, and there is room for one at the end. The lock is held. */
static struct tenant_line *tenant_of(struct serving *s, struct uuid tenant)
{
    for (int i = 0; i < s->tenant_count; i++)
        if (uuid_eq(s->tenants[i].tenant, tenant))
            return &s->tenants[i];
    return NULL;
}

/* Made anew when the authorities have changed; calls under way keep what they began with. The lock is held. */
static enum errc target_of(struct serving *s, struct endpoint_line *l, struct err *e)
{
    const struct config *cfg = s->app->config;
    if (l->target && l->trust == s->trust)
        return ERR_OK;
    char url[LEASE_HOST_MAX + 16];
    snprintf(url, sizeof url, "https://%s", l->host);
    struct http_client_options o = {
        .base_url = url, .connect_to = l->name,
        .connect_timeout_ms = s->connect_ms, .timeout_ms = SERVING_TIMEOUT_MS, .ca_pem = s->ca_pem ? str_c(s->ca_pem) : STR("-"),
        .cert_file = *cfg->api_client_cert ? cfg->api_client_cert : NULL, .key_file = *cfg->api_client_key ? cfg->api_client_key : NULL,
    };
    struct http_target *fresh = http_target_new(&o, e);
    if (!fresh)
        return e->code;
    http_target_unref(l->target);
    l->target = fresh;
    l->trust = s->trust;
    return ERR_OK;
}

/* Books the call; the lock is held. */
static enum errc book(struct serving *s, struct serving_call *c, const char *host, struct http_target **ret, struct err *e)
{
    struct endpoint_line *l = endpoint_of(s, c->q.endpoint, host);
    struct tenant_line *t = tenant_of(s, c->q.tenant_id);
    if (l && l->busy >= SERVING_BUSY_MAX)
        return FAIL(e, RATE, "The deployment has %d calls under way, which is as many as there may be; try again", l->busy);
    if (l && c->q.caller && l->busy >= BUSY_SHARED && l->busy_of[c->q.caller % CALLERS] >= SERVING_CALLER_MAX)
        return FAIL(e, RATE, "You have %d calls of this deployment under way, and its last places are for others; try again",
                    l->busy_of[c->q.caller % CALLERS]);
    if (t && t->busy >= SERVING_TENANT_MAX)
        return FAIL(e, RATE, "The tenant has %d calls of models under way, which is as many as there may be; try again", t->busy);
    if (!l || (!t && s->tenant_count == SERVING_CALLS_MAX))
        return FAIL(e, UNAVAILABLE, "As many models are being called as Falaj calls at once; try again");
    TRY(target_of(s, l, e));
    if (!t) {
        t = &s->tenants[s->tenant_count++];
        *t = (struct tenant_line){ .tenant = c->q.tenant_id };
    }
    t->busy++;
    l->busy++;
    l->busy_of[c->q.caller % CALLERS] += c->q.caller != 0;
    l->used_us = clock_mono_us(s->app->clock);
    c->line = l;
    *ret = http_target_ref(l->target);
    metrics_gauge_add(M_inference_pending_requests, 1);
    return ERR_OK;
}

static void give_back(struct serving_call *c)
{
    struct serving *s = c->serving;
    pthread_mutex_lock(&s->lock);
    struct tenant_line *t = tenant_of(s, c->q.tenant_id);
    if (--t->busy == 0)
        *t = s->tenants[--s->tenant_count];
    c->line->busy--;
    c->line->busy_of[c->q.caller % CALLERS] -= c->q.caller != 0;
    pthread_mutex_unlock(&s->lock);
    metrics_gauge_add(M_inference_pending_requests, -1);
}

static void on_done(void *ctx, enum errc rc, const struct http_result *r, const struct err *e)
{
    struct serving_call *c = ctx;
    give_back(c);
    c->q.done(c->q.ctx, rc, r, e);
}

static bool on_data(void *ctx, const char *p, size_t n)
{
    const struct serving_call *c = ctx;
    return c->q.on_data(c->q.ctx, p, n);
}

static bool is_unwanted(void *ctx)
{
    const struct serving_call *c = ctx;
    return c->q.is_unwanted && c->q.is_unwanted(c->q.ctx);
}

enum errc serving_ask(struct serving *s, const struct serving_question *q, struct err *e)
{
    if (!fits(q->endpoint, ENDPOINT_TEXT))
        return FAIL(e, UPSTREAM, "The serving machine gave no usable address");
    char host[LEASE_HOST_MAX];
    if (!lease_host(q->attempt_id, q->zone, host))
        return FAIL(e, UPSTREAM, "The serving machine stands in no zone");
    struct serving_call *c = ARENA_NEW(q->arena, struct serving_call);
    struct http_target *to = NULL;
    c->serving = s;
    c->q = *q;
    pthread_mutex_lock(&s->lock);
    enum errc rc = book(s, c, host, &to, e);
    pthread_mutex_unlock(&s->lock);
    TRY(rc);
    const struct http_mux_call call = { .to = to, .call = { .method = q->method, .path = q->path, .body = q->body,
                                                            .headers = q->headers, .timeout_ms = q->timeout_ms,
                                                            .on_data = q->on_data ? on_data : NULL, .ctx = c },
                                        .arena = q->arena, .is_unwanted = is_unwanted, .done = on_done, .ctx = c };
    rc = http_mux_start(s->mux, &call, e);
    http_target_unref(to);
    if (rc != ERR_OK)
        give_back(c);
    return rc;
}
