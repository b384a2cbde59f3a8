/* SPDX-License-Identifier: Apache-2.0 */
/* notice_send.c - a turn writes down what ended, claims what there is room for and starts it. Calls that are under way are
 * known here alone;
 * the database knows them as due again in NOTICE_CLAIM_S, which is more than a call may take. */
#include "scheduler/duty/notice_send.h"
#include "core/base/assert.h"
#include "core/base/beat.h"
#include "core/base/cleanup.h"
#include "core/base/log.h"
#include "core/crypto/secmem.h"
#include "core/crypto/webhook.h"
#include "core/db/run_tx.h"
#include "core/http/mail.h"
#include "core/http/mux.h"
#include "core/table/config.h"
#include "core/table/metrics.h"
#include "scheduler/duty/notice_mail.h"
#include "scheduler/duty/notices.h"
#include "tenants/identity/outside.h"
#include "tenants/notice/delivery.h"
#include "tenants/notice/rule.h"
#include "tenants/notice/text.h"

#include <pthread.h>
#include <stdlib.h>

enum { ARENA_MAX = 64 << 20, FLIGHT_ARENA = 1 << 20, REST_US = 500000, CONNECT_MS = 3000, MAILS = 4,
    PRUNE = 1000,
       PRUNE_EVERY_US = 600000000 };
_Static_assert(NOTICE_CALL_MS / 1000 < NOTICE_CLAIM_S && MAILS * MAIL_TIMEOUT_MS / 1000 < NOTICE_CLAIM_S,
    "no call outlives its claim");

/* A webhook under way. Its arena is the mux's until it is told of. */
struct flight {
    struct notice_sender *of;
    struct flight *next;                /* in `finished` */
    struct uuid tenant_id, delivery_id, notification_id;
    int64_t tries;
    struct arena *arena;
    const char *headers[4];
    bool is_refused;                    /* by the address */
    enum errc rc;
    int status;
    struct err why;
};

struct notice_sender {
    const struct app *app;
    bool (*is_leading)(void *ctx);
    void *ctx;
    struct outside_reach reach;
    struct http_mux *mux;
    struct arena *web_arena, *list_arena, *each_arena, *mail_arena;
    pthread_mutex_t lock;               /* guards finished */
    struct flight *finished;
    struct flight *under_way[NOTICE_CALLS];     /* the web thread's */
    size_t n_under_way;
    struct uuid turn;                   /* of notices_round; the gathering thread's */
    int64_t prune_us;
    atomic_bool is_over;                /* a mail server that hangs must not keep the leader's place while it ends */
    struct beat *gather, *web, *mail;
};

static struct work work_of(const struct app *app, struct arena *a)
{
    return (struct work){ .app = app, .arena = a, .now_us = clock_wall_us(app->clock) };
}

/* --- what came of it --- */

static void settle(struct notice_sender *s, struct arena *a, const char *kind, const struct notice_result *r, size_t n)
{
    struct work w = work_of(s->app, a);
    struct err e = { 0 };
    for (size_t i = 0; i < n; i++)
        metrics_inc(M_notifications_total, kind, str_eq_c(r[i].state, "DELIVERED") ? "delivered" : str_eq_c(r[i].state,
            "DEAD") ? "dead" : "failed");
    if (n && RUN_SYSTEM(&w, s->app->pool, 0, notice_write(&w, r, n, &e), &e) != ERR_OK)
        log_err(LOG_WARN, "notices.settle", &e);        /* they are due again by their claim */
}

static struct notice_result result_of_flight(struct notice_sender *s, struct arena *a, const struct flight *f)
{
    struct notice_result r = notice_result_of(s->app, f->tenant_id, f->delivery_id, f->notification_id, f->tries);
    r.status = f->status;
    if (f->rc == ERR_OK && f->status >= 200 && f->status < 300)
        r.state = STR("DELIVERED");
    else if (f->is_refused)
        r.reason = STR("The address is not on the public Internet, and the operator has not named its network (notify.networks)");
    else if (f->rc != ERR_OK)
        r.reason = str_fmt(a, "%s", f->why.msg);
    else if (f->status >= 300 && f->status < 400)
        r.reason = str_fmt(a, "The receiver answered %d; redirects are not followed", f->status);
    else
        r.reason = str_fmt(a, "The receiver answered %d", f->status);
    if (f->rc == ERR_OK && f->status == 410)
        r.state = STR("DEAD");
    return r;
}

