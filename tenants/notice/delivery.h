/* SPDX-License-Identifier: Apache-2.0 */
/* delivery.h - the outbox: what is to be sent, and what became of it.
 *
 *     WAITING -> DELIVERED | DEAD        redelivered: -> WAITING
 *
 * One row for each event and target (the member of a mail, the rule of a webhook): the same event is never queued twice for
 * one target, and a
 * try that was cut off is made again, so a receiver may see a delivery twice, under the same id. At most NOTICE_BACKLOG wait
 * for one
 * target; what comes on top is DEAD at once and can be redelivered. Ended rows go after NOTICE_KEEP_DAYS.
 * The first part acts on w->tenant_id for the API, the second in the system scope for the program that sends.
 * Memory: w->arena. Errors: NOT_FOUND, CONFLICT (it waits already). */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"

struct stmt;

enum { NOTICE_BACKLOG = 500, NOTICE_KEEP_DAYS = 30, NOTICE_CLAIM_S = 120 };
enum notice_state { NOTICE_WAITING, NOTICE_DELIVERED, NOTICE_DEAD };
extern const char *const notice_states[];
#define NOTICE_TEST "test"
#define NOTICE_CODE "confirm"

struct notice_delivery {
    struct uuid delivery_id, notification_id, user_id;
    int kind;
    struct str event, resource_kind, resource_id, name;
    struct uuid project_id;
    struct timestamp at;
    int state;
    int64_t tries;
    struct timestamp next_at;
    struct str reason;
    bool has_status;
    int64_t status;
    struct timestamp created_at, ended_at;
};
extern const struct schema notice_delivery_schema;

/* notification_id nil, state -1: any. Own mails of people (their codes, their own choices) are nobody else's and not listed. */
enum errc notice_delivery_list(struct work *w, struct uuid notification_id, int state, struct uuid position, int64_t limit,
                               struct slice *ret, struct err *e) MUST_CHECK;
enum errc notice_delivery_again(struct work *w, struct uuid delivery_id, struct notice_delivery *ret, struct err *e) MUST_CHECK;
/* One delivery to each target of the rule; *ret: how many. LIMIT: NOTICE_BACKLOG wait for one of them. */
enum errc notice_delivery_test(struct work *w, struct uuid notification_id, int64_t *ret, struct err *e) MUST_CHECK;
/* A mail with the code to the caller. */
enum errc notice_delivery_code(struct work *w, struct str code, struct err *e) MUST_CHECK;
/* What waits of a rule that is gone. */
enum errc notice_delivery_give_up(struct work *w, struct uuid notification_id, struct err *e) MUST_CHECK;

/* --- the program that sends --- */
struct notice_new {
    struct uuid delivery_id, notification_id, user_id, target, project_id;
    struct str kind, event, source, resource_kind, resource_id, name, detail;   /* detail: a JSON object */
    struct timestamp at;
};
/* Queues what no target has yet. *ret_dead: how many found a full backlog. */
enum errc notice_put(struct work *w, struct uuid tenant, const struct notice_new *list, size_t n, int64_t *ret_dead,
    struct err *e) MUST_CHECK;

struct notice_claimed {
    struct uuid tenant_id, delivery_id, notification_id, user_id;
    struct str event, source, resource_kind, resource_id, name;
    struct uuid project_id;
    struct json detail;
    struct timestamp at;
    int64_t tries;                      /* this one counted */
    struct str url, zone;               /* webhook; url absent: the rule is gone */
    struct bytes sealed;
    struct str address, language;       /* mail; address absent: none, not confirmed, or the member is not active */
};
/* Due deliveries of a kind, at most `share` of a tenant, `room` in all, none of the tenants in `busy`: the first of each
 * tenant come before
 * the second of any. They are due again after NOTICE_CLAIM_S, should nobody settle them. */
enum errc notice_claim(struct work *w, const char *kind, int64_t share, const struct uuid *busy, size_t n, int64_t room,
    struct slice *ret,
                       struct err *e) MUST_CHECK;

struct notice_result {
    struct uuid tenant_id, delivery_id, notification_id;
    struct str state, reason;           /* state of notice_states; WAITING: again after pause_ms */
    int64_t status, pause_ms;           /* status 0: none */
};
enum errc notice_settle(struct work *w, const struct notice_result *list, size_t n, struct err *e) MUST_CHECK;
enum errc notice_prune(struct work *w, int64_t limit, int64_t *ret, struct err *e) MUST_CHECK;

struct notice_behind { struct uuid tenant_id; int64_t tseq; bool is_patrol; };
/* Tenants that have rules or people who chose, and how far their logs were read; is_patrol: not for patrol_s seconds. position:
 * the tenant behind which the page begins, nil: at the first. */
enum errc notice_cursors(struct work *w, int64_t patrol_s, struct uuid position, int64_t limit, struct slice *ret,
                         struct err *e) MUST_CHECK;
enum errc notice_cursor_move(struct work *w, struct uuid tenant, int64_t tseq, bool is_patrol, struct err *e) MUST_CHECK;

extern const struct stmt *const notice_delivery_stmts[], *const notice_delivery_daemon_stmts[];
