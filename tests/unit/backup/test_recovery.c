/* SPDX-License-Identifier: Apache-2.0 */
/* test_recovery.c - the two secret files: what was written is read, nothing is written over, and junk is refused. */
#include "tests/unit/backup/fixture.h"
#include "backup/recovery.h"

static void what_is_made_is_read(void **state)
{
    (void)state;
    struct recovery r;
    struct secret32 seed;
    uint8_t recovery[X25519_BYTES], signer[ED25519_PUBLIC], is[32];
    struct stat st;
    OK(recovery_make(fx_path("recovery"), fx_path("signing"), recovery, signer, &e));
    OK(recovery_read(fx_path("recovery"), &r, &e));
    OK(x25519_public(&r.secret, is, &e));
    assert_memory_equal(is, recovery, sizeof is);
    assert_memory_equal(r.signer, signer, sizeof signer);
    OK(signing_read(fx_path("signing"), &seed, &e));
    OK(ed25519_public(&seed, is, &e));
    assert_memory_equal(is, signer, sizeof is);
    assert_int_equal(stat(fx_path("recovery"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    FAILS(recovery_make(fx_path("recovery"), fx_path("signing2"), recovery, signer, &e), INVALID, "there already");
    OK(recovery_read(fx_path("recovery"), &r, &e));
}

static void junk_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = { "", "recovery 00\n", "signer 00\n", "# nothing\n", "what is this\n",
                                       "recovery 0000000000000000000000000000000000000000000000000000000000000000\n" };
    struct recovery r;
    struct secret32 seed;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *path = fx_path(arena_printf(fx_arena, "bad%zu", i));
        OK(file_put(path, str_c(bad[i]), &e));
        FAILS(recovery_read(path, &r, &e), INVALID, "no recovery file");
        FAILS(signing_read(path, &seed, &e), INVALID, "no signing key");
    }
    FAILS(recovery_read(fx_path("absent"), &r, &e), NOT_FOUND, "missing");
    FAILS(signing_read("", &seed, &e), INVALID, "names no file");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(what_is_made_is_read), cmocka_unit_test(junk_is_refused) };
    return cmocka_run_group_tests_name("backup_recovery", tests, fx_setup, fx_teardown);
}
