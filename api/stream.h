/* SPDX-License-Identifier: Apache-2.0 */
/* stream.h - live jobs: server-sent events `state`, `log`, `metric` and `end` of one job, from any point on.
 *
 * One thread serves all streams: a wake-up of the job (Redis) or a tick of one second makes it read what is new, in the tenant's
 * scope, and write it. The id of an event is "s<version>,l<log_id>,m<metric_id>", all three positions at once, so Last-Event-ID
 * resumes exactly. A reader that is too slow gets `event: lagged` and is closed; a ping goes out every 15 s.
 * Limits: STREAMS_MAX open streams in all, then UNAVAILABLE; api.streams_per_tenant of a tenant, then RATE. */
#pragma once
#include "api/route.h"
#include "tenants/access/principal.h"

enum { STREAMS_MAX = 1000 };

struct job_streams;

struct job_streams *job_streams_new(const struct app *app);
/* Ends all streams and refuses new ones; every other call stays safe, so requests and wake-ups may still be under way. */
void job_streams_stop(struct job_streams *s);
void job_streams_free(struct job_streams *s);       /* stops; nobody may call any more */
void job_streams_wake(struct job_streams *s, struct uuid job_id);   /* nil: all */

struct stream_position { int64_t version, log_id, metric_id; };
/* Takes over the exchange of c. */
enum errc job_streams_add(struct job_streams *s, struct call *c, struct uuid job_id, struct stream_position from, struct err *e) MUST_CHECK;
