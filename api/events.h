/* SPDX-License-Identifier: Apache-2.0 */
/* events.h - one stream of server-sent events for a browser tab: wake-ups for what its page shows. The page reads again what they name.
 *
 *     id: 17
 *     data: {"topic":"jobs","id":"job_0198…","kind":"RUNNING"}
 *
 * kind is the state that the thing is in now; states passed within a second are not told one by one. First comes, for each topic,
 * {"topic":"jobs","id":null,"kind":"ready"}: from here on nothing is missed, so what was read before is read again. A stream that comes back
 * with Last-Event-ID starts the same way: its number is taken and not needed. A comment goes out every 15 s.
 * Invariants: nothing but ids and states, in the scope that the permission of the topic gave when the stream began; a stream ends after
 * EVENTS_LIFE_S at the latest (and with the login), and its browser comes back and is judged anew. A reader too slow is cut.
 * Limits: EVENTS_PER_USER streams of one user, then RATE; api.streams_per_tenant of a
 * tenant, then RATE; EVENTS_MAX in all, then UNAVAILABLE.
 * Scaling: one thread and one connection for all streams. A round, once a second, reads each topic once per tenant and set of projects, not
 * per stream: about 0.3 ms each. More tenants than a second has room for make the rounds longer, and nothing else.
 * Calling order: events_new -> (events_add | events_wake)* -> events_stop -> events_free. */
#pragma once
#include "api/event_feed.h"
#include "api/route.h"

enum { EVENTS_MAX = 1000, EVENTS_PER_USER = 16, EVENTS_LIFE_S = 290 };

struct events;
struct event_watch {
    struct feed_topic topic;
    struct slice projects;              /* struct uuid; empty: the whole tenant */
};

struct events *events_new(const struct app *app);
void events_stop(struct events *k);     /* ends all streams and refuses new ones; wake-ups stay safe */
void events_free(struct events *k);     /* NULL is fine */
void events_wake(struct events *k, struct uuid job_id);
/* Takes over the exchange of c. The watches are copied. */
enum errc events_add(struct events *k, struct call *c, const struct event_watch *watches, size_t n, struct err *e) MUST_CHECK;
