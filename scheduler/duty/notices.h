/* SPDX-License-Identifier: Apache-2.0 */
/* notices.h - from what happened to what is to be told: the leader reads the logs on and fills the outbox
 * (tenants/notice/delivery.h).
 *
 * Nothing is added to the acts themselves: their audit events are there anyway, numbered without gaps, so a cursor for each
 * tenant misses nothing (audit/tail.h). Only tenants that have a rule or somebody who chose have a cursor. Jobs that wait and
 * legal clocks that are due are looked for once a minute. Each tenant is a transaction of its own; however many there are, a
 * round goes through all, NOTICES_PAGE at a time, and ends early once NOTICES_TENANTS had something, taking turns.
 * Errors: those of the transactions; what failed is read again. Threads: one. Memory: the arena, reset for each tenant. */
#pragma once
#include <stdbool.h>
#include "core/base/work.h"

struct stmt;

enum { NOTICES_TENANTS = 200, NOTICES_PATROL_S = 60, NOTICES_PAGE = 1000 };

/* list: for a page of tenants, each: for a tenant; *turn, nil at first, is kept between rounds: the tenant that the last one came
 * to. *ret_more: there is more to read at once. */
enum errc notices_round(const struct app *app, struct arena *list, struct arena *each, struct uuid *turn, bool *ret_more,
                        struct err *e) MUST_CHECK;
/* One tenant, in w->tx; for tests. */
enum errc notices_tenant(struct work *w, struct uuid tenant, int64_t after, bool is_patrol, bool *ret_more,
    struct err *e) MUST_CHECK;

extern const struct stmt *const notices_stmts[];
