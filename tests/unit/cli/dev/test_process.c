/* SPDX-License-Identifier: Apache-2.0 */
/* test_process.c - processes: told apart by start time, ended with patience, dead with their parent, logs bounded. */
#include "tests/lib/wait.h"
#include "with_cli.h"
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "cli/dev/process.h"

static struct dev *make_dev(struct with_cli *w)
{
    struct dev *d = ARENA_NEW(w->c.arena, struct dev);
    d->c = &w->c;
    d->arena = w->c.arena;
    d->run = "/tmp";
    return d;
}

static void start(struct dev *d, struct child *p, const char *script, int signal_number)
{
    struct err e = { 0 };
    *p = (struct child){ .name = "test", .argv = { "/bin/sh", "-c", script }, .log_path = "/dev/null", .stop_signal = signal_number };
    assert_int_equal(process_start(d, p, -1, &e), ERR_OK);
}

static void a_pid_alone_is_no_name(void **state)
{
    (void)state;
    uint64_t ticks = process_start_ticks(getpid());
    assert_true(ticks > 0);
    assert_true(process_is(getpid(), ticks));
    assert_false(process_is(getpid(), ticks + 1));
    assert_false(process_is(1, process_start_ticks(1)));      /* nobody ends init */
}

static void a_dead_one_is_gone_before_it_is_reaped(void **state)
{
    (void)state;
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    assert_int_equal(process_start_ticks(pid), 0);
    waitpid(pid, NULL, 0);
}

static void ended_even_if_it_does_not_listen(void **state)
{
    (void)state;
    struct with_cli w;
    struct child p;
    with_cli_init(&w);
    start(make_dev(&w), &p, "trap '' TERM; while :; do sleep 0.01; done", SIGTERM);
    nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);
    process_end(p.pid, p.start_ticks, SIGTERM, 100);
    assert_false(process_is(p.pid, p.start_ticks));
    waitpid(p.pid, NULL, 0);
    with_cli_release(&w);
}

static void dies_with_its_parent(void **state)
{
    (void)state;
    struct with_cli w;
    int ends[2];
    long grandchild = 0;
    with_cli_init(&w);
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct child p;
        start(make_dev(&w), &p, "sleep 1000", SIGTERM);
        grandchild = p.pid;
        nanosleep(&(struct timespec){ .tv_nsec = 200000000 }, NULL);
        _exit(write(ends[1], &grandchild, sizeof(grandchild)) == (ssize_t)sizeof(grandchild) ? 0 : 1);
    }
    assert_int_equal(read(ends[0], &grandchild, sizeof(grandchild)), sizeof(grandchild));
    uint64_t ticks = process_start_ticks((pid_t)grandchild);
    waitpid(pid, NULL, 0);
    WAIT_WHILE(process_is((pid_t)grandchild, ticks));
    assert_false(process_is((pid_t)grandchild, ticks));
    with_cli_release(&w);
}

static void a_log_stays_below_its_bound(void **state)
{
    (void)state;
    char path[] = "/tmp/falaj-test-XXXXXX", old[64];
    struct arena *a = arena_new(1 << 20);
    struct stat st;
    int fd = mkstemp(path);
    snprintf(old, sizeof(old), "%s.1", path);
    assert_int_equal(ftruncate(fd, 17 << 20), 0);
    assert_int_equal(pwrite(fd, "\nlast line\n", 11, (17 << 20)), 11);
    assert_string_equal(log_tail(a, path), "last line\n");
    log_bound(a, path);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_size, 0);
    assert_int_equal(stat(old, &st), 0);
    assert_true(st.st_size > 17 << 20);
    close(fd);
    unlink(path);
    unlink(old);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pid_alone_is_no_name), cmocka_unit_test(a_dead_one_is_gone_before_it_is_reaped), cmocka_unit_test(ended_even_if_it_does_not_listen),
        cmocka_unit_test(dies_with_its_parent),   cmocka_unit_test(a_log_stays_below_its_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
