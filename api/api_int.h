/* SPDX-License-Identifier: Apache-2.0 */
/* api_int.h - what the files of the pipeline share with each other and with nobody else. */
#pragma once
#include <pthread.h>
#include "api/client_address.h"
#include "api/pipeline.h"
#include "core/base/fair_pool.h"
#include "core/redis/rate.h"

enum { SEGMENTS_MAX = 12, CAPTURES_MAX = 4, SEARCHES_MAX = 4, LET_IN = 4096, WAKE_BUCKETS = 64, RESPONSE_MAX = 32 << 20,
      TRIES_MAX = 4 };

/* A row compiled for matching. */
struct route_match {
    const struct route *row;
    int nsegments, ncaptures;
    struct str segments[SEGMENTS_MAX];      /* a capture is STR_NULL */
    bool has_body;                          /* the input schema has body members */
    const struct field *captures[CAPTURES_MAX];
    const struct field *id;                 /* <resource>_id of the answer or, failing that, of the input */
    bool id_is_in;
    const struct field *version;            /* of the answer: makes the ETag */
    struct str searches[SEARCHES_MAX];      /* query parameters that look through texts: a plain call with one is heavy */
    int nsearches;
    const struct field *zone;               /* of the input: the zone that is acted on */
    struct end_headers ends;                /* of a deprecated row */
};

struct router {
    struct route_match *rows;
    size_t n;
    struct slice by_depth[SEGMENTS_MAX + 1];    /* const struct route_match *, by how many segments they have */
};
/* Boot check and compilation; the arena keeps the rows. */
/* Does a query parameter look through texts: `q` of every route, and what says F_SEARCH? */
bool field_is_search(const struct field *f);
enum errc router_init(struct router *r, struct arena *a, struct err *e) MUST_CHECK;
/* The row for method and path, captures filled; NULL: *ret_allow lists the methods of that path, or is STR_NULL. Without an arena
 * *ret_allow is STR_NULL, and nothing is allocated. */
const struct route_match *router_find(const struct router *r, enum http_method m, struct str path, bool is_node,
                                      struct str captures[CAPTURES_MAX], struct arena *a, struct str *ret_allow);

struct combiner;
struct open_calls;
struct decision;

struct pipeline {
    const struct app *app;
    struct authn *authn;
    struct session_authn *sessions;
    struct rate_limiter *rate;
    gate_fn gate;
    struct router router;
    struct arena *arena;
    struct { struct fair_pool *pool; const struct app *app; } lanes[LANE_COUNT];
    struct combiner **combiners;            /* one per row of the router, NULL where it has none */
    uint8_t page_key[32];
    struct proxies proxies;                 /* whose X-Forwarded-For is believed */
    struct park *park;
    struct open_calls *open_calls;
    struct access_log *access_log;          /* NULL: none */
    const struct console *console;          /* NULL: none */
    struct inside *inside;                  /* inside.h: people in running programs */
    _Atomic uint64_t let_in[LET_IN];        /* digests of credentials that were; what collides is forgotten */
    _Atomic int paced_waiting;              /* threads of LANE_PACED that wait for their readers */
    _Atomic bool stopping;
};

/* What waits in a lane: a call, or work that outlived its answer. */
struct lane_item { void (*run)(struct lane_item *i); };

/* The call with what only the pipeline needs. */
struct flight {
    struct call call;                       /* first: a struct work * is also a struct call * and a struct flight * */
    struct lane_item item;
    struct pipeline *pipeline;
    const struct route_match *match;
    struct flight *next;
    bool front_done;
    bool is_counted;                        /* among the open calls of its tenant */
    bool is_console;                        /* answered by a file of the web console */
    bool zone_later;                        /* authz waits for the zone that the request names */
    bool is_parked;
    enum errc (*outside)(struct work *w, const void *in, struct err *e);    /* asked for by call_outside, at most once */
    bool was_outside;
    bool is_handled;                        /* the handler's last run succeeded */
    enum lane lane;                         /* where it waits or runs */
    uint8_t trace_parent[8];                /* the caller's span; all zero: it gave none */
    struct uuid wake_id;
    int64_t parked_mono_us;
    int64_t looked_mono_us;                 /* when its handler began to look */
    int64_t seen_mono_us;                   /* parked without a look: when the look was that it rests on; else 0 */
    int64_t rested_mono_us;                 /* download.c: when it last waited for its reader; 0: not yet */
    uint64_t wake_seq[WAKE_BUCKETS];        /* as they were before the handler ran */
    /* what was asked of: tenant and principal, or one; and what cost refused */
    struct { const char *name; struct rate_result result; } rates[3];
    int nrates;
    struct str allow;                       /* methods, for 405 */
    struct buf answer;
};
static inline struct flight *flight_of(struct work *w) { return (struct flight *)w; }

