/* SPDX-License-Identifier: Apache-2.0 */
/* fair_pick.h - which of a queue to take together when there is not room for all: one of each owner in turn, in the order in
 * which
 * they came, until the room is full. An owner that has more than others waits with what is above its turn; nobody waits with the
 * first of theirs while another's second is taken. Pure. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "core/base/id.h"

/* picked[i] for each of n: at most `most` are true, and exactly min(n, most). */
void fair_pick(const struct uuid *owners, size_t n, size_t most, bool *picked);
