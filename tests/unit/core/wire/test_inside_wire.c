/* SPDX-License-Identifier: Apache-2.0 */
/* test_inside_wire.c - what may be asked for inside a box, and what may not, with the member that is at fault. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "core/json/decode.h"
#include "core/wire/inside_wire.h"

/* The member that is at fault; "" where all is well. */
static const char *judge(const char *json)
{
    static struct err e;
    struct inside_ask ask;
    struct arena *a = arena_new(1 << 20);
    e = (struct err){ 0 };
    enum errc rc = json_decode(&inside_ask_schema, str_c(json), a, &ask, &e);
    if (rc == ERR_OK)
        rc = inside_ask_check(&ask, &e);
    arena_free(a);
    assert_true((rc == ERR_OK) == (e.code == ERR_OK));
    return e.field;
}

static void what_fits_its_kind_is_taken(void **state)
{
    (void)state;
    assert_string_equal(judge("{\"kind\":\"exec\",\"command\":[\"ls\",\"\"]}"), "");
    assert_string_equal(judge("{\"kind\":\"exec\",\"command\":[\"top\"],\"tty\":true,\"cols\":1,\"rows\":1000}"), "");
    assert_string_equal(judge("{\"kind\":\"shell\",\"term\":\"screen.xterm-256color\"}"), "");
    assert_string_equal(judge("{\"kind\":\"forward\",\"port\":65535}"), "");
}

static void what_does_not_is_refused_by_its_member(void **state)
{
    (void)state;
    assert_string_equal(judge("{\"kind\":\"exec\"}"), "/command");
    assert_string_equal(judge("{\"kind\":\"exec\",\"command\":[\"\"]}"), "/command");
    assert_string_equal(judge("{\"kind\":\"shell\",\"command\":[\"ls\"]}"), "/command");
    assert_string_equal(judge("{\"kind\":\"exec\",\"command\":[\"ls\"],\"port\":1}"), "/port");
    assert_string_equal(judge("{\"kind\":\"forward\"}"), "/port");
    assert_string_equal(judge("{\"kind\":\"forward\",\"port\":65536}"), "/port");
    assert_string_equal(judge("{\"kind\":\"shell\",\"term\":\"a;b\"}"), "/term");
    assert_string_equal(judge("{\"kind\":\"shell\",\"cols\":0}"), "/cols");
    assert_string_equal(judge("{\"kind\":\"root\"}"), "/kind");
}

static void a_shell_has_a_terminal_and_a_connection_none(void **state)
{
    (void)state;
    assert_true(inside_has_tty(&(struct inside_ask){ .kind = INSIDE_SHELL }));
    assert_true(inside_has_tty(&(struct inside_ask){ .kind = INSIDE_EXEC, .tty = true }));
    assert_false(inside_has_tty(&(struct inside_ask){ .kind = INSIDE_EXEC }));
    assert_false(inside_has_tty(&(struct inside_ask){ .kind = INSIDE_FORWARD, .tty = true }));
    assert_false(inside_has_tty(&(struct inside_ask){ .kind = INSIDE_ATTACH, .tty = true }));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_fits_its_kind_is_taken),
        cmocka_unit_test(what_does_not_is_refused_by_its_member),
        cmocka_unit_test(a_shell_has_a_terminal_and_a_connection_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
