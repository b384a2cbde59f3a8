/* SPDX-License-Identifier: Apache-2.0 */
/* test_simulate.c - the command: what it writes, and that every wrong option ends with 2. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "scheduler/simulate/simulate.h"
#include "tests/unit/scheduler/simulate/trace_files.h"

static int run(const struct files *f, int n, const char *const *more)
{
    char *argv[24] = { "simulate", "--nodes", (char *)f->nodes, "--tasks", (char *)f->tasks };
    int argc = 5;
    for (int i = 0; i < n; i++)
        argv[argc++] = (char *)more[i];
    return simulate_main(argc, argv);
}

static void writes_a_line_for_each_task_placed(void **state)
{
    (void)state;
    struct files f;
    char text[256] = "";
    files_init(&f);
    files_write(f.tasks, "name,cpu_milli,memory_mib,num_gpu,gpu_milli\n"
                         "x,8000,1,0,0\ny,1,1,2,1000\nz,1,1,1,300\nw,9000,1,0,0\nv,0,1,2,1000\n");
    assert_int_equal(run(&f, 4, (const char *[]){ "--policy=bestfit", "--in-order", "--placements", f.out }), 0);
    FILE *in = fopen(f.out, "rb");
    assert_non_null(in);
    assert_true(fread(text, 1, sizeof text - 1, in) > 0);
    fclose(in);
    assert_string_equal(text, "task_index,node,gpu_indices,gpu_milli\n0,b,,0\n1,a,0;1,1000\n");
    files_release(&f);
}

static void every_wrong_option_ends_with_two(void **state)
{
    (void)state;
    static const char *const bad[][3] = {
        { "--policy", "best" }, { "--policy" }, { "--policy=fgd", "--seed", "x" }, { "--policy=fgd", "--inflate", "1.3" },
        { "--policy=fgd", "--seed=1", "--inflate=0" }, { "--policy=fgd", "--seed=1", "--inflate=1.3333" },
        { "--policy=fgd", "--in-order", "--seed=1" }, { "--policy=fgd", "--timed", "--seed=1" }, { "--policy=fgd", "--timed" },
        { "--policy=fgd", "--policy=fgd" }, { "--policy=fgd", "--in-order=1" }, { "--policies=fgd" }, { "fgd" }, { NULL },
    };
    struct files f;
    files_init(&f);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int n = 0;
        while (n < 3 && bad[i][n])
            n++;
        assert_int_equal(run(&f, n, bad[i]), 2);
    }
    files_write(f.nodes, "sn\n");
    assert_int_equal(run(&f, 1, (const char *[]){ "--policy=fgd" }), 2);
    files_release(&f);
    assert_int_equal(run(&f, 1, (const char *[]){ "--policy=fgd" }), 2);     /* no such file */
}

static void an_answer_that_cannot_be_written_ends_with_one(void **state)
{
    (void)state;
    struct files f;
    files_init(&f);
    assert_int_equal(run(&f, 3, (const char *[]){ "--policy=fgd", "--placements", "/dev/full" }), 1);
    assert_int_equal(run(&f, 3, (const char *[]){ "--policy=fgd", "--placements", "/no/such/folder/out.csv" }), 1);
    files_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_a_line_for_each_task_placed),
        cmocka_unit_test(every_wrong_option_ends_with_two),
        cmocka_unit_test(an_answer_that_cannot_be_written_ends_with_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
