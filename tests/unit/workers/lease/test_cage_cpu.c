/* SPDX-License-Identifier: Apache-2.0 */
/* test_cage_cpu.c - processor time of a cage: of real groups where this machine has them, and of files as either version of
 * control groups writes them. */
#include "lease_kit.h"

#include <sys/wait.h>
#include <time.h>
#include "workers/lease/sandbox.h"

static void spin(void)
{
    for (clock_t until = clock() + CLOCKS_PER_SEC / 5; clock() < until;)
        ;
}

static void wait_a_little(void)
{
    usleep(1000);
}

/* What the group of a child that does this has taken at its end; -1: the group does not say. */
static int64_t taken_by(void (*what)(void), enum cage_kind *ret_kind)
{
    struct err e = { 0 };
    struct cage *c = NULL;
    char name[64];
    int status;
    int64_t us;
    snprintf(name, sizeof name, "test-cpu-%d", (int)getpid());
    assert_int_equal(cage_new(name, &(struct cage_limits){ (int64_t)256 << 20, 64, 0 }, &c, &e), ERR_OK);
    const pid_t pid = fork();
    if (pid == 0) {
        if (!cage_join(c))
            _exit(99);
        what();
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    *ret_kind = cage_kind(c);
    if (!cage_cpu_us(c, &us))
        us = -1;
    cage_free(c);
    return us;
}

static void test_processor_time_is_counted(void **state)
{
    (void)state;
    enum cage_kind kind;
    const int64_t waiting = taken_by(wait_a_little, &kind), spinning = taken_by(spin, &kind);
    const bool has_v1 = kind == CAGE_CGROUP1 && access("/sys/fs/cgroup/cpuacct/cgroup.procs", W_OK) == 0;
    print_message("note: control groups %d, %ld and %ld µs\n", kind, (long)waiting, (long)spinning);
    if (kind == CAGE_CGROUP2 || has_v1) {
        assert_true(waiting >= 0 && waiting < 100000);
        assert_true(spinning >= 200000);
    } else if (kind == CAGE_RLIMITS) {
        assert_true(waiting == -1 && spinning == -1);
    }
}

static bool counts(const char *dir, enum cage_kind kind, const char *name, const char *text, int64_t *ret)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    const bool is_told = cage_cpu_us_in(kind, dir, ret);
    unlink(path);
    return is_told;
}

static void test_processor_time_of_either_version(void **state)
{
    (void)state;
    char dir[] = "/tmp/falaj-cpu-XXXXXX";
    int64_t us = -1;
    assert_non_null(mkdtemp(dir));
    assert_true(counts(dir, CAGE_CGROUP1, "cpuacct.usage", "7234567\n", &us));
    assert_int_equal(us, 7234);
    assert_true(counts(dir, CAGE_CGROUP2, "cpu.stat", "usage_usec 98765\nuser_usec 90000\nnr_periods 0\n", &us));
    assert_int_equal(us, 98765);
    assert_false(counts(dir, CAGE_CGROUP2, "cpu.stat", "nr_periods 5\nnr_throttled 0\nthrottled_time 0\n", &us));     /* of v1 */
    assert_false(counts(dir, CAGE_CGROUP1, "cpuacct.usage", "", &us));
    assert_false(counts(dir, CAGE_CGROUP1, "cpu.stat", "nr_periods 5\n", &us));
    assert_false(counts(dir, CAGE_RLIMITS, "cpuacct.usage", "7234567\n", &us));
    assert_int_equal(us, 98765);
    rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_processor_time_is_counted),
                                        cmocka_unit_test(test_processor_time_of_either_version) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
