/* SPDX-License-Identifier: Apache-2.0 */
/* idle_rule.h - what becomes of a running job whose machines say that what it holds is not used. Pure.
 *
 * It is idle when all of its machines have said so lately, it has been for longer than its rule lets it, and nobody is or was
 * inside since. Then its people are told, once; when the notice is over and it was idle all the time, it is put aside. Whatever
 * is not known is use. All times are microseconds of one clock; 0: never. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum { IDLE_FRESH_S = 180 };            /* what a machine said longer ago is not known any more */

struct idle_facts {
    int64_t after_s, notice_s;          /* the rule; after_s 0: there is none */
    int64_t machines, idle_machines;    /* that it runs on; of which so many said that they are idle */
    int64_t told_us;                    /* the oldest of their last words */
    int64_t idle_us;                    /* since when the last of them is */
    int64_t visited_us;                 /* when somebody was last seen inside */
    int64_t noticed_us;                 /* when its people were told */
    bool is_visited;                    /* somebody is inside now */
};
enum idle_verdict { IDLE_NOTHING, IDLE_NOTICE, IDLE_WITHDRAW, IDLE_STOP };

enum idle_verdict idle_judge(const struct idle_facts *f, int64_t now_us);
