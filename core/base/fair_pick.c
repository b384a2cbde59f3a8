/* SPDX-License-Identifier: Apache-2.0 */
/* fair_pick.c - the k-th of an owner's is of turn k: whole turns are taken while they fit, and of the next the first that came.
 * */
#include "core/base/fair_pick.h"
#include "core/base/assert.h"
#include "core/base/str.h"

#include <stdlib.h>
#include <string.h>

struct slot { struct uuid owner; size_t seen; };

/* turn[i], from 0; of[k]: how many are of turn k. */
static void number_turns(const struct uuid *owners, size_t n, size_t *turn, size_t *of)
{
    size_t slots = 16;
    while (slots < 2 * n)
        slots *= 2;
    struct slot *table = calloc(slots, sizeof *table);
    ASSERT(table);
    for (size_t i = 0; i < n; i++) {
        size_t at = str_hash(str_n((const char *)owners[i].b, sizeof owners[i].b)) & (slots - 1);
        while (table[at].seen && !uuid_eq(table[at].owner, owners[i]))
            at = (at + 1) & (slots - 1);
        table[at].owner = owners[i];
        turn[i] = table[at].seen++;
        of[turn[i]]++;
    }
    free(table);
}

void fair_pick(const struct uuid *owners, size_t n, size_t most, bool *picked)
{
    size_t *turn = calloc(2 * n + 2, sizeof *turn), *of = turn + n, last = 0, room = most;
    ASSERT(turn);
    number_turns(owners, n, turn, of);
    while (last < n && of[last] <= room)
        room -= of[last++];
    for (size_t i = 0; i < n; i++) {
        picked[i] = turn[i] < last || (turn[i] == last && room > 0);
        room -= picked[i] && turn[i] == last;
    }
    free(turn);
}
