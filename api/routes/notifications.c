/* SPDX-License-Identifier: Apache-2.0 */
/* notifications.c - routes of notification rules, their deliveries, and what each person is told by mail. */
#include "api/pipeline.h"
#include "core/http/mail.h"
#include "tenants/notice/delivery.h"
#include "tenants/notice/event.h"
#include "tenants/notice/person.h"
#include "tenants/notice/rule.h"

struct notice_rule_new {
    struct uuid project_id;
    struct str name, url;
    int kind;
    struct slice events, recipients;
    int64_t wait_minutes;
};
SCHEMA_OF(notice_rule_new, "A notification to make",
    FIELD_ID(notice_rule_new, project_id, "prj", 0, .doc = "Only jobs of this project; absent: the whole tenant"),
    FIELD(notice_rule_new, name, F_REQ, .min = 1, .max = 64, .check = check_name, .doc = "Its name"),
    FIELD_ENUM(notice_rule_new, kind, F_REQ, notice_kind_names, .doc = "mail to members, or a webhook"),
    FIELD_ENUMS(notice_rule_new, events, F_REQ, notice_event_names, .min = 1, .max = NOTICE_EVENTS, .doc = "What it tells of"),
    FIELD(notice_rule_new, url, 0, .min = 8, .max = 512, .example = "https://hooks.example.org/falaj",
          .doc = "Of a webhook: where to; https"),
    FIELD_IDS(notice_rule_new, recipients, "usr", 0, .max = NOTICE_RECIPIENTS_MAX,
              .doc = "Of mail: members, each at the address they confirmed"),
    FIELD(notice_rule_new, wait_minutes, 0, .min = 1, .max = NOTICE_WAIT_MAX, .dflt = "60",
          .doc = "When a job has waited long (job-waiting)"));
struct notice_rule_patch {
    struct uuid notification_id;
    struct str name, url;
    bool has_state, has_events, has_recipients, has_wait_minutes;
    int state;
    struct slice events, recipients;
    int64_t wait_minutes;
};
SCHEMA_OF(notice_rule_patch, "What to change; what is absent stays",
    FIELD_ID(notice_rule_patch, notification_id, "ntf", F_PATH, .doc = "The rule"),
    FIELD(notice_rule_patch, name, 0, .min = 1, .max = 64, .check = check_name, .doc = "Its name"),
    FIELD_ENUM_OPT(notice_rule_patch, state, 0, notice_rule_states, .doc = "PAUSED: tells nothing new; ACTIVE: goes on"),
    FIELD_(notice_rule_patch, events, "events", FT_LIST, 0, .item = FT_ENUM, .names = notice_event_names,
           .has = offsetof(struct notice_rule_patch, has_events) + 1, .min = 1, .max = NOTICE_EVENTS, .doc = "What it tells of"),
    FIELD(notice_rule_patch, url, 0, .min = 8, .max = 512, .doc = "Of a webhook: where to"),
    FIELD_(notice_rule_patch, recipients, "recipients", FT_LIST, 0, .item = FT_UUID, .prefix = "usr",
           .has = offsetof(struct notice_rule_patch, has_recipients) + 1, .min = 1, .max = NOTICE_RECIPIENTS_MAX,
               .doc = "Of mail: members"),
    FIELD_OPT(notice_rule_patch, wait_minutes, 0, .min = 1, .max = NOTICE_WAIT_MAX, .doc = "When a job has waited long"));
struct notice_ref { struct uuid notification_id; };
SCHEMA_OF(notice_ref, "Which notification", FIELD_ID(notice_ref, notification_id, "ntf", F_PATH, .doc = "The rule"));
struct notice_page { PAGE_IN; };
SCHEMA_OF(notice_page, "Which notifications", PAGE_IN_FIELDS(notice_page));
struct notice_sent { struct uuid notification_id; int64_t deliveries; };
SCHEMA_OF(notice_sent, "What a test queued", FIELD_ID(notice_sent, notification_id, "ntf", F_ALWAYS, .doc = "The rule"),
    FIELD(notice_sent, deliveries, F_ALWAYS, .doc = "Messages that were queued"));
