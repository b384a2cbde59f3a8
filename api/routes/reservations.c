/* SPDX-License-Identifier: Apache-2.0 */
/* reservations.c - routes of machines that are kept for a window of time. */
#include "api/pipeline.h"
#include "scheduler/engine/reservation.h"

struct reservation_ref { struct uuid reservation_id; };
SCHEMA_OF(reservation_ref, "Which reservation",
    FIELD_ID(reservation_ref, reservation_id, "rsv", F_PATH, .doc = "The reservation"));
struct reservation_page { PAGE_IN; struct uuid node_id; int state; bool has_state; };
SCHEMA_OF(reservation_page, "Which reservations", PAGE_IN_FIELDS(reservation_page),
    FIELD_ID(reservation_page, node_id, "nod", F_QUERY, .doc = "Only those that have this machine"),
    FIELD_ENUM_OPT(reservation_page, state, F_QUERY, reservation_states,
                   .doc = "Only those in this state; absent: all that have not ended"));

static void tell(struct work *w, const struct reservation *r)
{
    struct audit_event *ev = &call_of(w)->audit;
    char from[TIME_TEXT], until[TIME_TEXT];
    time_text(r->from_at.us, from);
    time_text(r->until_at.us, until);
    ev->resource_id = r->reservation_id;
    audit_event_detail(ev, AUDIT_D_STR("purpose", r->purpose));
    audit_event_detail(ev, AUDIT_D_INT("machines", r->machines));
    audit_event_detail(ev, AUDIT_D_STR("from", str_dup(w->arena, str_c(from))));
    audit_event_detail(ev, AUDIT_D_STR("until", str_dup(w->arena, str_c(until))));
    if (!uuid_is_nil(r->tenant_id))
        audit_event_detail(ev, AUDIT_D_STR("for", id_text(w->arena, "tnt", r->tenant_id)));
}

static enum errc create(struct work *w, const void *in, void *out, struct err *e)
{
    TRY(reservation_make(w, in, out, e));
    tell(w, out);
    return ERR_OK;
}

static enum errc list(struct work *w, const void *in, void *out, struct err *e)
{
    const struct reservation_page *page = in;
    const enum reservation_state state = page->has_state ? (enum reservation_state)page->state : RESERVATION_OPEN;
    return PAGE_BY_ID(w, page, out, reservation, reservation_id, reservation_list(w, state, page->node_id, after, limit, rows, e),
                      e);
}

static enum errc read(struct work *w, const void *in, void *out, struct err *e)
{
    return reservation_get(w, ((const struct reservation_ref *)in)->reservation_id, out, e);
}

static enum errc delete(struct work *w, const void *in, void *out, struct err *e)
{
    struct reservation was;
    (void)out;
    TRY(reservation_remove(w, ((const struct reservation_ref *)in)->reservation_id, &was, e));
    tell(w, &was);
    return ERR_OK;
}

static const struct route rows[] = {
    { .method = HTTP_POST, .path = "/v1/reservations", .lane = LANE_CALLS,
      .op = "reservation_create", .perm = PERM_RESERVATION_MANAGE, .handler = create, .in = &reservation_create_schema,
      .status = 201, .out = &reservation_schema, .flags = R_IDEMPOTENT, .rate = RL_WRITE, .resource = "reservation",
      .audited = true, .audit = AUDIT_RESERVATION_SET,
      .doc = "Keep machines for a window of time, for maintenance or for the jobs of a tenant" },
    { .method = HTTP_GET, .path = "/v1/reservations", .lane = LANE_CALLS,
      .op = "reservation_list", .perm = PERM_RESERVATION_READ, .handler = list, .in = &reservation_page_schema, .status = 200,
      .out = &reservation_schema, .flags = R_LIST, .doc = "List reservations, the next to begin first" },
    { .method = HTTP_GET, .path = "/v1/reservations/{reservation_id}", .lane = LANE_CALLS,
      .op = "reservation_get", .perm = PERM_RESERVATION_READ, .handler = read, .in = &reservation_ref_schema, .status = 200,
      .out = &reservation_schema, .resource = "reservation", .doc = "Read one reservation, with its machines" },
    { .method = HTTP_DELETE, .path = "/v1/reservations/{reservation_id}", .lane = LANE_CALLS,
      .op = "reservation_delete", .perm = PERM_RESERVATION_MANAGE, .handler = delete, .in = &reservation_ref_schema,
      .status = 204, .rate = RL_WRITE, .resource = "reservation", .audited = true, .audit = AUDIT_RESERVATION_SET,
      .doc = "Remove a reservation; machines that it drained take work again" },
};
extern const struct route_table reservation_routes;
ROUTE_TABLE(reservation_routes, rows);
