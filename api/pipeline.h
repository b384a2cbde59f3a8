/* SPDX-License-Identifier: Apache-2.0 */
/* pipeline.h - the phases of a request, in one array, read top to bottom as the security policy:
 *
 *   route -> authn -> rate -> person -> authz -> decode -> begin -> idempotency -> handler -> encode -> audit -> commit -> send -> log
 *
 * It opens the transaction of a request, writes the audit events of routes and turns errors into answers. Other transactions
 * run through core/db/run_tx.h. The first part (route to decode) runs on the HTTP loop when the token is in memory; what may
 * block runs on the threads of its lane (lane.h); rows with .combine go to
 * their combiner, which takes everything that waits as one transaction.
 * Calling order: pipeline_new -> pipeline_request (on_request of a listener)* -> pipeline_free. */
#pragma once
#include "api/route.h"

struct pipeline;
struct authn;
struct console;
struct rate_limiter;
struct session_authn;

/* May this verified machine call at all? *ret_node: nil before it has registered. (gate.c) */
typedef enum errc (*gate_fn)(struct call *c, struct uuid *ret_node, struct err *e);
enum errc gate_pass(struct call *c, struct uuid *ret_node, struct err *e) MUST_CHECK;
/* The same question in the handler's own transaction (R_GATE_OWN), in two steps between which other reads may be asked (db_ask):
 * told before anything is written. *ret NULL: nobody is asked here. */
struct db_ask;
enum errc gate_ask(struct work *w, struct db_ask **ret, struct err *e) MUST_CHECK;
enum errc gate_told(struct work *w, struct db_ask *ask, struct err *e) MUST_CHECK;

/* The same for who reads the register beside other things (lease_call.h). fingerprint: zeros where nobody is asked. */
struct gate_facts;
enum errc gate_fingerprint(struct work *w, struct str *ret, struct err *e) MUST_CHECK;
enum errc gate_judge(struct work *w, const struct gate_facts *g, struct err *e) MUST_CHECK;

struct pipeline_opts {
    const struct app *app;
    struct authn *authn;
    struct session_authn *sessions;
    struct rate_limiter *rate;
    /* with a lane's own connections; NULL: app. Threads are as the settings of app say */
    const struct app *lane_apps[LANE_COUNT];
    const struct console *console;  /* borrowed; NULL: no web console */
    gate_fn gate;           /* asked for every call at the worker listener, before anything else; NULL: nobody is */
};

struct pipeline *pipeline_new(const struct pipeline_opts *o, struct err *e);    /* NULL: the route tables are not sound */
/* Answers what is queued first. Answers that go at their readers' pace are cut: a reader may take hours. */
void pipeline_free(struct pipeline *p);

/* on_request, reject, is_proxy, body_limit and body_owner of the two listeners. ctx: struct listener. */
struct listener { struct pipeline *pipeline; bool is_node; };
void pipeline_request(void *listener, struct http_exchange *x);
void pipeline_reject(void *listener, struct http_exchange *x, enum errc code, const char *why);
bool pipeline_is_proxy(void *listener, struct str address);     /* of api.trusted_proxies */
size_t pipeline_body_limit(void *listener, enum http_method m, struct str path);
struct body_owner pipeline_body_owner(void *listener, const struct http_request *r);

/* A handler that found nothing yet returns call_park(w): the call waits, outside any thread, until wake_id is woken or wait_ms is
 * over, then the handler runs again with work.deadline_mono_us kept; past the deadline it must answer with what it has. */
enum errc call_park(struct work *w, struct uuid wake_id, int64_t wait_ms);
/* For a long poll whose caller comes again as soon as it is answered. call_seen: this handler has seen, and its answer gives,
 * all that there is of wake_id up to cursor. call_is_seen: what a handler saw so stands, for nothing was announced since it
 * began to look, so a call with that cursor may park at once. Hints get lost, so this holds for a second, in this process,
 * while hints come at all. */
void call_seen(struct work *w, struct uuid wake_id, struct uuid cursor);
bool call_is_seen(struct work *w, struct uuid wake_id, struct uuid cursor) MUST_CHECK;
/* A handler that needs long work first (reading an object) returns call_outside: its transaction is rolled back, `act` runs once
 * without any, and the handler runs again from the start; what act found it leaves in call_of(w)->own, and in drop_own how to
 * remove it where the call does not come to use it. A replay of an idempotent
 * call never comes so far. An error of act is the call's. */
enum errc call_outside(struct work *w, enum errc (*act)(struct work *w, const void *in, struct err *e), struct err *e) MUST_CHECK;

/* Work that outlives its answer: once w's transaction is committed, act runs on a thread of the lane, in the tenant's turn,
 * with a work of its own (same caller, tenant and request; no transaction) and a copy of the n bytes at `in`. Nobody hears how
 * it ends: it writes that down. What has not begun when the process stops is not begun. */
void call_background(struct work *w, enum lane lane, void (*act)(struct work *w, const void *in), const void *in, size_t n);

/* A raw handler that waits for something outside any thread returns OK with its exchange unanswered. call_again, from any thread
 * and once for each such wait, has it run again on a handler thread; what it knows it keeps in c->own. Nobody touches the call in
 * between. */
void call_again(struct call *c);
/* The same on this thread, which the handler's run must not hold up: it has all that it needs and asks nobody. */
void call_here(struct call *c);
/* Log rotation: the access log's file is opened anew. */
void pipeline_reopen_log(struct pipeline *p);
void pipeline_wake(struct pipeline *p, struct uuid wake_id);    /* nil: all */
struct pipeline *pipeline_of(struct work *w);
struct authn *pipeline_authn(struct pipeline *p);
struct session_authn *pipeline_sessions(struct pipeline *p);
/* Once w's transaction is committed, what this process remembers of a user (nil: of everybody of the tenant) is asked for anew: tokens and
 * sessions. Other processes believe what they remember for at most 5 s. */
void pipeline_forget_user(struct work *w, struct uuid tenant_id, struct uuid user_id);
