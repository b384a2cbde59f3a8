/* SPDX-License-Identifier: Apache-2.0 */
/* joules.c - the meter, asked no more often than a figure of it is worth. */
#include "workers/compute/train/joules.h"

#include <stdio.h>

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

double joules_taken(const struct joules *j)
{
    return j->before + j->read;
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
