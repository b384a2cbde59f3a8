/* SPDX-License-Identifier: Apache-2.0 */
/* limits.c - phases: what one tenant may have open at once, what a tenant, a caller and an address may ask in a minute, and what
 * its
 * calls may cost.
 *
 * A call is open from the moment its tenant is known until its exchange ends, whatever it does meanwhile: it waits for a thread,
 * runs, is parked, streams, or its answer is being read. Each holds a place at the door (api.max_connections), so there is
 * one count for all of them. It hangs on the request's arena, and exchanges may outlive the pipeline: who comes last frees. */
#include "api/api_int.h"
#include "core/base/assert.h"
#include "core/base/share_count.h"
#include "core/table/config.h"
#include "core/table/metrics.h"
#include "tenants/accounts/api_rate.h"

#include <stdlib.h>

/* --- open at once --- */

struct open_calls {
    pthread_mutex_t lock;           /* guards all */
    struct share_count *of_tenant;
    size_t all;
    bool is_over;
};

struct place {
    struct open_calls *o;
    struct share *share;
};

struct open_calls *open_calls_new(void)
{
    struct open_calls *o = calloc(1, sizeof *o);
    ASSERT(o);
    pthread_mutex_init(&o->lock, NULL);
    o->of_tenant = share_count_new();
    return o;
}

/* Gives the lock up. */
static void leave(struct open_calls *o)
{
    bool is_last = o->is_over && o->all == 0;
    pthread_mutex_unlock(&o->lock);
    if (!is_last)
        return;
    share_count_free(o->of_tenant);
    pthread_mutex_destroy(&o->lock);
    free(o);
}

void open_calls_free(struct open_calls *o)
{
    if (!o)
        return;
    pthread_mutex_lock(&o->lock);
    o->is_over = true;
    leave(o);
}

size_t open_calls_all(struct open_calls *o)
{
    pthread_mutex_lock(&o->lock);
    size_t n = o->all;
    pthread_mutex_unlock(&o->lock);
    return n;
}

static void give_back(void *ctx)
{
    const struct place *p = ctx;
    struct open_calls *o = p->o;
    pthread_mutex_lock(&o->lock);
    share_count_give(p->share);
    o->all--;
    leave(o);
}

enum errc phase_open(struct flight *f, struct err *e)
{
    struct call *c = &f->call;
    struct open_calls *o = f->pipeline->open_calls;
    size_t most = (size_t)f->pipeline->app->config->api_open_calls_per_tenant;
    if (f->is_counted || !most || !c->principal || c->principal->is_worker || uuid_is_nil(c->principal->tenant_id))
        return ERR_OK;
    struct uuid tenant = c->principal->tenant_id;
    struct place *p = ARENA_NEW(c->work.arena, struct place);
    pthread_mutex_lock(&o->lock);
    bool is_room = share_count_of(o->of_tenant, tenant.b, sizeof tenant.b) < most;
    if (is_room) {
        *p = (struct place){ o, share_count_take(o->of_tenant, tenant.b, sizeof tenant.b) };
        o->all++;
    }
    pthread_mutex_unlock(&o->lock);
    if (!is_room) {
        metrics_inc(M_rate_denied_total, "open-calls");
        return FAIL(e, RATE, "The organisation has %zu calls and streams open, which is the limit; close some, or try again",
                    most);
    }
    f->is_counted = true;
    arena_defer(c->work.arena, give_back, p);
    return ERR_OK;
}

/* --- in a minute --- */

static bool take_rate(struct flight *f, const char *scope, struct str key, struct rate_rule rule)
{
    if (rule.per_s <= 0)
        return true;
    f->rates[f->nrates].name = scope;
    if (rate_take(f->pipeline->rate, key, rule, 1, &f->rates[f->nrates++].result))
        return true;
    metrics_inc(M_rate_denied_total, scope);
    return false;
}

static struct rate_rule rule_of(int64_t per_minute)
{
    return (struct rate_rule){ (double)per_minute / 60.0, per_minute > 0 ? per_minute : 1 };
}

static struct rate_rule tenant_rule(const struct app *app, struct uuid tenant)
{
    int64_t own = api_rates_of(app->api_rates, tenant);
    return rule_of(own ? own : app->config->rate_tenant_per_minute);
}

enum errc phase_rate(struct flight *f, struct err *e)
{
    struct call *c = &f->call;
    const struct app *app = f->pipeline->app;
    const struct config *cfg = app->config;
    char key[24] = "t:";
    if (c->route->rate == RL_NONE || c->route->flags & R_NODE)
        return ERR_OK;
    bool ok;
    struct arena *a = c->work.arena;
    if (c->route->rate == RL_LOGIN) {
        ok = take_rate(f, "login", str_fmt(a, "l:%.*s", STR_ARG(c->work.source_ip)), rule_of(cfg->rate_login_per_minute));
    } else if (c->route->rate == RL_ENROL) {
        ok = take_rate(f, "enrol", str_fmt(a, "e:%.*s", STR_ARG(c->work.source_ip)), rule_of(cfg->rate_enrol_per_minute));
    } else if (!c->principal) {
        ok = take_rate(f, "address", str_fmt(a, "a:%.*s", STR_ARG(c->work.source_ip)), rule_of(cfg->rate_address_per_minute));
    } else {
        struct uuid tenant = c->principal->tenant_id;
        memcpy(key + 2, tenant.b, 16);
        ok = uuid_is_nil(tenant) || take_rate(f, "tenant", str_n(key, 18), tenant_rule(app, tenant));
        key[0] = 'p';
        memcpy(key + 2, c->principal->user_id.b, 16);
        ok = ok && take_rate(f, "principal", str_n(key, 18), rule_of(cfg->rate_principal_per_minute));
    }
    return ok ? ERR_OK : FAIL(e, RATE, "Too many calls; wait %ld s", (long)f->rates[f->nrates - 1].result.reset_s);
}

/* --- in server time --- */

/* Calls of a tenant that cost more than its share of a minute are paid for before others run. */
enum errc phase_cost(struct flight *f, struct err *e)
{
    const struct principal *p = f->call.principal;
    if (!p || f->call.route->rate == RL_NONE || f->call.route->flags & R_NODE || lane_may_spend(f->pipeline, p->tenant_id,
        &f->rates[f->nrates].result))
        return ERR_OK;
    f->rates[f->nrates++].name = "cost";
    metrics_inc(M_rate_denied_total, "cost");
    return FAIL(e, RATE,
        "The calls of this organisation took more than the %ld s of server time that it has in a minute; wait %ld s",
                (long)(f->pipeline->app->config->rate_tenant_ms_per_minute / 1000), (long)f->rates[f->nrates - 1].result.reset_s);
}
