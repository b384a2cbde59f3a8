/* SPDX-License-Identifier: Apache-2.0 */
/* accounts.c - one unshare, and a helper that stays outside to write the maps: more than one line takes the capabilities of the
 * namespace above, which are lost by entering. */
#include "workers/lease/accounts.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "core/base/cleanup.h"

enum { MAP_MAX = 128, NAMESPACE_MISSING = 1, UID_MAP_REFUSED, GID_MAP_REFUSED };
#define BIT(cap) (1ULL << (cap))
static const uint64_t needed = BIT(CAP_SETUID) | BIT(CAP_SETGID);
/* What isolation, spawn and work_dir do to the accounts of the range, and reading what a lease takes of the machine. */
static const uint64_t kept = needed | BIT(CAP_CHOWN) | BIT(CAP_DAC_OVERRIDE) | BIT(CAP_FOWNER) | BIT(CAP_KILL) |
                             BIT(CAP_SYS_PTRACE) | BIT(CAP_SYS_ADMIN);

static bool caps_read(uint64_t *ret)
{
    struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
    struct __user_cap_data_struct data[2];
    if (syscall(SYS_capget, &head, data) != 0)
        return false;
    *ret = (uint64_t)data[1].effective << 32 | data[0].effective;
    return true;
}

bool caps_keep(uint64_t mask)
{
    struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
    struct __user_cap_data_struct data[2] = { { (uint32_t)mask, (uint32_t)mask, 0 },
                                              { (uint32_t)(mask >> 32), (uint32_t)(mask >> 32), 0 } };
    for (int cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
        if (!(mask & BIT(cap)) && prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) != 0)
            return false;
    return syscall(SYS_capset, &head, data) == 0;
}

static bool map_write(pid_t pid, const char *which, unsigned self, const struct config *cfg)
{
    char path[64], text[MAP_MAX];
    snprintf(path, sizeof path, "/proc/%ld/%s_map", (long)pid, which);
    int n = snprintf(text, sizeof text, "0 %u 1\n%lld %lld %lld\n", self, (long long)cfg->worker_uid_base,
                     (long long)cfg->worker_uid_base, (long long)cfg->worker_uid_count);
    CLEANUP(fd_closep) int fd = open(path, O_WRONLY | O_CLOEXEC);
    return fd >= 0 && write(fd, text, (size_t)n) == n;
}

/* The helper: waits for the word that the namespace is there. It has no more than the agent had, and ends at once. */
static _Noreturn void map_main(int word, pid_t agent, uid_t uid, gid_t gid, const struct config *cfg)
{
    char c;
    if (read(word, &c, 1) != 1)
        _exit(NAMESPACE_MISSING);
    if (!map_write(agent, "uid", uid, cfg))
        _exit(UID_MAP_REFUSED);
    _exit(map_write(agent, "gid", gid, cfg) ? 0 : GID_MAP_REFUSED);
}

/* 0 or an errno; the helper's word beside it. */
static int enter(const struct config *cfg, int *ret_helper)
{
    int word[2], status = 0, failed = 0;
    pid_t agent = getpid();
    uid_t uid = geteuid();
    gid_t gid = getegid();
    if (pipe2(word, O_CLOEXEC) != 0)
        return errno;
    pid_t helper = fork();
    if (helper == 0) {
        close(word[1]);
        map_main(word[0], agent, uid, gid, cfg);
    }
    close(word[0]);
    if (helper < 0 || unshare(CLONE_NEWUSER) != 0 || write(word[1], "", 1) != 1)
        failed = errno;
    close(word[1]);
    if (helper > 0 && waitpid(helper, &status, 0) == helper && !failed)
        *ret_helper = WIFEXITED(status) ? WEXITSTATUS(status) : NAMESPACE_MISSING;
    return failed;
}

enum errc accounts_enter(const struct config *cfg, struct err *e)
{
    uint64_t caps;
    int helper = 0;
    if (geteuid() == 0 || !cfg->worker_uid_base || !caps_read(&caps) || (caps & needed) != needed)
        return ERR_OK;
    int failed = enter(cfg, &helper);
    if (!failed && !helper && setresgid(0, 0, 0) == 0 && setresuid(0, 0, 0) == 0 && caps_keep(kept))
        return ERR_OK;
    failed = failed ? failed : errno;
    (void)FAIL(e, UNAVAILABLE, "leases cannot have accounts of their own: %s; user namespaces must be permitted, and all of "
               "worker.uid_base, worker.uid_count be accounts here; without its two capabilities it starts with one for all",
               helper == UID_MAP_REFUSED ? "their range was refused" : helper == GID_MAP_REFUSED ? "their groups were refused"
                                         : "a user namespace was refused");
    (void)err_errno(e, failed);
    return ERR_UNAVAILABLE;
}
