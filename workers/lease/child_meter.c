/* SPDX-License-Identifier: Apache-2.0 */
/* child_meter.c - one question and its answer. */
#include "workers/lease/child_meter.h"

#include <string.h>

static bool ask(void *room, double *ret_joules)
{
    struct frame f = { 0 };
    int64_t mj;
    if (frame_send(FRAME_FD, FRAME_ENERGY, STR_NULL, STR_NULL, NULL, 0, true, NULL) != ERR_OK
        || frame_receive(FRAME_FD, room, &f, NULL) != ERR_OK)
        return false;
    frame_close_fds(&f);
    if (f.type != FRAME_ENERGY || f.body.len != sizeof mj)
        return false;
    memcpy(&mj, f.body.ptr, sizeof mj);
    *ret_joules = (double)mj * 1e-3;
    return mj >= 0;
}

const struct train_meter *child_meter_new(struct child *c)
{
    struct train_meter *m = ARENA_NEW(c->arena, struct train_meter);
    *m = (struct train_meter){ arena_alloc(c->arena, FRAME_MAX), ask };
    return m;
}
