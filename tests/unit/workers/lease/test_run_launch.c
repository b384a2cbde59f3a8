/* SPDX-License-Identifier: Apache-2.0 */
/* test_run_launch.c - what a program finds by each launcher; its own variables win, and no other launcher's are there. */
#include "run_kit.h"

static void each_launcher_has_its_own(void **state)
{
    (void)state;
    static const struct { const char *launcher, *text; } rows[] = {
        { "", "torch=0/1 127.0.0.1:29500 tf= host= mpi=" },
        { ",\"launcher\":\"torchrun\"", "torch=0/1 127.0.0.1:29500 tf= host= mpi=" },
        { ",\"launcher\":\"plain\"", "torch=/ : tf= host= mpi=" },
        { ",\"launcher\":\"deepspeed\"", "torch=0/1 127.0.0.1:29500 tf= host=localhost slots=1 mpi=" },
        { ",\"launcher\":\"mpi\"", "torch=/ : tf= host=localhost slots=1 mpi=/falaj/code/hostfile hide=2\"" },
        { ",\"launcher\":\"tensorflow\"", "torch=/ : tf={\\\"cluster\\\":{\\\"worker\\\":[\\\"127.0.0.1:29500\\\"]},"
          "\\\"task\\\":{\\\"type\\\":\\\"worker\\\",\\\"index\\\":0}} host= mpi=" },
        { ",\"env\":[\"RANK=7\"]", "torch=7/1 127.0.0.1:29500" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture f;
        run_setup(&f, "x");
        const char *r = run_to_end(&f, run_add(&f, 1, "[ -n \"$FALAJ_HOSTFILE\" ] && read host < $FALAJ_HOSTFILE\n"
            "echo \"torch=$RANK/$WORLD_SIZE $MASTER_ADDR:$MASTER_PORT tf=$TF_CONFIG host=$host "
            "mpi=$OMPI_MCA_orte_default_hostfile hide=$HWLOC_HIDE_ERRORS\"",
            rows[i].launcher));
        expect(r, "\"event\":\"succeed\"");
        expect(r, rows[i].text);
        teardown(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(each_launcher_has_its_own) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
