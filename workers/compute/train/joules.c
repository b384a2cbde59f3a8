/* SPDX-License-Identifier: Apache-2.0 */
/* joules.c - the meter, asked no more often than a figure of it is worth. */
#include "workers/compute/train/joules.h"

#include <stdio.h>
#include "workers/compute/train/comm.h"

enum { ASK_US = 1000000 };

static void ask(struct joules *j)
{
    double now;
    j->is_silent = !j->meter->read(j->meter->ctx, &now);
    if (!j->is_silent)
        j->read = now;
    j->ask_us = clock_mono_us(j->clock) + ASK_US;
}

enum errc joules_begin(struct joules *j, const struct train_task *t, double before, struct err *e)
{
    *j = (struct joules){ .clock = t->clock, .before = before };
    if (!t->spec->max_joules)
        return ERR_OK;
    j->meter = t->meter;
    if (j->meter)
        ask(j);
    if (!j->meter || j->is_silent)
        return FAIL(e, UNPROCESSABLE, "max_joules: this machine does not measure what the job takes; leave max_joules out, or "
                    "place the job on a machine that measures energy");
    return ERR_OK;
}

bool joules_are_spent(struct joules *j, double most)
{
    if (!j->meter)
        return false;
    if (!j->is_silent && clock_mono_us(j->clock) >= j->ask_us)
        ask(j);
    return j->is_silent || joules_taken(j) >= most;
}

enum errc joules_are_spent_by_all(struct joules *j, struct comm *comm, double most, bool *ret, struct err *e)
{
    enum { SILENT = -1 };
    double read[COMM_RANKS_MAX] = { 0 }, others = 0;
    *ret = most > 0 && joules_are_spent(j, most);
    if (!comm || most <= 0)
        return ERR_OK;
    read[comm->rank] = j->is_silent ? SILENT : j->read;
    TRY(comm->ops->gather(comm, "joules", read, sizeof *read * (size_t)comm->size, sizeof *read, e));
    for (int r = 1; r < comm->size && !comm->rank; r++) {
        j->is_silent = j->is_silent || read[r] < 0;
        others += read[r] > 0 ? read[r] : 0;
    }
    j->others = others;
    *ret = !comm->rank && (j->is_silent || joules_taken(j) >= most);
    return ERR_OK;
}

double joules_taken(const struct joules *j)
{
    return j->before + j->read + j->others;
}

void joules_say(const struct joules *j, const struct train_observer *o)
{
    char line[160];
    if (!o->on_log)
        return;
    if (j->is_silent)
        snprintf(line, sizeof line, "energy is measured no more: the run ends after %.0f J, as if max_joules were used up",
                 joules_taken(j));
    else
        snprintf(line, sizeof line, "max_joules is used up: %.0f J", joules_taken(j));
    o->on_log(o->ctx, line);
}