struct delivery_page { PAGE_IN; struct uuid notification_id; bool has_state; int state; };
SCHEMA_OF(delivery_page, "Which deliveries", PAGE_IN_FIELDS(delivery_page),
    FIELD_ID(delivery_page, notification_id, "ntf", F_QUERY, .doc = "Only of this rule"),
    FIELD_ENUM_OPT(delivery_page, state, F_QUERY, notice_states, .doc = "Only in this state"));
struct delivery_ref { struct uuid delivery_id; };
SCHEMA_OF(delivery_ref, "Which delivery", FIELD_ID(delivery_ref, delivery_id, "ntd", F_PATH, .doc = "The delivery"));
struct notice_own_in { struct str address; int language; struct slice events; };
SCHEMA_OF(notice_own_in, "What the caller wants to be told by mail",
    FIELD(notice_own_in, address, F_REQ, .min = 3, .max = MAIL_ADDRESS_MAX, .check = check_mail_address,
        .example = "huda@example.org",
          .doc = "The mail address; a new one is sent a code, and nothing else until that was typed back"),
    FIELD_ENUM(notice_own_in, language, 0, notice_languages, .dflt = "en", .doc = "Language of the mails"),
    FIELD_ENUMS(notice_own_in, events, 0, notice_event_names, .max = NOTICE_EVENTS,
                .doc = "Of the caller's own jobs (job-failed, job-completed, job-waiting), of approvals that the caller may "
                       "decide (approval-waiting) and of legal clocks that the caller manages (clock-due-soon, "
                       "clock-overdue); none: mails of rules alone"));
struct notice_code_in { struct str code; };
SCHEMA_OF(notice_code_in, "The code of a mail", FIELD(notice_code_in, code, F_REQ, .min = 6, .max = 6, .example = "123456",
    .doc = "Six digits"));

static void tell(struct work *w, const struct notice_rule *r, const char *act)
{
    struct audit_event *ev = &call_of(w)->audit;
    audit_event_detail(ev, AUDIT_D_STR("act", str_c(act)));
    audit_event_detail(ev, AUDIT_D_STR("kind", str_c(notice_kind_names[r->kind])));
    audit_event_detail(ev, AUDIT_D_STR("state", str_c(notice_rule_states[r->state])));
    audit_event_detail(ev, AUDIT_D_INT("events", r->events.n));
    audit_event_detail(ev, AUDIT_D_INT("recipients", r->recipients.n));
}

static enum errc create(struct work *w, const void *in_, void *out, struct err *e)
{
    const struct notice_rule_new *in = in_;
    const struct notice_rule r = { .project_id = in->project_id, .name = in->name, .kind = in->kind, .events = in->events,
                                   .url = in->url, .recipients = in->recipients, .wait_minutes = in->wait_minutes };
    TRY(notice_rule_create(w, &r, out, e));
    tell(w, out, "create");
    return ERR_OK;
}

static enum errc read(struct work *w, const void *in, void *out, struct err *e)
{
    return notice_rule_get(w, ((const struct notice_ref *)in)->notification_id, out, e);
}

static enum errc list(struct work *w, const void *in, void *out, struct err *e)
{
    const struct notice_page *page = in;
    return PAGE_BY_ID(w, page, out, notice_rule, notification_id, notice_rule_list(w, after, limit, rows, e), e);
}

static enum errc change(struct work *w, const void *in_, void *out, struct err *e)
{
    const struct notice_rule_patch *in = in_;
    const struct notice_rule_change c = { .name = in->name, .url = in->url, .has_state = in->has_state,
        .has_events = in->has_events,
        .has_recipients = in->has_recipients, .has_wait_minutes = in->has_wait_minutes, .state = in->state, .events = in->events,
        .recipients = in->recipients, .wait_minutes = in->wait_minutes };
    TRY(notice_rule_set(w, in->notification_id, &c, call_of(w)->if_match, out, e));
    tell(w, out, "change");
    return ERR_OK;
}

static enum errc secret(struct work *w, const void *in, void *out, struct err *e)
{
    TRY(notice_rule_secret(w, ((const struct notice_ref *)in)->notification_id, out, e));
    tell(w, out, "secret");
    return ERR_OK;
}

