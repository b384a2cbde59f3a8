/* SPDX-License-Identifier: Apache-2.0 */
/* record.h - one audit event and its canonical bytes (docs/audit-format.md §1).
 *
 * The bytes are built once, here, and stored; nobody ever builds them again to check them: a verifier hashes what it reads.
 * They are JSON with a fixed member order, UTF-8, integers only, no white space and no byte below 0x20, so they stand on one line.
 * Every member is always there; what is absent is null. Encoding is total: text that is too long is cut at a character and
 * bytes that are not UTF-8 become U+FFFD, so an event is never lost to its own contents. Never pass a name, an e-mail address,
 * a secret or free text of a user: actors are pseudonymous uuids and details are machine words.
 * Memory: everything is borrowed. Pure: no I/O, no clock. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "core/base/err.h"
#include "core/base/id.h"
#include "core/base/str.h"

enum audit_code {
#define EVENT(name, code, action, doc) AUDIT_##name,
#include "audit/event_code.def"
#undef EVENT
    AUDIT_CODE_COUNT
};

struct audit_code_row {
    const char *name, *code, *action, *doc;
};
/* The row of a code; aborts on a value that is none. */
const struct audit_code_row *audit_code_row(enum audit_code c);
/* A row has this action, or one that begins so where it ends with a dot. */
bool audit_action_is_known(struct str action);

enum audit_actor { AUDIT_SYSTEM, AUDIT_USER, AUDIT_SERVICE, AUDIT_WORKER, AUDIT_ANONYMOUS, AUDIT_ACTOR_COUNT };
/* "system", "user", …; aborts on a value that is none. */
const char *audit_actor_text(enum audit_actor a);

enum { AUDIT_ROLES_MAX = 8, AUDIT_DETAILS_MAX = 16, AUDIT_WORD_MAX = 64, AUDIT_TEXT_MAX = 256, AUDIT_BODY_MAX = 16384 };

struct audit_detail {
    const char *name;           /* a constant of ours: [a-z0-9_], at most AUDIT_WORD_MAX */
    struct str text;            /* ptr NULL: it is a number */
    int64_t number;
};
#define AUDIT_D_STR(name_, str_) ((struct audit_detail){ (name_), (str_).ptr ? (str_) : STR(""), 0 })
#define AUDIT_D_INT(name_, int_) ((struct audit_detail){ (name_), STR_NULL, (int64_t)(int_) })

struct audit_pii;

struct audit_event {
    struct uuid event_id;       /* uuid_v7 */
    struct str zone;
    struct uuid tenant_id;      /* nil: the platform's own log */
    int64_t ts_us;
    enum audit_code code;
    enum audit_actor actor;
    struct uuid actor_id;       /* nil: null */
    struct str roles[AUDIT_ROLES_MAX];
    int role_count;
    struct uuid token_id;
    struct str src_ip, request_id;
    struct audit_pii *pii;      /* seals src_ip of people as the event is encoded (audit/event.h); the encoder itself looks away */
    struct str resource_kind;   /* "job" */
    const char *resource_prefix;/* "job"; with resource_id, printed as job_<32 hex> */
    struct uuid resource_id;
    struct str resource_name;   /* used when resource_id is nil */
    bool denied;                /* the decision; false is "allow" */
    struct str rule;            /* which rule decided: "role:ml-engineer" */
    enum errc error;            /* ERR_OK is outcome "success", else its wire name */
    int http_status;            /* 0: not a request */
    struct audit_detail details[AUDIT_DETAILS_MAX];
    int detail_count;
};

/* Append the canonical bytes. False only when b would pass its maximum (AUDIT_BODY_MAX is always enough for one). */
bool audit_event_encode(const struct audit_event *ev, struct buf *b);
/* Append one detail; silently drops past AUDIT_DETAILS_MAX. */
void audit_event_detail(struct audit_event *ev, struct audit_detail d);

/* What a verifier reads of canonical bytes: the fixed opening members and nothing else. */
struct audit_opening {
    struct uuid event_id, tenant_id;
    struct str zone;            /* still JSON-escaped */
    int64_t ts_us;
    struct str code;
};
/* False when the bytes do not open as version 1 does. */
bool audit_event_opening(struct str body, struct audit_opening *ret);
