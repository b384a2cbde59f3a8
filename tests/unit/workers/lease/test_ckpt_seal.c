/* SPDX-License-Identifier: Apache-2.0 */
/* test_ckpt_seal.c - checkpoints on disk: no plaintext, and nobody but the same job with the same data key opens them. */
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

#include "core/base/cleanup.h"
#include "workers/lease/ckpt_seal.h"
#include "workers/lease/work_dir.h"

static const char *const names[] = { "model", "optim" };
static struct arena *arena;         /* of what was loaded last */
static const char secret[] = "weights of a tenant";

static struct ckpt_seal seal_of(int key, int job)
{
    struct ckpt_seal s;
    struct release_key k = { .key.b = { (uint8_t)key } };
    struct uuid tenant = { { 1 } }, id = { { 2, (uint8_t)job } };
    ckpt_seal_init(&s, &k, tenant, id);
    return s;
}

static int64_t load(const char *dir, int key, int job, struct ckpt *ret)
{
    struct err e = { 0 };
    struct ckpt_seal s = seal_of(key, job);
    const struct ckpt_vault v = ckpt_seal_vault(&s);
    arena_free(arena);
    arena = arena_new(16 << 20);
    assert_int_equal(ckpt_load(&v, arena, dir, names, 2, ret, &e), ERR_OK);
    return ret->step;
}

static void only_the_same_job_opens_it(void **state)
{
    (void)state;
    struct err e = { 0 };
    struct ckpt k;
    char dir[] = "/tmp/falaj-seal-XXXXXX", path[128], raw[4096];
    char *large = calloc(1, 3 << 20);
    assert_non_null(mkdtemp(dir));
    struct ckpt_seal s = seal_of(7, 1);
    const struct ckpt_vault v = ckpt_seal_vault(&s);
    const struct st_pair pairs[] = { { STR("step"), STR("5") } };
    const struct ckpt_file files[] = { { "model", str_c(secret) }, { "optim", str_n(large, 3 << 20) } };
    assert_int_equal(ckpt_save(&v, dir, 5, files, 2, pairs, 1, &e), ERR_OK);
    assert_int_equal(load(dir, 7, 1, &k), 5);
    assert_true(str_eq_c(k.files[0], secret) && k.files[1].len == 3 << 20);
    assert_int_equal(load(dir, 8, 1, &k), -1);          /* another data set's key */
    assert_int_equal(load(dir, 7, 2, &k), -1);          /* another job of the tenant */
    static const char *const all[] = { "model", "state.json" };
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/ckpt-000000000005/%s", dir, all[i]);
        CLEANUP(fd_closep) int fd = open(path, O_RDWR | O_CLOEXEC);
        ssize_t n = read(fd, raw, sizeof raw);
        assert_true(n > 60);
        assert_null(memmem(raw, (size_t)n, i ? "step" : "weights", i ? 4 : 7));
        if (i == 0) {
            raw[n - 1] ^= 1;
            assert_int_equal(pwrite(fd, raw + n - 1, 1, n - 1), 1);
        }
    }
    assert_int_equal(load(dir, 7, 1, &k), -1);          /* one bit */
    work_dir_remove(dir);
    free(large);
    arena_freep(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(only_the_same_job_opens_it) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
