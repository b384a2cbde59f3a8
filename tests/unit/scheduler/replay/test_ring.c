/* SPDX-License-Identifier: Apache-2.0 */
/* test_ring.c - how many files and bytes stay, that numbers go on after a start, that strangers' files are left alone, and what
 * happens where nothing can be written. */
#include "world.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scheduler/replay/replay.h"
#include "scheduler/replay/ring.h"

static char folder[] = "/tmp/ring_test_XXXXXX";

static struct cycle_ring *ring_of(int64_t files, int64_t bytes)
{
    struct cycle_ring *r = NULL;
    struct err e = { 0 };
    const struct cycle_ring_opts o = { folder, files, bytes };
    if (cycle_ring_new(&o, &r, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    return r;
}

/* Cycles of the world through the ring; it has written them all when this is over. */
static void keep(struct cycle_ring *ring, struct world *w, int n)
{
    for (int i = 0; i < n; i++) {
        struct arena *a = arena_new((size_t)256 << 20);
        struct holders h;
        struct plan p;
        struct preemption x;
        int of[W_JOBS];
        world_pass_time(w);
        struct snapshot s = world_picture(w, a, &h, of);
        claims_end(&w->claims, w->now);
        cycle_ring_inputs(ring, CYCLE_EXPLAINS, 512, w->now, &s, a);
        placement_plan(&s, a, &p);
        cycle_ring_plan(ring, &s, &p, a);
        cycle_ring_holders(ring, h, w->now);
        preempt_plan(&s, &p, h, &w->claims, w->now, a, &x);
        cycle_ring_choice(ring, &s, &p, h, &x, &w->claims, a);
        cycle_ring_keep(ring);
        cycle_ring_keep(ring);          /* of nothing */
        world_apply(w, &s, &p, &x, h, of);
        arena_free(a);
    }
    cycle_ring_free(ring);
}

/* How many files, their bytes, the least and the greatest number. */
static int look(int64_t *bytes, long *least, long *most)
{
    int n = 0;
    DIR *d = opendir(folder);
    *bytes = *most = 0;
    *least = INT32_MAX;
    for (struct dirent *x = readdir(d); x; x = readdir(d)) {
        struct stat st;
        long number;
        if (sscanf(x->d_name, "cycle-%12ld-", &number) != 1)
            continue;
        assert_int_equal(fstatat(dirfd(d), x->d_name, &st, 0), 0);
        assert_int_equal(st.st_mode & 0777, 0600);
        n++;
        *bytes += st.st_size;
        *least = number < *least ? number : *least;
        *most = number > *most ? number : *most;
    }
    closedir(d);
    return n;
}

static void replay_all(void)
{
    DIR *d = opendir(folder);
    for (struct dirent *x = readdir(d); x; x = readdir(d)) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, x->d_name);
        char *argv[] = { (char *)(uintptr_t)"replay", path, NULL };
        if (strncmp(x->d_name, "cycle-", 6) == 0)
            assert_int_equal(replay_main(2, argv), 0);
    }
    closedir(d);
}

static void test_bounds(void **state)
{
    (void)state;
    struct world w;
    int64_t bytes, all;
    long least, most;
    char stranger[256];
    world_begin(&w, 4);
    snprintf(stranger, sizeof stranger, "%s/%s", folder, "notes.txt");
    fclose(fopen(stranger, "w"));
    for (int i = 0; i < 6; i++)                 /* one at a time, so that the writer keeps up */
        keep(ring_of(5, 1 << 20), &w, 1);
    assert_int_equal(look(&bytes, &least, &most), 5);
    assert_true(least == 2 && most == 6);
    replay_all();
    keep(ring_of(3, 1 << 20), &w, 1);           /* a lower limit holds from the start */
    assert_int_equal(look(&bytes, &least, &most), 3);
    assert_true(least == 5 && most == 7);
    all = bytes;
    keep(ring_of(1000, all), &w, 1);            /* so many bytes */
    assert_true(look(&bytes, &least, &most) <= 4 && bytes <= all && most == 8);
    keep(ring_of(1000, 64), &w, 1);             /* one that needs more alone is lost, and the rest gave way before */
    assert_int_equal(look(&bytes, &least, &most), 0);
    assert_int_equal(access(stranger, F_OK), 0);
    unlink(stranger);
    world_end(&w);
}

/* A writer that is slow costs cycles and no time: what it cannot take is lost, what is there is whole. */
static void test_flood(void **state)
{
    (void)state;
    struct world w;
    int64_t bytes;
    long least, most;
    world_begin(&w, 6);
    keep(ring_of(1000, 1 << 26), &w, 100);
    const int n = look(&bytes, &least, &most);
    assert_true(n > 0 && n <= 100);
    replay_all();
    world_end(&w);
}

static void test_no_folder(void **state)
{
    (void)state;
    struct cycle_ring *r = NULL;
    struct err e = { 0 };
    const struct cycle_ring_opts o = { "/proc/none/there", 1, 1 << 20 };
    assert_int_equal(cycle_ring_new(&o, &r, &e), ERR_INVALID);
    assert_non_null(strstr(e.msg, "scheduler.cycles_dir: /proc/none/there"));
    cycle_ring_inputs(NULL, CYCLE_QUICK, 1, 0, NULL, NULL);
    cycle_ring_keep(NULL);
    cycle_ring_free(NULL);
}

static int begin(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    DIR *d = opendir(folder);
    for (struct dirent *x = readdir(d); x; x = readdir(d))
        if (x->d_name[0] != '.')
            unlinkat(dirfd(d), x->d_name, 0);
    closedir(d);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_bounds), cmocka_unit_test(test_flood),
        cmocka_unit_test(test_no_folder) };
    return cmocka_run_group_tests(tests, begin, end);
}
