/* SPDX-License-Identifier: Apache-2.0 */
/* test_accounts.c - an agent that is an ordinary user with the two capabilities of the package's drop-in: its leases are apart as
 * root's are, and it can do nothing to anybody outside its range. By root, in processes of their own: there is no way back. */
#include "isolation_kit.h"

#include <linux/capability.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include "workers/lease/accounts.h"

enum { USER = 64123, STRANGER = 64124 };

static void give_to_user(const char *dir)
{
    char path[400];
    DIR *d = opendir(dir);
    assert_non_null(d);
    for (struct dirent *entry; (entry = readdir(d));) {
        snprintf(path, sizeof path, "%s/%s", dir, entry->d_name);
        if (strcmp(entry->d_name, "..") != 0)
            assert_int_equal(chown(path, USER, USER), 0);
    }
    closedir(d);
}

/* As systemd starts the unit with its drop-in: an account, two capabilities, and no more in the bounding set. */
static void become_user(void)
{
    const uint32_t caps = 1u << CAP_SETUID | 1u << CAP_SETGID;
    struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
    struct __user_cap_data_struct data[2] = { { caps, caps, caps } };
    for (int cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
        if (cap != CAP_SETUID && cap != CAP_SETGID)
            assert_int_equal(prctl(PR_CAPBSET_DROP, cap, 0, 0, 0), 0);
    assert_int_equal(prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0), 0);
    assert_int_equal(setgroups(0, NULL), 0);
    assert_int_equal(setresgid(USER, USER, USER), 0);
    assert_int_equal(setresuid(USER, USER, USER), 0);
    assert_int_equal(syscall(SYS_capset, &head, data), 0);
    assert_int_equal(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    assert_int_equal(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0), 0);        /* as exec does */
}

/* Inside it is root of the range alone: what is anybody else's is as far away as for a user without capabilities. */
static void others_are_out_of_reach(const char *strangers, pid_t outside)
{
    assert_int_equal(geteuid(), 0);
    assert_true(open("/etc/shadow", O_RDONLY) < 0 && errno == EACCES);
    assert_true(open(strangers, O_RDONLY) < 0 && errno == EACCES);
    assert_true(chown(strangers, 0, 0) < 0 && errno == EPERM);
    assert_true(kill(outside, 0) < 0 && errno == EPERM);
    assert_true(setresuid(STRANGER, STRANGER, STRANGER) < 0 && errno == EINVAL);
    assert_true(setresgid(STRANGER, STRANGER, STRANGER) < 0 && errno == EINVAL);
    assert_true(prctl(PR_CAPBSET_READ, CAP_NET_ADMIN, 0, 0, 0) == 0);
}

static void enter_as_user(struct serve_zone *z)
{
    struct err e = { 0 };
    char strangers[64], copy[64];
    snprintf(strangers, sizeof strangers, "%s/strangers", z->dir);
    snprintf(copy, sizeof copy, "%s/falaj-worker", z->dir);
    struct buf program;
    kit_read_file(kit_program(z->program), &program);       /* the build may lie where no other account can go */
    for (int i = 0; i < 2; i++) {
        int fd = open(i ? copy : strangers, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, i ? 0755 : 0600);
        size_t n = i ? program.len : 1;
        assert_true(fd >= 0 && write(fd, program.ptr, n) == (ssize_t)n && close(fd) == 0);
    }
    buf_release(&program);
    setenv("FALAJ_BIN", z->dir, 1);
    give_to_user(z->dir);
    assert_int_equal(chown(strangers, STRANGER, STRANGER), 0);
    become_user();
    assert_int_equal(accounts_enter(z->cfg, &e), ERR_OK);
    others_are_out_of_reach(strangers, getppid());
    assert_int_equal(unlink(strangers), 0);
}

/* Does this machine permit both a range of accounts and namespaces of users? A container may have neither. */
static bool is_possible(void)
{
    int status = 1;
    uid_t uid = 0;
    struct config *cfg = config_new_default();
    struct isolation *i = isolation_new(cfg);
    assert_true(isolation_take(i, &uid));
    isolation_give(i, uid);
    isolation_free(i);
    config_free(cfg);
    pid_t pid = fork();
    if (pid == 0)
        _exit(setresuid(USER, USER, USER) != 0 || unshare(CLONE_NEWUSER) != 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return uid && status == 0;
}

static void leases_of_an_ordinary_agent_are_apart(void **state)
{
    (void)state;
    struct err e = { 0 };
    if (is_possible())
        return two_leases_are_apart(enter_as_user);
    struct config *cfg = config_new_default();          /* documented: it does not start */
    become_user();
    assert_int_equal(accounts_enter(cfg, &e), ERR_UNAVAILABLE);
    config_free(cfg);
}

/* The capabilities are there and the range is not: it must not go on with one account for all. */
static void a_refused_range_stops_the_start(void **state)
{
    (void)state;
    struct err e = { 0 };
    struct config *cfg = config_new_default();
    bool is_range = is_possible();
    assert_int_equal(config_set(cfg, "worker.uid_base", "64123", &e), ERR_OK);      /* its own number twice: no map */
    become_user();
    assert_int_equal(accounts_enter(cfg, &e), ERR_UNAVAILABLE);
    assert_non_null(strstr(e.msg, is_range ? "their range was refused" : "was refused"));
    config_free(cfg);
}

static void without_the_capabilities_it_stays_who_it_is(void **state)
{
    (void)state;
    struct err e = { 0 };
    struct config *cfg = config_new_default();
    assert_int_equal(setresuid(USER, USER, USER), 0);
    assert_int_equal(accounts_enter(cfg, &e), ERR_OK);
    assert_int_equal(geteuid(), USER);
    config_free(cfg);
}

static int apart(const char *name, const struct CMUnitTest *test)
{
    int status = 1;
    pid_t pid = fork();
    if (pid == 0)
        _exit(_cmocka_run_group_tests(name, test, 1, NULL, NULL));
    return pid < 0 || waitpid(pid, &status, 0) != pid || status;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(leases_of_an_ordinary_agent_are_apart),
                                        cmocka_unit_test(a_refused_range_stops_the_start),
                                        cmocka_unit_test(without_the_capabilities_it_stays_who_it_is) };
    int failed = 0;
    if (geteuid() != 0)
        fputs("test_accounts: needs root, as .ci/run has\n", stderr);
    for (size_t i = 0; i < sizeof tests / sizeof *tests && !geteuid(); i++)
        failed += apart(tests[i].name, &tests[i]);
    return failed || geteuid() != 0;
}
