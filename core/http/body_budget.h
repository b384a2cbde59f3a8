/* SPDX-License-Identifier: Apache-2.0 */
/* body_budget.h - how much memory the bodies of requests may have together, and one sender of them.
 *
 * A listener reads a body before anybody knows whether its sender may send one, so what all bodies hold has one bound, and none
 * can have more of it than it leaves to others: after each taking he has at most as much as is free (so alone a half, as one of k
 * that want all of it a (k + 1)th). Owners that are not known yet, which an address is, have half of it together, so that a flood
 * from anywhere leaves the other half to those that are known.
 * A piece has one owner until it is given back. Any thread; one short lock, which bodies of at most BODY_UNCOUNTED bytes never
 * take: those are bounded by the number of connections. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/base/share_count.h"
#include "core/base/str.h"

enum {
    BODY_UNCOUNTED = 16 * 1024,
    BODY_LARGEST_IN = 4,            /* a budget of so many of the largest body takes one from an owner that nobody knows */
};

struct body_budget;

struct body_owner {
    uint8_t key[SHARE_KEY_MAX];
    size_t n;                       /* bytes of key */
    bool is_known;
};

struct body_hold {                  /* what one body has; zeros: nothing */
    struct share *share;
    size_t bytes;
    bool is_known;
};

enum body_room { BODY_TAKEN, BODY_SHARE_USED, BODY_ALL_USED };      /* ALL_USED: this owner has nothing of it */

struct body_budget *body_budget_new(size_t max_bytes);      /* max_bytes > 0 */
void body_budget_free(struct body_budget *b);               /* NULL is fine; nothing is held any more */
/* more > 0 bytes for this body, for the same owner each time; refused: nothing changes but a count. */
enum body_room body_budget_take(struct body_budget *b, const struct body_owner *o, size_t more, struct body_hold *h) MUST_CHECK;
void body_budget_give(struct body_budget *b, struct body_hold *h);      /* all that it has; h becomes zeros */
size_t body_budget_used(struct body_budget *b, bool is_known);          /* bytes */
size_t body_budget_refused(struct body_budget *b, enum body_room why);  /* since the start; why is not TAKEN */

/* An address that nobody knows: an IPv6 /64 is one, and so is each text that is no address. */
struct body_owner body_owner_address(struct str address);
