/* SPDX-License-Identifier: Apache-2.0 */
/* programs.c - each thing that a lease would miss, tried once with an account that a lease could have. */
#include "workers/lease/programs.h"

#include <stdio.h>
#include <unistd.h>
#include "core/base/cleanup.h"
#include "core/base/log.h"
#include "workers/lease/box_try.h"
#include "workers/lease/sandbox.h"

enum { TRY_BYTES = 64 << 20, TRY_PIDS = 16 };

static bool has_groups(void)
{
    char name[40];
    snprintf(name, sizeof name, "%d-programs", (int)getpid());
    CLEANUP(cage_freep) struct cage *c = NULL;
    return cage_new(name, &(struct cage_limits){ TRY_BYTES, TRY_PIDS, 0 }, &c, NULL) == ERR_OK && cage_kind(c) != CAGE_RLIMITS;
}

/* device: NULL: of a program on one machine. */
static const char *lacks_of(uid_t uid, gid_t gid, const char *device)
{
    return device ? box_net_lacks(uid, gid, device) : box_lacks(uid, gid);
}

static const char *lacks_box(struct isolation *i, const char *device)
{
    uid_t own = 0, uid = 0;
    gid_t gid = 0;
    if (i && isolation_take(i, &own) && own) {
        const char *lacks = lacks_of(own, own, device);
        isolation_give(i, own);
        return lacks;
    }
    return sandbox_nobody(&uid, &gid) ? lacks_of(uid, gid, device) : lacks_of(0, 0, device);
}

bool programs_here(const struct config *cfg, struct isolation *i)
{
    const char *lacks = NULL;
    if (cfg->worker_programs != PROGRAMS_HOST)
        return false;
    if (cfg->run_profile == PROFILE_PROD && !has_groups())
        lacks = "it has no control groups to hold them";
    else
        lacks = lacks_box(i, NULL);
    log_event(lacks ? LOG_WARN : LOG_INFO, "worker.programs", "lacks", LOG_S(lacks ? lacks : "nothing"), "hint",
              LOG_S(lacks ? "the package permits programs by falaj-setup worker --programs" : ""), NULL);
    return !lacks;
}

bool programs_meet_here(const struct config *cfg, struct isolation *i)
{
    const char *lacks = lacks_box(i, cfg->worker_tun_device);
    log_event(lacks ? LOG_WARN : LOG_INFO, "worker.gang_programs", "lacks", LOG_S(lacks ? lacks : "nothing"), NULL);
    return !lacks;
}
