/* SPDX-License-Identifier: Apache-2.0 */
/* test_parse.c - what the strict parser refuses, seen through its public caller (core/json alone may include jansson). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/json/jsonvalue.h"

static void refused(const char *text, const char *msg_part)
{
    struct arena *a = arena_new(1 << 16);
    const struct jval *v = NULL;
    struct err e;
    if (jval_parse(a, str_c(text), 0, &v, &e) != ERR_MALFORMED || !strstr(e.msg, msg_part) || strstr(e.msg, "near"))
        fail_msg("%s: %s", text, e.msg);
    assert_null(v);
    arena_free(a);
}

static void refusals(void **state)
{
    (void)state;
    refused("{\"a\":1,\"b\":{\"c\":1,\"c\":2}}", "given twice");
    refused("\"\xc0\x80\"", "UTF-8");
    refused("\"\\u0000\"", "NUL");
    refused("\"\\ud800\"", "not JSON");
    refused("[1,]", "not JSON");
    refused("[01]", "not JSON");
    refused("[+1]", "not JSON");
    refused("[1e999]", "not JSON");
    refused("// x\n1", "not JSON");
    refused("\"a\nb\"", "not JSON");
    refused("1 2", "not JSON");
    refused("\xef\xbb\xbf{}", "not JSON");
    refused("[\n\n  hunter2]", "line 3 column");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(refusals) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
