/* SPDX-License-Identifier: Apache-2.0 */
/* route.h - a route is one row: from it come dispatch, authentication, validation, limits, audit, OpenAPI and the tests.
 *
 *     static const struct route job_routes[] = {
 *       { .method = HTTP_GET, .path = "/v1/jobs/{job_id}", .op = "job_get", .perm = PERM_JOB_READ, .handler = job_read,
 *         .in = &job_ref_schema, .status = 200, .out = &job_schema, .resource = "job", .doc = "Read one job" } };
 *
 * A handler gets one input struct (path captures, query and body merged), fills one output struct and never sees JSON or HTTP:
 *     static enum errc job_read(struct work *w, const void *in, void *out, struct err *e);
 * It runs inside a transaction (w->tx) scoped to the principal's tenant; effect, quota, audit event and idempotency record commit
 * together or not at all. It may run again after a RETRY (its arena reset, the input kept), so it has no effects outside w->tx
 * but after-commit hooks. `in` and `out` have the sizes of their schemas; out is zeroed.
 *
 * Lists (R_LIST): out is struct page_out, .out is the schema of one item; the input struct has PAGE_IN members. The handler reads
 * in->page_token as the position after which to go on (STR_NULL: from the start) and sets ret->next to the position of the last
 * item when there is more. Signing, binding to the filters and the Link header are the pipeline's.
 *
 * Places: a role bound at a zone or under a condition on zones is judged by the member `zone` of the input (or `code`, of a zone's own
 * path); a row without such a member is denied to such roles, unless it says R_ZONE_LATE. A role bound at a project opens the row, and
 * the transaction shows the project's rows only.
 *
 * A row whose end is near says so with .ends: every answer carries the headers, and the documents mark it deprecated.
 *
 * Boot refuses a table with: no permission, no lane, no doc, no op, a {capture} without F_PATH field, overlapping rows, undocumented fields. */
#pragma once
#include "api/deprecation.h"
#include "api/lane.h"
#include "audit/record.h"
#include "core/base/work.h"
#include "core/http/server.h"
#include "core/table/schema.h"
#include "tenants/access/principal.h"

struct call;

typedef enum errc (*route_handler)(struct work *w, const void *in, void *out, struct err *e);
/* Takes n calls of one route in one transaction of its own and leaves a verdict in each: call->out filled, or call->err. */
typedef void (*route_combine)(struct work *w, struct call **calls, size_t n);
/* Answers by itself (streams, downloads, proxied calls). Runs without transaction after authn, rate, authz and decode, on a pool
 * thread. Either it returns an error, and the pipeline answers with a problem, or it has taken over the exchange and returns OK. It may
 * do so to wait without a thread (call_again in api/pipeline.h). */
typedef enum errc (*route_raw)(struct call *c, struct err *e);
/* Before raw, on the connection's own thread, for a caller who is known and sure to be allowed. True: it has taken over the call,
 * as raw does when it waits, and c may be gone. False: nothing was done, and raw runs on a pool thread. It never blocks. */
typedef bool (*route_quick)(struct call *c);

enum route_flag {
    R_IDEMPOTENT = 1 << 0,  /* needs Idempotency-Key; the answer is kept 24 h and replayed */
    R_LIST = 1 << 1,        /* pages */
    R_SECRET = 1 << 2,      /* the answer holds a secret: Cache-Control: no-store, never kept for replay */
    R_NODE = 1 << 3,        /* worker listener only; system scope, worker principals only */
    R_TENANT_PATH = 1 << 4, /* platform principals act in the scope of the path's {tenant_id} */
    R_NO_TX = 1 << 5,       /* the handler needs no transaction (health, version) */
    R_UPLOAD = 1 << 6,      /* body is not JSON; its cap is api.upload_max; the handler reads call_of(w)->body */
    R_OIP = 1 << 7,         /* errors are {"error": "…"} as the Open Inference Protocol has them */
    R_TEXT = 1 << 8,        /* out is a struct buf at out (content_type; NULL: text/plain). HTML gets the policy of a page without scripts */
    R_IF_MATCH = 1 << 9,    /* needs If-Match; the handler compares w's call->if_match (-1: any) with the row's version */
    R_STEP_UP = 1 << 10,    /* from a session: only within 10 minutes of a login or second factor, else MFA_REQUIRED */
    R_PARTIAL = 1 << 12,    /* may answer 207, with the same body, where a part of what was asked is refused and the rest done */
    R_ZONE_LATE = 1 << 11,  /* the zone acted on stands in no input: the handler asks authz_require_zone once it knows */
    R_SCIM = 1 << 17,       /* SCIM: body and answer are application/scim+json as the handler reads and writes them, in call_of(w)->body
                             * and in the member `body` of out; errors are RFC 7644's; If-Match is the handler's */
    R_STAGE_CODE = 1 << 14, /* open to a session that still lacks its code */
    R_STAGE_ENROL = 1 << 15, /* open to a session whose user must set up a second factor first */
    R_UNNOTICED = 1 << 18,  /* a page asks by itself: does not keep a session from ending for want of use */
    R_GATE_OWN = 1 << 13,   /* with R_NODE: the handler asks the register of machines itself, beside what it reads (gate_ask) */
    R_QUERY_EXTRA = 1 << 16, /* query parameters that the input does not name are passed over (RFC 6749 §4.1.2 asks for it) */
};

enum rate_class { RL_READ, RL_WRITE, RL_NONE, RL_ENROL /* by address, far less than reads */, RL_LOGIN /* the same, for passwords and codes */ };

