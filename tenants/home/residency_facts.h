/* SPDX-License-Identifier: Apache-2.0 */
/* residency_facts.h - what the judge is told: the law of the zones, a tenant's zones and its policies, from the database or from a memory.
 *
 * The memory (w->app->residency; NULL there: always the database) holds one immutable value per tenant. It is believed for
 * RESIDENCY_FRESH_US; then one read of the revision tells whether anything changed anywhere, and after RESIDENCY_KEPT_US it is read anew
 * in any case. Dates are judged by the judge at each question, so an expiry counts at once; a revocation or a change of law counts within
 * RESIDENCY_FRESH_US in every falaj-api, at once in the one that made it, and at once wherever facts are read in the transaction (leases,
 * keys): in all cases within the 60 s that are promised.
 * residency_check judges and turns a refusal into RESIDENCY with the rule in the detail ("rule=law class=health zone=…"); the pipeline
 * writes the audit event and counts it after the transaction is gone (api/residency_denial.c).
 * Calling order: residency_facts_of | residency_facts_read -> residency_allows. Any thread. Memory: facts live as long as w->arena. */
#pragma once
#include "core/base/work.h"
#include "tenants/home/residency.h"

struct stmt;
struct residency_cache;

enum { RESIDENCY_FRESH_US = 5000000, RESIDENCY_KEPT_US = 60000000 };

struct residency_cache *residency_cache_new(void);
void residency_cache_free(struct residency_cache *c);
/* The next question of any tenant reads the database again. After the commit of a change; NULL is fine. */
void residency_cache_forget(struct residency_cache *c);

/* Of w->tenant_id; from the memory where there is one, else (or when it is old) from the database, in w->tx or in one of its own. */
enum errc residency_facts_of(struct work *w, const struct residency_facts **ret, struct err *e) MUST_CHECK;
/* Of w->tenant_id, read now in w->tx. */
enum errc residency_facts_read(struct work *w, const struct residency_facts **ret, struct err *e) MUST_CHECK;
/* For many tenants in one transaction: the law once, then what the row of each tenant says. */
enum errc residency_law_read(struct work *w, struct slice *ret_zones, struct err *e) MUST_CHECK;
/* zones: of residency_law_read; tenant: the JSON of RESIDENCY_TENANT_JSON. */
enum errc residency_facts_make(struct arena *a, struct slice zones, struct str tenant, struct residency_facts *ret, struct err *e) MUST_CHECK;

/* Of each of these tenants that is there, in the order of their ids: what residency_facts_make is told of it, as text. */
struct residency_places {
    struct uuid tenant_id;
    struct str zones;                   /* codes between commas */
    struct json tenant;
};
enum errc residency_places_read(struct work *w, const struct uuid *tenants, size_t n, struct slice *ret,
                                struct err *e) MUST_CHECK;

/* A scalar of any query: how often facts have changed. Facts that are read later are not older. */
#define RESIDENCY_REVISION "(SELECT revision FROM residency_revision WHERE id = 1)"
/* A scalar of a query over tenant AS t. */
#define RESIDENCY_TENANT_JSON                                                                                                              \
    "jsonb_build_object('home', t.home_zone, 'allowed', to_jsonb(t.allowed_zones),\n"                                                      \
    "  'class_zones', (SELECT coalesce(jsonb_agg(jsonb_build_object('data_class', c.data_class, 'zone', c.zone)), '[]')\n"                 \
    "                    FROM tenant_zone c WHERE c.tenant_id = t.tenant_id),\n"                                                           \
    "  'policies', (SELECT coalesce(jsonb_agg(jsonb_build_object('policy_id', p.policy_id, 'from', p.from_zone, 'to', p.to_zone,\n"        \
    "       'purpose', p.purpose, 'data_class', p.data_class, 'has_exception', p.exception_ref <> '',\n"                                   \
    "       'from_us', (extract(epoch FROM p.valid_from) * 1000000)::bigint, 'until_us', (extract(epoch FROM p.valid_until) * 1000000)::bigint)), '[]')\n" \
    "     FROM transfer_policy p WHERE p.tenant_id = t.tenant_id AND p.state = 'ACTIVE' AND p.valid_until > clock_timestamp()))"

/* Judges; a refusal is RESIDENCY. act: for the words. ret may be NULL. fresh: facts read in w->tx. */
enum errc residency_check(struct work *w, enum residency_act act, struct residency_question *q, bool fresh, struct residency_verdict *ret,
                          struct err *e) MUST_CHECK;
/* Whether what is in memory says that it may, for who must not wait for the database. False: it may not, or a look is due. */
bool residency_is_sure(struct work *w, struct residency_question *q) MUST_CHECK;
/* The refusal of a verdict as an error, with field (NULL: none). */
enum errc residency_refusal(enum residency_act act, const struct residency_question *q, const struct residency_verdict *v, const char *field,
                            struct err *e);
/* Index of a class by its name; -1: no such. */
int data_class_of(struct str name);

extern const struct stmt *const residency_stmts[];      /* residency_facts: app, node and scheduler pools */