/* Phases that may block: the rest of a call, on a pool thread. */
void flight_run(struct flight *f);
/* Into its lane; answers 503 when that is full. */
void flight_submit(struct flight *f);

/* lane.c. false: the lane is full, as lane_full says. */
bool lane_submit(struct flight *f) MUST_CHECK;
void lane_full(const struct flight *f, struct err *e);
/* Thread time of a tenant's call; others are passed over. */
void lane_charge(struct pipeline *p, struct uuid tenant, int64_t us);
/* How many calls of one owner may wait in a lane. */
size_t lane_owner_queue(const struct config *cfg);
bool lane_may_spend(struct pipeline *p, struct uuid tenant, struct rate_result *ret);
void lanes_start(struct pipeline *p, const struct app *const apps[LANE_COUNT]);
void lanes_stop(struct pipeline *p);                    /* runs what waits */
/* limits.c: phases. open: RATE when the tenant has api.open_calls_per_tenant open; does nothing while the tenant is not known,
 * and once the call is counted. rate: RATE above the calls in a minute. */
enum errc phase_open(struct flight *f, struct err *e) MUST_CHECK;
enum errc phase_rate(struct flight *f, struct err *e) MUST_CHECK;
struct open_calls *open_calls_new(void);
void open_calls_free(struct open_calls *o);             /* NULL is fine; calls may still be open */
size_t open_calls_all(struct open_calls *o);            /* of tenants, now */
/* The same: RATE while the tenant's calls took more thread time than its share of a minute. */
enum errc phase_cost(struct flight *f, struct err *e) MUST_CHECK;
/* personal.c: the caller's key for personal fields; true: at hand, so that nothing has to wait for it */
enum errc phase_person(struct flight *f, struct err *e) MUST_CHECK;
bool flight_has_person(const struct flight *f);
/* authenticate.c: phase: c->principal, unless it is known or the row is public. UNAUTHENTICATED. bearer_token: of the header, or
 * STR_NULL. */
enum errc phase_authn(struct flight *f, struct err *e) MUST_CHECK;
struct str bearer_token(const struct http_request *r);
/* authenticate.c: the same caller once more, for what outlives its first answer: is the credential good, and may it still? */
enum errc flight_again(struct flight *f, struct err *e) MUST_CHECK;
/* decode.c: phase: c->in by the row's schema; If-Match, the idempotency key, the page. MALFORMED, UNKNOWN_FIELD, MEDIA_TYPE,
 * NOT_FOUND for a path that cannot be an id. */
enum errc phase_decode(struct flight *f, struct err *e) MUST_CHECK;

/* transact.c: runs the handler, in the row's transaction, again when two met, and f->answer is its answer; or it parks. */
enum errc flight_transact(struct flight *f, struct err *e) MUST_CHECK;
/* An event of this call: actor, resource, status, the handler's details. */
struct audit_event flight_audit_event(struct flight *f, enum audit_code code);

/* admit.c: phases. authz opens the row by permission and limits the transaction to the projects that give it; zone judges again
 * what only a role of some zones opened, once the request has named its zone. Both write a denial into the audit log. */
enum errc phase_authz(struct flight *f, struct err *e) MUST_CHECK;
enum errc phase_zone(struct flight *f, struct err *e) MUST_CHECK;
/* The same for a permission that a handler has found missing. */
enum errc admit_refuse(struct call *c, const struct decision *d, enum permission perm, struct err *e);

/* residency_denial.c: a refusal of the judge of residency is counted, and stands in the log of the tenant whose data it is about.
 * Outside of any transaction of the call; blocks. */
