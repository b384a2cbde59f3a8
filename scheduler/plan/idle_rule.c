/* SPDX-License-Identifier: Apache-2.0 */
/* idle_rule.c - one judge. */
#include "scheduler/plan/idle_rule.h"

static const int64_t SECOND_US = 1000000;

static bool is_idle(const struct idle_facts *f, int64_t since_us, int64_t now_us)
{
    return f->after_s > 0 && !f->is_visited && f->machines > 0 && f->idle_machines >= f->machines && f->idle_us > 0
           && now_us - f->told_us <= IDLE_FRESH_S * SECOND_US && now_us - since_us >= f->after_s * SECOND_US;
}

enum idle_verdict idle_judge(const struct idle_facts *f, int64_t now_us)
{
    const int64_t since_us = f->idle_us > f->visited_us ? f->idle_us : f->visited_us;
    if (!is_idle(f, since_us, now_us))
        return f->noticed_us ? IDLE_WITHDRAW : IDLE_NOTHING;
    if (!f->noticed_us || f->noticed_us < since_us)     /* it was used since it was told */
        return IDLE_NOTICE;
    return now_us - f->noticed_us >= f->notice_s * SECOND_US ? IDLE_STOP : IDLE_NOTHING;
}
