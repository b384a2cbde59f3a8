/* SPDX-License-Identifier: Apache-2.0 */
/* test_mail.c - what a mail's text holds makes no header, addresses are addresses, and nothing goes unencrypted to another
 * machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include "core/http/mail.h"

static struct arena *a;
static struct err e;

static int setup(void **state)
{
    (void)state;
    a = arena_new(1 << 20);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_free(a);
    return 0;
}

static struct mail mail_of(const char *subject, const char *text)
{
    return (struct mail){ .from = STR("falaj@cloud.example"), .to = STR("huda@amana.example"), .subject = str_c(subject),
        .text = str_c(text),
                          .id = STR("ntd_1"), .language = "en", .at_us = INT64_C(1795720561000000) };
}

static void addresses(void **state)
{
    (void)state;
    static const char *const good[] = { "huda@amana.example", "a.b+c@x.ae", "x@localhost" };
    static const char *const bad[] = { "", "huda", "@x", "huda@", "a b@x", "a@x\r\nBcc: b@y", "a@x,b@y", "<a@x>", "a@@x",
        "\"a\"@x", "a@.x", "a@x.",
                                       "-a@x", "h\xc3\xbc@x.ae" };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!mail_address_is_ok(str_c(good[i])))
            fail_msg("%s is refused", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (mail_address_is_ok(str_c(bad[i])))
            fail_msg("%s is taken", bad[i]);
}

/* The lines up to the empty one, without line ends; *body: what follows. */
static size_t headers_of(struct str m, struct str out[32], struct str *body)
{
    size_t n = 0;
    for (;;) {
        struct str line;
        assert_true(str_cut(m, '\n', &line, &m));
        assert_true(line.len && line.ptr[line.len - 1] == '\r');
        line.len--;
        *body = m;
        if (!line.len)
            return n;
        assert_true(n < 32);
        out[n++] = line;
    }
}

static void a_subject_makes_no_header(void **state)
{
    (void)state;
    struct str m, lines[32], body;
    const struct mail in = mail_of("Job failed\r\nBcc: all@x.example\r\n\r\nhello", "first\r\n.\r\nQUIT\r\n");
    assert_int_equal(mail_message(a, &in, &m, &e), ERR_OK);
    const size_t n = headers_of(m, lines, &body);
    assert_int_equal(n, 10);                /* the subject is one encoded word */
    for (size_t i = 0; i < n; i++)
        assert_false(str_starts(lines[i], "Bcc"));
    assert_true(str_eq_c(lines[0], "From: Falaj <falaj@cloud.example>") && str_eq_c(lines[1], "To: <huda@amana.example>"));
    assert_true(str_eq_c(lines[3], "Date: Thu, 26 Nov 2026 19:16:01 +0000"));
    assert_true(str_eq_c(lines[4], "Message-ID: <ntd_1@cloud.example>"));
    assert_int_equal(str_find(body, '.'), -1);      /* no line that would end the mail */
}

static void arabic_comes_back_whole(void **state)
{
    (void)state;
    struct str m, lines[32], body, s, rest;
    const char *subject = "فشلت المهمة «تدريب الأرقام» في المؤسسة، ويُرجى الاطلاع على السجل قبل إعادة التشغيل";
    char plain[512];
    size_t at = 0, got, n;
    const struct mail in = mail_of(subject, subject);
    assert_int_equal(mail_message(a, &in, &m, &e), ERR_OK);
    n = headers_of(m, lines, &body);
    for (size_t i = 0; i < n; i++) {
        assert_true(lines[i].len <= 76);
        if (!str_starts(lines[i], "Subject: =?UTF-8?B?") && !str_starts(lines[i], " =?UTF-8?B?"))
            continue;
        assert_true(str_cut(lines[i], 'B', &s, &rest) && rest.len > 3);
        assert_true(base64_decode(str_n(rest.ptr + 1, rest.len - 3), plain + at, sizeof plain - at, &got, false));
        assert_true(str_is_utf8(str_n(plain + at, got)));       /* no character is cut in two */
        at += got;
    }
    assert_true(str_eq(str_n(plain, at), str_c(subject)));
    for (at = 0; str_cut(body, '\n', &s, &rest) && s.len > 1; body = rest, at += got)
        assert_true(base64_decode(str_n(s.ptr, s.len - 1), plain + at, sizeof plain - at, &got, false));
    assert_true(str_eq(str_n(plain, at), str_c(subject)));
}

static void where_mail_may_go(void **state)
{
    (void)state;
    const struct mail in = mail_of("x", "y");
    const struct mail_server plain = { .url = "smtp://mail.example:25", .is_plain = true }, web = { .url = "http://127.0.0.1/" },
                             like = { .url = "smtp://127.0.0.1.example:25", .is_plain = true },
                                 closed = { .url = "smtp://127.0.0.1:1", .is_plain = true };
    assert_int_equal(mail_send(a, &plain, &in, &e), ERR_INVALID);
    assert_int_equal(mail_send(a, &web, &in, &e), ERR_INVALID);
    assert_int_equal(mail_send(a, &like, &in, &e), ERR_INVALID);
    assert_int_equal(mail_send(a, &closed, &in, &e), ERR_UNAVAILABLE);
    struct mail bad = mail_of("x", "y");
    bad.to = STR("a@x> NOTIFY=NEVER");
    assert_int_equal(mail_send(a, &closed, &bad, &e), ERR_INVALID);
}

static bool at_once(void *ctx)
{
    *(int *)ctx += 1;
    return true;
}

/* It takes the connection, into its backlog, and never says a word. */
static void who_ends_waits_for_no_server(void **state)
{
    (void)state;
    const struct mail in = mail_of("x", "y");
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof at;
    int asked = 0;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0 && !bind(fd, (struct sockaddr *)&at, len) && !listen(fd, 4) &&
                !getsockname(fd, (struct sockaddr *)&at, &len));
    const struct mail_server silent = { .url = arena_printf(a, "smtp://127.0.0.1:%d", ntohs(at.sin_port)), .is_plain = true,
                                        .is_unwanted = at_once, .ctx = &asked };
    assert_int_equal(mail_send(a, &silent, &in, &e), ERR_UNAVAILABLE);
    assert_true(asked > 0);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(addresses), cmocka_unit_test(a_subject_makes_no_header),
                                        cmocka_unit_test(arabic_comes_back_whole), cmocka_unit_test(where_mail_may_go),
                                        cmocka_unit_test(who_ends_waits_for_no_server) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
