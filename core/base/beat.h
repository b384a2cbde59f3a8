/* SPDX-License-Identifier: Apache-2.0 */
/* beat.h - a thread that takes a turn again and again until it is stopped: keepers, counters that are written now and then.
 *
 * Calling order: beat_new -> beat_wake* -> beat_free. Turns never overlap. ctx must outlive the thread; a turn must not touch
 * the beat itself, which its caller may not hold yet. A turn in progress is waited for by beat_free: it must be bounded.
 * Times are microseconds of the monotonic clock; a step of the wall clock moves nothing. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct beat;

/* is_woken: beat_wake was called since the turn before began. Returns how long to rest before the next one; 0 is at once. */
typedef int64_t (*beat_turn)(void *ctx, bool is_woken);

/* name: of the thread, at most 15 characters. first_us: the rest before the first turn. */
struct beat *beat_new(const char *name, int64_t first_us, beat_turn turn, void *ctx);
/* The next turn begins now, or right after the one in progress. From any thread. */
void beat_wake(struct beat *b);
/* Takes no further turn and joins the thread. NULL is no beat. */
void beat_free(struct beat *b);