/* --- webhooks --- */

static bool may_connect(void *ctx, const struct sockaddr *to)
{
    struct flight *f = ctx;
    const bool may = outside_may_connect(&f->of->reach, to);
    f->is_refused |= !may;
    return may;
}

static void on_done(void *ctx, enum errc rc, const struct http_result *r, const struct err *e)
{
    struct flight *f = ctx;
    struct notice_sender *s = f->of;
    f->rc = rc;
    f->status = rc == ERR_OK ? r->status : 0;
    if (rc != ERR_OK)
        f->why = *e;
    pthread_mutex_lock(&s->lock);
    f->next = s->finished;
    s->finished = f;
    pthread_mutex_unlock(&s->lock);
}

static struct flight *flight_new(struct notice_sender *s, const struct notice_claimed *d)
{
    struct flight *f = calloc(1, sizeof *f);
    ASSERT(f);
    f->of = s;
    f->tenant_id = d->tenant_id;
    f->delivery_id = d->delivery_id;
    f->notification_id = d->notification_id;
    f->tries = d->tries;
    f->arena = arena_new(FLIGHT_ARENA);
    return f;
}

static void flight_free(struct notice_sender *s, struct flight *f)
{
    for (size_t i = 0; i < s->n_under_way; i++)
        if (s->under_way[i] == f) {
            s->under_way[i] = s->under_way[--s->n_under_way];
            break;
        }
    arena_free(f->arena);
    free(f);
}

static bool land(struct notice_sender *s)
{
    struct notice_result results[NOTICE_CALLS];
    size_t n = 0;
    pthread_mutex_lock(&s->lock);
    struct flight *f = TAKE(s->finished);
    pthread_mutex_unlock(&s->lock);
    while (f) {
        struct flight *next = f->next;
        if (f->rc != ERR_OK)
            log_err(LOG_INFO, "notices.webhook", &f->why);
        results[n++] = result_of_flight(s, s->web_arena, f);
        flight_free(s, f);
        f = next;
    }
    settle(s, s->web_arena, "webhook", results, n);
    return n > 0;
}

static enum errc start(struct notice_sender *s, const struct notice_claimed *d, struct str secret, struct flight *f,
    struct err *e)
{
    struct arena *a = f->arena;
    const struct config *cfg = s->app->config;
    const int64_t at_s = clock_wall_us(s->app->clock) / 1000000;
    const struct str id = id_text(a, "ntd", d->delivery_id), url = d->url;
    char signature[WEBHOOK_SIGNATURE];
    struct str body;
    TRY(outside_url_check(cfg, url, "/url", e));
    TRY(notice_text_webhook(a, d, cfg->api_public_url, &body, e));
    TRY(webhook_sign(secret, id, at_s, body, signature, e));
    size_t cut = str_starts(url, "https://") ? 8 : 7;
    while (cut < url.len && url.ptr[cut] != '/' && url.ptr[cut] != '?')
        cut++;
    const struct http_client_options o = { .base_url = str_z(a, str_n(url.ptr, cut)),
        .ca_file = *cfg->notify_ca ? cfg->notify_ca : NULL,
        .connect_timeout_ms = CONNECT_MS, .timeout_ms = NOTICE_CALL_MS, .may_connect = may_connect, .may_connect_ctx = f };
    struct http_target *to = http_target_new(&o, e);
    if (!to)
        return e->code;
    f->headers[0] = arena_printf(a, "webhook-id: %.*s", STR_ARG(id));
    f->headers[1] = arena_printf(a, "webhook-timestamp: %lld", (long long)at_s);
    f->headers[2] = arena_printf(a, "webhook-signature: %s", signature);
    const char *path = cut < url.len ? str_z(a, str_fmt(a, "%s%.*s", url.ptr[cut] == '/' ? "" : "/",
        STR_ARG(str_n(url.ptr + cut, url.len - cut))))
                                     : "/";
    const struct http_mux_call call = { .to = to, .arena = a, .done = on_done, .ctx = f,
        .call = { .method = "POST", .path = path, .headers = f->headers, .body = body, .response_max = NOTICE_ANSWER_MAX } };
    const enum errc rc = http_mux_start(s->mux, &call, e);
    http_target_unref(to);
    return rc;
}

