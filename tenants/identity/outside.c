/* SPDX-License-Identifier: Apache-2.0 */
/* outside.c - fetching from providers and issuers: who may, from where, and how many at once; and the principals of tokens that
 * were believed. */
#include "tenants/identity/outside_int.h"
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/http/client.h"
#include "core/table/config.h"
#include "tenants/access/principal.h"

#include <stdlib.h>

enum { TENANT_FETCHES_MAX = 2, CONNECT_MS = 3000, CALL_MS = 5000 };
/* Of the places, at most so many are of tenants whose last fetch hung, and of those and strangers together. */
enum { HUNG_MAX = 2, UNPROVEN_MAX = 12 };
enum { PAUSE_FIRST_US = 10000000, PAUSE_MAX_US = 300000000 };

struct federation *federation_new(const struct config *cfg)
{
    struct federation *f = calloc(1, sizeof *f);
    ASSERT(f);
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->fetched, NULL);
    outside_reach_init(&f->reach, cfg, str_c(cfg->auth_provider_networks));
    return f;
}

void federation_free(struct federation *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < DOCUMENTS; i++) {
        free(f->documents[i].url);
        free(f->documents[i].text);
    }
    for (size_t i = 0; i < PRINCIPALS; i++)
        principal_unref(f->principals[i].principal);
    pthread_cond_destroy(&f->fetched);
    pthread_mutex_destroy(&f->lock);
    free(f);
}

/* --- how --- */

/* The tenant's, or the one that is to make room for it: of a stranger, that which is oldest. */
static struct record *record_of(struct federation *f, struct uuid tenant)
{
    struct record *oldest = f->records;
    for (size_t i = 0; i < RECORDS; i++) {
        if (f->records[i].manner != STRANGER && uuid_eq(f->records[i].tenant, tenant))
            return &f->records[i];
        if (f->records[i].at_us < oldest->at_us)
            oldest = &f->records[i];
    }
    return oldest;
}

static enum manner manner_of(struct federation *f, struct uuid tenant)
{
    const struct record *r = record_of(f, tenant);
    return uuid_eq(r->tenant, tenant) ? r->manner : STRANGER;
}

/* What hangs cannot hold every place: some are kept for strangers, and some for who answered last time. */
static bool is_room(const int used[MANNERS], enum manner m)
{
    int unproven = used[HUNG] + used[STRANGER];
    if (m == HUNG && used[HUNG] >= HUNG_MAX)
        return false;
    return unproven + used[ANSWERED] < OUTSIDE_FETCHES_MAX && (m == ANSWERED || unproven < UNPROVEN_MAX);
}

static enum errc no_room(enum manner m, struct err *e)
{
    return m == HUNG ? FAIL(e, UNAVAILABLE, "The organisation's provider did not answer in time, and others like it are being "
                                            "asked; try again in a moment")
                     : FAIL(e, UNAVAILABLE, "Too many requests to identity providers are under way; try again in a moment");
}

/* The lock is held. A place of the tenant's; NULL: there is none for it, as *e says. */
struct slot *outside_slot_take(struct federation *f, struct uuid tenant, struct err *e)
{
    struct slot *found = NULL;
    enum manner m = manner_of(f, tenant);
    int own = 0, used[MANNERS] = { 0 };
    for (int i = 0; i < OUTSIDE_FETCHES_MAX; i++) {
        struct slot *s = &f->slots[i];
        own += s->is_used && uuid_eq(s->tenant, tenant);
        used[s->manner] += s->is_used;
        if (!s->is_used)
            found = s;
    }
    enum errc rc = own >= TENANT_FETCHES_MAX
        ? FAIL(e, UNAVAILABLE, "The organisation has %d requests to its identity providers under way; try again in a moment",
               TENANT_FETCHES_MAX)
        : is_room(used, m) ? ERR_OK : no_room(m, e);
    if (rc != ERR_OK)
        return NULL;
    *found = (struct slot){ tenant, m, true };
    return found;
}

static struct slow_host *host_of(struct federation *f, struct uuid tenant, struct str url, uint64_t *ret_key)
{
    size_t end = str_starts(url, "https://") ? 8 : 7;
    while (end < url.len && url.ptr[end] != '/' && url.ptr[end] != '?')
        end++;
    *ret_key = str_hash(str_n(url.ptr, end)) ^ str_hash(str_n((const char *)tenant.b, 16)) * UINT64_C(0x9e3779b97f4a7c15);
    return &f->hosts[(*ret_key ^ *ret_key >> 32) % HOSTS];
}

/* May the tenant fetch from there now? */
static enum errc enter(struct federation *f, struct uuid tenant, struct str url, int64_t now_us, struct err *e)
{
    uint64_t key;
    pthread_mutex_lock(&f->lock);
    const struct slow_host *h = host_of(f, tenant, url, &key);
    int64_t wait_us = h->key == key ? h->until_us - now_us : 0;
    pthread_mutex_unlock(&f->lock);
    return wait_us <= 0 ? ERR_OK : FAIL(e, UNAVAILABLE,
        "The provider did not answer in time and is not asked again yet; try again in %ld s", (long)(wait_us / 1000000 + 1));
}

