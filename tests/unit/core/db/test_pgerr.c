/* SPDX-License-Identifier: Apache-2.0 */
/* test_pgerr.c - the map from SQLSTATE to error codes: whole states, classes, our own, and what may never reach the caller. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "core/db/pgerr.h"

static void states_and_classes(void **state)
{
    (void)state;
    static const struct { const char *sqlstate, *primary; enum errc want; } rows[] = {
        { NULL, NULL, ERR_UNAVAILABLE }, { "", NULL, ERR_UNAVAILABLE },
        { "23505", NULL, ERR_EXISTS }, { "23502", NULL, ERR_INVALID }, { "23514", NULL, ERR_INVALID }, { "22P02", NULL, ERR_INVALID },
        { "23503", "insert or update on table \"job\" violates foreign key constraint", ERR_NOT_FOUND },
        { "23503", "update or delete on table \"zone\" violates foreign key constraint", ERR_CONFLICT },
        { "23503", NULL, ERR_NOT_FOUND },
        { "40001", NULL, ERR_RETRY }, { "40P01", NULL, ERR_RETRY }, { "55P03", NULL, ERR_RETRY },
        { "57014", NULL, ERR_DEADLINE }, { "25P03", NULL, ERR_DEADLINE },
        { "57P01", NULL, ERR_UNAVAILABLE }, { "08006", NULL, ERR_UNAVAILABLE }, { "53300", NULL, ERR_UNAVAILABLE },
        { "28P01", NULL, ERR_UNAVAILABLE }, { "3D000", NULL, ERR_UNAVAILABLE },
        { "42501", NULL, ERR_INTERNAL }, { "42601", NULL, ERR_INTERNAL }, { "XX000", NULL, ERR_INTERNAL },
        { "FJ400", NULL, ERR_INVALID }, { "FJ404", NULL, ERR_NOT_FOUND }, { "FJ409", NULL, ERR_CONFLICT }, { "FJ429", NULL, ERR_QUOTA },
        { "FJ503", NULL, ERR_RETRY }, { "FJ999", NULL, ERR_INTERNAL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(pgerr_code(rows[i].sqlstate, rows[i].primary), rows[i].want);
}

static void data_of_a_row_stays_in_the_log(void **state)
{
    (void)state;
    struct err e = { 0 };
    const char *secret = "Key (name)=(somebody's name) already exists";
    assert_int_equal(pgerr_fill(&e, "23505", secret, "tenant_name_key", "name", "tenant_insert"), ERR_EXISTS);
    assert_null(strstr(e.msg, "somebody"));
    assert_non_null(strstr(e.detail, "somebody"));
    assert_non_null(strstr(e.detail, "tenant_insert"));
    assert_non_null(strstr(e.detail, "tenant_name_key"));
    assert_string_equal(e.field, "");               /* a column's name is no pointer into the request */
}

static void our_own_functions_speak_to_the_caller(void **state)
{
    (void)state;
    struct err e = { 0 };
    assert_int_equal(pgerr_fill(&e, "FJ409", "the job has ended", NULL, "/state", NULL), ERR_CONFLICT);
    assert_string_equal(e.msg, "the job has ended");
    assert_string_equal(e.field, "/state");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_and_classes),
        cmocka_unit_test(data_of_a_row_stays_in_the_log),
        cmocka_unit_test(our_own_functions_speak_to_the_caller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
