/* SPDX-License-Identifier: Apache-2.0 */
/* loop.h - the scheduler's heart: wait for a wake-up or the tick, plan, apply, reap; again at once while there is more to do.
 *
 * Runs in the calling thread until loop_stop. loop_wake may be called from any thread; wake-ups during a round make one more round.
 * Calling order: loop_new -> loop_run (returns after loop_stop) -> loop_free. */
#pragma once
#include <stdbool.h>
#include "core/base/work.h"

struct leader;
struct loop;

/* leader NULL: always leads (tests). */
struct loop *loop_new(const struct app *app, struct leader *leader);
void loop_free(struct loop *l);
void loop_run(struct loop *l);
/* is_submission: jobs came, and nothing else changed; while no machine has room for a slot, as the last plan left them, they
 * wait for what brings some, or the tick. False: so it is. */
bool loop_wake(struct loop *l, bool is_submission);
void loop_stop(struct loop *l);         /* any thread */
bool loop_is_leading(struct loop *l);

/* One round of planning: how many were admitted, and whether another round may find more. is_full: also explain to jobs why they wait. */
enum errc loop_plan_once(const struct app *app, struct arena *a, bool is_full, int64_t *ret_admitted, bool *ret_more, struct err *e) MUST_CHECK;
/* One pass of the reaper. */
enum errc loop_idle_once(const struct app *app, struct arena *a, bool *ret_more, struct err *e) MUST_CHECK;
enum errc loop_budget_once(const struct app *app, struct arena *a, bool *ret_more, struct err *e) MUST_CHECK;
enum errc loop_reap_once(const struct app *app, struct arena *a, bool *ret_more, struct err *e) MUST_CHECK;
/* One pass of the tenant reaper. */
enum errc loop_end_tenants_once(const struct app *app, struct arena *a, bool *ret_more, struct err *e) MUST_CHECK;
