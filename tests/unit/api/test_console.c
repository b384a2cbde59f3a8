/* SPDX-License-Identifier: Apache-2.0 */
/* test_console.c - which coding, which file for which path, and under which headers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include "api/console.h"
#include "core/base/arena.h"

static char dir[] = "/tmp/falaj-console-XXXXXX";
static struct console *console;
static struct arena *arena;

static void put(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static int setup(void **state)
{
    (void)state;
    struct err e;
    char path[128];
    arena = arena_new(1 << 20);
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/assets", dir);
    assert_int_equal(mkdir(path, 0700), 0);
    put("index.html", "<!doctype html>");
    put("index.html.gz", "ig");
    put("robots.txt", "User-agent: *");
    put("assets/main-Bx3_9aQk.js", "main");
    put("assets/main-Bx3_9aQk.js.gz", "mg");
    put("assets/main-Bx3_9aQk.js.br", "mb");
    assert_int_equal(console_open(dir, &console, &e), ERR_OK);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    char command[128];
    console_free(console);
    arena_free(arena);
    snprintf(command, sizeof command, "rm -rf %s", dir);
    return system(command);
}

static void codings(void **state)
{
    (void)state;
    static const struct { const char *accept; enum console_coding want; } rows[] = {
        { NULL, CODING_IDENTITY }, { "", CODING_IDENTITY }, { "identity", CODING_IDENTITY }, { "gzip", CODING_GZIP }, { "x-gzip", CODING_GZIP },
        { "br", CODING_BR }, { "gzip, deflate, br", CODING_BR }, { "gzip, deflate, br, zstd", CODING_BR }, { "GZIP", CODING_GZIP },
        { "br;q=0, gzip", CODING_GZIP }, { "br;q=0.5, gzip;q=0.8", CODING_GZIP }, { "br;q=0.8 , gzip; q=0.8", CODING_BR },
        { "*", CODING_BR }, { "*;q=0", CODING_IDENTITY }, { "br;q=0, *", CODING_GZIP }, { "gzip;q=0, br;q=0", CODING_IDENTITY },
        { "identity, br;q=0.5", CODING_IDENTITY }, { "identity;q=0.5, br;q=0.5", CODING_BR }, { "identity;q=0", CODING_IDENTITY },
        { "br;q=2", CODING_IDENTITY }, { "br;q=abc, gzip", CODING_GZIP }, { "br;q=0.0001", CODING_IDENTITY }, { "br;q=0.001", CODING_BR },
        { "br;q=1.000", CODING_BR }, { "br;q=1.5", CODING_IDENTITY }, { ",,;;,br", CODING_BR }, { "brotli, gzipped", CODING_IDENTITY },
        { "deflate", CODING_IDENTITY },
    };
    const struct console_file *f = console_find(console, STR("/assets/main-Bx3_9aQk.js"));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (console_coding_choose(f, rows[i].accept ? str_c(rows[i].accept) : STR_NULL) != rows[i].want)
            fail_msg("Accept-Encoding: %s", rows[i].accept);
    assert_int_equal(console_coding_choose(console_find(console, STR("/index.html")), STR("br, gzip;q=0.1")), CODING_GZIP);
    assert_int_equal(console_coding_choose(console_find(console, STR("/robots.txt")), STR("br, gzip")), CODING_IDENTITY);
}

static void pages(void **state)
{
    (void)state;
    static const char *const yes[] = { "/jobs", "/login", "/jobs/job_1/logs", "/v11", "/v1x/me", "/versions", "/metrics.html", "/a/v1/me", "/a/%2e" };
    static const char *const no[] = { "/v1", "/v1/", "/v1/nothing", "/V1/me", "/v2/models", "/scim/v2/Users", "/healthz", "/healthz/x", "/readyz",
                                      "/metrics", "/version", "/openapi.json", "/assets/gone-12345678.js", "/assets", "/%76%31/me", "/%761/me", "", "v1" };
    static const char *const html[] = { "text/html", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "a/b , TEXT/HTML;q=0.1" };
    static const char *const other[] = { "*/*", "", "application/json", "text/html;q=0", "text/htmlx", "text/*", "image/avif,*/*" };
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        if (!console_is_page(str_c(yes[i]), STR("text/html")))
            fail_msg("%s", yes[i]);
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        if (console_is_page(str_c(no[i]), STR("text/html")))
            fail_msg("%s", no[i]);
    for (size_t i = 0; i < sizeof html / sizeof *html; i++)
        assert_true(console_is_page(STR("/jobs"), str_c(html[i])));
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        if (console_is_page(STR("/jobs"), str_c(other[i])))
            fail_msg("Accept: %s", other[i]);
    assert_false(console_is_page(STR("/jobs"), STR_NULL));
}

