/* SPDX-License-Identifier: Apache-2.0 */
/* test_challenge.c - challenges of registries as they are written, and as nobody should. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "core/base/cleanup.h"
#include "workers/image/challenge.h"

static void what_is_read(void **state)
{
    (void)state;
    static const struct { const char *text; enum challenge_kind kind; const char *host, *path, *service; } rows[] = {
        { "Bearer realm=\"https://auth.example/token\",service=\"registry.example\",scope=\"repository:a:pull\"",
          CHALLENGE_BEARER, "auth.example", "/token", "registry.example" },
        { "bearer Realm = \"https://auth.example:8443?x=1\" , service=plain", CHALLENGE_BEARER, "auth.example:8443", "/?x=1",
          "plain" },
        { "Basic realm=\"a \\\"b\\\", c\", Bearer realm=\"https://a.example\"", CHALLENGE_BEARER, "a.example", "/", "" },
        { "Basic realm=\"x\"", CHALLENGE_BASIC, "", "", "" }, { "Negotiate, Basic", CHALLENGE_BASIC, "", "", "" },
        { "Bearer realm=\"http://a.example/token\"", CHALLENGE_NONE, "", "", "" },
        { "Bearer realm=\"https://u:p@a.example/\"", CHALLENGE_NONE, "", "", "" },
        { "Bearer realm=\"https://a.example/x y\"", CHALLENGE_NONE, "", "", "" },
        { "Bearer realm=\"https://A.example/\"", CHALLENGE_NONE, "", "", "" },
        { "Bearer realm=\"https://a.example/#f\"", CHALLENGE_NONE, "", "", "" },
        { "Bearer realm=\"https://a.example", CHALLENGE_NONE, "", "", "" }, { "Bearer", CHALLENGE_NONE, "", "", "" },
        { "Digest realm=\"https://a.example\"", CHALLENGE_NONE, "", "", "" }, { "", CHALLENGE_NONE, "", "", "" },
        { "=,=,=\"", CHALLENGE_NONE, "", "", "" },
    };
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct challenge c = challenge_read(str_c(rows[i].text), a);
        if (c.kind != rows[i].kind)
            fail_msg("%s: %d", rows[i].text, c.kind);
        if (c.kind == CHALLENGE_BEARER)
            assert_true(str_eq_c(c.host, rows[i].host) && str_eq_c(c.path, rows[i].path) && str_eq_c(c.service, rows[i].service));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(what_is_read) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
