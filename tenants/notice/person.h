/* SPDX-License-Identifier: Apache-2.0 */
/* person.h - where a person gets mail, in which language, and which events of their own jobs and approvals they want.
 *
 * Nothing but a code is sent to an address until its person has typed that code back: six digits, good for NOTICE_CODE_S,
 * few tries, a new
 * one once a minute at most; kept as an HMAC under a key that the database has not. A row goes with its person's erasure
 * (audit/pii.def). Acts on the caller. Memory: w->arena.
 * A wrong code counts as a try and is no error: confirmed_at stays absent.
 * Errors: NOT_FOUND (nothing set), CONFLICT (no code waits), RATE (a code was sent a moment ago), UNPROCESSABLE. */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"

struct stmt;

enum { NOTICE_CODE_S = 3600, NOTICE_CODE_TRIES = 5, NOTICE_CODE_PAUSE_S = 60 };
extern const char *const notice_languages[];        /* en, ar */

struct notice_person {
    struct uuid user_id;
    struct str address;
    struct timestamp confirmed_at;                  /* none: waits for the code */
    int language;
    struct slice events;                            /* int, enum notice_event */
    struct timestamp updated_at;
};
extern const struct schema notice_person_schema;

enum errc notice_person_get(struct work *w, struct notice_person *ret, struct err *e) MUST_CHECK;
/* Of address, language and events. A new address is sent a code. */
enum errc notice_person_put(struct work *w, const struct notice_person *in, struct notice_person *ret, struct err *e) MUST_CHECK;
enum errc notice_person_confirm(struct work *w, struct str code, struct notice_person *ret, struct err *e) MUST_CHECK;
enum errc notice_person_delete(struct work *w, struct err *e) MUST_CHECK;

/* For the program that sends, in the system scope: who has chosen events, confirmed and active; at most `limit`. */
enum errc notice_people(struct work *w, struct uuid tenant, int64_t limit, struct slice *ret, struct err *e) MUST_CHECK;
/* Of these people, those who hold one of the roles now (struct uuid). */
enum errc notice_holders(struct work *w, struct uuid tenant, const struct str *roles, size_t n, struct slice *ret,
    struct err *e) MUST_CHECK;

extern const struct stmt *const notice_person_stmts[], *const notice_person_daemon_stmts[];
