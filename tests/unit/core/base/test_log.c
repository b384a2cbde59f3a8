/* SPDX-License-Identifier: Apache-2.0 */
/* test_log.c - one line per event, quoted so that no value can forge a line or a field, and never longer than a line may be. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/base/log.h"

static int fds[2];
static char text[20000];

static int setup(void **state)
{
    (void)state;
    assert_int_equal(pipe(fds), 0);
    fcntl(fds[0], F_SETFL, O_NONBLOCK);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    log_setup("x", LOG_INFO, LOGFMT, STDERR_FILENO);
    log_context(NULL, NULL);
    close(fds[0]);
    close(fds[1]);
    return 0;
}

static const char *line(void)
{
    ssize_t n = read(fds[0], text, sizeof text - 1);
    text[n > 0 ? n : 0] = '\0';
    return text;
}

static void logfmt(void **state)
{
    (void)state;
    log_setup("falaj-test", LOG_INFO, LOGFMT, fds[1]);
    log_context("req_1", "ten_1");
    log_event(LOG_INFO, "lease.granted", "node", LOG_S("n1"), "text", LOG_S("a b=\"c\"\nevent=forged"), "n", LOG_I(-3), "f",
              LOG_F(0.5), "id", LOG_ID("lse", UUID_NIL), "empty", LOG_S(""), NULL);
    const char *l = line();
    assert_non_null(strstr(l, "level=info program=falaj-test event=lease.granted request_id=req_1 tenant=ten_1 node=n1 "
                              "text=\"a b=\\\"c\\\"\\u000aevent=forged\" n=-3 f=0.5 id=lse_00000000000000000000000000000000 "
                              "empty=\"\"\n"));
    assert_ptr_equal(strchr(l, '\n'), l + strlen(l) - 1);
    log_event(LOG_DEBUG, "not.shown", NULL);
    assert_string_equal(line(), "");
    assert_false(log_enabled(LOG_DEBUG));
    assert_true(log_enabled(LOG_ERROR));
}

static void json(void **state)
{
    (void)state;
    log_setup("falaj-test", LOG_DEBUG, LOGJSON, fds[1]);
    log_event(LOG_WARN, "x", "s", LOG_S("q\"\\\x01"), "i", LOG_I(7), "u", LOG_ID("job", UUID_NIL), NULL);
    const char *l = line();
    assert_int_equal(l[0], '{');
    assert_non_null(strstr(l, "\"level\":\"warn\",\"program\":\"falaj-test\",\"event\":\"x\",\"s\":\"q\\\"\\\\\\u0001\",\"i\":7,"
                              "\"u\":\"job_00000000000000000000000000000000\"}\n"));
}

static void errors(void **state)
{
    (void)state;
    struct err e = { 0 };
    log_setup("falaj-test", LOG_INFO, LOGFMT, fds[1]);
    (void)FAIL_AT(&e, NOT_FOUND, "/id", "no such job");
    err_note(&e, "SQLSTATE 1");
    log_err(LOG_ERROR, "request.failed", &e);
    assert_non_null(strstr(line(), "event=request.failed code=not_found msg=\"no such job\" detail=\"SQLSTATE 1\" field=/id file="));
}

/* Each write of a socket of packets is a packet of its own. */
static void held_lines_come_in_few_writes(void **state)
{
    (void)state;
    enum { LINES = 100 };
    int pair[2], lines = 0, writes = 0;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair), 0);
    log_context(NULL, NULL);
    log_setup("falaj-test", LOG_INFO, LOGFMT, pair[1]);
    log_hold();
    log_event(LOG_INFO, "held", "n", LOG_I(0), NULL);
    assert_int_equal(read(pair[0], text, sizeof text), -1);
    for (int i = 1; i < LINES; i++)
        log_event(LOG_INFO, "held", "n", LOG_I(i), NULL);
    log_release();
    for (ssize_t n; (n = read(pair[0], text, sizeof text - 1)) > 0; writes++) {
        assert_true(n <= 4096 && text[n - 1] == '\n');
        text[n] = '\0';
        for (char *at = text, *end; (end = strchr(at, '\n')); at = end + 1) {
            char want[32];
            *end = '\0';
            snprintf(want, sizeof want, " event=held n=%d", lines++);
            assert_non_null(strstr(at, want));
        }
    }
    assert_int_equal(lines, LINES);
    assert_true(writes < LINES / 10);
    log_event(LOG_INFO, "free", NULL);                  /* at once again */
    assert_true(read(pair[0], text, sizeof text) > 0);
    log_setup("x", LOG_INFO, LOGFMT, STDERR_FILENO);
    close(pair[0]);
    close(pair[1]);
}

/* A value longer than a line is cut, but what follows it is still one line, and in JSON a whole object. */
static void long_lines(void **state)
{
    (void)state;
    static char big[9000];
    for (int format = 0; format < 2; format++) {
        for (int len = 3700; len < 8990; len += len < 4200 ? 1 : 400) {
            memset(big, len % 2 ? 'x' : '"', (size_t)len);
            big[len] = '\0';
            log_setup("t", LOG_INFO, format ? LOGJSON : LOGFMT, fds[1]);
            log_event(LOG_INFO, "e", "big", LOG_S(big), "after", LOG_S("last"), NULL);
            const char *l = line();
            size_t n = strlen(l);
            assert_true(n > 0 && n <= 4096 && l[n - 1] == '\n' && strchr(l, '\n') == l + n - 1);
            int quotes = 0;
            for (size_t i = 0; i < n; i++) {
                if (l[i] == '\\')
                    i++;
                else
                    quotes += l[i] == '"';
            }
            const char *mark = format ? ",\"cut\":true}\n" : " cut=true\n", *full = format ? "\"last\"}\n" : "after=last\n";
            if (quotes % 2 || (strcmp(l + n - strlen(mark), mark) && strcmp(l + n - strlen(full), full)))
                fail_msg("format %d length %d ends in: %s", format, len, l + n - 40);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
        T(logfmt), T(json), T(errors), T(held_lines_come_in_few_writes), T(long_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
