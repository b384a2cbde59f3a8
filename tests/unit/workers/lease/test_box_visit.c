/* SPDX-License-Identifier: Apache-2.0 */
/* test_box_visit.c - what a visitor sees and may do is what the program sees and may do. */
#include "inside_kit.h"

static void it_is_where_the_program_is_with_the_programs_rights(void **state)
{
    (void)state;
    struct inside_kit k;
    inside_kit_start(&k, "echo mark >/falaj/scratch/m; sleep 600", ",\"env\":[\"COLOUR=blue\"]");
    static const char script[] =
        "while [ ! -s /falaj/scratch/m ]; do sleep 0.1; done; cat /falaj/scratch/m; id -u; echo $COLOUR; hostname; pwd;"
        "for n in user mnt pid net ipc uts cgroup; do "
        "[ $(readlink /proc/self/ns/$n) = $(readlink /proc/1/ns/$n) ] && echo $n; done;"
        "grep -E '^(CapEff|CapPrm|CapBnd|CapInh|CapAmb|NoNewPrivs|Seccomp):' /proc/self/status | tr -d '\\t';"
        "ls /proc/self/fd | wc -l";
    char ask[2048];
    struct buf b = BUF(sizeof ask - 1);
    buf_add_c(&b, "{\"kind\":\"exec\",\"command\":[\"sh\",\"-c\",");
    buf_add_json(&b, str_c(script));
    buf_add_c(&b, "]}");
    snprintf(ask, sizeof ask, "%.*s", (int)b.len, b.ptr);
    buf_release(&b);
    const struct inside_said s = inside_kit_run(&k, ask, "");
    assert_string_equal(s.err, "");
    assert_string_equal(s.out, "mark\n1000\nblue\nfalaj\n/falaj/scratch\nuser\nmnt\npid\nnet\nipc\nuts\ncgroup\n"
                        "CapInh:0000000000000000\nCapPrm:0000000000000000\nCapEff:0000000000000000\nCapBnd:0000000000000000\n"
                        "CapAmb:0000000000000000\nNoNewPrivs:1\nSeccomp:2\n4\n");
    inside_kit_end(&k);
}

static void a_command_that_is_not_there_says_so(void **state)
{
    (void)state;
    struct inside_kit k;
    inside_kit_start(&k, "sleep 600", "");
    struct inside_said s = inside_kit_run(&k, "{\"kind\":\"exec\",\"command\":[\"pyhton3\"]}", "");
    assert_int_equal(s.exit_code, 127);
    assert_string_equal(s.err, "falaj: pyhton3: No such file or directory\r\n");
    s = inside_kit_run(&k, "{\"kind\":\"exec\",\"command\":[\"sh\",\"-c\",\"kill -9 $$\"]}", "");
    assert_int_equal(s.exit_code, 128 + 9);
    inside_kit_end(&k);
}

static void a_shell_has_a_terminal_of_its_size(void **state)
{
    (void)state;
    struct inside_kit k;
    inside_kit_start(&k, "sleep 600", "");
    const struct inside_said s = inside_kit_run(&k, "{\"kind\":\"shell\",\"cols\":100,\"rows\":30,\"term\":\"vt100\"}",
                                                "stty size; echo $TERM; tty; exit 3\n");
    assert_non_null(strstr(s.out, "30 100"));
    assert_non_null(strstr(s.out, "vt100"));
    assert_non_null(strstr(s.out, "/dev/pts/"));
    assert_int_equal(s.exit_code, 3);
    inside_kit_end(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_where_the_program_is_with_the_programs_rights),
        cmocka_unit_test(a_command_that_is_not_there_says_so),
        cmocka_unit_test(a_shell_has_a_terminal_of_its_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
