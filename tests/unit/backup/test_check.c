/* SPDX-License-Identifier: Apache-2.0 */
/* test_check.c - each kind of damage is named and counted; prune takes what no kept backup has, and nothing else. */
#include "backup/check.h"
#include "core/table/config.h"
#include "tests/unit/backup/kit.h"

static struct config *cfg;

static struct backup begin(void)
{
    return (struct backup){ .cfg = cfg, .arena = fx_arena, .repo = kit_repo,
                           .report = { .as_json = true, .rows = BUF(1 << 16) } };
}

/* Failures of the pool, after check_files said `rc`. */
static size_t look(enum errc rc, const char *word)
{
    struct backup b = begin();
    struct set s;
    OK(set_read(fx_arena, &kit_repo, STR_NULL, kit_key.signer, &s, &e));
    assert_int_equal(check_files(&b, &s, &kit_key, &e), rc);
    if (rc != ERR_OK && !strstr(e.msg, word))
        fail_msg("\"%s\" does not say %s", e.msg, word);
    b.report.failures = 0;
    OK(check_pool(&b, &s, &e));
    size_t failures = b.report.failures;
    buf_release(&b.report.rows);
    return failures;
}

static const char *pool_file(int i)
{
    char text[32];
    uint8_t sum[32];
    sha256(text, (size_t)snprintf(text, sizeof text, "object %d", i), sum);
    return repo_pool_path(fx_arena, &kit_repo, sum);
}

static void damage_is_named(void **state)
{
    (void)state;
    kit_make("checked");
    assert_int_equal(look(ERR_OK, ""), 0);
    flip(pool_file(1), 2);
    assert_int_equal(look(ERR_OK, ""), 2);          /* the object, and the sum; reading alone shows it */
    flip(pool_file(1), 2);
    assert_int_equal(truncate(pool_file(1), 3), 0);
    assert_int_equal(look(ERR_DAMAGED, "missing from the pool or cut"), 2);
    unlink(pool_file(1));
    unlink(pool_file(3));
    assert_int_equal(look(ERR_DAMAGED, "2 objects"), 3);
    flip(kit_path("files.fbk"), 200);
    (void)look(ERR_DAMAGED, "files.fbk was changed");
    unlink(kit_path("files.fbk"));
    (void)look(ERR_NOT_FOUND, "missing");
}

static void the_wrong_key_is_told(void **state)
{
    (void)state;
    kit_make("keyed");
    kit_key.secret.b[5] ^= 4;
    (void)look(ERR_FORBIDDEN, "not the recovery key");
}

static void pruning_keeps_what_is_needed(void **state)
{
    (void)state;
    kit_make("pruned");
    struct backup b = begin();
    FAILS(backup_prune(&b, &e), INVALID, "--keep");
    OK(file_put(arena_printf(fx_arena, "%.*s/%s", (int)(strlen(pool_file(1)) - 65), pool_file(1), "left.tmp"), STR("x"), &e));
    b.keep = 1;
    OK(backup_prune(&b, &e));
    assert_int_equal(access(pool_file(1), F_OK), 0);
    assert_int_equal(access(pool_file(3), F_OK), 0);
    assert_int_equal(access(arena_printf(fx_arena, "%.*s/%s", (int)(strlen(pool_file(1)) - 65), pool_file(1), "left.tmp"),
                            F_OK), -1);
    repo_close(&b.repo);
    buf_release(&b.report.rows);
    b = begin();
    b.keep = 1;
    flip(kit_path("manifest.json"), 40);            /* what a kept set names is not known: nothing is removed */
    FAILS(backup_prune(&b, &e), DAMAGED, "not signed");
    assert_int_equal(access(pool_file(1), F_OK), 0);
    repo_close(&b.repo);
    buf_release(&b.report.rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(damage_is_named), cmocka_unit_test(the_wrong_key_is_told),
                                        cmocka_unit_test(pruning_keeps_what_is_needed) };
    cfg = config_new_default();
    int failed = cmocka_run_group_tests_name("backup_check", tests, fx_setup, fx_teardown);
    config_free(cfg);
    return failed;
}
