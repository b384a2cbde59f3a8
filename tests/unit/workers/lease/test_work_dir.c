/* SPDX-License-Identifier: Apache-2.0 */
/* test_work_dir.c - what is swept: old directories of leases and jobs that nobody holds, and nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include <fcntl.h>
#include <sys/file.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <time.h>

#include "core/base/cleanup.h"
#include "workers/lease/work_dir.h"

#define HEX "0123456789abcdef0123456789abcde"

static char dir[32] = "/tmp/falaj-sweep-XXXXXX";

static void make(const char *name, int age_s)
{
    char path[256];
    struct timespec t[2];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    assert_int_equal(mkdir(path, 0700), 0);
    clock_gettime(CLOCK_REALTIME, &t[0]);
    t[0].tv_sec -= age_s;
    t[1] = t[0];
    assert_int_equal(utimensat(AT_FDCWD, path, t, 0), 0);
}

static bool is_there(const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return access(path, F_OK) == 0;
}

static void the_old_and_forgotten_goes(void **state)
{
    (void)state;
    char path[256];
    assert_non_null(mkdtemp(dir));
    make("job-" HEX "1", 7200);
    make("job-" HEX "2", 60);
    make("lease-" HEX "3", 7200);
    make("job-" HEX "4", 7200);
    make("job-" HEX "5", 7200);
    make("job-" HEX "5/ckpt", 60);                      /* an old job, a young checkpoint */
    make("jobs", 7200);
    make("job-notes", 7200);
    make("object-1", 7200);
    struct timespec old[2] = { { .tv_sec = time(NULL) - 7200 }, { .tv_sec = time(NULL) - 7200 } };
    snprintf(path, sizeof path, "%s/job-" HEX "5", dir);
    assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
    snprintf(path, sizeof path, "%s/job-" HEX "4", dir);
    CLEANUP(fd_closep) int held = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(flock(held, LOCK_SH), 0);
    assert_int_equal(work_dir_sweep(dir, 3600), 2);
    assert_false(is_there("job-" HEX "1") || is_there("lease-" HEX "3"));
    assert_true(is_there("job-" HEX "2") && is_there("job-" HEX "4") && is_there("job-" HEX "5") && is_there("jobs") && is_there("job-notes") &&
                is_there("object-1"));
    fd_closep(&held);
    assert_int_equal(work_dir_sweep(dir, 3600), 1);     /* its run has ended */
    assert_int_equal(work_dir_sweep("/nowhere", 0), 0);
    work_dir_remove(dir);
    assert_int_not_equal(access(dir, F_OK), 0);
}

/* A lease's account gets the directory and what is in it, and nothing that an earlier lease tied to it. */
static void an_account_gets_what_is_in_it_and_no_more(void **state)
{
    (void)state;
    char inner[128], file[256], outside[256], linked[256], pointer[256];
    struct stat st;
    uid_t to = geteuid() == 0 ? 65534 : geteuid();
    snprintf(dir, sizeof dir, "/tmp/falaj-work-XXXXXX");
    assert_non_null(mkdtemp(dir));
    make("job-" HEX "1", 60);
    make("job-" HEX "1/ckpt", 60);
    snprintf(inner, sizeof inner, "%s/job-" HEX "1", dir);
    snprintf(file, sizeof file, "%s/ckpt/step", inner);
    snprintf(outside, sizeof outside, "%s/passwords", dir);
    snprintf(linked, sizeof linked, "%s/ckpt/hard", inner);
    snprintf(pointer, sizeof pointer, "%s/ckpt/soft", inner);
    for (const char *const *p = (const char *const[]){ file, outside, NULL }; *p; p++)
        close(open(*p, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    assert_int_equal(link(outside, linked), 0);
    assert_int_equal(symlink(outside, pointer), 0);
    assert_true(work_dir_give(inner, to, (gid_t)to));
    assert_true(stat(file, &st) == 0 && st.st_uid == to);
    assert_true(stat(inner, &st) == 0 && st.st_uid == to);
    assert_true(stat(outside, &st) == 0 && st.st_uid == geteuid());
    assert_false(work_dir_give("/nowhere", to, (gid_t)to));
    work_dir_remove(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_old_and_forgotten_goes),
                                        cmocka_unit_test(an_account_gets_what_is_in_it_and_no_more) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
