/* SPDX-License-Identifier: Apache-2.0 */
/* programs.c - each thing that a lease would miss, tried once with an account that a lease could have. */
#include "workers/lease/programs.h"

#include <stdio.h>
#include <unistd.h>
#include "core/base/cleanup.h"
#include "core/base/log.h"
#include "workers/lease/box.h"

enum { TRY_BYTES = 64 << 20, TRY_PIDS = 16 };

static bool has_groups(void)
{
    char name[40];
    snprintf(name, sizeof name, "%d-programs", (int)getpid());
    CLEANUP(cage_freep) struct cage *c = NULL;
    return cage_new(name, &(struct cage_limits){ TRY_BYTES, TRY_PIDS, 0 }, &c, NULL) == ERR_OK && cage_kind(c) != CAGE_RLIMITS;
}

static const char *lacks_box(struct isolation *i)
{
    uid_t own = 0, uid = 0;
    gid_t gid = 0;
    if (i && isolation_take(i, &own) && own) {
        const char *lacks = box_lacks(own, own);
        isolation_give(i, own);
        return lacks;
    }
    return sandbox_nobody(&uid, &gid) ? box_lacks(uid, gid) : box_lacks(0, 0);
}

bool programs_here(const struct config *cfg, struct isolation *i)
{
    const char *lacks = NULL;
    if (cfg->worker_programs != PROGRAMS_HOST)
        return false;
    if (cfg->run_profile == PROFILE_PROD && !has_groups())
        lacks = "it has no control groups to hold them";
    else
        lacks = lacks_box(i);
    log_event(lacks ? LOG_WARN : LOG_INFO, "worker.programs", "lacks", LOG_S(lacks ? lacks : "nothing"), NULL);
    return !lacks;
}
