/* SPDX-License-Identifier: Apache-2.0 */
/* test_type_convert.c - names of imported models; the whole way is in tests/http/bring_model.test.ts. */
#include "with_cli.h"

static void the_name_leaves_room_for_that_of_its_data_set(void **state)
{
    (void)state;
    with_cli_expect(WORDS((char *)"model", (char *)"import", (char *)"x.onnx", (char *)"--name",
                          (char *)"nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"), CLI_USAGE,
                    "too long for the data set -onnx");
    with_cli_expect(WORDS((char *)"model", (char *)"import",
                          (char *)"/tmp/nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn.onnx"), CLI_USAGE,
                    "the name 'nnnn");
    with_cli_expect(WORDS((char *)"model", (char *)"import", (char *)"x.onnx", (char *)"--name", (char *)"small"), CLI_NETWORK,
                    "127.0.0.1");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_name_leaves_room_for_that_of_its_data_set) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
