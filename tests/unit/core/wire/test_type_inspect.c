/* SPDX-License-Identifier: Apache-2.0 */
/* test_type_inspect.c - the spec of an import: what it must say, and that a digest is one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "core/base/cleanup.h"
#include "core/json/decode.h"
#include "core/wire/type_inspect.h"

#define SET "\"dataset_id\":\"dst_0123456789abcdef0123456789abcdef\",\"dataset_version\":2"
#define HEX64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void what_a_spec_says(void **state)
{
    (void)state;
    static const struct { const char *text; bool ok; } rows[] = {
        { "{" SET "}", true }, { "{" SET ",\"digest\":\"\"}", true }, { "{" SET ",\"digest\":\"sha256:" HEX64 "\"}", true },
        { "{" SET ",\"digest\":\"sha256:" HEX64 "0\"}", false }, { "{" SET ",\"digest\":\"md5:1\"}", false },
        { "{\"dataset_version\":2}", false }, { "{" SET ",\"more\":1}", false },
    };
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct inspect_job job = { .allow_setuid = true };
        struct err e = { 0 };
        if ((json_decode(&inspect_job_schema, str_c(rows[i].text), a, &job, &e) == ERR_OK) != rows[i].ok)
            fail_msg("%s: %s", rows[i].text, e.msg);
        assert_true(!rows[i].ok || (job.dataset_version == 2 && !job.allow_setuid));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(what_a_spec_says) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
