/* SPDX-License-Identifier: Apache-2.0 */
/* watch.h - how long engines may compute: what a caller's numbers keep busy is stopped at its last moment by whoever looks at the
 * clock. There is no thread of its own: watch_stop_late is called every so often, and that is how exact it is.
 * Calling order: watch_new -> begin, end around each run of a session, from any thread -> watch_free. NULL watches nothing.
 * Times are microseconds of the monotonic clock. */
#pragma once
#include "workers/compute/infer/model.h"

struct infer_watch;

struct infer_watch *watch_new(int sessions);            /* that run at once, at most */
void watch_free(struct infer_watch *w);
void watch_begin(struct infer_watch *w, struct infer_session *s, int64_t until_us);
void watch_end(struct infer_watch *w, struct infer_session *s);
/* Each time it is called, until the run has ended: a stop that comes before the engine begins is not seen by it. */
void watch_stop_late(struct infer_watch *w, int64_t now_us);
