/* SPDX-License-Identifier: Apache-2.0 */
/* mail.c - a message as MIME, and libcurl's SMTP. A connection for each mail: few are sent, and one that hangs holds no
 * other's. */
#include "core/http/mail.h"
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/http/client_int.h"

#include <stdio.h>
#include <time.h>

/* 39 bytes are 52 characters of base64: with "Subject: =?UTF-8?B?" and "?=" below the 76 of a line (RFC 2047 §2). */
enum { WORD_BYTES = 39, LINE_BYTES = 57, MESSAGE_MAX = 64 << 10, CONNECT_MS = 5000 };

bool mail_address_is_ok(struct str s)
{
    struct str local, domain;
    if (!s.ptr || s.len > MAIL_ADDRESS_MAX || !str_cut(s, '@', &local, &domain) || !local.len || !domain.len || local.len > 64)
        return false;
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] <= ' ' || s.ptr[i] > '~' || strchr("\"(),:;<>[]\\`", s.ptr[i]))
            return false;
    return str_find(domain, '@') < 0 && domain.ptr[0] != '.' && domain.ptr[domain.len - 1] != '.' && s.ptr[0] != '-';
}

bool check_mail_address(struct str s, const char **why)
{
    *why = "be a mail address, as name@example.org";
    return mail_address_is_ok(s);
}

/* At most n bytes, ending at a character. */
static struct str cut(struct str s, size_t n)
{
    if (s.len <= n)
        return s;
    while (n && ((unsigned char)s.ptr[n] & 0xc0) == 0x80)
        n--;
    return str_n(s.ptr, n);
}

static void add_subject(struct buf *b, struct str s)
{
    char word[BASE64_MAX(WORD_BYTES)];
    buf_add_c(b, "Subject:");
    for (s = cut(s, MAIL_SUBJECT_MAX); s.len;) {
        const struct str part = cut(s, WORD_BYTES);
        if (!part.len)
            break;
        base64_encode(part.ptr, part.len, word, false);
        buf_printf(b, " =?UTF-8?B?%s?=\r\n", word);
        s = str_n(s.ptr + part.len, s.len - part.len);
    }
    if (b->ptr && b->len && b->ptr[b->len - 1] == ':')
        buf_add_c(b, "\r\n");
}

static void add_date(struct buf *b, int64_t at_us)
{
    static const char *const days[] = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" };
    static const char *const months[] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };
    const time_t t = (time_t)(at_us / 1000000);
    struct tm tm;
    gmtime_r(&t, &tm);
    buf_printf(b, "Date: %s, %02d %s %d %02d:%02d:%02d +0000\r\n", days[tm.tm_wday], tm.tm_mday, months[tm.tm_mon],
               tm.tm_year + 1900, tm.tm_hour, tm.tm_min, tm.tm_sec);
}

enum errc mail_message(struct arena *a, const struct mail *m, struct str *ret, struct err *e)
{
    CLEANUP(buf_releasep) struct buf b = BUF(MESSAGE_MAX);
    char line[BASE64_MAX(LINE_BYTES)];
    if (!mail_address_is_ok(m->from))
        return FAIL(e, INVALID, "The sender is no mail address");
    if (!mail_address_is_ok(m->to))
        return FAIL(e, INVALID, "The recipient is no mail address");
    const ptrdiff_t at = str_find(m->from, '@');
    buf_printf(&b, "From: Falaj <%.*s>\r\nTo: <%.*s>\r\n", STR_ARG(m->from), STR_ARG(m->to));
    add_subject(&b, m->subject);
    add_date(&b, m->at_us);
    buf_printf(&b, "Message-ID: <%.*s@%.*s>\r\n", STR_ARG(m->id), (int)(m->from.len - (size_t)at - 1), m->from.ptr + at + 1);
    buf_printf(&b, "MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n"
                   "Content-Language: %s\r\nAuto-Submitted: auto-generated\r\n\r\n", m->language);
    for (struct str s = cut(m->text, MAIL_TEXT_MAX); s.len;) {
        const size_t n = s.len < LINE_BYTES ? s.len : LINE_BYTES;
        base64_encode(s.ptr, n, line, false);
        buf_printf(&b, "%s\r\n", line);
        s = str_n(s.ptr + n, s.len - n);
    }
    if (b.overflow)
        return FAIL(e, LIMIT, "The mail is too long");
    *ret = str_dup(a, buf_str(&b));
    return ERR_OK;
}

static size_t give(char *p, size_t size, size_t n, void *ctx)
{
    struct str *left = ctx;
    n = n * size < left->len ? n * size : left->len;
    memcpy(p, left->ptr, n);
    *left = str_n(left->ptr + n, left->len - n);
    return n;
}

