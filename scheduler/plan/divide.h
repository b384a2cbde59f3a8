/* SPDX-License-Identifier: Apache-2.0 */
/* divide.h - what each member of a cohort would have if everything were placed anew: its fair part.
 *
 * After KAI's two phases, in integers: first each gets what it asks of its own; then what the others do not use and lend is
 * given out in rounds in proportion to weights, to those who ask for more and may borrow it; what rounding leaves goes one by
 * one, in order. So fair is never more than what is asked, never less than the lesser of that and the nominal, and nothing is
 * left over while somebody may take it. Pure. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct divide_part {
    int64_t nominal, lendable, weight;
    int64_t most;                       /* nominal and what it may borrow; < 0: no limit */
    int64_t request;                    /* used and waiting */
    int64_t fair;                       /* the answer */
};
void divide(struct divide_part *parts, size_t n);
