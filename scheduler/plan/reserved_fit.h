/* SPDX-License-Identifier: Apache-2.0 */
/* reserved_fit.h - which machines have no window in a span of time, and when enough of them have none next.
 *
 * Machines stand by their ids, and windows by machine and then by time, those of one machine without overlap; windows of other
 * machines are passed over. A window that ends when the span begins, or begins when it ends, is none in it. Pure. */
#pragma once
#include "core/base/arena.h"
#include "scheduler/plan/reserved.h"

struct reserved_ask {
    const struct uuid *ids;             /* machines */
    size_t n;
    const struct reserved *windows;
    size_t nwindows;
    int64_t from_us, until_us;          /* the span */
};

/* is_taken: by machine. Returns how many have no window in the span. */
size_t reserved_free(const struct reserved_ask *q, bool *is_taken);
/* The first moment, from_us or later, from which `wanted` machines have no window for as long as the span. False: there are not
 * so many machines. */
bool reserved_next(const struct reserved_ask *q, size_t wanted, struct arena *a, int64_t *ret_from_us);
