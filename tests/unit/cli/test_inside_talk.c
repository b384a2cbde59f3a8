/* SPDX-License-Identifier: Apache-2.0 */
/* test_inside_talk.c - a session's stream against a server of the test's: input goes, output and status come, a cut is told. */
#include <unistd.h>
#include "with_cli.h"
#include "cli/inside.h"
#include "core/http/ws_link.h"
#include "tests/unit/core/http/ws_echo.h"

/* Answers an end of input with the words of the test, and input with the same as output. */
static void answer(struct ws_echo *s, const struct ws_message *m)
{
    const char *end = s->own;
    char out[256];
    uint8_t head[WS_HEAD_MAX];
    const int n = m->body.ptr[0] == 'z' ? snprintf(out, sizeof out, "%s", end)
                                        : snprintf(out, sizeof out, "o%.*s", (int)m->body.len - 1, m->body.ptr + 1);
    ws_echo_write(s->fd, (const char *)head, ws_head(WS_BINARY, (size_t)n, NULL, head));
    ws_echo_write(s->fd, out, (size_t)n);
}

/* The exit code of a session whose server says this at the end of input; out: what came. */
static int talk(const char *end, char *out, size_t cap, const char **ret_err, struct with_cli *w)
{
    struct ws_echo s = { .answer = answer, .own = end };
    struct http_server *server = net_serve((struct http_server_options){ .on_request = ws_echo_request, .ctx = &s });
    const struct http_client_options o = { .base_url = arena_printf(w->c.arena, "http://127.0.0.1:%d",
                                                                    http_server_port(server)) };
    struct ws_link *l = NULL;
    struct str body;
    int status, in[2], got[2];
    assert_int_equal(ws_dial(&o, "/x", NULL, w->c.arena, &l, &status, &body, NULL), ERR_OK);
    assert_true(pipe(in) == 0 && pipe(got) == 0);
    assert_int_equal(write(in[1], "hello", 5), 5);
    close(in[1]);
    const int rc = inside_talk(&w->c, l, in[0], got[1], got[1], -1);
    close(got[1]);
    const ssize_t n = read(got[0], out, cap - 1);
    out[n > 0 ? n : 0] = 0;
    *ret_err = with_cli_err(w);
    close(in[0]);
    close(got[0]);
    ws_link_free(l);
    ws_echo_join(&s);
    http_server_free(server);
    return rc;
}

static void ends_are_told(void **state)
{
    (void)state;
    static const struct { const char *end; int rc; const char *err; } all[] = {
        { "x{\"exit_code\":7}", 7, "" }, { "x{\"exit_code\":0}", 0, "" },
        { "x{\"error\":\"the person may not any more\"}", CLI_FAILED, "the session ended: the person may not any more" },
        { "xnonsense", CLI_NETWORK, "words that are none" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct with_cli w;
        char out[64];
        const char *err;
        with_cli_init(&w);
        assert_int_equal(talk(all[i].end, out, sizeof out, &err, &w), all[i].rc);
        assert_string_equal(out, "hello");
        assert_non_null(strstr(err ? err : "", all[i].err));
        with_cli_release(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(ends_are_told) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