static enum errc delete(struct work *w, const void *in, void *out, struct err *e)
{
    (void)out;
    audit_event_detail(&call_of(w)->audit, AUDIT_D_STR("act", STR("delete")));
    return notice_rule_delete(w, ((const struct notice_ref *)in)->notification_id, e);
}

static enum errc test(struct work *w, const void *in, void *out, struct err *e)
{
    struct notice_sent *ret = out;
    ret->notification_id = ((const struct notice_ref *)in)->notification_id;
    return notice_delivery_test(w, ret->notification_id, &ret->deliveries, e);
}

static enum errc deliveries(struct work *w, const void *in, void *out, struct err *e)
{
    const struct delivery_page *page = in;
    return PAGE_BY_ID(w, page, out, notice_delivery, delivery_id,
                      notice_delivery_list(w, page->notification_id, page->has_state ? page->state : -1, after, limit, rows,
                          e), e);
}

static enum errc redeliver(struct work *w, const void *in, void *out, struct err *e)
{
    return notice_delivery_again(w, ((const struct delivery_ref *)in)->delivery_id, out, e);
}

static enum errc own(struct work *w, const void *in, void *out, struct err *e)
{
    (void)in;
    return notice_person_get(w, out, e);
}

static enum errc own_set(struct work *w, const void *in_, void *out, struct err *e)
{
    const struct notice_own_in *in = in_;
    const struct notice_person p = { .address = in->address, .language = in->language, .events = in->events };
    TRY(notice_person_put(w, &p, out, e));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_INT("events", in->events.n));
    return ERR_OK;
}

static enum errc own_confirm(struct work *w, const void *in, void *out, struct err *e)
{
    struct notice_person *ret = out;
    TRY(notice_person_confirm(w, ((const struct notice_code_in *)in)->code, ret, e));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_STR("act", ret->confirmed_at.us ? STR("confirmed") : STR("wrong_code")));
    return ERR_OK;
}

static enum errc own_delete(struct work *w, const void *in, void *out, struct err *e)
{
    (void)in;
    (void)out;
    return notice_person_delete(w, e);
}

