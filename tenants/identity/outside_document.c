/* SPDX-License-Identifier: Apache-2.0 */
/* outside_document.c - documents of providers and issuers, in a fixed number of places. A document's place is its owner's alone:
 * nobody waits for a fetch that is another's. */
#include "tenants/identity/outside_int.h"
#include "core/base/cleanup.h"
#include "core/base/clock.h"
#include "core/table/config.h"
#include "tenants/identity/jwks.h"

#include <stdlib.h>

enum { AGAIN_AFTER_FAILURE_US = 10000000, AGAIN_FOR_KEY_US = 60000000 };

/* Of two that may go, which first? Empty ones, then what was asked for longest ago. */
static struct document *older(struct document *a, struct document *b)
{
    return a && a->tried_us <= b->tried_us ? a : b;
}

/* The owner's, made if there is none: a tenant with many makes room among its own, so that none forgets another's. */
static struct document *place_of(struct federation *f, struct outside_owner owner, struct str url)
{
    struct document *own = NULL, *any = NULL;
    size_t n = 0;
    for (size_t i = 0; i < DOCUMENTS; i++) {
        struct document *d = &f->documents[i];
        bool is_own = d->url && uuid_eq(d->tenant, owner.tenant);
        if (is_own && uuid_eq(d->owner, owner.id) && str_eq_c(url, d->url))
            return d;
        n += is_own;
        if (!d->is_fetching)
            any = older(any, d);
        if (!d->is_fetching && is_own)
            own = older(own, d);
    }
    struct document *d = n >= TENANT_DOCUMENTS && own ? own : any;      /* fewer are fetched than there are places */
    free(d->url);
    free(d->text);
    *d = (struct document){ .owner = owner.id, .tenant = owner.tenant, .url = str_dup_heap(url) };
    return d;
}

/* Under the lock. True: *ret is the answer; false: fetch, the place is marked. */
static bool from_memory(struct document *d, struct arena *a, bool fresh, int64_t keep_us, int64_t now_us, struct str *ret)
{
    bool is_young = d->text && now_us - d->fetched_us < keep_us;
    bool was_tried = d->tried_us && now_us - d->tried_us < AGAIN_AFTER_FAILURE_US;
    bool was_asked = d->tried_us && now_us - d->tried_us < AGAIN_FOR_KEY_US;
    *ret = STR_NULL;
    if (d->text && ((is_young && !fresh) || (fresh && was_asked) || was_tried))
        *ret = str_dup(a, str_c(d->text));
    else if (!was_tried) {
        d->is_fetching = true;
        d->tried_us = now_us;
        return false;
    }
    return true;
}

static void keep(struct federation *f, struct document *d, struct str text, int64_t now_us)
{
    pthread_mutex_lock(&f->lock);
    if (text.ptr) {
        free(d->text);
        d->text = str_dup_heap(text);
        d->fetched_us = now_us;
    }
    d->is_fetching = false;
    pthread_cond_broadcast(&f->fetched);
    pthread_mutex_unlock(&f->lock);
}

enum errc outside_document(const struct app *app, struct arena *a, struct outside_owner owner, struct str url, bool fresh,
                           struct str *ret, struct err *e)
{
    struct federation *f = app->federation;
    struct slot *own = NULL;
    int status = 0;
    struct str body;
    pthread_mutex_lock(&f->lock);
    struct document *d = place_of(f, owner, url);
    bool may_wait = !d->is_fetching || (own = outside_slot_take(f, owner.tenant, e));
    while (d->is_fetching && may_wait) {
        pthread_cond_wait(&f->fetched, &f->lock);
        d = place_of(f, owner, url);
    }
    bool is_known = may_wait && from_memory(d, a, fresh, app->config->auth_provider_cache_ms * 1000, clock_mono_us(app->clock),
                                            ret);
    if (may_wait && !is_known && !own && !(own = outside_slot_take(f, owner.tenant, e))) {
        d->is_fetching = false;
        d->tried_us = 0;
        may_wait = false;
    }
    if (is_known && own)
        own->is_used = false;
    pthread_mutex_unlock(&f->lock);
    if (!may_wait)
        return ERR_UNAVAILABLE;
    if (is_known)
        return ret->ptr ? ERR_OK : FAIL(e, UNAVAILABLE,
            "The provider failed a moment ago and is not asked again yet; try again in a minute");
    struct outside_call call = { .tenant = owner.tenant, .url = url };
    enum errc rc = outside_fetch_in_slot(app, a, &call, &status, &body, e);
    if (rc == ERR_OK && status != 200)
        rc = FAIL(e, UPSTREAM, "The provider answered with status %d", status);
    keep(f, d, rc == ERR_OK ? body : STR_NULL, clock_mono_us(app->clock));
    outside_slot_give(f, own);
    *ret = rc == ERR_OK ? body : STR_NULL;
    return rc;
}

static bool has_kid(const struct jws_key *keys, size_t n, struct str kid)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(keys[i].kid, kid))
            return true;
    return !kid.ptr;
}

enum errc outside_keys(const struct app *app, struct arena *a, struct outside_owner owner, struct str url, unsigned algs,
                       struct str kid, struct jws_key **ret, size_t *ret_n, struct err *e)
{
    struct str text;
    *ret = ARENA_ARRAY(a, struct jws_key, JWKS_KEYS_MAX);
    TRY(outside_document(app, a, owner, url, false, &text, e));
    if (jwks_read(a, text, algs, *ret, ret_n, e) == ERR_OK && has_kid(*ret, *ret_n, kid))
        return ERR_OK;
    TRY(outside_document(app, a, owner, url, true, &text, e));
    return jwks_read(a, text, algs, *ret, ret_n, e);
}

void outside_forget(const struct app *app, struct uuid owner)
{
    struct federation *f = app->federation;
    pthread_mutex_lock(&f->lock);
    for (size_t i = 0; i < DOCUMENTS; i++)
        if (!f->documents[i].is_fetching && uuid_eq(f->documents[i].owner, owner)) {
            free(TAKE(f->documents[i].text));
            f->documents[i].tried_us = 0;
        }
    pthread_mutex_unlock(&f->lock);
}
