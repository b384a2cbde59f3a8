/* SPDX-License-Identifier: Apache-2.0 */
/* rule.h - what a tenant wants to be told: a name, a way (mail to members, or a webhook), and the events.
 *
 * A mail rule names members, never addresses: each member's own address is looked up when a mail goes out (person.h), so that a
 * tenant cannot make the platform write to strangers, and an erased person's address is gone at once. A webhook is an outside
 * call (tenants/identity/outside.h says where to); its secret is made here, shown in the answer that makes it and sealed under a
 * key of the tenant derived from the zone's sign-in secret. A tenant has NOTICE_RULES_MAX rules at most.
 * A rule tells what happens from its creation on. Acts on w->tenant_id; nil: the platform's own rules, for its own log.
 * Memory: w->arena. Errors: EXISTS (name), INVALID, UNPROCESSABLE (recipients, a project), NOT_FOUND, PRECONDITION, LIMIT,
 * SEALED. */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"

struct stmt;

enum { NOTICE_RULES_MAX = 50, NOTICE_RECIPIENTS_MAX = 50, NOTICE_WAIT_DEFAULT = 60, NOTICE_WAIT_MAX = 10080 };
enum notice_kind { NOTICE_MAIL, NOTICE_WEBHOOK };
extern const char *const notice_kind_names[];
extern const char *const notice_rule_states[];      /* ACTIVE, PAUSED */

struct notice_rule {
    struct uuid notification_id, project_id;        /* project nil: of the whole tenant */
    struct str name;
    int kind, state;
    struct slice events;                            /* int, enum notice_event */
    struct str url;
    struct slice recipients;                        /* struct uuid */
    int64_t wait_minutes, version;
    struct uuid created_by;
    struct timestamp created_at;
    struct str secret;                              /* absent but in the answer that makes it */
};
extern const struct schema notice_rule_schema;

struct notice_rule_change {
    struct str name, url;
    bool has_state, has_events, has_recipients, has_wait_minutes;
    int state;
    struct slice events, recipients;
    int64_t wait_minutes;
};

enum errc notice_rule_create(struct work *w, const struct notice_rule *in, struct notice_rule *ret, struct err *e) MUST_CHECK;
enum errc notice_rule_get(struct work *w, struct uuid id, struct notice_rule *ret, struct err *e) MUST_CHECK;
enum errc notice_rule_list(struct work *w, struct uuid position, int64_t limit, struct slice *ret, struct err *e) MUST_CHECK;
/* if_match -1: any version. */
enum errc notice_rule_set(struct work *w, struct uuid id, const struct notice_rule_change *in, int64_t if_match,
    struct notice_rule *ret,
                          struct err *e) MUST_CHECK;
/* A new secret; the old one signs nothing more. */
enum errc notice_rule_secret(struct work *w, struct uuid id, struct notice_rule *ret, struct err *e) MUST_CHECK;
/* What still waits of it is given up. */
enum errc notice_rule_delete(struct work *w, struct uuid id, struct err *e) MUST_CHECK;

/* For the program that sends, in the system scope: the ACTIVE rules of a tenant, at most NOTICE_RULES_MAX. */
enum errc notice_rules_active(struct work *w, struct uuid tenant, struct slice *ret, struct err *e) MUST_CHECK;
/* The secret that sealed holds. */
enum errc notice_secret_open(struct work *w, struct uuid tenant, struct uuid rule, struct str zone, struct bytes sealed,
    struct str *ret,
                             struct err *e) MUST_CHECK;
/* Their wire names. */
struct str *notice_event_texts(struct arena *a, struct slice events);
/* From now on the tenant's log is read for notifications (scheduler/duty/notices.h). */
enum errc notice_cursor_open(struct work *w, struct err *e) MUST_CHECK;

extern const struct stmt *const notice_rule_stmts[], *const notice_rule_daemon_stmts[];
