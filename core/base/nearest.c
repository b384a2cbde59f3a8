/* SPDX-License-Identifier: Apache-2.0 */
/* nearest.c - the table of distances a row at a time (Wagner and Fischer, 1974). */
#include "core/base/nearest.h"

size_t nearest_distance(struct str a, struct str b)
{
    size_t row[NEAREST_MAX + 1];
    if (a.len > NEAREST_MAX || b.len > NEAREST_MAX)
        return NEAREST_MAX;
    for (size_t j = 0; j <= b.len; j++)
        row[j] = j;
    for (size_t i = 1; i <= a.len; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            const size_t change = diagonal + (a.ptr[i - 1] != b.ptr[j - 1]);
            diagonal = row[j];
            const size_t least = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;
            row[j] = change < least ? change : least;
        }
    }
    return row[b.len];
}

struct str nearest_of(struct str word, const struct str *known, size_t n)
{
    struct str best = STR_NULL;
    size_t least = word.len / 3 + 2;
    for (size_t i = 0; i < n; i++) {
        const size_t d = nearest_distance(word, known[i]);
        if (d < least) {
            least = d;
            best = known[i];
        }
    }
    return best;
}
