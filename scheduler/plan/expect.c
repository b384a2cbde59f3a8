/* SPDX-License-Identifier: Apache-2.0 */
/* expect.c - a short list, sorted. */
#include "scheduler/plan/expect.h"

#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

int64_t expect_runtime_s(struct str runs, int64_t limit_s, int64_t so_far_s, bool *is_measured)
{
    int64_t longer[EXPECT_RUNS_MAX], took;
    size_t n = 0, all = 0;
    struct str one, rest = runs;
    while (rest.len && all < EXPECT_RUNS_MAX) {
        const bool more = str_cut(rest, ',', &one, &rest);
        if (str_to_i64(one, 0, INT64_MAX, &took)) {
            all++;
            if (took > so_far_s)
                longer[n++] = took;
        }
        if (!more)
            break;
    }
    *is_measured = all >= EXPECT_LEAST && n;
    if (!*is_measured)
        return limit_s;
    qsort(longer, n, sizeof *longer, by_value);
    took = longer[(n - 1) / 2];
    return took < limit_s ? took : limit_s;
}
