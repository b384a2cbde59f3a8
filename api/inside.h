/* SPDX-License-Identifier: Apache-2.0 */
/* inside.h - people in running programs: the thread between a person's WebSocket and their machine's (core/wire/inside_wire.h).
 *
 * Each end has a bounded buffer; what one end does not take is not read from the other, and nobody else waits for it. Nothing of
 * what passes is kept; it is counted. Every few seconds, and at the end, the person's call runs again on a thread of its lane
 * (inside_turn), which asks the database and the credential whether the session goes on, and writes its end into the audit log.
 * Calling order: inside_new -> (inside_open by the person's call, inside_meet by the machine's)* -> inside_stop ->
 * inside_free. */
#pragma once
#include "api/route.h"
#include "scheduler/jobs/inside.h"

enum { INSIDE_MAX = 200, INSIDE_IDLE_S = 1800, INSIDE_LIFE_S = 12 * 3600, INSIDE_MEET_S = 30 };

struct inside;
struct inside_call;                     /* a session here; its person's call has it in c->own */

struct inside *inside_new(struct pipeline *p);
/* Ends all sessions, and waits until their ends are written, or some seconds. NULL is fine. */
void inside_stop(struct inside *k);
void inside_free(struct inside *k);     /* when no call is left */

/* Turns the person's call into the session. UNAVAILABLE: no place of INSIDE_MAX is free for the tenant. */
MUST_CHECK enum errc inside_open(struct inside *k, struct call *c, const struct inside_session *s, struct str ws_key,
                                 struct err *e);
/* The person's call once more: looks, or ends. */
MUST_CHECK enum errc inside_turn(struct call *c, struct err *e);
/* Does this process wait for the machine of a session? */
bool inside_waits(struct inside *k, struct uuid session_id);
/* The machine's call becomes its other end. UNAVAILABLE: another process may have the person. */
MUST_CHECK enum errc inside_meet(struct inside *k, struct call *c, struct uuid session_id, struct str ws_key, struct err *e);
