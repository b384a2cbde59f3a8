/* SPDX-License-Identifier: Apache-2.0 */
/* test_cage_delegate.c - in a real hierarchy of control groups v2, with whatever controller the machine has there: the agent
 * makes room below its group, or leaves all as it was. */
#include "lease_kit.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "workers/lease/cage_delegate.h"

static char mount_at[] = "/tmp/cage_room_XXXXXX", controller[64];
static bool is_usable;
static const char *const nothing_else[] = { "no-such-controller", NULL };

#define MUST(cond) do { if (!(cond)) _exit(__LINE__ & 0xff ? __LINE__ & 0xff : 1); } while (0)

static bool put(const char *group, const char *file, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s%s/%s", mount_at, group, file);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool is_good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0)
        close(fd);
    return is_good;
}

static bool says(const char *path, const char *word)
{
    char text[4096];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    return strstr(text, word) != NULL;
}

/* Runs `what` in a process of its own, alone in the group. Where no controller is free there is no room to make. */
static void in_group(const char *group, void (*what)(const char *group))
{
    char path[256];
    int status;
    if (!is_usable) {
        print_message("note: no controller of control groups v2 is free on this machine\n");
        assert_int_equal(cage_delegate(mount_at, "", "no-such-controller", nothing_else), CAGE_ROOM_NONE);
        assert_int_equal(cage_delegate(mount_at, group, "memory", nothing_else), CAGE_ROOM_NONE);
        return;
    }
    snprintf(path, sizeof path, "%s%s", mount_at, group);
    assert_int_equal(mkdir(path, 0755), 0);
    pid_t pid = fork();
    if (pid == 0) {
        MUST(put(group, "cgroup.procs", "0"));
        what(group);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    snprintf(path, sizeof path, "%s%s/" CAGE_AGENT_GROUP, mount_at, group);
    (void)rmdir(path);
    snprintf(path, sizeof path, "%s%s", mount_at, group);
    assert_int_equal(rmdir(path), 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void alone(const char *group)
{
    char file[256], base[256], own[300];
    snprintf(file, sizeof file, "%s%s/cgroup.subtree_control", mount_at, group);
    snprintf(own, sizeof own, "%s/" CAGE_AGENT_GROUP, group);
    MUST(cage_delegate(mount_at, group, "no-such-controller", nothing_else) == CAGE_ROOM_NONE);
    MUST(cage_delegate(mount_at, group, controller, nothing_else) == CAGE_ROOM_MADE);
    MUST(says(file, controller));
    MUST(says("/proc/self/cgroup", own));
    MUST(cage_own_base(NULL, base, sizeof base) && strstr(base, group) && !strstr(base, CAGE_AGENT_GROUP));
    MUST(cage_delegate(mount_at, group, controller, nothing_else) == CAGE_ROOM_THERE);
}

static void beside_another(const char *group)
{
    char path[256];
    int pipes[2];
    MUST(pipe(pipes) == 0);
    pid_t other = fork();
    if (other == 0) {                   /* in the group, and not ours to move */
        char c;
        close(pipes[1]);
        _exit(read(pipes[0], &c, 1) == 0 ? 0 : 1);
    }
    close(pipes[0]);
    MUST(cage_delegate(mount_at, group, controller, nothing_else) == CAGE_ROOM_NONE);
    MUST(!says("/proc/self/cgroup", CAGE_AGENT_GROUP));                 /* back where it was */
    snprintf(path, sizeof path, "%s%s/" CAGE_AGENT_GROUP, mount_at, group);
    MUST(access(path, F_OK) != 0);
    close(pipes[1]);
    MUST(waitpid(other, NULL, 0) == other);
}

static void an_agent_alone_in_its_group_makes_room(void **state)
{
    (void)state;
    in_group("/falaj-room-alone", alone);
}

static void a_group_with_others_stays_as_it_was(void **state)
{
    (void)state;
    in_group("/falaj-room-shared", beside_another);
}

static void what_is_no_group_gives_none(void **state)
{
    (void)state;
    assert_int_equal(cage_delegate("/nowhere", "", "memory", nothing_else), CAGE_ROOM_NONE);
    assert_int_equal(cage_delegate("/tmp", "", "memory", nothing_else), CAGE_ROOM_NONE);
}

/* A mount of our own, gone with this process; the first controller that is free here, turned on below the root. */
static int setup_mount(void **state)
{
    char path[256], text[512] = "";
    (void)state;
    if (!mkdtemp(mount_at))
        return -1;
    is_usable = unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
                mount("none", mount_at, "cgroup2", 0, NULL) == 0;
    snprintf(path, sizeof path, "%s/cgroup.controllers", mount_at);
    FILE *f = is_usable ? fopen(path, "r") : NULL;
    if (f && fgets(text, sizeof text, f)) {
        char on[80];
        snprintf(controller, sizeof controller, "%.*s", (int)strcspn(text, " \n"), text);
        snprintf(on, sizeof on, "+%s", controller);
        is_usable = controller[0] && put("", "cgroup.subtree_control", on);
    } else {
        is_usable = false;
    }
    if (f)
        fclose(f);
    return 0;
}

static int teardown_mount(void **state)
{
    (void)state;
    (void)umount(mount_at);
    return rmdir(mount_at);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(an_agent_alone_in_its_group_makes_room),
        cmocka_unit_test(a_group_with_others_stays_as_it_was), cmocka_unit_test(what_is_no_group_gives_none) };
    return cmocka_run_group_tests(tests, setup_mount, teardown_mount);
}
