/* SPDX-License-Identifier: Apache-2.0 */
/* outside.h - what is fetched from identity providers and issuers: where from, how much, how often, and for how long it is
 * believed.
 *
 * A tenant names the URL, so this is the door against requests to places that only this machine reaches: https only (plain HTTP
 * to loopback in the dev profile), no redirects, no proxy, 5 s, 256 KiB, JSON only, and in the prod profile no connection to a
 * private, link-local or otherwise special address, judged on the address that is connected to, after the name was resolved -
 * unless the setting auth.provider_networks has it.
 * Documents are kept by (owner, URL) for auth.provider_cache_ms; one is fetched once at a time, never oftener than every 10 s
 * when that failed, and for a key that is not in it at most once a minute. At most OUTSIDE_FETCHES_MAX run at once, and of one
 * tenant two, those that wait for another's answer counted: each holds a thread, and lanes that fetch have as many more. Of
 * tenants whose last fetch hung there are two at once, and of those and of tenants that never fetched twelve: so providers that
 * hang never have all places. A host that took too
 * long twice in a row is not asked again by that tenant for 10 s, then for twice as long each time, up to five minutes.
 * Never call this inside a transaction. Thread-safe. Errors: INVALID (the URL), UNAVAILABLE, DEADLINE, UPSTREAM, LIMIT. */
#pragma once
#include <netinet/in.h>
#include "core/base/work.h"
#include "core/crypto/jwt.h"
#include "tenants/access/cidr.h"

struct config;
struct federation;

enum { OUTSIDE_URL_MAX = 512, OUTSIDE_BODY_MAX = 256 << 10, OUTSIDE_FETCHES_MAX = 16,
       OUTSIDE_NETWORKS_MAX = 16 };

struct federation *federation_new(const struct config *cfg);
void federation_free(struct federation *f);

/* Pure. May be fetched from, by its form; field: the pointer for the error. */
enum errc outside_url_check(const struct config *cfg, struct str url, const char *field, struct err *e) MUST_CHECK;
/* Pure. Is the address on the public Internet? */
bool outside_is_public(const struct sockaddr *to);
/* Which addresses may be connected to: public ones, those of the networks (10.1.0.0/16,…; at most OUTSIDE_NETWORKS_MAX) and in
 * the dev profile all. */
struct outside_reach { struct cidr networks[OUTSIDE_NETWORKS_MAX]; size_t n; bool is_open; };
void outside_reach_init(struct outside_reach *r, const struct config *cfg, struct str networks);
/* For http_client_options.may_connect; ctx: a struct outside_reach. */
bool outside_may_connect(void *ctx, const struct sockaddr *to);

/* One exchange. form NULL: GET; else POST of application/x-www-form-urlencoded, with an Authorization header if there is one. */
struct outside_call { struct uuid tenant; struct str url, form, authorization; };
enum errc outside_fetch(const struct app *app, struct arena *a, const struct outside_call *call, int *ret_status,
    struct str *ret_body, struct err *e) MUST_CHECK;
/* Who asks: the provider or issuer, and its tenant, whose slots are taken. */
struct outside_owner { struct uuid id, tenant; };
/* The document of an owner at a URL, from memory or fetched. fresh: not from memory, if it was last fetched more than a minute
 * ago. */
enum errc outside_document(const struct app *app, struct arena *a, struct outside_owner owner, struct str url, bool fresh,
                           struct str *ret, struct err *e) MUST_CHECK;
/* Keys of an owner; asks again when kid is given and not among them. */
enum errc outside_keys(const struct app *app, struct arena *a, struct outside_owner owner, struct str url, unsigned algs,
                       struct str kid,
                       struct jws_key **ret, size_t *ret_n, struct err *e) MUST_CHECK;
/* Forget what an owner has. */
void outside_forget(const struct app *app, struct uuid owner);

/* A token's principal, remembered by the token's digest (jwt_authn.c). */
struct principal *federation_recall(struct federation *f, const uint8_t hash[32], int64_t now_mono_us);
void federation_remember(struct federation *f, const uint8_t hash[32], struct principal *p, int64_t until_mono_us);
