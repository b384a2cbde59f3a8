/* SPDX-License-Identifier: Apache-2.0 */
/* share.h - how much of a long count a run does: `full` with tests/run.sh --full, else `part`, and the output says which.
 *
 * The counts that a promise names (a thousand tampered logs) are those of the full tier; the others see a share on every run. */
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline int share_of(const char *what, int part, int full)
{
    const char *tier = getenv("FALAJ_TIER");
    int n = tier && strcmp(tier, "full") == 0 ? full : part;
    printf("share: %d of %d %s\n", n, full, what);
    return n;
}
