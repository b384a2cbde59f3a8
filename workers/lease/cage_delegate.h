/* SPDX-License-Identifier: Apache-2.0 */
/* cage_delegate.h - makes the agent's own control group (v2) one that can have cages below it.
 *
 * A group holds processes, or gives its controllers to the groups below it, never both (Linux, Documentation/admin-guide/
 * cgroup-v2.rst, "No Internal Process Constraint"). A service manager starts the agent in the group that it delegates
 * (Delegate= of systemd.exec(5)) and leaves the rest to it: so the agent goes into a group of its own below, falaj-agent, and
 * turns the controllers on. What is not possible leaves everything as it was.
 * Calling order: once, before threads and cages; a process that was moved is found again by cage_own_base. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#define CAGE_AGENT_GROUP "falaj-agent"

enum cage_room {
    CAGE_ROOM_NONE,             /* not v2, not ours, or others are in the group */
    CAGE_ROOM_THERE,            /* the controllers were on already */
    CAGE_ROOM_MADE,
};
/* mount, group: "/sys/fs/cgroup", "/system.slice/x.service". need: the controller without which there is no room; also: others
 * that are turned on where they can be, NULL-terminated. */
enum cage_room cage_delegate(const char *mount, const char *group, const char *need, const char *const *also);
/* For the agent's own group, with memory, pids and cpu; told in the log (worker.cages). */
void cage_prepare(void);
/* The group that cages are made below: of a v1 controller, or with NULL of v2; "" at the root. */
bool cage_own_base(const char *controller, char *out, size_t cap);
