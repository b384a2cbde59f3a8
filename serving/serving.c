/* SPDX-License-Identifier: Apache-2.0 */
/* serving.c - connections to serving workers, and where they are. One lock guards the tables; no call runs under it.
 *
 * The table of targets is direct-mapped: a newer name takes the place of one that falls on the same line, which then costs one lookup. An
 * endpoint's line is given away when its deployment has not been called for longest and nobody is calling it. */
#include "serving/serving_int.h"
#include "core/base/assert.h"
#include "core/table/config.h"

#include <stdio.h>
#include <stdlib.h>

enum { TARGETS = 1024, ENDPOINTS = 256, NAME_TEXT = 64, ENDPOINT_TEXT = 300 };

struct target_line {
    struct uuid tenant;
    char name[NAME_TEXT], endpoint[ENDPOINT_TEXT], zone[NAME_TEXT], data_class[NAME_TEXT];
    struct uuid deployment_id;
    int64_t model_version, until_us;            /* until 0: empty */
};

struct endpoint_line {
    char name[ENDPOINT_TEXT];                   /* "": empty */
    int busy, idle_count;
    struct http_client *idle[SERVING_IDLE_MAX];
    int64_t used_us;
};

struct serving {
    const struct app *app;
    pthread_mutex_t lock;                       /* guards the two tables and ca_pem */
    char *ca_pem;                               /* NULL: no authority yet, no machine is believed */
    struct target_line targets[TARGETS];
    struct endpoint_line endpoints[ENDPOINTS];
    struct inference_counts *counts;
};

struct serving *serving_new(const struct app *app)
{
    struct serving *s = calloc(1, sizeof *s);
    ASSERT(s);
    s->app = app;
    pthread_mutex_init(&s->lock, NULL);
    s->counts = inference_counts_new(app);
    return s;
}

void serving_free(struct serving *s)
{
    if (!s)
        return;
    inference_counts_free(s->counts);
    for (int i = 0; i < ENDPOINTS; i++)
        for (int k = 0; k < s->endpoints[i].idle_count; k++)
            http_client_free(s->endpoints[i].idle[k]);
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
    pthread_mutex_unlock(&s->lock);
}

void serving_note(struct serving *s, const struct serving_caller *who, struct str zone, bool ok)
{
    inference_counts_add(s->counts, who, zone, ok);
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

bool serving_target_find(struct serving *s, struct uuid tenant, struct str name, struct arena *a, struct deployment_target *ret)
{
    pthread_mutex_lock(&s->lock);
    const struct target_line *t = line_of(s, tenant, name);
    bool found = line_is(t, tenant, name) && clock_mono_us(s->app->clock) < t->until_us;
    if (found)
        *ret = (struct deployment_target){ t->deployment_id, str_dup(a, str_c(t->endpoint)), str_dup(a, str_c(t->zone)),
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
    t->model_version = d->model_version;
    put_text(t->name, name);
    put_text(t->endpoint, d->endpoint);
    put_text(t->zone, d->zone);
    put_text(t->data_class, d->data_class);
    t->until_us = clock_mono_us(s->app->clock) + SERVING_TARGET_MS * 1000;
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
static struct endpoint_line *endpoint_of(struct serving *s, struct str name)
{
    struct endpoint_line *best = NULL;
    for (int i = 0; i < ENDPOINTS; i++) {
        struct endpoint_line *l = &s->endpoints[i];
        if (l->name[0] && str_eq_c(name, l->name))
            return l;
        if (!l->busy && (!best || l->used_us < best->used_us))
            best = l;
    }
    if (!best)
        return NULL;
    for (int k = 0; k < best->idle_count; k++)
        http_client_free(best->idle[k]);
    *best = (struct endpoint_line){ .busy = 0 };
    put_text(best->name, name);
    return best;
}

static struct http_client *connect_to(struct serving *s, struct str endpoint, struct err *e)
{
    const struct config *cfg = s->app->config;
    char url[ENDPOINT_TEXT + 16];
    snprintf(url, sizeof url, "https://%.*s", STR_ARG(endpoint));
    pthread_mutex_lock(&s->lock);
    char *ca_pem = s->ca_pem ? str_dup_heap(str_c(s->ca_pem)) : NULL;
    pthread_mutex_unlock(&s->lock);
    struct http_client_options o = {
        .base_url = url, .connect_timeout_ms = 2000, .timeout_ms = SERVING_TIMEOUT_MS, .ca_pem = ca_pem ? str_c(ca_pem) : STR("-"),
        .cert_file = *cfg->api_client_cert ? cfg->api_client_cert : NULL, .key_file = *cfg->api_client_key ? cfg->api_client_key : NULL,
    };
    struct http_client *c = http_client_new(&o, e);
    free(ca_pem);
    return c;
}

/* A handle of that endpoint, new or idle; the line stays counted as busy until give_back. */
static enum errc take(struct serving *s, struct str endpoint, struct endpoint_line **ret_line, struct http_client **ret, struct err *e)
{
    if (!fits(endpoint, ENDPOINT_TEXT))
        return FAIL(e, UPSTREAM, "The serving machine gave no usable address");
    pthread_mutex_lock(&s->lock);
    struct endpoint_line *l = endpoint_of(s, endpoint);
    bool full = !l || l->busy >= SERVING_BUSY_MAX;
    if (!full) {
        l->busy++;
        l->used_us = clock_mono_us(s->app->clock);
        *ret = l->idle_count ? l->idle[--l->idle_count] : NULL;
    }
    pthread_mutex_unlock(&s->lock);
    if (full)
        return FAIL(e, RATE, "The deployment has more calls running than it takes; try again");
    *ret_line = l;
    if (!*ret)
        *ret = connect_to(s, endpoint, e);
    return ERR_OK;
}

static void give_back(struct serving *s, struct endpoint_line *l, struct http_client *c, bool keep)
{
    pthread_mutex_lock(&s->lock);
    l->busy--;
    if (keep && c && l->idle_count < SERVING_IDLE_MAX) {
        l->idle[l->idle_count++] = c;
        c = NULL;
    }
    pthread_mutex_unlock(&s->lock);
    http_client_free(c);
}

enum errc serving_call(struct serving *s, struct str endpoint, const char *method, const char *path, struct str body, struct arena *a,
                       struct http_result *ret, struct err *e)
{
    struct endpoint_line *l;
    struct http_client *c = NULL;
    struct http_call call = { .method = method, .path = path, .body = body };
    TRY(take(s, endpoint, &l, &c, e));
    enum errc rc = c ? http_client_call(c, a, &call, ret, e) : e->code;
    give_back(s, l, c, rc == ERR_OK);
    return rc;
}
