/* SPDX-License-Identifier: Apache-2.0 */
/* test_ws_hello.c - which requests ask for a WebSocket, and the standard's own answer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "core/http/ws_hello.h"

#define KEY "dGhlIHNhbXBsZSBub25jZQ=="

static enum errc judge(enum http_method m, const char *upgrade, const char *connection, const char *version, const char *key)
{
    const struct http_header h[] = { { STR("upgrade"), str_c(upgrade) }, { STR("Connection"), str_c(connection) },
                                     { STR("Sec-WebSocket-Version"), str_c(version) }, { STR("Sec-WebSocket-Key"), str_c(key) } };
    const struct http_request r = { .method = m, .headers = h, .nheaders = 4 };
    struct str got = STR_NULL;
    const enum errc rc = ws_hello_key(&r, &got, NULL);
    if (rc == ERR_OK)
        assert_true(str_eq_c(got, KEY));
    return rc;
}

static void a_request_as_browsers_send_it_is_taken(void **state)
{
    (void)state;
    assert_int_equal(judge(HTTP_GET, "websocket", "Upgrade", "13", KEY), ERR_OK);
    assert_int_equal(judge(HTTP_GET, "WebSocket", "keep-alive, upgrade", "13", KEY), ERR_OK);
}

static void anything_else_is_refused(void **state)
{
    (void)state;
    assert_int_equal(judge(HTTP_POST, "websocket", "Upgrade", "13", KEY), ERR_INVALID);
    assert_int_equal(judge(HTTP_GET, "h2c", "Upgrade", "13", KEY), ERR_INVALID);
    assert_int_equal(judge(HTTP_GET, "websocket", "keep-alive", "13", KEY), ERR_INVALID);
    assert_int_equal(judge(HTTP_GET, "websocket", "Upgrade", "8", KEY), ERR_INVALID);
    assert_int_equal(judge(HTTP_GET, "websocket", "Upgrade", "13", "dGhlIHNhbXBsZQ=="), ERR_INVALID);
    assert_int_equal(judge(HTTP_GET, "websocket", "Upgrade", "13", "dGhlIHNhbXBsZSBub25jZ!=="), ERR_INVALID);
}

static bool offers(const char *protocols, const char *want)
{
    const struct http_header h = { STR("Sec-WebSocket-Protocol"), str_c(protocols) };
    const struct http_request r = { .headers = &h, .nheaders = 1 };
    return str_eq_c(ws_hello_protocol(&r, "ticket."), want);
}

static void the_word_behind_a_prefix_is_found(void **state)
{
    (void)state;
    assert_true(offers("falaj.inside, ticket.abc", "abc"));
    assert_true(offers("ticket.abc", "abc"));
    assert_true(offers(" ticket.abc ,falaj.inside", "abc"));
    assert_true(offers("ticket.", ""));
    assert_true(offers("falaj.inside", ""));
    assert_true(offers("xticket.abc", ""));
    assert_true(offers("", ""));
}

static void the_answer_is_that_of_the_standard(void **state)
{
    (void)state;
    char out[WS_ACCEPT_BYTES + 1];
    ws_hello_accept(STR(KEY), out);
    assert_string_equal(out, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_as_browsers_send_it_is_taken),
        cmocka_unit_test(anything_else_is_refused),
        cmocka_unit_test(the_word_behind_a_prefix_is_found),
        cmocka_unit_test(the_answer_is_that_of_the_standard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
