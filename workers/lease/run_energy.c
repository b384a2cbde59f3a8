/* SPDX-License-Identifier: Apache-2.0 */
/* run_energy.c - what a lease takes, looked at while it runs, when its child asks, and at its end; and whether it uses what it
 * has: its cards, or the processor time of its control group, or without one of its process, where that starts no others.
 *
 * A child that asks often costs the agent a look every ASKED_US and no more. */
#include "workers/lease/executor_int.h"

#include "workers/agent/usage.h"

enum { ASKED_US = 200000 };

/* What a child's programs take, the kernel adds to it when they are waited for. */
static void look(struct run *r, int64_t now)
{
    int64_t cpu_us, bytes;
    const bool is_told = !work_type_of(r->g->kind)->starts_programs && usage_read(r->pid, &cpu_us, &bytes) && bytes;
    energy_look(r->env->energy, &r->energy, is_told ? cpu_us : ENERGY_UNKNOWN, now);
    if (lease_grant_is_gang(r->g)) {    /* rank 0 may end the attempt before this machine says its end */
        const int64_t cpu_mj = (int64_t)(r->energy.cpu_uj / 1000), gpu_mj = (int64_t)r->energy.gpu_mj;
        held_energy(r->held, r->energy.has_cpu && is_told ? &cpu_mj : NULL, r->energy.has_gpu ? &gpu_mj : NULL);
    }
}

void run_look_at_energy(struct run *r, int64_t now)
{
    if (now >= r->energy.next_us)
        look(r, now);
}

static int64_t cpu_of(const struct run *r)
{
    int64_t cpu_us, bytes;
    if (r->cage && cage_cpu_us(r->cage, &cpu_us))
        return cpu_us;
    return !work_type_of(r->g->kind)->starts_programs && usage_read(r->pid, &cpu_us, &bytes) && bytes ? cpu_us : IDLE_UNKNOWN;
}

void run_look_at_idle(struct run *r, int64_t now)
{
    int64_t idle_ms;
    if (now < r->idle.next_us)
        return;
    if (idle_look(&r->idle, r->env->cards, r->idle.devices ? IDLE_UNKNOWN : cpu_of(r), now, &idle_ms))
        held_idle(r->held, idle_ms);
}

/* Programs that were killed with their child were waited for by nobody, so what they took is not known. */
void run_end_energy(struct run *r)
{
    energy_look(r->env->energy, &r->energy, r->cpu_us, clock_mono_us(&clock_system));
    r->energy.has_cpu = r->energy.has_cpu && !(r->was_killed && work_type_of(r->g->kind)->starts_programs);
}

enum errc run_on_energy(struct run *r, struct err *e)
{
    enum { NOT_MEASURED = -1 };
    double mj;
    int64_t answer, now = clock_mono_us(&clock_system);
    if (work_type_of(r->g->kind)->starts_programs)
        return FAIL(e, DAMAGED, "the child of programs asked what they have taken, which is known at their end");
    if (now >= r->energy_asked_us + ASKED_US) {
        look(r, now);
        r->energy_asked_us = now;
    }
    answer = energy_total(&r->energy, &mj) ? (int64_t)mj : NOT_MEASURED;
    return frame_send(r->socket, FRAME_ENERGY, STR_NULL, str_n((const char *)&answer, sizeof answer), NULL, 0, false, e);
}
