/* SPDX-License-Identifier: Apache-2.0 */
/* audit_want.c - what a search or an export of the log asks for, in people's words; and the names that it may ask by. */
#include "api/routes/audit_int.h"
#include "audit/actor_name.h"
#include "audit/event.h"
#include "audit/pii.h"
#include "audit/thing_name.h"
#include "tenants/access/principal.h"

const char *const audit_verdict_names[] = { "success", "denied", "failed", NULL };

struct names_in { int64_t page_size; struct str name; };
SCHEMA_OF(names_in, "Which names", FIELD(names_in, page_size, F_QUERY, .min = 1, .max = AUDIT_THINGS_MAX, .dflt = "20",
                                         .doc = "At most so many"),
    FIELD(names_in, name, F_QUERY | F_REQ, .min = 1, .max = 128, .check = check_name, .doc = "A part of the name, in any case"));

/* False when a word is too long to be one; the schema holds it to less. */
static bool put(char out[AUDIT_FILTER_WORD], struct str s)
{
    if (s.len >= AUDIT_FILTER_WORD)
        return false;
    if (s.ptr)
        memcpy(out, s.ptr, s.len);
    return true;
}

enum errc audit_filter_of(struct work *w, const struct audit_want *want, struct audit_filter *ret, struct err *e)
{
    struct str actor, resource;
    *ret = (struct audit_filter){ .from_us = want->from.us, .until_us = want->to.us };
    if (want->from.us && want->to.us && want->from.us >= want->to.us)
        return FAIL_AT(e, UNPROCESSABLE, "/to", "The time range is empty: it must end after it begins");
    if (want->action.ptr && !audit_action_is_known(want->action))
        return FAIL_AT(e, UNPROCESSABLE, "/action",
                       "No event has the action %.*s; give one such as job.submit, or a beginning with its dot: job.",
                       STR_ARG(want->action));
    TRY(audit_actor_resolve(w, w->tenant_id, want->actor, &actor, e));
    TRY(audit_thing_resolve(w, w->tenant_id, want->resource, &resource, e));
    if (put(ret->actor, actor) && put(ret->action, want->action) && put(ret->resource, resource) && audit_filter_is_valid(ret))
        return ERR_OK;
    return FAIL(e, UNPROCESSABLE, "No event can match: a value has characters that events never contain");
}

enum errc audit_search_of(struct work *w, const struct audit_want *want, struct audit_search *ret, struct err *e)
{
    struct str *sources;
    *ret = (struct audit_search){ .request_id = want->request_id, .verdict = VERDICT_ANY };
    if (want->has_outcome)
        ret->verdict = VERDICT_SUCCESS + want->outcome;
    TRY(audit_filter_of(w, want, &ret->filter, e));
    if (!want->ip.ptr)
        return ERR_OK;
    TRY(audit_pii_test(w, w->tenant_id, UUID_NIL, AUDIT_PII_SOURCE, want->ip, &sources, &ret->source_count, e));
    sources[ret->source_count++] = want->ip;        /* machines' addresses stand in clear */
    ret->sources = sources;
    return ERR_OK;
}

static enum errc names(struct work *w, const void *in, void *out, struct err *e)
{
    const struct names_in *q = in;
    struct page_out *ret = out;
    struct audit_thing *things;
    TRY(audit_things_find(w, w->tenant_id, q->name, (size_t)q->page_size, &things, &ret->items.n, e));
    ret->items.items = things;
    return ERR_OK;
}

static const struct route rows[] = {
    { .method = HTTP_GET, .path = "/v1/audit/names", .lane = LANE_HEAVY,
      .op = "audit_names", .perm = PERM_AUDIT_READ, .handler = names, .in = &names_in_schema, .status = 200,
      .out = &audit_thing_schema, .flags = R_LIST,
      .doc = "Things that the log may be about, by a part of their name, deleted ones too; for the resource of a search" },
};
extern const struct route_table audit_want_routes;
ROUTE_TABLE(audit_want_routes, rows);
