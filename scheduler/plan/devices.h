/* SPDX-License-Identifier: Apache-2.0 */
/* devices.h - the GPUs of one machine by their numbers: what attempts hold of them, and which ones the next attempt gets.
 *
 * A machine has devices 0 … n-1 of 1000 thousandths each. An attempt holds whole ones, or a share of one. What attempts hold is
 * written as text by the statement that reads a machine: `mask:gpus:milli` between commas, mask with bit i for device i. A mask
 * of 0 is an attempt from before devices had numbers: it holds the first whole ones that are free. What is held of devices that
 * are gone, since the machine has fewer now, is taken off the last ones: as many are free as the machine has more than is held.
 * Pure; no memory. */
#pragma once
#include "core/base/str.h"
#include "scheduler/plan/resource.h"

enum { DEVICES_MAX = 64 };

struct devices {
    int n;
    uint16_t milli[DEVICES_MAX];        /* free, by device */
};

/* n is cut to 0 … DEVICES_MAX. False: the text is not of that form; what was read until there is taken. */
bool devices_read(struct devices *ret, int64_t n, struct str held);
/* Whole devices that are free, and the most thousandths that one has free. */
int64_t devices_whole(const struct devices *d);
int64_t devices_level(const struct devices *d);
/* Exactly gpus devices with so many thousandths each, or 0: a share on the fullest device that is enough, whole ones from the
 * first on. */
uint64_t devices_pick(const struct devices *d, int64_t gpus, int64_t milli);
/* False, and nothing is taken: one of them has not as much, or is not there, or they are not so many. */
bool devices_take(struct devices *d, uint64_t mask, int64_t gpus, int64_t milli);
/* Gives as many thousandths back on each of them; none gets more than it has. */
void devices_give(struct devices *d, uint64_t mask, int64_t milli);
