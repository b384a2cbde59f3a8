/* SPDX-License-Identifier: Apache-2.0 */
/* test_table.c - every row of the table is complete, and help, completion and man pages come from all of them. */
#include "with_cli.h"
#include <unistd.h>

static bool flag_known(const struct command *cmd, struct str name)
{
    if (name.len > 1 && name.ptr[0] == '\'')
        return true;
    if (name.len == 2 && name.ptr[0] == '@')
        return name.ptr[1] - '0' < cmd->max;
    for (const struct cli_flag *f = cmd->flags; f && f->name; f++) {
        if (str_eq_c(name, f->name))
            return true;
    }
    return false;
}

/* A switch has no text of its own: its member is ? (true), and only that. */
static void check_switch(const struct command *cmd, struct str member, struct str source)
{
    for (const struct cli_flag *f = cmd->flags; f && f->name; f++) {
        if (str_eq_c(source, f->name) && !f->arg && member.ptr[0] != '?')
            fail_msg("%s %s: the switch --%s gives no text for %.*s", cmd->group ? cmd->group : "", cmd->name, f->name,
                     STR_ARG(member));
    }
}

static void check_sources(const struct command *cmd, const char *spec)
{
    struct str rest = str_c(spec), word, member, source;
    for (bool more = spec && *spec; more;) {
        more = str_cut(rest, ' ', &word, &rest);
        assert_true(str_cut(word, '=', &member, &source));
        check_switch(cmd, member, source);
        if (member.ptr[0] == '&' && !noun_by_id(str_n(member.ptr + 1, member.len - 1)))
            fail_msg("%s: names of %.*s are looked up nowhere", cmd->name, STR_ARG(member));
        if (!flag_known(cmd, source))
            fail_msg("%s %s: no flag or argument %.*s", cmd->group ? cmd->group : "", cmd->name, STR_ARG(source));
    }
}

static void rows_are_complete(void **state)
{
    (void)state;
    for (size_t i = 0; i < command_count; i++) {
        const struct command *cmd = &command_table[i];
        assert_non_null(cmd->run);
        assert_true(strlen(cmd->doc) > 5 && cmd->doc[strlen(cmd->doc) - 1] != '.');
        assert_true(cmd->min <= cmd->max && cmd->max <= CLI_ARGS_MAX);
        assert_true((cmd->max == 0) == (*cmd->args == '\0'));
        assert_ptr_equal(command_find(cmd->group, cmd->name), cmd);
        check_sources(cmd, cmd->body);
        check_sources(cmd, cmd->query);
        if (cmd->run == run_rest) {
            assert_non_null(cmd->method);
            assert_true(cmd->path[0] == '/');
            assert_non_null(cmd->columns);
            assert_true(!(cmd->how & CMD_LIST) || flag_known(cmd, STR("limit")));
        }
    }
}

static void states_of_jobs_are_those_of_the_api(void **state)
{
    (void)state;
    static const char states[] = ""
#define STATE(NAME, terminal, group, doc) "|" #NAME
#include "scheduler/jobs/job_state.def"
#undef STATE
        ;
    for (const struct cli_flag *f = command_find("job", "list")->flags; f->name; f++)
        if (strcmp(f->name, "state") == 0) {
            assert_non_null(f->values);
            assert_string_equal(f->values, states + 1);
            return;
        }
    fail_msg("job list has no flag --state");
}

static void groups_are_described(void **state)
{
    (void)state;
    for (size_t i = 0; i < command_count; i++) {
        bool found = !command_table[i].group;
        for (const struct command_group *g = command_groups; g->name; g++)
            found = found || strcmp(g->name, command_table[i].group) == 0;
        assert_true(found);
    }
}

static void completion_names_everything(void **state)
{
    (void)state;
    static const char *const shells[] = { "bash", "zsh", "fish" };
    for (int s = 0; s < 3; s++) {
        struct with_cli w;
        with_cli_init(&w);
        w.c.args[w.c.nargs++] = shells[s];
        assert_int_equal(cmd_completion(&w.c), CLI_OK);
        for (size_t i = 0; i < command_count; i++)
            assert_non_null(strstr(with_cli_out(&w), command_table[i].name));
        assert_non_null(strstr(w.out, "__complete"));
        assert_non_null(strstr(w.out, "json-ready"));
        with_cli_release(&w);
    }
    struct with_cli w;
    with_cli_init(&w);
    w.c.args[w.c.nargs++] = "tcsh";
    assert_int_equal(cmd_completion(&w.c), CLI_USAGE);
    with_cli_release(&w);
}

static void bash_takes_the_script(void **state)
{
    (void)state;
    char path[] = "/tmp/falaj-test-XXXXXX";
    int fd = mkstemp(path);
    struct with_cli w;
    with_cli_init(&w);
    w.c.args[w.c.nargs++] = "bash";
    assert_int_equal(cmd_completion(&w.c), CLI_OK);
    const char *text = with_cli_out(&w);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    char command[512];
    snprintf(command, sizeof(command), "bash -c 'source %s; COMP_WORDS=(falaj job sub); COMP_CWORD=2; _falaj; [[ ${COMPREPLY[*]} == submit ]]'", path);
    assert_int_equal(system(command), 0);
    unlink(path);
    with_cli_release(&w);
}

static void pages_are_roff(void **state)
{
    (void)state;
    struct with_cli w;
    with_cli_init(&w);
    for (size_t i = 0; i < command_count; i++)
        man_command(w.c.out, &command_table[i]);
    const char *text = with_cli_out(&w);
    assert_non_null(strstr(text, ".TH \"falaj-job-submit\" 1"));
    assert_non_null(strstr(text, ".SH EXIT STATUS"));
    with_cli_release(&w);
}

static void help_shows_every_command(void **state)
{
    (void)state;
    struct with_cli w;
    with_cli_init(&w);
    help_top(w.c.out);
    for (size_t i = 0; i < command_count; i++)
        help_command(w.c.out, &command_table[i]);
    assert_non_null(strstr(with_cli_out(&w), "Usage: falaj audit verify BUNDLE [FLAGS]"));
    help_exit_codes(w.c.out);
    assert_non_null(strstr(with_cli_out(&w), "   2  Of 'audit verify'"));
    with_cli_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_complete),     cmocka_unit_test(groups_are_described),
        cmocka_unit_test(states_of_jobs_are_those_of_the_api), cmocka_unit_test(completion_names_everything),
        cmocka_unit_test(bash_takes_the_script), cmocka_unit_test(pages_are_roff),       cmocka_unit_test(help_shows_every_command),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
