/* SPDX-License-Identifier: Apache-2.0 */
/* test_profile.c - the file of profiles: kept, private, and weaker than environment and flags; a token stays with its URL. */
#include "with_cli.h"
#include <sys/stat.h>
#include <unistd.h>

static char dir[64];

static int setup(void **state)
{
    (void)state;
    snprintf(dir, sizeof(dir), "/tmp/falaj-test-XXXXXX");
    unsetenv("FALAJ_URL");
    unsetenv("FALAJ_TOKEN");
    unsetenv("FALAJ_PROFILE");
    return mkdtemp(dir) && setenv("FALAJ_CONFIG_DIR", dir, 1) == 0 ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    char path[128];
    snprintf(path, sizeof(path), "%s/config", dir);
    unlink(path);
    return rmdir(dir);
}

static void fill(struct arena *a)
{
    struct err e;
    struct profile_file *f = ARENA_NEW(a, struct profile_file);
    assert_int_equal(profile_file_load(a, f, &e), ERR_OK);
    assert_int_equal(f->count, 0);
    assert_int_equal(profile_put(f, "one", "http://one", "flj_1", &e), ERR_OK);
    assert_int_equal(profile_put(f, "two", "http://two", "flj_2", &e), ERR_OK);
    assert_int_equal(profile_put(f, "no good", "x", "y", &e), ERR_INVALID);
    f->current = "two";
    assert_int_equal(profile_file_save(a, f, &e), ERR_OK);
}

static void kept_and_private(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 20);
    struct err e;
    struct stat st;
    fill(a);
    struct profile_file *f = ARENA_NEW(a, struct profile_file);
    assert_int_equal(profile_file_load(a, f, &e), ERR_OK);
    assert_int_equal(stat(f->path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(f->count, 2);
    assert_string_equal(f->current, "two");
    assert_string_equal(profile_find(f, "one")->token, "flj_1");
    profile_drop(f, "two");
    assert_string_equal(f->current, "one");
    assert_null(profile_find(f, "two"));
    arena_free(a);
}

static void the_stronger_wins(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 20);
    struct err e;
    struct profile p;
    fill(a);
    assert_int_equal(profile_resolve(a, NULL, NULL, NULL, &p, &e), ERR_OK);
    assert_string_equal(p.url, "http://two");
    assert_string_equal(p.token, "flj_2");
    assert_int_equal(profile_resolve(a, "one", NULL, NULL, &p, &e), ERR_OK);
    assert_string_equal(p.token, "flj_1");
    setenv("FALAJ_TOKEN", "flj_env", 1);
    assert_int_equal(profile_resolve(a, "one", NULL, NULL, &p, &e), ERR_OK);
    assert_string_equal(p.token, "flj_env");
    unsetenv("FALAJ_TOKEN");
    assert_int_equal(profile_resolve(a, "three", NULL, NULL, &p, &e), ERR_INVALID);
    arena_free(a);
}

static void a_token_goes_to_its_own_url_only(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 20);
    struct err e;
    struct profile p;
    fill(a);
    assert_int_equal(profile_resolve(a, NULL, "http://evil", NULL, &p, &e), ERR_OK);
    assert_string_equal(p.url, "http://evil");
    assert_null(p.token);
    setenv("FALAJ_URL", "http://elsewhere", 1);
    assert_int_equal(profile_resolve(a, NULL, NULL, NULL, &p, &e), ERR_OK);
    assert_string_equal(p.url, "http://elsewhere");
    assert_null(p.token);
    unsetenv("FALAJ_URL");
    arena_free(a);
}

static void a_broken_file_names_its_line(void **state)
{
    (void)state;
    struct arena *a = arena_new(1 << 20);
    struct err e = { 0 };
    char path[128];
    snprintf(path, sizeof(path), "%s/config", dir);
    FILE *out = fopen(path, "w");
    fputs("current = x\n[x]\nulr = http://x\n", out);
    fclose(out);
    struct profile_file *f = ARENA_NEW(a, struct profile_file);
    assert_int_equal(profile_file_load(a, f, &e), ERR_INVALID);
    assert_non_null(strstr(e.msg, ":3: unknown setting 'ulr'"));
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(kept_and_private, setup, teardown),
        cmocka_unit_test_setup_teardown(the_stronger_wins, setup, teardown),
        cmocka_unit_test_setup_teardown(a_token_goes_to_its_own_url_only, setup, teardown),
        cmocka_unit_test_setup_teardown(a_broken_file_names_its_line, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
