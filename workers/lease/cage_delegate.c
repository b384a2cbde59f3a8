/* SPDX-License-Identifier: Apache-2.0 */
/* cage_delegate.c - the agent leaves the group that was delegated to it for one below, and turns the controllers on. */
#include "workers/lease/cage_delegate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/base/cleanup.h"
#include "core/base/log.h"
#include "core/base/str.h"

enum { PATH_ROOM = 1024 };
static const char MOUNT[] = "/sys/fs/cgroup", SUFFIX[] = "/" CAGE_AGENT_GROUP;

static bool text_of(const char *path, char *out, size_t cap)
{
    CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, out, cap - 1);
    out[n > 0 ? n : 0] = '\0';
    return n >= 0;
}

static bool put(const char *dir, const char *name, const char *text)
{
    char path[PATH_ROOM + 64];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    CLEANUP(fd_closep) int fd = open(path, O_WRONLY | O_CLOEXEC);
    return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
}

/* A word in a list of words. */
static bool has(const char *dir, const char *name, const char *word)
{
    char path[PATH_ROOM + 64], text[1024];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    struct str rest = STR_NULL, one;
    if (text_of(path, text, sizeof text))
        rest = str_n(text, strcspn(text, "\n"));
    while (rest.len) {
        (void)str_cut(rest, ' ', &one, &rest);
        if (str_eq_c(one, word))
            return true;
    }
    return false;
}

static bool turn_on(const char *dir, const char *controller)
{
    char text[64];
    snprintf(text, sizeof text, "+%s", controller);
    return put(dir, "cgroup.subtree_control", text);
}

enum cage_room cage_delegate(const char *mount, const char *group, const char *need, const char *const *also)
{
    char base[PATH_ROOM], own[PATH_ROOM + sizeof SUFFIX];
    if (snprintf(base, sizeof base, "%s%s", mount, group) >= (int)sizeof base || !has(base, "cgroup.controllers", need))
        return CAGE_ROOM_NONE;
    if (has(base, "cgroup.subtree_control", need))
        return CAGE_ROOM_THERE;
    snprintf(own, sizeof own, "%s%s", base, SUFFIX);
    bool is_moved = (mkdir(own, 0755) == 0 || errno == EEXIST) && put(own, "cgroup.procs", "0");
    if (!is_moved || !turn_on(base, need)) {
        if (is_moved)
            (void)put(base, "cgroup.procs", "0");
        (void)rmdir(own);
        return CAGE_ROOM_NONE;
    }
    for (; *also; also++)
        (void)turn_on(base, *also);         /* a limit less, as where the service manager delegated less */
    return CAGE_ROOM_MADE;
}

bool cage_own_base(const char *controller, char *out, size_t cap)
{
    char text[4096];
    if (!text_of("/proc/self/cgroup", text, sizeof text))
        return false;
    struct str rest = str_c(text), line, id, names, path;
    while (rest.len) {
        str_cut(rest, '\n', &line, &rest);
        if (!str_cut(line, ':', &id, &names) || !str_cut(names, ':', &names, &path))
            continue;
        if (controller ? !str_eq_c(names, controller) : !str_eq_c(id, "0"))
            continue;
        if (!controller && str_ends(path, SUFFIX))
            path.len -= sizeof SUFFIX - 1;
        snprintf(out, cap, "%.*s", STR_ARG(str_eq_c(path, "/") ? STR("") : path));
        return true;
    }
    return false;
}

void cage_prepare(void)
{
    static const char *const also[] = { "pids", "cpu", NULL };
    static const char *const words[] = { "none", "there", "made" };
    char group[PATH_ROOM / 2];
    enum cage_room room = cage_own_base(NULL, group, sizeof group) ? cage_delegate(MOUNT, group, "memory", also) : CAGE_ROOM_NONE;
    log_event(LOG_INFO, "worker.cages", "groups", LOG_S(words[room]), NULL);
}
