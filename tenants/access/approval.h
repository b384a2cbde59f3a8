/* SPDX-License-Identifier: Apache-2.0 */
/* approval.h - four eyes as objects: who asked for what exactly, who approved, until when.
 *
 * An act that needs more than one person is not done when it is asked for: its route stores a request and answers 202 with it. When
 * enough others have approved, the act is carried out in the transaction of the last approval, by the executor of its kind (a row of
 * api/approval_kinds.c). So what was approved is what happens: `payload` is stored once and its SHA-256 stands in every audit event.
 *
 *     PENDING -> EXECUTED | REFUSED | WITHDRAWN | EXPIRED | FAILED
 *
 * Invariants: the requester never approves; nobody approves twice; who approves holds the kind's permission at that moment and, for acts
 * on a tenant, does not administer that tenant; whoever approves is a second person (second_person.h) beside the requester,
 * beside everybody who has approved already and beside the person whom the request is about; one PENDING request per kind and
 * subject; an expired one does nothing. A refusal needs the permission only: it gives nobody anything.
 * A request lives in the scope it was made in (w->tenant_id; nil: the platform).
 * Calling order: approval_request in the asking route; approval_decide in the approving one. Memory: w->arena.
 * An expired request is told as EXPIRED wherever it is read; nothing has to sweep it. An executor that fails leaves nothing but the
 * request's end as FAILED; one that fails for want of a connection (RETRY, UNAVAILABLE) or meets a legal hold (LEGAL_HOLD) leaves the request
 * pending, without this last approval: once the hold is lifted it can be given again.
 * approval_request writes the audit event approval.request; the approving route writes approval.grant or approval.refuse. Both carry the
 * payload's digest.
 * Errors: CONFLICT (a request for the same is pending; not pending any more), SEPARATION (the requester, or a second time), FORBIDDEN,
 * NOT_FOUND. */
#pragma once
#include "audit/record.h"
#include "core/base/work.h"
#include "core/table/schema.h"
#include "tenants/access/second_person.h"

struct stmt;

struct approval {
    struct uuid approval_id;
    struct str kind, state;
    struct uuid subject_id;         /* nil: subject names it */
    struct str subject;             /* for people: a tenant's name, a zone's code, "key v3 in ae-dxb-1" */
    struct json payload;            /* what exactly */
    struct str payload_sha256;      /* hex, of its stored text */
    struct str reason;
    int64_t needed, given;
    struct uuid requested_by;
    struct json decisions;          /* [{user_id, approve, at, note}] */
    struct str outcome;             /* of the executor, when it failed */
    struct timestamp created_at, expires_at, decided_at;
    /* Of the caller; filled by approval_standing where a request is shown, absent elsewhere. */
    bool counts, has_counts;
    struct str why_not, why_not_text;
    struct timestamp counts_from;
};
extern const struct schema approval_schema;

struct approval_kind {
    const char *kind;               /* "tenant.delete" */
    enum permission approve;        /* what an approver needs */
    int needed;                     /* approvals besides the request */
    int64_t hours;                  /* a request lives so long */
    /* In the transaction of the last approval; on error the request becomes FAILED with the error's text and nothing else is kept. */
    enum errc (*execute)(struct work *w, const struct approval *a, struct err *e);
    const char *doc;
    bool is_about_person;           /* subject_id is a user: who approves is somebody else than that person, too */
};

enum errc approval_request(struct work *w, const struct approval_kind *kind, struct uuid subject_id, struct str subject, struct str payload_json,
                           struct str reason, struct approval *ret, struct err *e) MUST_CHECK;
/* approve false: refuse (an approver) or withdraw (the requester). Runs the executor when it was the last one needed. */
enum errc approval_decide(struct work *w, const struct approval_kind *const kinds[], struct uuid approval_id, bool approve, struct str note,
                          struct approval *ret, struct err *e) MUST_CHECK;
enum errc approval_get(struct work *w, struct uuid approval_id, struct approval *ret, struct err *e) MUST_CHECK;
struct approval_filter {
    struct str state, kind;         /* STR_NULL: any */
    struct uuid requested_by;       /* nil: anybody */
};
enum errc approval_list(struct work *w, const struct approval_filter *f, struct uuid position, int64_t limit, struct slice *ret,
                        struct err *e) MUST_CHECK;
/* Would the caller's approval count, and why not: fills counts, why_not, why_not_text and counts_from of a PENDING request. */
enum errc approval_standing(struct work *w, const struct approval_kind *const kinds[], struct approval *a,
    struct err *e) MUST_CHECK;
/* The kind of that name in a NULL-ended list, or NULL. */
const struct approval_kind *approval_kind_find(const struct approval_kind *const kinds[], struct str name);

/* Kind, subject, state and the payload's digest, for the audit event of the route. */
void approval_details(const struct approval *a, struct audit_event *ev);

extern const struct stmt *const approval_stmts[];