/* How it went: a host that hangs is left alone for longer each time. */
static void leave(struct federation *f, struct uuid tenant, struct str url, enum errc rc, int64_t now_us)
{
    uint64_t key;
    bool is_hung = rc == ERR_DEADLINE;              /* one that refuses at once costs nothing */
    pthread_mutex_lock(&f->lock);
    *record_of(f, tenant) = (struct record){ tenant, is_hung ? HUNG : ANSWERED, now_us };
    struct slow_host *h = host_of(f, tenant, url, &key);
    if (is_hung && h->key == key) {
        int64_t pause = 2 * h->pause_us < PAUSE_MAX_US ? 2 * h->pause_us : PAUSE_MAX_US;
        *h = (struct slow_host){ key, now_us + pause, pause };
    } else if (is_hung) {
        *h = (struct slow_host){ key, 0, PAUSE_FIRST_US / 2 };      /* once may be chance */
    } else if (h->key == key) {
        *h = (struct slow_host){ 0 };
    }
    pthread_mutex_unlock(&f->lock);
}

static bool is_json(struct str type)
{
    struct str head, rest;
    str_cut(type, ';', &head, &rest);
    head = str_trim(head);
    return str_eq_c(head, "application/json") || str_eq_c(head, "application/jwk-set+json");
}

static enum errc exchange(const struct app *app, struct arena *a, const struct outside_call *call, int *ret_status,
    struct str *ret_body, struct err *e)
{
    const char *ca = app->config->auth_provider_ca;
    struct str url = call->url;
    size_t cut = str_starts(url, "https://") ? 8 : 7;
    while (cut < url.len && url.ptr[cut] != '/' && url.ptr[cut] != '?')
        cut++;
    struct http_client_options o = { .base_url = str_z(a, str_n(url.ptr, cut)), .ca_file = *ca ? ca : NULL,
        .connect_timeout_ms = CONNECT_MS,
                                     .timeout_ms = CALL_MS, .may_connect = outside_may_connect,
                                         .may_connect_ctx = &app->federation->reach };
    const char *headers[3] = { "Accept: application/json", NULL, NULL };
    if (call->authorization.ptr)
        headers[1] = str_z(a, str_fmt(a, "Authorization: %.*s", STR_ARG(call->authorization)));
    struct http_call c = { .method = call->form.ptr ? "POST" : "GET", .headers = headers, .body = call->form,
        .response_max = OUTSIDE_BODY_MAX,
                           .content_type = "application/x-www-form-urlencoded" };
    c.path = str_z(a, cut < url.len ? str_fmt(a, "%s%.*s", url.ptr[cut] == '/' ? "" : "/", STR_ARG(str_n(url.ptr + cut,
        url.len - cut))) : STR("/"));
    CLEANUP(http_client_freep) struct http_client *client = http_client_new(&o, e);
    struct http_result r;
    if (!client)
        return e->code;
    TRY(http_client_call(client, a, &c, &r, e));
    if (!is_json(r.content_type))
        return FAIL(e, UPSTREAM, "The provider answered with status %d and without JSON", r.status);
    *ret_status = r.status;
    *ret_body = r.body;
    return ERR_OK;
}

enum errc outside_fetch_in_slot(const struct app *app, struct arena *a, const struct outside_call *call, int *ret_status,
    struct str *ret_body,
                               struct err *e)
{
    TRY(outside_url_check(app->config, call->url, "/url", e));
    TRY(enter(app->federation, call->tenant, call->url, clock_mono_us(app->clock), e));
    enum errc rc = exchange(app, a, call, ret_status, ret_body, e);
    leave(app->federation, call->tenant, call->url, rc, clock_mono_us(app->clock));
    return rc;
}

void outside_slot_give(struct federation *f, struct slot *s)
{
    pthread_mutex_lock(&f->lock);
    s->is_used = false;
    pthread_mutex_unlock(&f->lock);
}

enum errc outside_fetch(const struct app *app, struct arena *a, const struct outside_call *call, int *ret_status,
                        struct str *ret_body, struct err *e)
{
    struct federation *f = app->federation;
    ASSERT(f);
    pthread_mutex_lock(&f->lock);
    struct slot *own = outside_slot_take(f, call->tenant, e);
    pthread_mutex_unlock(&f->lock);
    if (!own)
        return ERR_UNAVAILABLE;
    enum errc rc = outside_fetch_in_slot(app, a, call, ret_status, ret_body, e);
    outside_slot_give(f, own);
    return rc;
}

/* --- principals --- */

struct principal *federation_recall(struct federation *f, const uint8_t hash[32], int64_t now_mono_us)
{
    struct principal *p = NULL;
    pthread_mutex_lock(&f->lock);
    struct remembered *r = &f->principals[(hash[0] << 8 | hash[1]) % PRINCIPALS];
    if (r->principal && !memcmp(r->hash, hash, 32)) {
        if (now_mono_us < r->until_us)
            p = principal_ref(r->principal);
        else
            principal_unref(TAKE(r->principal));
    }
    pthread_mutex_unlock(&f->lock);
    return p;
}

void federation_remember(struct federation *f, const uint8_t hash[32], struct principal *p, int64_t until_mono_us)
{
    pthread_mutex_lock(&f->lock);
    struct remembered *r = &f->principals[(hash[0] << 8 | hash[1]) % PRINCIPALS];
    struct principal *old = r->principal;
    memcpy(r->hash, hash, 32);
    r->principal = principal_ref(p);
    r->until_us = until_mono_us;
    pthread_mutex_unlock(&f->lock);
    principal_unref(old);
}
