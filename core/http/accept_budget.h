/* SPDX-License-Identifier: Apache-2.0 */
/* accept_budget.h - how many connections an address may open: so many a second, and a burst of five seconds' worth.
 *
 * Accepting and ending a connection costs the loop that answers everybody, so who opens thousands a second is turned away before
 * anything is made for it. An address is an IPv4 address, or the /64 of an IPv6 address, which one host has for itself.
 * Who goes on all the same is not heard for a second: its SYNs are dropped by a filter on the listening socket (socket(7),
 * SO_ATTACH_FILTER), before the kernel makes a connection of them. Open connections of that address live on.
 * Memory is fixed: an address that has not come for long makes room, and begins with a full burst when it comes back. What is no
 * IP address (a Unix socket) has no budget. Belongs to one thread. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

enum { ACCEPT_BURST_S = 5, ACCEPT_DEAF_AFTER = 50, ACCEPT_DEAF_US = 1000000 };

struct accept_budget;

struct accept_budget *accept_budget_new(int per_s);     /* per_s > 0 */
void accept_budget_free(struct accept_budget *b);       /* NULL is fine */
/* now_us: of a clock that never goes back. False: this one is above the budget. */
bool accept_budget_take(struct accept_budget *b, const struct sockaddr *from, int64_t now_us);
/* It was turned away for that: with ACCEPT_DEAF_AFTER of them before its burst is whole again it is not heard for
 * ACCEPT_DEAF_US. */
void accept_budget_refused(struct accept_budget *b, const struct sockaddr *from, int64_t now_us);
/* Between two turns of the loop: the filter on the listening socket follows who is not heard. Some kernels
 * take one from root alone: then, as where there is none, who is above the budget is turned away one by one. */
void accept_budget_filter(struct accept_budget *b, int listen_fd, int64_t now_us);
