/* SPDX-License-Identifier: Apache-2.0 */
/* test_ckpt.c - the newest whole checkpoint wins; a damaged one is passed over; two are kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/cleanup.h"
#include "workers/compute/train/ckpt.h"

static void write_byte(const char *path, const char *mode, int byte)
{
    FILE *f = fopen(path, mode);
    assert_non_null(f);
    fputc(byte, f);
    fclose(f);
}

static void test_ckpt(void **st)
{
    (void)st;
    struct err e;
    struct ckpt k;
    char dir[] = "/tmp/falaj-ckpt-XXXXXX", path[128], text[8];
    static const char *const names[] = { "a", "b" };
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    assert_non_null(mkdtemp(dir));
    assert_int_equal(ckpt_load(NULL, a, dir, names, 2, &k, &e), ERR_OK);
    assert_int_equal(k.step, -1);
    for (int step = 1; step <= 4; step++) {
        snprintf(text, sizeof text, "s%d", step);
        const struct ckpt_file files[] = { { "a", str_c(text) }, { "b", STR("") } };
        const struct st_pair state[] = { { STR("step"), str_c(text) } };
        assert_int_equal(ckpt_save(NULL, dir, step, files, 2, state, 1, &e), ERR_OK);
    }
    assert_int_equal(ckpt_load(NULL, a, dir, names, 2, &k, &e), ERR_OK);
    assert_true(k.step == 4 && str_eq_c(k.files[0], "s4") && k.files[1].len == 0 && str_eq_c(st_pair_get(k.state, k.state_count, "step"), "s4"));
    snprintf(path, sizeof path, "%s/ckpt-%012d", dir, 2);
    assert_int_not_equal(access(path, F_OK), 0);        /* only the two newest stay */
    snprintf(path, sizeof path, "%s/ckpt-%012d/a", dir, 4);
    write_byte(path, "r+e", 'x');
    assert_int_equal(ckpt_load(NULL, a, dir, names, 2, &k, &e), ERR_OK);
    assert_int_equal(k.step, 3);
    snprintf(path, sizeof path, "%s/ckpt-%012d/state.json", dir, 3);
    write_byte(path, "we", '{');
    assert_int_equal(ckpt_load(NULL, a, dir, names, 2, &k, &e), ERR_OK);
    assert_int_equal(k.step, -1);
    assert_int_equal(ckpt_load(NULL, a, "/nowhere", names, 2, &k, &e), ERR_IO);
    ckpt_clear("/nowhere");
    ckpt_clear(dir);
    assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ckpt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
