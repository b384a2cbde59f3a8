/* SPDX-License-Identifier: Apache-2.0 */
/* event.h - the events of notifications, and which entries of the audit log they are. Pure.
 *
 * A job's end is told by the job, not by the entry: a job ends once, whatever the log says of its leases (notice_job_event). */
#pragma once
#include "core/base/str.h"

enum notice_event {
#define NOTICE(name, ...) NE_##name,
#include "tenants/notice/event.def"
#undef NOTICE
    NOTICE_EVENTS
};
enum { FOR_RULES = 1, FOR_PEOPLE = 2, OF_PROJECT = 4, OF_CLOCKS = 8 };

struct notice_event_row { const char *wire, *en, *ar, *doc; unsigned whose; };
const struct notice_event_row *notice_event_row(enum notice_event ev);
extern const char *const notice_event_names[];      /* NULL-ended, by enum notice_event */
int notice_event_by_wire(struct str wire);          /* -1: none */

/* Which event an entry of the log is: its code with suffix, the detail `step` (STR_NULL: none) and the detail `missing`; -1:
 * none. Ends of
 * jobs are NE_JOB_FAILED here, until notice_job_event is asked. */
int notice_event_of_entry(struct str code, struct str step, int64_t missing);
/* Which event a job that ended so is: state as in job_state.def; -1: it has not ended, or was cancelled. */
int notice_job_event(struct str ended);
/* Codes of the log (without suffix) that can be one of the wanted events (bit by enum); out has room for NOTICE_CODES. */
enum { NOTICE_CODES = 16 };
size_t notice_codes(uint32_t wanted, struct str out[NOTICE_CODES]);