/* Starts one; false: *ret says why not. */
static bool launch(struct notice_sender *s, const struct notice_claimed *d, struct str secret, enum errc rc, struct err *e,
    struct notice_result *ret)
{
    *ret = notice_result_of(s->app, d->tenant_id, d->delivery_id, d->notification_id, d->tries);
    if (!d->url.ptr) {
        ret->state = STR("DEAD");
        ret->reason = STR("The notification was removed");
        return false;
    }
    struct flight *f = flight_new(s, d);
    if (rc == ERR_OK)
        rc = start(s, d, secret, f, e);
    if (rc != ERR_OK) {
        ret->reason = str_fmt(s->web_arena, "%s", e->msg);
        arena_free(f->arena);
        free(f);
        return false;
    }
    s->under_way[s->n_under_way++] = f;
    return true;
}

/* Tenants with a whole share under way. */
static size_t busy_tenants(const struct notice_sender *s, struct uuid busy[NOTICE_CALLS])
{
    size_t n = 0;
    for (size_t i = 0; i < s->n_under_way; i++) {
        size_t of = 0, seen = 0;
        for (size_t k = 0; k < s->n_under_way; k++) {
            const bool is_same = uuid_eq(s->under_way[k]->tenant_id, s->under_way[i]->tenant_id);
            of += is_same;
            seen += is_same && k < i;
        }
        if (of >= NOTICE_SHARE && !seen)
            busy[n++] = s->under_way[i]->tenant_id;
    }
    return n;
}

/* Claims, and opens the secrets: those need the transaction. A secret that does not open is that delivery's trouble alone. */
static enum errc claim_web(struct work *w, struct notice_sender *s, struct slice *ret, struct str *secrets, struct err *why,
    struct err *e)
{
    struct uuid busy[NOTICE_CALLS];
    const size_t n = busy_tenants(s, busy);
    TRY(notice_claim(w, "webhook", NOTICE_SHARE, busy, n, (int64_t)(NOTICE_CALLS - s->n_under_way), ret, e));
    const struct notice_claimed *d = ret->items;
    for (size_t i = 0; i < ret->n; i++) {
        why[i] = (struct err){ 0 };
        if (d[i].url.ptr && notice_secret_open(w, d[i].tenant_id, d[i].notification_id, d[i].zone, d[i].sealed, &secrets[i],
            &why[i]) != ERR_OK)
            secrets[i] = STR_NULL;
        if (db_is_failed(w->tx))
            return FAIL(e, UNAVAILABLE, "The database refused the key of a webhook");
    }
    return ERR_OK;
}

static bool launch_all(struct notice_sender *s)
{
    struct work w = work_of(s->app, s->web_arena);
    struct err e = { 0 }, *why = ARENA_ARRAY(s->web_arena, struct err, NOTICE_CALLS);
    struct str secrets[NOTICE_CALLS] = { 0 };
    struct notice_result failed[NOTICE_CALLS];
    struct slice list = { 0 };
    size_t n = 0;
    if (s->n_under_way == NOTICE_CALLS)
        return false;
    if (RUN_SYSTEM(&w, s->app->pool, 0, claim_web(&w, s, &list, secrets, why, &e), &e) != ERR_OK) {
        log_err(LOG_WARN, "notices.claim", &e);
        return false;
    }
    const struct notice_claimed *d = list.items;
    for (size_t i = 0; i < list.n; i++)
        n += !launch(s, &d[i], secrets[i], why[i].code, &why[i], &failed[n]);
    for (size_t i = 0; i < NOTICE_CALLS; i++)
        if (secrets[i].ptr)
            secret_wipe((char *)(uintptr_t)secrets[i].ptr, secrets[i].len);
    settle(s, s->web_arena, "webhook", failed, n);
    return list.n > 0;
}

static int64_t web_turn(void *ctx, bool is_woken)
{
    struct notice_sender *s = ctx;
    (void)is_woken;
    arena_reset(s->web_arena);
    bool any = land(s);
    if (s->is_leading(s->ctx))
        any |= launch_all(s);
    return any ? 0 : s->n_under_way ? REST_US / 10 : REST_US;
}