static enum errc check_server(const struct mail_server *s, struct err *e)
{
    struct str url = str_c(s->url), host, rest;
    const bool is_tls = str_starts(url, "smtps://");
    if (!is_tls && !str_starts(url, "smtp://"))
        return FAIL(e, INVALID, "The mail server's URL must begin with smtp:// or smtps://");
    url = str_n(url.ptr + (is_tls ? 8 : 7), url.len - (is_tls ? 8 : 7));
    (void)str_cut(url, ':', &host, &rest);
    if (s->is_plain && !str_eq_c(host, "127.0.0.1") && !str_eq_c(host, "localhost"))
        return FAIL(e, INVALID, "Mail goes unencrypted to this machine only");
    return ERR_OK;
}

static int progress(void *ctx, curl_off_t down_all, curl_off_t down, curl_off_t up_all, curl_off_t up)
{
    const struct mail_server *s = ctx;
    (void)down_all, (void)down, (void)up_all, (void)up;
    return s->is_unwanted(s->ctx);
}

static enum errc outcome(CURL *h, CURLcode code, const char *text, struct err *e)
{
    long status = 0;
    curl_easy_getinfo(h, CURLINFO_RESPONSE_CODE, &status);
    switch (code) {
    case CURLE_OK:
        return ERR_OK;
    case CURLE_OPERATION_TIMEDOUT:
        FAIL(e, DEADLINE, "The mail server took too long");
        break;
    case CURLE_ABORTED_BY_CALLBACK:
        FAIL(e, UNAVAILABLE, "The mail was not waited for");
        break;
    case CURLE_LOGIN_DENIED:
        FAIL(e, UNAVAILABLE, "The mail server refused the sign-in");
        break;
    case CURLE_USE_SSL_FAILED:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CACERT_BADFILE:
        FAIL(e, UNAVAILABLE, "The mail server offers no encryption that is trusted");
        break;
    default:
        if (status >= 500)
            FAIL(e, UPSTREAM, "The mail server refused the mail: %ld", status);
        else if (status >= 400)
            FAIL(e, UNAVAILABLE, "The mail server is not ready: %ld", status);
        else
            FAIL(e, UNAVAILABLE, "The mail server cannot be reached");
    }
    err_note(e, "%s", text[0] ? text : curl_easy_strerror(code));
    return e->code;
}

static void set_up(CURL *h, const struct mail_server *s, char *text)
{
    curl_easy_setopt(h, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(h, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
    curl_easy_setopt(h, CURLOPT_PROXY, "");
    curl_easy_setopt(h, CURLOPT_URL, s->url);
    curl_easy_setopt(h, CURLOPT_USE_SSL, s->is_plain ? (long)CURLUSESSL_NONE : (long)CURLUSESSL_ALL);
    curl_easy_setopt(h, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(h, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(h, CURLOPT_SSL_VERIFYHOST, 2L);
    if (s->ca_file) {
        curl_easy_setopt(h, CURLOPT_CAINFO, s->ca_file);
        curl_easy_setopt(h, CURLOPT_CAPATH, NULL);
    }
    if (s->user) {
        curl_easy_setopt(h, CURLOPT_USERNAME, s->user);
        curl_easy_setopt(h, CURLOPT_PASSWORD, s->password ? s->password : "");
    }
    curl_easy_setopt(h, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    curl_easy_setopt(h, CURLOPT_TIMEOUT_MS, (long)MAIL_TIMEOUT_MS);
    curl_easy_setopt(h, CURLOPT_ERRORBUFFER, text);
    if (s->is_unwanted) {
        curl_easy_setopt(h, CURLOPT_NOPROGRESS, 0L);
        curl_easy_setopt(h, CURLOPT_XFERINFOFUNCTION, progress);
        curl_easy_setopt(h, CURLOPT_XFERINFODATA, (void *)(uintptr_t)s);
    }
}

enum errc mail_send(struct arena *a, const struct mail_server *s, const struct mail *m, struct err *e)
{
    char text[CURL_ERROR_SIZE] = "";
    struct str left;
    TRY(check_server(s, e));
    TRY(mail_message(a, m, &left, e));
    http_curl_start();
    CURL *h = curl_easy_init();
    struct curl_slist *to = curl_slist_append(NULL, str_z(a, str_fmt(a, "<%.*s>", STR_ARG(m->to))));
    ASSERT(h && to);
    set_up(h, s, text);
    curl_easy_setopt(h, CURLOPT_MAIL_FROM, str_z(a, str_fmt(a, "<%.*s>", STR_ARG(m->from))));
    curl_easy_setopt(h, CURLOPT_MAIL_RCPT, to);
    curl_easy_setopt(h, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(h, CURLOPT_READFUNCTION, give);
    curl_easy_setopt(h, CURLOPT_READDATA, &left);
    const enum errc rc = outcome(h, curl_easy_perform(h), text, e);
    curl_easy_cleanup(h);
    curl_slist_free_all(to);
    return rc;
}
