/* SPDX-License-Identifier: Apache-2.0 */
/* test_type_pull.c - the spec of a pull: without the zone's word nothing is allowed, and its word has limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "core/base/cleanup.h"
#include "core/json/decode.h"
#include "core/wire/type_pull.h"

#define HEX64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OF "\"registry\":\"r.example:5000\",\"repository\":\"a/b\",\"digest\":\"sha256:" HEX64 "\""

static void what_a_spec_says(void **state)
{
    (void)state;
    static const struct { const char *text; bool ok; } rows[] = {
        { "{" OF "}", true }, { "{" OF ",\"reach\":\"private\",\"hosts\":[\"b.example\"],\"is_allowed\":true}", true },
        { "{" OF ",\"reach\":\"all\"}", false }, { "{" OF ",\"silent_s\":601}", false },
        { "{" OF ",\"max_bytes\":1073741825}", false }, { "{" OF ",\"environment\":\"x\"}", false },
        { "{\"registry\":\"R.example\",\"repository\":\"a\",\"digest\":\"sha256:" HEX64 "\"}", false },
        { "{\"registry\":\"r.example\",\"repository\":\"a\",\"digest\":\"\"}", false },
    };
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pull_job job = { .is_allowed = true };
        struct err e = { 0 };
        if ((json_decode(&pull_job_schema, str_c(rows[i].text), a, &job, &e) == ERR_OK) != rows[i].ok)
            fail_msg("%s: %s", rows[i].text, e.msg);
        assert_true(!rows[i].ok || job.is_allowed == (job.hosts.n == 1));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(what_a_spec_says) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
