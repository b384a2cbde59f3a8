/* SPDX-License-Identifier: Apache-2.0 */
/* event.c - two tables: the events, and the codes of the log that are them. */
#include "tenants/notice/event.h"
#include "audit/record.h"
#include "core/base/assert.h"

static const struct notice_event_row rows[NOTICE_EVENTS] = {
#define NOTICE(name, wire, whose, en, ar, doc) [NE_##name] = { wire, en, ar, doc, whose },
#include "tenants/notice/event.def"
#undef NOTICE
};
const char *const notice_event_names[] = {
#define NOTICE(name, wire, ...) wire,
#include "tenants/notice/event.def"
#undef NOTICE
    NULL
};

enum when { ALWAYS, ON_SUCCESS, ON_FAILURE, GAVE_UP, SOME_MISSING, AS_NOTICE };
static const struct { enum audit_code code; enum when when; enum notice_event event; } sources[] = {
    { AUDIT_JOB_FINISH, ALWAYS, NE_JOB_FAILED },
    { AUDIT_JOB_EXPIRE, ALWAYS, NE_JOB_FAILED },
    { AUDIT_JOB_REJECT, ALWAYS, NE_JOB_FAILED },
    { AUDIT_JOB_IDLE, AS_NOTICE, NE_JOB_IDLE },
    { AUDIT_DEPLOYMENT_ROLL, GAVE_UP, NE_DEPLOYMENT_ROLL },
    { AUDIT_BUDGET_STOP, ON_SUCCESS, NE_BUDGET },
    { AUDIT_APPROVAL_REQUEST, ON_SUCCESS, NE_APPROVAL },
    { AUDIT_KEY_DESTROY, ON_SUCCESS, NE_KEY_DESTROY },
    { AUDIT_KEY_DISABLE, ON_SUCCESS, NE_KEY_DISABLE },
    { AUDIT_BREAK_GLASS, ON_SUCCESS, NE_BREAK_GLASS },
    { AUDIT_SHADOW, ALWAYS, NE_AUDIT_ALERT },
    { AUDIT_EPOCH, ALWAYS, NE_AUDIT_ALERT },
    { AUDIT_ANCHOR, ON_FAILURE, NE_AUDIT_ALERT },
    { AUDIT_RECONCILE, SOME_MISSING, NE_AUDIT_ALERT },
    { AUDIT_NODE_QUARANTINE, ON_SUCCESS, NE_NODE_OUT },
};
enum { SOURCES = sizeof sources / sizeof *sources };
_Static_assert((int)SOURCES <= (int)NOTICE_CODES, "room for each code");

const struct notice_event_row *notice_event_row(enum notice_event ev)
{
    ASSERT(ev >= 0 && ev < NOTICE_EVENTS);
    return &rows[ev];
}

int notice_event_by_wire(struct str wire)
{
    for (int i = 0; i < NOTICE_EVENTS; i++)
        if (str_eq_c(wire, rows[i].wire))
            return i;
    return -1;
}

static bool holds(enum when when, bool is_success, struct str step, int64_t missing)
{
    switch (when) {
    case ON_SUCCESS:
        return is_success;
    case ON_FAILURE:
        return !is_success;
    case GAVE_UP:
        return !is_success || str_eq_c(step, "given_up");
    case AS_NOTICE:
        return str_eq_c(step, "notice");
    case SOME_MISSING:
        return missing > 0;
    default:
        return true;
    }
}

int notice_event_of_entry(struct str code, struct str step, int64_t missing)
{
    if (code.len < 2)
        return -1;
    const struct str stem = str_n(code.ptr, code.len - 1);
    const bool is_success = code.ptr[code.len - 1] == 'S';
    for (size_t i = 0; i < SOURCES; i++)
        if (str_eq_c(stem, audit_code_row(sources[i].code)->code) && holds(sources[i].when, is_success, step, missing))
            return sources[i].event;
    return -1;
}

int notice_job_event(struct str ended)
{
    if (!ended.len || str_eq_c(ended, "CANCELLED"))
        return -1;
    return str_eq_c(ended, "COMPLETED") ? NE_JOB_COMPLETED : NE_JOB_FAILED;
}

size_t notice_codes(uint32_t wanted, struct str out[NOTICE_CODES])
{
    size_t n = 0;
    if (wanted & (1u << NE_JOB_COMPLETED))
        wanted |= 1u << NE_JOB_FAILED;          /* the same entries */
    for (size_t i = 0; i < SOURCES; i++)
        if (wanted & (1u << sources[i].event))
            out[n++] = str_c(audit_code_row(sources[i].code)->code);
    return n;
}