static struct http_response got;

static bool ask(enum http_method m, const char *path, const char *accept, const char *coding, const char *known)
{
    struct http_header h[3];
    struct http_request r = { .method = m, .path = str_c(path), .headers = h, .arena = arena };
    if (accept)
        h[r.nheaders++] = (struct http_header){ STR("Accept"), str_c(accept) };
    if (coding)
        h[r.nheaders++] = (struct http_header){ STR("Accept-Encoding"), str_c(coding) };
    if (known)
        h[r.nheaders++] = (struct http_header){ STR("If-None-Match"), str_c(known) };
    return console_pick(console, &r, STR("req_1"), &got);
}

static const char *header(const char *name)
{
    for (size_t i = 0; i < got.nheaders; i++)
        if (!strcasecmp(str_z(arena, got.headers[i].name), name))
            return str_z(arena, got.headers[i].value);
    return "";
}

static void answers(void **state)
{
    (void)state;
    assert_true(ask(HTTP_GET, "/assets/main-Bx3_9aQk.js", "*/*", "gzip, br", NULL));
    assert_int_equal(got.status, 200);
    assert_true(str_eq_c(got.body, "mb"));
    assert_true(str_eq_c(got.content_type, "text/javascript; charset=utf-8"));
    assert_string_equal(header("content-encoding"), "br");
    assert_string_equal(header("cache-control"), "public, max-age=31536000, immutable");
    assert_string_equal(header("vary"), "Accept-Encoding");
    assert_string_equal(header("content-security-policy"), CONSOLE_CSP);
    assert_string_equal(header("x-content-type-options"), "nosniff");
    const char *tag = header("etag");
    assert_true(ask(HTTP_HEAD, "/assets/main-Bx3_9aQk.js", NULL, "br", tag));
    assert_int_equal(got.status, 304);
    assert_int_equal(got.body.len, 0);
    assert_string_equal(header("etag"), tag);
    assert_string_equal(header("content-security-policy"), CONSOLE_CSP);
    /* The tag of one coding is not that of another. */
    assert_true(ask(HTTP_GET, "/assets/main-Bx3_9aQk.js", NULL, "gzip", tag));
    assert_int_equal(got.status, 200);
    assert_true(ask(HTTP_GET, "/", NULL, NULL, NULL));
    assert_string_equal(header("cache-control"), "no-cache");
    assert_string_equal(header("content-encoding"), "");
    assert_true(ask(HTTP_GET, "/jobs", "text/html", NULL, NULL));
    assert_true(str_eq_c(got.body, "<!doctype html>"));
    assert_string_equal(header("vary"), "Accept, Accept-Encoding");
    assert_true(ask(HTTP_GET, "/robots.txt", NULL, "br", NULL));
    assert_string_equal(header("vary"), "");
    assert_false(ask(HTTP_GET, "/jobs", "application/json", NULL, NULL));
    assert_false(ask(HTTP_GET, "/v1/nothing", "text/html", NULL, NULL));
    assert_false(ask(HTTP_POST, "/", "text/html", NULL, NULL));
    assert_false(ask(HTTP_OPTIONS, "/assets/main-Bx3_9aQk.js", NULL, NULL, NULL));
    assert_true(console_has(console, STR("/")));
    assert_false(console_has(console, STR("/jobs")));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(codings), cmocka_unit_test(pages), cmocka_unit_test(answers) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
