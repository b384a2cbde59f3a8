/* SPDX-License-Identifier: Apache-2.0 */
/* idle.c - one look after the other; a look that measures nothing begins anew. */
#include "workers/agent/idle.h"

enum use { UNKNOWN, IDLE, USED };

void idle_begin(struct idle *i, uint64_t devices, int64_t now_us)
{
    *i = (struct idle){ .devices = devices, .next_us = now_us + IDLE_LOOK_US, .used_us = now_us, .cpu_us = IDLE_UNKNOWN };
}

static enum use cards_tell(const struct cards *c, uint64_t devices)
{
    enum use all = IDLE;
    for (size_t i = 0; i < CARDS_MAX; i++) {
        unsigned percent = 0;
        if (!(devices >> i & 1))
            continue;
        if (!c || !cards_use(c, i, &percent))
            return UNKNOWN;
        if (percent)
            all = USED;
    }
    return all;
}

static enum use processors_tell(struct idle *i, int64_t cpu_us, int64_t now_us)
{
    const int64_t before = i->cpu_us, wall_us = now_us - i->looked_us;
    i->cpu_us = cpu_us;
    if (cpu_us == IDLE_UNKNOWN || before == IDLE_UNKNOWN || cpu_us < before)
        return UNKNOWN;
    return (cpu_us - before) * 100 >= wall_us * IDLE_CPU_PERCENT ? USED : IDLE;
}

bool idle_look(struct idle *i, const struct cards *cards, int64_t cpu_us, int64_t now_us, int64_t *ret_ms)
{
    if (now_us < i->next_us)
        return false;
    const enum use use = i->devices ? cards_tell(cards, i->devices) : processors_tell(i, cpu_us, now_us);
    i->looked_us = now_us;
    i->next_us = now_us + IDLE_LOOK_US;
    if (use != IDLE)
        i->used_us = now_us;
    if (use != IDLE && i->is_told_idle) {
        i->is_told_idle = false;
        *ret_ms = 0;
        return true;
    }
    if (use != IDLE || now_us - i->used_us < IDLE_TELL_US || (i->is_told_idle && now_us - i->told_us < IDLE_TELL_US))
        return false;
    i->is_told_idle = true;
    i->told_us = now_us;
    *ret_ms = (now_us - i->used_us) / 1000;
    return true;
}
