/* SPDX-License-Identifier: Apache-2.0 */
/* test_child.c - children are fed, read and complained about; what they are given of a password stands in no argument. */
#include "tests/unit/backup/fixture.h"
#include "backup/child.h"

static void it_is_fed_and_read(void **state)
{
    (void)state;
    struct child c;
    char got[16] = "";
    const char *argv[] = { "tr", "a-z", "A-Z", NULL };
    OK(child_start(fx_arena, argv, &(struct child_opts){ .has_in = true, .has_out = true }, &c, &e));
    OK(write_all(c.in, "falaj", 5, &e));
    fd_closep(&c.in);
    assert_int_equal(read(c.out, got, sizeof got), 5);
    assert_string_equal(got, "FALAJ");
    OK(child_wait(&c, &e));
}

static void a_bad_end_says_what_was_said(void **state)
{
    (void)state;
    const char *argv[] = { "sh", "-c", "echo the first line >&2; echo a clear reason >&2; exit 3", NULL };
    FAILS(child_run(fx_arena, argv, &(struct child_opts){ 0 }, &e), UNAVAILABLE, "sh failed");
    assert_non_null(strstr(e.detail, "a clear reason"));
    const char *none[] = { "/nonexistent/pg_dump", NULL };
    FAILS(child_run(fx_arena, none, &(struct child_opts){ 0 }, &e), UNAVAILABLE, "pg_dump failed");
    assert_non_null(strstr(e.detail, "cannot be run"));
}

/* The words come as a service file, which libpq reads; neither arguments nor environment have them. */
static void passwords_stand_in_no_argument(void **state)
{
    (void)state;
    struct child c;
    char got[4096] = "";
    size_t have = 0;
    ssize_t n;
    const char *argv[] = { "sh", "-c",
                          "cat $PGSERVICEFILE; echo ==; tr '\\0' '\\n' </proc/self/environ; tr '\\0' '\\n' </proc/self/cmdline",
    NULL };
    OK(child_start(fx_arena, argv, &(struct child_opts){ .words = "host=/x dbname=falaj password=heron", .has_out = true }, &c,
                   &e));
    while ((n = read(c.out, got + have, sizeof got - 1 - have)) > 0)
        have += (size_t)n;
    OK(child_wait(&c, &e));
    char *rest = strstr(got, "==\n");
    assert_non_null(rest);
    assert_non_null(strstr(rest, "PGSERVICE=falaj"));
    assert_null(strstr(rest, "heron"));
    assert_true(strncmp(got, "[falaj]\nhost=/x\ndbname=falaj\npassword=heron\n", 44) == 0);
    FAILS(child_run(fx_arena, argv, &(struct child_opts){ .words = "postgresql://x/y" }, &e), INVALID, "words");
    FAILS(child_run(fx_arena, argv, &(struct child_opts){ .words = "password='a b'" }, &e), INVALID, "words");
}

/* Nothing of ours is open in a child but its three descriptors. */
static void it_inherits_nothing_else(void **state)
{
    (void)state;
    const char *argv[] = { "sh", "-c", "ls -l /proc/$$/fd >&2; ! ls -l /proc/$$/fd | grep -q ours", NULL };
    int ours = open(fx_path("ours"), O_RDONLY | O_CREAT, 0600);     /* not close-on-exec */
    OK(child_run(fx_arena, argv, &(struct child_opts){ 0 }, &e));
    close(ours);
}

static void it_can_be_ended(void **state)
{
    (void)state;
    struct child c;
    const char *argv[] = { "sleep", "1000", NULL };
    OK(child_start(fx_arena, argv, &(struct child_opts){ 0 }, &c, &e));
    child_stop(&c);
    assert_int_equal(c.pid, 0);
    child_stop(&c);
}

static void accounts_are_found_by_root_alone(void **state)
{
    (void)state;
    struct account a;
    OK(account_find("", &a, &e));
    assert_false(a.is_set);
    if (geteuid() != 0) {
        OK(account_find("nobody", &a, &e));
        assert_false(a.is_set);
        return;
    }
    FAILS(account_find("no-such-account", &a, &e), NOT_FOUND, "no account");
    OK(account_find("nobody", &a, &e));
    account_enter(&a);
    assert_int_not_equal(geteuid(), 0);
    account_leave(&a);
    assert_int_equal(geteuid(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_fed_and_read), cmocka_unit_test(a_bad_end_says_what_was_said),
            cmocka_unit_test(passwords_stand_in_no_argument),
        cmocka_unit_test(it_inherits_nothing_else), cmocka_unit_test(it_can_be_ended),
            cmocka_unit_test(accounts_are_found_by_root_alone),
    };
    return cmocka_run_group_tests_name("backup_child", tests, fx_setup, fx_teardown);
}