/* --- mail --- */

static void prune(struct notice_sender *s)
{
    struct work w = work_of(s->app, s->mail_arena);
    struct err e = { 0 };
    int64_t n, now = clock_mono_us(s->app->clock);
    if (now < s->prune_us)
        return;
    if (RUN_SYSTEM(&w, s->app->pool, 0, notice_prune(&w, PRUNE, &n, &e), &e) != ERR_OK)
        log_err(LOG_WARN, "notices.prune", &e);
    s->prune_us = now + PRUNE_EVERY_US;
}

static int64_t mail_turn(void *ctx, bool is_woken)
{
    struct notice_sender *s = ctx;
    struct notice_result results[MAILS];
    struct slice list = { 0 };
    struct err e = { 0 };
    (void)is_woken;
    if (!s->is_leading(s->ctx))
        return REST_US;
    arena_reset(s->mail_arena);
    struct work w = work_of(s->app, s->mail_arena);
    prune(s);
    if (RUN_SYSTEM(&w, s->app->pool, 0, notice_claim(&w, "mail", 1, NULL, 0, MAILS, &list, &e), &e) != ERR_OK)
        log_err(LOG_WARN, "notices.claim", &e);
    for (size_t i = 0; i < list.n; i++)
        results[i] = notice_mail(s->app, s->mail_arena, (const struct notice_claimed *)list.items + i, &s->is_over);
    settle(s, s->mail_arena, "mail", results, list.n);
    return list.n ? 0 : REST_US;
}

/* --- the log --- */

static int64_t gather_turn(void *ctx, bool is_woken)
{
    struct notice_sender *s = ctx;
    struct err e = { 0 };
    bool more = false;
    (void)is_woken;
    if (!s->is_leading(s->ctx))
        return REST_US;
    arena_reset(s->list_arena);
    if (notices_round(s->app, s->list_arena, s->each_arena, &s->turn, &more, &e) != ERR_OK) {
        log_err(e.code == ERR_RETRY ? LOG_INFO : LOG_WARN, "notices.round", &e);
        more = false;
    }
    return more ? 0 : REST_US;
}

struct notice_sender *notice_sender_new(const struct app *app, bool (*is_leading)(void *ctx), void *ctx)
{
    struct notice_sender *s = calloc(1, sizeof *s);
    ASSERT(s);
    s->app = app;
    s->is_leading = is_leading;
    s->ctx = ctx;
    if (*app->config->smtp_url && !*app->config->api_public_url)
        log_event(LOG_WARN, "notices.no_links", "setting", LOG_S("api.public_url"), "means",
                  LOG_S("it is empty: mails say what happened and have no link to it"), NULL);
    outside_reach_init(&s->reach, app->config, str_c(app->config->notify_networks));
    s->reach.is_open = s->reach.is_open && !*app->config->notify_networks;
    pthread_mutex_init(&s->lock, NULL);
    s->mux = http_mux_new(&(struct http_mux_options){ .name = "notice-calls", .calls_max = NOTICE_CALLS,
        .bytes_max = (size_t)NOTICE_CALLS * NOTICE_ANSWER_MAX, .idle_max = 8 });
    s->web_arena = arena_new(ARENA_MAX);
    s->list_arena = arena_new(ARENA_MAX);
    s->each_arena = arena_new(ARENA_MAX);
    s->mail_arena = arena_new(ARENA_MAX);
    s->gather = beat_new("notices", REST_US, gather_turn, s);
    s->web = beat_new("notice-web", REST_US, web_turn, s);
    s->mail = beat_new("notice-mail", REST_US, mail_turn, s);
    return s;
}

void notice_sender_free(struct notice_sender *s)
{
    if (!s)
        return;
    atomic_store(&s->is_over, true);
    beat_free(s->gather);
    beat_free(s->mail);
    beat_free(s->web);
    http_mux_stop(s->mux);              /* tells of every call that was under way */
    while (s->n_under_way)
        flight_free(s, s->under_way[0]);
    http_mux_free(s->mux);
    arena_free(s->web_arena);
    arena_free(s->list_arena);
    arena_free(s->each_arena);
    arena_free(s->mail_arena);
    pthread_mutex_destroy(&s->lock);
    free(s);
}
