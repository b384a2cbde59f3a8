/* SPDX-License-Identifier: Apache-2.0 */
/* test_trace.c - a trace as published is read; every way to be wrong is refused with file, line and reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "scheduler/simulate/trace.h"
#include "tests/unit/scheduler/simulate/trace_files.h"

static enum errc read_both(const struct files *f, struct arena *a, struct trace *t, struct err *e)
{
    *t = (struct trace){ 0 };
    TRY(trace_read_machines(a, f->nodes, t, e));
    return trace_read_tasks(a, f->tasks, t, e);
}

static void reads_units_models_and_times(void **state)
{
    (void)state;
    struct files f;
    struct arena *a = arena_new(1 << 22);
    struct trace *t = ARENA_NEW(a, struct trace);
    struct err e = { 0 };
    files_init(&f);
    files_write(f.tasks, "qos,name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,creation_time,deletion_time\r\n"
                         "LS,p,1500,3,1,250,V100|none,7,\r\nBE,q,1,0,0,0,,,9");
    assert_int_equal(read_both(&f, a, t, &e), ERR_OK);
    assert_int_equal(t->machines.n, 2);
    assert_int_equal(t->nmodels, 2);
    assert_int_equal(t->machines.items[1].all.memory_bytes, (int64_t)8192 << 20);
    assert_int_equal(t->machines.items[0].all.milli[1], 1000);
    assert_int_equal(t->tasks.n, 2);
    assert_true(t->has_times);
    const struct trace_task *p = &t->tasks.items[0];
    assert_int_equal(p->ask.memory_bytes, 3 << 20);
    assert_false(groups_has(&p->ask.groups, 0));
    assert_true(groups_has(&p->ask.groups, 1));
    assert_int_equal(p->created_s, 7);
    assert_int_equal(p->deleted_s, TRACE_TIME_UNKNOWN);
    assert_true(str_eq_c(t->tasks.items[1].qos, "BE"));
    files_release(&f);
    arena_free(a);
}

static void refuses_with_file_line_and_reason(void **state)
{
    (void)state;
    static const char N[] = "sn,cpu_milli,memory_mib,gpu,model\n", T[] = "name,cpu_milli,memory_mib,num_gpu,gpu_milli\n";
    static const struct { bool is_nodes; const char *head, *body, *says; } bad[] = {
        { true, "", "", "nodes.csv, line 0: empty" },
        { true, "sn,cpu_milli,memory_mib,gpu\n", "", "nodes.csv, line 1: column model is missing" },
        { true, "sn,sn,cpu_milli,memory_mib,gpu,model\n", "", "line 1: column sn stands twice" },
        { true, N, "", "line 1: no machine" },
        { true, N, "a,8000,8192,2\n", "line 2: 4 fields, the header has 5" },
        { true, N, "a,8000,8192,2,T4\n\n", "line 3: 1 fields, the header has 5" },
        { true, N, "a,8000,8192,17,T4\n", "line 2: gpu: a whole number of 0 to 16 is expected, \"17\" came" },
        { true, N, "a,8e3,8192,2,T4\n", "line 2: cpu_milli: a whole number" },
        { true, N, "a,-1,8192,2,T4\n", "line 2: cpu_milli: a whole number" },
        { true, N, ",1,8192,2,T4\n", "line 2: sn: a name is expected" },
        { true, N, "a,1,1,0,T4\nb,1,1,0,T4\na,1,1,0,T4\n", "line 4: machine a stands twice" },
        { true, N, "\"a\",1,1,0,T4\n", "line 2: holds a quote" },
        { false, T, "p,1,1,2,500\n", "tasks.csv, line 2: num_gpu 2 with gpu_milli 500" },
        { false, T, "p,1,1,1,0\n", "line 2: num_gpu 1 with gpu_milli 0" },
        { false, T, "p,1,1,0,0\np,1,1,1,1001\n", "line 3: gpu_milli: a whole number of 0 to 1000 is expected, \"1001\" came" },
        { false, T, "p,1,99999999999999999999,0,0\n", "line 2: memory_mib: a whole number" },
        { false, T, "", "line 1: no task" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct files f;
        struct arena *a = arena_new(1 << 22);
        struct trace *t = ARENA_NEW(a, struct trace);
        struct err e = { 0 };
        char text[512];
        files_init(&f);
        snprintf(text, sizeof text, "%s%s", bad[i].head, bad[i].body);
        files_write(bad[i].is_nodes ? f.nodes : f.tasks, text);
        assert_int_equal(read_both(&f, a, t, &e), ERR_INVALID);
        if (!strstr(e.msg, bad[i].says))
            fail_msg("expected \"%s\", came \"%s\"", bad[i].says, e.msg);
        files_release(&f);
        arena_free(a);
    }
}

/* A column without which a trace says something else must be there; the others may be left out, one by one. */
static void each_column_is_needed_or_not(void **state)
{
    (void)state;
    static const struct { const char *name; bool is_needed; } columns[2][10] = {
        { { "sn", true }, { "cpu_milli", true }, { "memory_mib", true }, { "gpu", true }, { "model", true } },
        { { "name", true }, { "cpu_milli", true }, { "memory_mib", true }, { "num_gpu", true }, { "gpu_milli", true },
          { "gpu_spec", false }, { "qos", false }, { "creation_time", false }, { "deletion_time", false },
          { "scheduled_time", false } },
    };
    static const char *const values[2][10] = { { "a", "8000", "8192", "1", "T4" },
                                               { "p", "1", "1", "0", "0", "", "BE", "1", "2", "1" } };
    for (int file = 0; file < 2; file++)
        for (int left_out = 0; left_out < 10 && columns[file][left_out].name; left_out++) {
            struct files f;
            struct arena *a = arena_new(1 << 22);
            struct trace *t = ARENA_NEW(a, struct trace);
            struct err e = { 0 };
            char text[512] = "", wanted[64];
            for (int line = 0; line < 2; line++) {
                for (int c = 0; c < 10 && columns[file][c].name; c++)
                    if (c != left_out)
                        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", c == (left_out == 0) ? "" : ",",
                                 line ? values[file][c] : columns[file][c].name);
                strcat(text, "\n");
            }
            files_init(&f);
            files_write(file ? f.tasks : f.nodes, text);
            const enum errc rc = read_both(&f, a, t, &e);
            snprintf(wanted, sizeof wanted, "column %s is missing", columns[file][left_out].name);
            if (rc != (columns[file][left_out].is_needed ? ERR_INVALID : ERR_OK) || (rc != ERR_OK && !strstr(e.msg, wanted)))
                fail_msg("without %s: %s", columns[file][left_out].name, e.msg);
            files_release(&f);
            arena_free(a);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(reads_units_models_and_times),
                                        cmocka_unit_test(refuses_with_file_line_and_reason),
                                        cmocka_unit_test(each_column_is_needed_or_not) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
