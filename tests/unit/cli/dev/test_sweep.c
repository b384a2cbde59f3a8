/* SPDX-License-Identifier: Apache-2.0 */
/* test_sweep.c - the next start removes what a killed ephemeral run left, and nothing of a live one, a named one or another kind. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "with_cli.h"
#include "cli/dev/process.h"

static const char *make(struct arena *a, const char *base, const char *name)
{
    const char *path = arena_printf(a, "%s/%s", base, name);
    assert_int_equal(mkdir(path, 0700), 0);
    return path;
}

static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static const char *make_data(struct arena *a, const char *base, const char *name)
{
    const char *data = make(a, base, name);
    put(arena_printf(a, "%s/.falaj-dev", data), "mark\n");
    return data;
}

static void only_dead_ephemeral_runs_are_swept(void **state)
{
    (void)state;
    struct with_cli w;
    struct err e = { 0 };
    char base[] = "/tmp/falaj-test-sweep-XXXXXX";
    with_cli_init(&w);
    struct arena *a = w.c.arena;
    assert_non_null(mkdtemp(base));
    const char *dead_data = make_data(a, base, "falaj-dev-abc123"), *named_data = make_data(a, base, "farm"), *live_data = make_data(a, base, "falaj-dev-live01");
    const char *dead = make(a, base, "falaj-00000000aaaa"), *named = make(a, base, "falaj-00000000bbbb"), *live = make(a, base, "falaj-00000000cccc");
    const char *gone = make(a, base, "falaj-00000000dddd"), *other = make(a, base, "falaj-00000000eeee"), *mine = make(a, base, "falaj-00000000ffff");
    put(arena_printf(a, "%s/owner", dead), arena_printf(a, "%ld 1 %s\n", (long)getpid(), dead_data));     /* our pid, but not our start time */
    put(arena_printf(a, "%s/owner", named), arena_printf(a, "%ld 1 %s\n", (long)getpid(), named_data));
    put(arena_printf(a, "%s/owner", gone), arena_printf(a, "%ld 1 %s/nothing\n", (long)getpid(), base));
    struct dev d = { .c = &w.c, .arena = a, .data = live_data, .run = live, .lock_fd = -1 };
    assert_int_equal(sweep_claim(&d, &e), ERR_OK);
    d.run = mine;
    sweep_dead(&d);
    assert_int_not_equal(access(dead, F_OK), 0);
    assert_int_not_equal(access(dead_data, F_OK), 0);
    assert_int_not_equal(access(gone, F_OK), 0);
    assert_int_equal(access(named, F_OK), 0);
    assert_int_equal(access(named_data, F_OK), 0);
    assert_int_equal(access(live, F_OK), 0);
    assert_int_equal(access(live_data, F_OK), 0);
    assert_int_equal(access(other, F_OK), 0);
    assert_int_equal(access(mine, F_OK), 0);
    files_remove_tree(base);
    with_cli_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(only_dead_ephemeral_runs_are_swept) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
