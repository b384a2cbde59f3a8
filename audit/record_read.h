/* SPDX-License-Identifier: Apache-2.0 */
/* record_read.h - the canonical bytes of one event read back in full (docs/audit-format.md §1).
 *
 * Strict: every member in its place, one spelling of each value, nothing before or behind. What audit_event_encode wrote is always
 * read, and encoding what was read gives the same bytes. A code that this build does not know is no error, so that a log can be
 * newer than its reader. Total: any bytes give an answer, within the bounds of the members.
 * Memory: strings borrow from the body, or from `text` in the view where they had to be unescaped: the view must stay where it is
 * and the body alive for as long as they are used. The view is 17 KiB; do not clear it, reading fills what it names. Pure. */
#pragma once
#include "audit/record.h"

struct audit_view_detail {
    struct str name, text;         /* text.ptr NULL: it is a number */
    int64_t number;
};
/* What a filter can ask about. In this order an entry that is left out of a filtered range shows that it does not fit
 * (fields.h). */
enum audit_field { AUDIT_FIELD_TIME, AUDIT_FIELD_ACTION, AUDIT_FIELD_RESOURCE, AUDIT_FIELD_ACTOR, AUDIT_FIELDS };
struct audit_view {
    struct uuid event_id, tenant_id;
    struct str zone;
    int64_t ts_us;
    enum audit_code code;          /* AUDIT_CODE_COUNT: not a code of this build */
    struct str code_text;          /* "FLJ-JOB-001S" */
    char suffix;                   /* 'S' success, 'D' denied, 'F' failed */
    enum audit_actor actor;
    struct uuid actor_id, token_id;    /* nil: null */
    struct str roles[AUDIT_ROLES_MAX];
    int role_count;
    struct str src_ip, request_id, resource_kind, resource_id, rule;    /* ptr NULL: null */
    struct str action, outcome;
    bool denied;
    int http_status;               /* 0: null */
    struct audit_view_detail details[AUDIT_DETAILS_MAX];
    int detail_count;
    struct str member[AUDIT_FIELDS];   /* "ts_us":…, "action":…, "resource":{…} as they stand; "actor":{… up to its id */
    size_t used;
    char text[AUDIT_BODY_MAX];
};

bool audit_record_read(struct str body, struct audit_view *ret);
/* One member alone, as fields.h opens it; the others of the view are left as they were. False: not spelled as an event's. */
bool audit_member_read(struct str member, struct audit_view *v, enum audit_field *ret);
/* "success", "denied", "failed": what the suffix of the code says. */
const char *audit_verdict_text(const struct audit_view *v);
/* A sealed personal field, "sealed:1:<key uuid>:<base64url>": it can be read only while its key lives (docs/audit-format.md §1). */
bool audit_text_is_sealed(struct str s);
