/* SPDX-License-Identifier: Apache-2.0 */
/* test_run_output.c - files that become artifacts of the job. */
#include "run_kit.h"

static void a_program_reads_its_inputs_and_leaves_its_outputs(void **state)
{
    (void)state;
    struct fixture f;
    run_setup(&f, "seven\n");
    const char *r = run_to_end(&f, run_add(&f, 1, "cat /falaj/in/dataset; tr a-z A-Z < /falaj/in/dataset > /falaj/out/up; "
        "mkdir /falaj/out/d\n"
                               "echo two > /falaj/out/d/f; echo bad >&2; pwd; echo $FALAJ_JOB_ID $FALAJ_ATTEMPT "
                                   "$RANK/$WORLD_SIZE $A\n",
                               ",\"outputs\":[\"up\",\"second=d/f\"],\"env\":[\"A=b=c\"]"));
    expect(r, "\"event\":\"succeed\",\"exit_code\":0");
    expect(r, "{\"stream\":\"stdout\",\"text\":\"seven\"}");
    expect(r, "{\"stream\":\"stderr\",\"text\":\"bad\"}");
    expect(r, "\"text\":\"/falaj/scratch\"");
    expect(r, "\"text\":\"job_01020300000000000000000000000065 1 0/1 b=c\"");
    expect(r, "\"result\":{\"exit_code\":0,\"outputs\":2,\"checkpoints\":0,");
    expect(r, "\"outputs\":[{\"name\":\"up\",\"object_id\":\"obj_");
    CLEANUP(buf_releasep) struct buf up = BUF(0), second = BUF(0);
    kit_open_artifact(&f.store, "up", &up);
    kit_open_artifact(&f.store, "second", &second);
    assert_string_equal(up.ptr, "SEVEN\n");
    assert_string_equal(second.ptr, "two\n");
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_reads_its_inputs_and_leaves_its_outputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