struct route {
    enum http_method method;
    const char *path;
    const char *op;                 /* operationId, snake_case */
    enum permission perm;
    enum lane lane;                 /* where it runs (lane.def) */
    route_handler handler;
    route_combine combine;
    route_raw raw;
    route_quick quick;              /* with raw; NULL: none */
    const struct schema *in;        /* NULL: no input */
    const struct schema *body;      /* R_UPLOAD of JSON that the handler reads by itself: its form, for the documents */
    int status;                     /* of success */
    const struct schema *out;       /* NULL: no body */
    unsigned flags;
    enum rate_class rate;
    const char *resource;           /* kind for audit and Location: out (or in) has a member <resource>_id */
    bool audited;                   /* write an event of kind `audit` in the transaction */
    enum audit_code audit;
    const char *content_type;       /* R_UPLOAD: what it takes; raw: what it gives; NULL: JSON */
    const char *content_also;       /* a second one, where the content says which (the handler checks); NULL: none */
    const char *also;               /* another type that it gives to who accepts it, for the documents */
    const struct route_end *ends;   /* deprecated, and when it goes (api/deprecation.h); NULL: it stays */
    const char *doc;
};

struct route_table {
    const struct route *rows;
    size_t n;
};
/* By the event that its act writes it makes, widens or approves a credential or a power, so it must say R_STEP_UP (boot
 * refuses it otherwise). What anybody or a program may call has no session to step up; taking power away needs none. */
bool route_makes_power(const struct route *row);
#define ROUTE_TABLE(name, rows_) const struct route_table name = { (rows_), sizeof(rows_) / sizeof *(rows_) }

/* Members of a list's input struct, and their fields. */
#define PAGE_IN int64_t page_size; struct str page_token
#define PAGE_IN_FIELDS(T)                                                                                                   \
    FIELD(T, page_size, F_QUERY, .min = 1, .max = 200, .dflt = "50", .doc = "Items on a page"),                             \
    FIELD(T, page_token, F_QUERY, .max = 512, .doc = "next_page_token of the page before; the other parameters must not change")

struct page_out {
    struct slice items;
    struct str next;                /* position of the last item; STR_NULL: there is no more */
};
/* For handlers that read limit+1 rows: cuts the surplus row and sets next to the hex id at id_offset of the last kept item. */
void page_cut_by_id(struct page_out *p, struct arena *a, int64_t page_size, size_t item_size, size_t id_offset);
/* The position of page_cut_by_id as an id; nil when from the start. */
enum errc page_position_id(struct str page_token, struct uuid *ret, struct err *e) MUST_CHECK;
/* The same where an item's place is a number above 0; 0 when from the start. */
void page_cut_by_number(struct page_out *p, struct arena *a, int64_t page_size, size_t item_size, size_t offset);
enum errc page_position_number(struct str page_token, int64_t *ret, struct err *e) MUST_CHECK;
/* A list by pages, where the items are of struct T and their member id is their place:
 *     return PAGE_BY_ID(w, page, out, job, job_id, job_list(w, &page->filter, after, limit, rows, e), e);
 * `list` reads `limit` rows behind `after` into `rows`; these three names are the macro's. The row past the page is cut. */
#define PAGE_BY_ID(w, page, out, T, member, list, e) PAGE_BY(struct uuid, id, w, page, out, T, member, list, e)
/* PAGE_BY_NUMBER: the same where it is a number. */
#define PAGE_BY_NUMBER(w, page, out, T, member, list, e) PAGE_BY(int64_t, number, w, page, out, T, member, list, e)
#define PAGE_BY(place, by, w, page, out, T, member, list, e)                                                            \
    __extension__({                                                                                                     \
        struct slice *rows = &((struct page_out *)(out))->items;                                                        \
        const int64_t limit = (page)->page_size + 1;                                                                    \
        place after;                                                                                                    \
        enum errc page_rc_ = page_position_##by((page)->page_token, &after, e);                                         \
        if (page_rc_ == ERR_OK)                                                                                         \
            page_rc_ = (list);                                                                                          \
        if (page_rc_ == ERR_OK)                                                                                         \
            page_cut_by_##by(out, (w)->arena, (page)->page_size, sizeof(struct T), offsetof(struct T, member));         \
        page_rc_;                                                                                                       \
    })

/* One request on its way through the pipeline. Lives in the request's arena. */
struct call {
    struct work work;
    const struct route *route;
    struct http_exchange *exchange;
    const struct http_request *request;
    struct principal *principal;    /* referenced */
    struct str captures[4];         /* raw path segments, in path order */
    struct str body;
    void *in, *out;
    struct str session_cookie;      /* under a session: what the browser sent */
    struct str etag;                /* a handler's own ETag; STR_NULL: of the member `version` */
    struct str set_cookie;          /* a handler's: the value of Set-Cookie; STR_NULL: none */
    struct str set_cookie_too;      /* a second one */
    struct str location;            /* a handler's, with a 302: where to */
    int64_t retry_after_s;          /* with ERR_RATE; 0: as the rate limit says */
    struct str idempotency_key;
    uint8_t request_sha[32];
    int64_t if_match;               /* -1: any or none given */
    bool replayed;
    struct str replay_body;
    int status;                     /* 0: the route's */
    bool did_nothing;               /* a handler's: it succeeded in refusing everything, so there is no event */
    struct err err;                 /* a combiner's verdict */
    struct call *next;              /* queue link */
    void *own;                      /* a handler's, between its runs (call_again, call_outside) */
    void (*drop_own)(struct work *w, void *own);    /* what `own` stands for goes, unless the handler's last run succeeded */
    int64_t started_mono_us;
    struct audit_event audit;       /* prepared by the pipeline; a handler may add details through call_of(w) */
};
/* The call a work belongs to (the work is its first member). Only inside api/. */
static inline struct call *call_of(struct work *w) { return (struct call *)w; }

extern const struct route_table *const all_routes[];      /* routes.c; NULL-ended */
