/* SPDX-License-Identifier: Apache-2.0 */
/* dial_int.h - the way to whichever Redis takes writes now; only for core/redis.
 *
 * A route belongs to one thread. redis_dial gives a link that is logged in and, over TCP, to a master. With Sentinels the one
 * that answered stays subscribed to +switch-master; redis_route_moved looks, without waiting, whether the master is another one
 * by now.
 * Calling order: redis_route_new -> (redis_dial -> redis_route_moved*)* -> redis_route_free, before its address. */
#pragma once
#include "core/redis/link_int.h"

struct redis_route;

struct redis_route *redis_route_new(const struct redis_address *a);
void redis_route_free(struct redis_route *r);
/* Each place is tried once. The error is the last one's, and names the place. */
MUST_CHECK enum errc redis_dial(struct redis_route *r, struct redis_link **ret, struct err *e);
/* Is this link's server a master still? Waits for its answer. FORBIDDEN: it is a replica, or this user may not ask. */
MUST_CHECK enum errc redis_ask_role(struct redis_link *l, struct err *e);
bool redis_route_is_tcp(const struct redis_route *r);
/* True: connect anew. Asks the Sentinels itself when the one that was heard is gone, at most every two seconds. */
bool redis_route_moved(struct redis_route *r);
int redis_route_fd(const struct redis_route *r);        /* -1, or what has news for redis_route_moved when it is readable */
