/* SPDX-License-Identifier: Apache-2.0 */
/* test_registry.c - who is asked, and with what: credentials go where they belong and nowhere else, nobody is followed to a place
 * that the row does not name, and certificates of others are not believed. */
#include "registry_kit.h"
#include "workers/image/registry.h"

static struct kit_registry r;

static int start(void **state)
{
    (void)state;
    kit_registry_start(&r);
    return 0;
}

static int end(void **state)
{
    (void)state;
    kit_registry_end(&r);
    return 0;
}

/* The manifest of a repository; what went wrong in e. */
static enum errc ask(const char *repo, const char *credentials, struct err *e)
{
    const struct registry_place p = { .host = str_c(r.host), .ca_pem = str_c(r.ca), .repository = str_c(repo),
        .credentials = str_c(credentials), .silent_s = 60, .dial = kit_dial, .ctx = &r };
    CLEANUP(registry_freep) struct registry *g = NULL;
    struct http_result got;
    *e = (struct err){ 0 };
    r.dials = 0;
    unlink(arena_printf(r.a, "%s/log", r.folder));
    assert_int_equal(registry_new(&p, r.a, &g, e), ERR_OK);
    return registry_text(g, arena_printf(r.a, "/v2/%s/manifests/%.*s", repo, STR_ARG(kit_digest(&r, "manifest"))), NULL, 65536,
                         &got, e);
}

static void who_may_is_let_in(void **state)
{
    (void)state;
    struct err e;
    static const struct { const char *repo, *credentials; } rows[] = {
        { "open", "" }, { "basic", "ann:secret" }, { "basic", "ann:secret\n" }, { "bearer", "" }, { "bearer", "tok" },
        { "gate", "ann:secret" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (ask(rows[i].repo, rows[i].credentials, &e) != ERR_OK)
            fail_msg("%s: %s %s", rows[i].repo, e.msg, e.detail);
    assert_non_null(strstr(kit_log(&r), "scope=repository%3Agate%3Apull"));         /* our own words, not its scope */
    assert_non_null(strstr(kit_log(&r), "/gate-token?a=b&service=s&scope="));
}

static void who_may_not_is_told_why(void **state)
{
    (void)state;
    struct err e;
    char here[100];
    snprintf(here, sizeof here, "localhost:%d refuses the credentials, or wants some (401)", r.port);
    const struct { const char *repo, *credentials, *says; enum errc rc; int dials; } rows[] = {
        { "basic", "", "wants credentials; name a secret with them", ERR_FORBIDDEN, 1 },
        { "basic", "ann:wrong", here, ERR_FORBIDDEN, 1 },
        { "gate", "ann:wrong", "it refuses the credentials", ERR_FORBIDDEN, 1 },
        { "loop401", "", here, ERR_FORBIDDEN, 1 },
        { "realmelsewhere", "ann:secret", "wants a token of elsewhere.example, which the zone's row", ERR_FORBIDDEN, 1 },
        { "realmhttp", "ann:secret", "does not say how it wants to be asked", ERR_BAD_DATA, 1 },
        { "realmuser", "ann:secret", "does not say how it wants to be asked", ERR_BAD_DATA, 1 },
        { "manytoken", "ann:secret", "answers with more than 65536 bytes", ERR_LIMIT, 1 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (ask(rows[i].repo, rows[i].credentials, &e) != rows[i].rc || !strstr(e.msg, rows[i].says) || r.dials != rows[i].dials)
            fail_msg("%s: %d %s, %d connections", rows[i].repo, e.code, e.msg, r.dials);
        if (strstr(rows[i].repo, "realm"))
            assert_null(strstr(kit_log(&r), "Basic "));         /* they were shown to nobody */
    }
}

static void another_authority_is_not_believed(void **state)
{
    (void)state;
    struct err e = { 0 };
    const struct registry_place p = { .host = str_c(r.host), .repository = STR("open"), .silent_s = 60, .dial = kit_dial,
                                      .ctx = &r };
    CLEANUP(registry_freep) struct registry *g = NULL;
    struct http_result got;
    assert_int_equal(registry_new(&p, r.a, &g, &e), ERR_OK);
    assert_int_equal(registry_text(g, "/v2/open/manifests/x", NULL, 65536, &got, &e), ERR_UNAVAILABLE);
    if (!strstr(e.msg, "ertificate"))
        fail_msg("%s", e.msg);
}

static void credentials_with_a_line_in_them_are_refused(void **state)
{
    (void)state;
    struct err e = { 0 };
    const struct registry_place p = { .host = str_c(r.host), .repository = STR("open"), .silent_s = 60, .dial = kit_dial,
                                      .ctx = &r, .credentials = STR("ann:secret\r\nHost: other") };
    struct registry *g = NULL;
    assert_int_equal(registry_new(&p, r.a, &g, &e), ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(who_may_is_let_in), cmocka_unit_test(who_may_not_is_told_why),
        cmocka_unit_test(another_authority_is_not_believed), cmocka_unit_test(credentials_with_a_line_in_them_are_refused) };
    return cmocka_run_group_tests(tests, start, end);
}
