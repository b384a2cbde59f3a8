/* SPDX-License-Identifier: Apache-2.0 */
/* accept_budget.h - how many connections an address may open: so many a second, and a burst of five seconds' worth.
 *
 * Accepting and ending a connection costs the loop that answers everybody, so who opens thousands a second is turned away before
 * anything is made for it. An address is an IPv4 address, or the /64 of an IPv6 address, which one host has for itself.
 * Who goes on all the same is not heard for a while (deaf.h).
 * Memory is fixed: an address that has not come for long makes room, and begins with a full burst when it comes back. What is no
 * IP address (a Unix socket) has no budget. Belongs to one thread. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

enum { ACCEPT_BURST_S = 5, ACCEPT_DEAF_AFTER = 50 };

struct accept_budget;

struct accept_budget *accept_budget_new(int per_s);     /* per_s > 0 */
void accept_budget_free(struct accept_budget *b);       /* NULL is fine */
/* now_us: of a clock that never goes back. False: this one is above the budget. */
bool accept_budget_take(struct accept_budget *b, const struct sockaddr *from, int64_t now_us);
/* It was turned away for that. True: the ACCEPT_DEAF_AFTERth time before its burst was whole again. */
bool accept_budget_refused(struct accept_budget *b, const struct sockaddr *from);
/* The bytes that count of an IP address, 4 or 8; 0: it is none. */
size_t accept_address(const struct sockaddr *from, const uint8_t **ret);
