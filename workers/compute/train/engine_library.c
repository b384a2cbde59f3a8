/* SPDX-License-Identifier: Apache-2.0 */
/* engine_library.c - a run whose products are a library's: named in the log, its chosen ways kept in checkpoints and taken up
 * from them, so that a run that goes on has the bits of one that was never stopped.
 *
 * Alone, ways are timed. Of several ranks each would time its own, and a checkpoint has one set of them: ranks take the first way
 * that the library names, which is the same on equal cards, and rank 0's are kept. What a checkpoint has is taken up by all ranks
 * (engine_state.c). */
#include "workers/compute/train/engine_int.h"
#include "workers/compute/kernels/product_library.h"

#include <stdio.h>

static const struct product_library *library_of(const struct engine *g)
{
    return g->job->library ? g->job->backend->library : NULL;
}

static void say(const struct engine *g, const char *line)
{
    if (line && line[0] && g->obs->on_log)
        g->obs->on_log(g->obs->ctx, line);
}

void engine_library_use(struct engine *g)
{
    char line[256] = "";
    if (!library_of(g))
        return;
    library_of(g)->use(g->ctx, g->job->library, !g->comm, line, sizeof line);
    say(g, line);
}

void engine_library_tell(struct engine *g)
{
    if (library_of(g))
        say(g, library_of(g)->news(g->ctx));
}

struct str engine_library_ways(const struct engine *g, struct arena *a)
{
    struct buf b = BUF(WAYS_TEXT_MAX);
    if (library_of(g))
        library_of(g)->keep(g->ctx, &b);
    struct str ret = b.len ? str_dup(a, buf_str(&b)) : STR_NULL;
    buf_release(&b);
    return ret;
}

void engine_library_bind(struct engine *g, struct str ways)
{
    struct str made_by;
    if (!ways.len || (library_of(g) && library_of(g)->bind(g->ctx, ways)))
        return;
    char line[200];
    (void)str_cut(ways, ';', &made_by, &ways);
    snprintf(line, sizeof line, "the checkpoint's products are those of cuBLASLt %.*s: here others are chosen, whose sums may "
             "differ in their last bits", (int)(made_by.len < 90 ? made_by.len : 90), made_by.ptr);
    say(g, line);
}
