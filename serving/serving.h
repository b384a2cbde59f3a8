/* SPDX-License-Identifier: Apache-2.0 */
/* serving.h - the way from falaj-api to the workers that serve models: kept connections, where deployments listen, and who asked how often.
 *
 * Calls are under way on the thread of core/http/mux.h and hold no thread of the caller's: serving_ask returns at once and `done` is told the
 * outcome. Connections use the API's own certificate; the other side's must come from the zones' authorities (serving_trust) and
 * name the lease that was called (core/wire/lease_host.h): another lease's process, one whose lease has ended, or the machine
 * itself is not believed.
 * At most SERVING_CALLS_MAX calls are under way in all, SERVING_TENANT_MAX of one tenant and SERVING_BUSY_MAX at one endpoint:
 * more are refused at once, so a deployment that stalls takes neither memory without end nor the room of others. Of an endpoint's last
 * places none is given to a caller who has SERVING_CALLER_MAX already, so that one who floods does not shut the door on the rest.
 * With the default settings a tenant meets api.open_calls_per_tenant (256 calls of all kinds) before SERVING_TENANT_MAX.
 * Targets are remembered for SERVING_TARGET_MS (never that a name is absent), so the hot path runs no SQL; a failed call forgets them.
 * One that is called is looked up anew before its time is over, by one caller, so that the others need not wait for it.
 * serving_note counts requests per deployment and principal; every 60 s, and when serving is freed, each count becomes one INFERENCE
 * audit event in the tenant's log. A process that is killed loses the counts of its last minute, and nothing else.
 * Calling order: serving_new -> (serving_target_find | serving_target_keep, serving_ask, serving_note)* from any thread -> serving_stop, after
 * which every done() has been called -> serving_free.
 * Memory: what a question points to stays until done(); results are in its arena, which nobody else may use meanwhile.
 * Errors of serving_ask: RATE (deployment or tenant has too many calls under way), UNAVAILABLE (too many in all, or stopping), UPSTREAM (no
 * address). done() gets UNAVAILABLE, DEADLINE, UPSTREAM, LIMIT. */
#pragma once
#include "core/base/work.h"
#include "core/http/mux.h"
#include "serving/deployment.h"
#include "tenants/access/actor.h"

enum { SERVING_IDLE_MAX = 512, SERVING_CALLS_MAX = 1024, SERVING_TENANT_MAX = 512, SERVING_BUSY_MAX = 256, SERVING_CALLER_MAX = 64,
       SERVING_TARGET_MS = 1000, SERVING_REFRESH_MS = 250, SERVING_TIMEOUT_MS = 30000, SERVING_TEXT_MS = 600000 };

struct serving;
struct serving *serving_new(const struct app *app);
/* The authorities whose machines are believed, PEM; for connections made from now on. */
void serving_trust(struct serving *s, struct str ca_pem);
void serving_free(struct serving *s);               /* writes the last counts; NULL is fine */

/* may_look: who is told false looks into the database. In the last SERVING_REFRESH_MS of a target one such caller is told so,
 * and until then all who may not look. */
bool serving_target_find(struct serving *s, struct uuid tenant, struct str name, bool may_look, struct arena *a,
                         struct deployment_target *ret);
void serving_target_keep(struct serving *s, struct uuid tenant, struct str name, const struct deployment_target *t);
void serving_target_forget(struct serving *s, struct uuid tenant, struct str name);

struct serving_question {
    struct uuid tenant_id;              /* whose call it is */
    uint64_t caller;                    /* who of the tenant asks, as a number; 0: nobody in particular */
    struct uuid attempt_id;             /* the lease that must answer, and its zone */
    struct str zone, endpoint;
    const char *method, *path;
    struct str body;                    /* STR_NULL: none */
    const char *const *headers;         /* "Name: value", NULL-ended; NULL: none */
    struct arena *arena;
    int timeout_ms;                     /* of the whole call; 0: SERVING_TIMEOUT_MS */
    bool (*on_data)(void *ctx, const char *p, size_t n);    /* gets a good answer by pieces, as http_call's; NULL: it is kept */
    bool (*is_unwanted)(void *ctx);     /* asked a few times a second, on another thread: true ends the call. NULL: it is always wanted */
    /* On a thread that must not block. A status of 400 and above is a result. */
    void (*done)(void *ctx, enum errc rc, const struct http_result *r, const struct err *e);
    void *ctx;
};
enum errc serving_ask(struct serving *s, const struct serving_question *q, struct err *e) MUST_CHECK;
/* Ends all calls as UNAVAILABLE and takes no more. Twice is fine. NULL is fine. */
void serving_stop(struct serving *s);
/* For tests: how long a machine may take to accept a connection. From the next endpoint on. */
void serving_set_connect(struct serving *s, int ms);

/* Compared as bytes: no padding. */
struct serving_caller { struct uuid tenant_id, deployment_id; struct actor by; };
void serving_note(struct serving *s, const struct serving_caller *who, struct str zone, bool ok);
/* Whether serving_note is sure to write nothing into the database by itself. */
bool serving_has_room(struct serving *s);
/* Writes all counts now; what could not be written is kept for the next time. */
void serving_flush(struct serving *s);
