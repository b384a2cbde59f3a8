/* SPDX-License-Identifier: Apache-2.0 */
/* actor.h - who did an audited act: the one place that fills the actor of an event (tests/lint/banned.sh refuses others).
 *
 * Every door of the platform writes the same members for the same caller: kind, id, roles as held at that moment, the token (or, for a
 * token of an outside issuer, the issuer as detail `issuer`), the session as detail `session`, and `break_glass` = 1 for an account behind
 * glass. The zone is the caller's home zone; an act that is about another zone sets its own afterwards.
 * Calling order: audit_event_by -> resource, outcome, zone -> audit_append.
 * Memory: texts of details live in the arena given. Pure: no I/O, no clock. */
#pragma once
#include "audit/event.h"
#include "tenants/access/principal.h"

/* What an event keeps of a caller, without pointers or padding: it can outlive the principal and be compared as bytes. */
struct actor {
    struct uuid id, token_id, issuer_id, session_id;    /* nil: none */
    uint32_t kind;                                      /* enum audit_actor */
    uint32_t roles;                                     /* bit r: enum role r */
    uint32_t is_break_glass;
};
_Static_assert(sizeof(struct actor) == 4 * sizeof(struct uuid) + 3 * sizeof(uint32_t), "compared as bytes");

/* p NULL: nobody is known yet, as at a sign-in. */
struct actor actor_of(const struct principal *p);
void audit_event_set_actor(struct audit_event *ev, struct arena *a, const struct actor *by);

/* audit_event_of with its actor and the actor's home zone. p NULL: anonymous. */
struct audit_event audit_event_by(const struct work *w, const struct principal *p, enum audit_code code);
/* A machine acts: for events that already have everything else, in batches, and before its call has a principal. */
void audit_event_by_node(struct audit_event *ev, struct uuid node_id, struct str zone);
