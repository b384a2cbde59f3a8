/* SPDX-License-Identifier: Apache-2.0 */
/* serving.h - the way from falaj-api to the workers that serve models: kept connections, where deployments listen, and who asked how often.
 *
 * Connections use the API's own certificate; the worker's must come from the zones' authorities (serving_trust) and name the address that
 * was called. Idle handles are kept per endpoint, at most SERVING_IDLE_MAX, and at most SERVING_BUSY_MAX calls run at one endpoint:
 * more are RATE, so that one slow deployment does not take every handler thread's patience.
 * Targets are remembered for SERVING_TARGET_MS (never that a name is absent), so the hot path runs no SQL; a failed call forgets them.
 * serving_note counts requests per deployment and principal; every 60 s, and when serving is freed, each count becomes one INFERENCE
 * audit event in the tenant's log. A process that is killed loses the counts of its last minute, and nothing else.
 * Calling order: serving_new -> (serving_target_find | serving_target_keep, serving_call, serving_note)* from any thread -> serving_free.
 * Memory: results in the arena given. Errors of serving_call: UNAVAILABLE, DEADLINE, UPSTREAM, RATE, LIMIT. */
#pragma once
#include "core/base/work.h"
#include "core/http/client.h"
#include "serving/deployment.h"
#include "tenants/access/actor.h"

enum { SERVING_IDLE_MAX = 16, SERVING_BUSY_MAX = 256, SERVING_TARGET_MS = 1000, SERVING_TIMEOUT_MS = 30000 };

struct serving;
struct serving *serving_new(const struct app *app);
/* The authorities whose machines are believed, PEM; for connections made from now on. */
void serving_trust(struct serving *s, struct str ca_pem);
void serving_free(struct serving *s);               /* writes the last counts; NULL is fine */

bool serving_target_find(struct serving *s, struct uuid tenant, struct str name, struct arena *a, struct deployment_target *ret);
void serving_target_keep(struct serving *s, struct uuid tenant, struct str name, const struct deployment_target *t);
void serving_target_forget(struct serving *s, struct uuid tenant, struct str name);

/* body STR_NULL: none. A status of 400 and above is a result. */
enum errc serving_call(struct serving *s, struct str endpoint, const char *method, const char *path, struct str body, struct arena *a,
                       struct http_result *ret, struct err *e) MUST_CHECK;

/* Compared as bytes: no padding. */
struct serving_caller { struct uuid tenant_id, deployment_id; struct actor by; };
void serving_note(struct serving *s, const struct serving_caller *who, struct str zone, bool ok);
/* Writes all counts now; what could not be written is kept for the next time. */
void serving_flush(struct serving *s);