void residency_denial_note(struct call *c, const struct err *e);
/* Adds ,"remedy":{…} to its problem: what is missing, and who may set it; nothing where nothing can be set. */
void residency_denial_tell(struct call *c, const struct err *e, struct buf *out);
/* release_denial.c: a key refused to a machine because of its lease; does nothing for other calls. Blocks. */
void release_denial_note(struct call *c, const struct err *e);

/* reply.c */
void flight_fail(struct flight *f, const struct err *e);
/* OPTIONS of a path that has methods (f->allow): 204 with Allow, for anybody; the table of methods is no secret. */
void flight_options(struct flight *f);
void flight_send(struct flight *f);                     /* f->answer with the row's status */
/* Where no route has this path: a file of the console, answered here; else the methods of one in f->allow, when there is one. */
bool flight_console(struct flight *f) MUST_CHECK;
enum errc flight_encode(struct flight *f, struct err *e) MUST_CHECK;
void problem_body(struct buf *out, const struct err *e, struct str request_id, struct str instance, bool oip);

/* scim_reply.c: calls under /scim, and what their errors look like. */
bool is_scim(const struct flight *f);
#define SCIM_TYPE "application/scim+json"
void scim_error_body(struct buf *out, const struct err *e, struct str detail);

/* browser.c: the session cookie (STR_NULL: none), the principal behind it, and what a browser must say for a change. */
enum errc browser_cookie(const struct http_request *r, struct str *ret, struct err *e) MUST_CHECK;
enum errc browser_session(struct flight *f, struct err *e) MUST_CHECK;
/* Of a WebSocket, which a browser opens with its cookies and from any page: CSRF unless a page of ours asks. */
enum errc browser_socket(const struct call *c, struct err *e) MUST_CHECK;
enum errc browser_public(const struct call *c, struct err *e) MUST_CHECK;

/* bearer.c: may the address have one more token or cookie looked up? RATE: no; then, how that went. */
enum errc credential_may_try(struct flight *f, struct str shown, struct err *e) MUST_CHECK;
void credential_judged(struct flight *f, struct str shown, enum errc rc);
/* The principal behind an outside issuer's token; what was refused after its signature held is in the tenant's audit log. */
enum errc bearer_jwt(struct call *c, struct str token, struct err *e) MUST_CHECK;

/* idempotency.c */
enum errc idempotency_key_read(struct call *c, struct err *e) MUST_CHECK;
enum errc idempotency_begin(struct call *c, struct err *e) MUST_CHECK;      /* sets c->replayed */
/* For work of several transactions whose parts can be repeated: neither first nor replayed means that an earlier call did not
 * finish. */
enum errc idempotency_claim(struct call *c, bool *ret_first, struct err *e) MUST_CHECK;
void idempotency_end(struct call *c, int status, struct str body);

/* page.c */
enum errc page_open(struct flight *f, struct err *e) MUST_CHECK;            /* token -> position */
struct str page_seal(struct flight *f, struct str position);

/* combine.c */
struct combiner *combiner_new(struct pipeline *p, const struct route_match *m);
void combiner_submit(struct combiner *c, struct flight *f);
void combiner_free(struct combiner *c);

/* park.c */
struct park *park_new(struct pipeline *p);
/* How long a parked call waits for a hint before it looks by itself, with Redis and without, and how long what was seen stands.
 * For tests. */
void park_set_look(struct park *k, int64_t look_us, int64_t look_alone_us, int64_t seen_us);
void park_note(struct park *k, struct flight *f);       /* remember the wake numbers before the handler runs */
void park_add(struct park *k, struct flight *f);
/* call_seen and call_is_seen, of which the second notes in f what it rests on. */
void park_see(struct park *k, const struct flight *f, struct uuid wake_id, struct uuid cursor);
bool park_is_seen(struct park *k, struct flight *f, struct uuid wake_id, struct uuid cursor) MUST_CHECK;
void park_wake(struct park *k, struct uuid wake_id);
void park_stop(struct park *k);                         /* resubmits all, takes no more: each answers with what it has */
void park_free(struct park *k);                         /* after park_stop, when no call is left that might ask to be parked */
