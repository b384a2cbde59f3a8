/* SPDX-License-Identifier: Apache-2.0 */
/* test_rest.c - paths, queries and bodies from a row and the words given. */
#include "with_cli.h"
#include "cli/rest.h"

static void body_is(char **words, const char *expected)
{
    struct with_cli w;
    struct str body;
    with_cli_init(&w);
    assert_int_equal(with_cli_parse(&w, words), CLI_OK);
    assert_int_equal(rest_body(&w.c, w.c.cmd->body, &body), CLI_OK);
    assert_string_equal(body.ptr, expected);
    with_cli_release(&w);
}

static void bodies(void **state)
{
    (void)state;
    body_is(WORDS((char *)"tenant", (char *)"create", (char *)"oasis", (char *)"--zone", (char *)"ae-dxb-1", (char *)"--allowed-zones", (char *)"ae-dxb-1, ae-auh-1"),
            "{\"name\":\"oasis\",\"home_zone\":\"ae-dxb-1\",\"allowed_zones\":[\"ae-dxb-1\",\"ae-auh-1\"]}");
    body_is(WORDS((char *)"dataset", (char *)"create", (char *)"a\"b", (char *)"--classes", (char *)"10"), "{\"name\":\"a\\\"b\",\"classes\":10}");
    body_is(WORDS((char *)"deploy", (char *)"create", (char *)"d", (char *)"mdl_1"), "{\"name\":\"d\",\"model_id\":\"mdl_1\"}");
    body_is(WORDS((char *)"model", (char *)"register", (char *)"m", (char *)"job_1"), "{\"name\":\"m\",\"job_id\":\"job_1\"}");
    body_is(WORDS((char *)"token", (char *)"create", (char *)"ci", (char *)"--days", (char *)"7"), "{\"name\":\"ci\",\"expires_in_days\":7}");
    body_is(WORDS((char *)"quota", (char *)"set", (char *)"tnt_x", (char *)"jobs", (char *)"5"), "{\"hard_limit\":5}");
    body_is(WORDS((char *)"rule", (char *)"set", (char *)"qrl_x", (char *)"6", (char *)"--lending-limit", (char *)"2"), "{\"nominal\":6,\"lending_limit\":2}");
    body_is(WORDS((char *)"tenant-rule", (char *)"create", (char *)"tnt_x", (char *)"gpus", (char *)"8", (char *)"--flavor", (char *)"gpu", (char *)"--weight", (char *)"5"),
            "{\"resource\":\"gpus\",\"nominal\":8,\"flavor\":\"gpu\",\"weight\":5}");
    body_is(WORDS((char *)"inside", (char *)"open", (char *)"--except", (char *)"prj_1,prj_2"),
            "{\"allowed\":true,\"closed_projects\":[\"prj_1\",\"prj_2\"]}");
    body_is(WORDS((char *)"inside", (char *)"close"), "{\"allowed\":false}");
    body_is(WORDS((char *)"budget", (char *)"set", (char *)"bdg_x", (char *)"--amount", (char *)"7", (char *)"--warn-percent", (char *)"[50,90]"),
            "{\"amount\":7,\"warn_percent\":[50,90]}");
}

static void a_number_must_be_one(void **state)
{
    (void)state;
    struct with_cli w;
    struct str body;
    with_cli_init(&w);
    assert_int_equal(with_cli_parse(&w, WORDS((char *)"dataset", (char *)"create", (char *)"d", (char *)"--classes", (char *)"ten")), CLI_OK);
    assert_int_equal(rest_body(&w.c, w.c.cmd->body, &body), CLI_USAGE);
    assert_non_null(strstr(with_cli_err(&w), "classes is a whole number, not 'ten'"));
    with_cli_release(&w);
}

static void path_is(char **words, const char *expected)
{
    struct with_cli w;
    const char *path;
    with_cli_init(&w);
    assert_int_equal(with_cli_parse(&w, words), CLI_OK);
    assert_int_equal(rest_path(&w.c, &path), CLI_OK);
    assert_string_equal(path, expected);
    with_cli_release(&w);
}

static void paths(void **state)
{
    (void)state;
    path_is(WORDS((char *)"job", (char *)"get", (char *)"job_1/../x"), "/v1/jobs/job_1%2F..%2Fx");
    path_is(WORDS((char *)"job", (char *)"list", (char *)"--kind", (char *)"train", (char *)"--name", (char *)"A&B"),
            "/v1/jobs?kind=train&q=A%26B");
    path_is(WORDS((char *)"quota", (char *)"set", (char *)"tnt_x", (char *)"jobs", (char *)"5"), "/v1/tenants/tnt_x/quotas/jobs");
    path_is(WORDS((char *)"tenant-rule", (char *)"delete", (char *)"tnt_x", (char *)"qrl_x"), "/v1/tenants/tnt_x/quota-rules/qrl_x");
    path_is(WORDS((char *)"usage", (char *)"--by", (char *)"day,queue", (char *)"--from", (char *)"2026-01-01T00:00:00Z"),
            "/v1/usage?from=2026-01-01T00%3A00%3A00Z&by=day%2Cqueue");
    path_is(WORDS((char *)"role", (char *)"revoke", (char *)"rlb_x"), "/v1/role-bindings/rlb_x");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(bodies), cmocka_unit_test(a_number_must_be_one), cmocka_unit_test(paths) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
