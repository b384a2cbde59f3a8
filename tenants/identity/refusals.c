/* SPDX-License-Identifier: Apache-2.0 */
/* refusals.c - a small table under one lock; the flush takes it away whole and writes without the lock. */
#include "tenants/identity/refusals.h"

#include <pthread.h>
#include <stdlib.h>
#include "core/base/assert.h"
#include "core/db/pool.h"
#include "core/db/tx.h"
#include "tenants/access/actor.h"

enum { ADDRESS_MAX = 64 };

struct line {
    const char *reason;
    struct uuid tenant_id, user_id, token_id;
    char address[ADDRESS_MAX];
    bool is_enrolment;
    int64_t count;
};

struct refusals {
    pthread_mutex_t lock;           /* guards the rest */
    struct line lines[REFUSALS_MAX + 1];        /* the last one: what had no room */
    size_t n;
};

struct refusals *refusals_new(void)
{
    struct refusals *r = calloc(1, sizeof *r);
    ASSERT(r);
    pthread_mutex_init(&r->lock, NULL);
    return r;
}

void refusals_free(struct refusals *r)
{
    if (!r)
        return;
    pthread_mutex_destroy(&r->lock);
    free(r);
}

static bool is_same(const struct line *l, const struct refusal *w)
{
    return !strcmp(l->reason, w->reason) && l->is_enrolment == w->is_enrolment && uuid_eq(l->token_id, w->token_id) && uuid_eq(l->tenant_id, w->tenant_id)
           && str_eq_c(w->address.ptr ? w->address : STR(""), l->address);
}

static void count(struct refusals *r, const struct refusal *w, int64_t n)
{
    size_t i = 0;
    while (i < r->n && !is_same(&r->lines[i], w))
        i++;
    struct line *l = &r->lines[i < REFUSALS_MAX ? i : REFUSALS_MAX];
    if (i == r->n && i < REFUSALS_MAX) {
        *l = (struct line){ .reason = w->reason, .tenant_id = w->tenant_id, .user_id = w->user_id, .token_id = w->token_id,
                            .is_enrolment = w->is_enrolment };
        size_t len = w->address.len < ADDRESS_MAX ? w->address.len : 0;
        if (len)
            memcpy(l->address, w->address.ptr, len);
        r->n++;
    } else if (i >= REFUSALS_MAX) {
        l->reason = "many";
    }
    l->count += n;
}

void refusals_note(struct refusals *r, const struct refusal *what)
{
    pthread_mutex_lock(&r->lock);
    count(r, what, 1);
    pthread_mutex_unlock(&r->lock);
}

static enum errc write_one(const struct line *l, const struct app *app, struct arena *a, struct err *e)
{
    struct work w = { .app = app, .arena = a, .tenant_id = l->tenant_id, .now_us = clock_wall_us(app->clock), .source_ip = str_dup(a, str_c(l->address)) };
    struct audit_event ev = audit_event_by(&w, NULL, l->is_enrolment ? AUDIT_NODE_ENROL : AUDIT_AUTHN_REFUSED);
    ev.token_id = l->token_id;
    ev.resource_kind = l->is_enrolment ? STR("join_token") : STR("token");
    ev.resource_prefix = l->is_enrolment ? "jtk" : "tok";
    ev.resource_id = l->token_id;
    ev.denied = true;
    ev.error = ERR_UNAUTHENTICATED;
    ev.http_status = 401;
    audit_event_detail(&ev, AUDIT_D_STR("reason", str_c(l->reason)));
    audit_event_detail(&ev, AUDIT_D_INT("tries", l->count));
    return audit_append_apart(&w, app->pool, SCOPE_TENANT(l->tenant_id), &ev, e);
}

enum errc refusals_flush(struct refusals *r, const struct app *app, struct arena *a, struct err *e)
{
    struct line *all = ARENA_ARRAY(a, struct line, REFUSALS_MAX + 1);
    enum errc rc = ERR_OK;
    pthread_mutex_lock(&r->lock);
    memcpy(all, r->lines, sizeof r->lines);
    memset(r->lines, 0, sizeof r->lines);
    r->n = 0;
    pthread_mutex_unlock(&r->lock);
    for (size_t i = 0; i <= REFUSALS_MAX; i++) {
        const struct line *l = &all[i];
        if (!l->count)
            continue;
        if (rc == ERR_OK)
            rc = write_one(l, app, a, e);
        if (rc == ERR_OK)
            continue;
        const struct refusal back = { l->reason, l->is_enrolment, l->tenant_id, l->user_id, l->token_id, str_c(l->address) };
        pthread_mutex_lock(&r->lock);
        count(r, &back, l->count);
        pthread_mutex_unlock(&r->lock);
    }
    return rc;
}