static const struct route rows[] = {
    { .method = HTTP_POST, .path = "/v1/notifications", .lane = LANE_CALLS,
      .op = "notification_create", .perm = PERM_NOTICE_MANAGE, .handler = create, .in = &notice_rule_new_schema, .status = 201,
      .out = &notice_rule_schema, .flags = R_IDEMPOTENT | R_SECRET, .rate = RL_WRITE, .resource = "notification", .audited = true,
      .audit = AUDIT_NOTICE_SET, .doc = "Make a notification: who is told of which events, by mail or a webhook; a webhook's "
          "secret is shown once" },
    { .method = HTTP_GET, .path = "/v1/notifications", .lane = LANE_CALLS,
      .op = "notification_list", .perm = PERM_NOTICE_READ, .handler = list, .in = &notice_page_schema, .status = 200,
      .out = &notice_rule_schema, .flags = R_LIST, .doc = "The tenant's notifications, newest first" },
    { .method = HTTP_GET, .path = "/v1/notifications/{notification_id}", .lane = LANE_CALLS,
      .op = "notification_get", .perm = PERM_NOTICE_READ, .handler = read, .in = &notice_ref_schema, .status = 200,
      .out = &notice_rule_schema, .resource = "notification", .doc = "Read one notification" },
    { .method = HTTP_PATCH, .path = "/v1/notifications/{notification_id}", .lane = LANE_CALLS,
      .op = "notification_set", .perm = PERM_NOTICE_MANAGE, .handler = change, .in = &notice_rule_patch_schema, .status = 200,
      .out = &notice_rule_schema, .flags = R_IF_MATCH, .rate = RL_WRITE, .resource = "notification", .audited = true,
      .audit = AUDIT_NOTICE_SET, .doc = "Pause a notification, let it go on, or change what it tells" },
    { .method = HTTP_DELETE, .path = "/v1/notifications/{notification_id}", .lane = LANE_CALLS,
      .op = "notification_delete", .perm = PERM_NOTICE_MANAGE, .handler = delete, .in = &notice_ref_schema, .status = 204,
      .rate = RL_WRITE, .resource = "notification", .audited = true, .audit = AUDIT_NOTICE_SET,
      .doc = "Remove a notification; what waits of it is given up" },
    { .method = HTTP_POST, .path = "/v1/notifications/{notification_id}/secret", .lane = LANE_CALLS,
      .op = "notification_secret", .perm = PERM_NOTICE_MANAGE, .handler = secret, .in = &notice_ref_schema, .status = 200,
      .out = &notice_rule_schema, .flags = R_IDEMPOTENT | R_SECRET, .rate = RL_WRITE, .resource = "notification", .audited = true,
      .audit = AUDIT_NOTICE_SET, .doc = "A new secret for a webhook, shown once; the old one signs nothing more" },
    { .method = HTTP_POST, .path = "/v1/notifications/{notification_id}/test", .lane = LANE_CALLS,
      .op = "notification_test", .perm = PERM_NOTICE_MANAGE, .handler = test, .in = &notice_ref_schema, .status = 202,
      .out = &notice_sent_schema, .flags = R_IDEMPOTENT, .rate = RL_WRITE, .resource = "notification", .audited = true,
      .audit = AUDIT_NOTICE_SEND, .doc = "Send a test the way of the notification; its deliveries say what came of it" },
    { .method = HTTP_GET, .path = "/v1/notification-deliveries", .lane = LANE_CALLS,
      .op = "notification_delivery_list", .perm = PERM_NOTICE_READ, .handler = deliveries, .in = &delivery_page_schema,
          .status = 200,
      .out = &notice_delivery_schema, .flags = R_LIST,
      .doc = "What was sent, waits or was given up, newest first, for 30 days" },
    { .method = HTTP_POST, .path = "/v1/notification-deliveries/{delivery_id}/redeliver", .lane = LANE_CALLS,
      .op = "notification_delivery_redeliver", .perm = PERM_NOTICE_MANAGE, .handler = redeliver, .in = &delivery_ref_schema,
          .status = 202,
      .out = &notice_delivery_schema, .flags = R_IDEMPOTENT, .rate = RL_WRITE, .resource = "delivery", .audited = true,
      .audit = AUDIT_NOTICE_SEND, .doc = "Send a delivery that has ended once more, under its id" },
    { .method = HTTP_GET, .path = "/v1/me/notifications", .lane = LANE_CALLS,
      .op = "own_notification_get", .perm = PERM_SIGNED_IN, .handler = own, .status = 200, .out = &notice_person_schema,
      .doc = "What the caller is told by mail; 404: nothing was chosen" },
    { .method = HTTP_PUT, .path = "/v1/me/notifications", .lane = LANE_CALLS,
      .op = "own_notification_set", .perm = PERM_SIGNED_IN, .handler = own_set, .in = &notice_own_in_schema, .status = 200,
      .out = &notice_person_schema, .rate = RL_WRITE, .resource = "user", .audited = true, .audit = AUDIT_NOTICE_OWN,
      .doc = "Choose what the caller is told by mail, where and in which language" },
    { .method = HTTP_POST, .path = "/v1/me/notifications/confirm", .lane = LANE_CALLS,
      .op = "own_notification_confirm", .perm = PERM_SIGNED_IN, .handler = own_confirm, .in = &notice_code_in_schema,
          .status = 200,
      .out = &notice_person_schema, .flags = R_IDEMPOTENT, .rate = RL_WRITE, .resource = "user", .audited = true,
          .audit = AUDIT_NOTICE_OWN,
      .doc = "Type the code back that was sent to the address; confirmed_at stays absent when it was wrong, five tries" },
    { .method = HTTP_DELETE, .path = "/v1/me/notifications", .lane = LANE_CALLS,
      .op = "own_notification_delete", .perm = PERM_SIGNED_IN, .handler = own_delete, .status = 204, .rate = RL_WRITE,
          .resource = "user",
      .audited = true, .audit = AUDIT_NOTICE_OWN, .doc = "Forget the caller's address and choice; no mail comes any more" },
};
extern const struct route_table notification_routes;
ROUTE_TABLE(notification_routes, rows);
