/* SPDX-License-Identifier: Apache-2.0 */
/* test_console_files.c - a folder read as a whole or not at all: types, hashed names, other codings, and everything that is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "api/console_files.h"

static char dir[64];
static struct console *console;
static struct err e;

static const char *in_dir(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

static void put(const char *name, const char *text)
{
    FILE *f = fopen(in_dir(name), "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static int setup(void **state)
{
    (void)state;
    snprintf(dir, sizeof dir, "/tmp/falaj-console-XXXXXX");
    assert_non_null(mkdtemp(dir));
    assert_int_equal(mkdir(in_dir("assets"), 0700), 0);
    put("index.html", "<!doctype html>");
    put("assets/main-Bx3_9aQk.js", "main");
    console = NULL;
    e = (struct err){ 0 };
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    char command[128];
    console_free(console);
    snprintf(command, sizeof command, "rm -rf %s", dir);
    return system(command);
}

static void types(void **state)
{
    (void)state;
    static const struct { const char *path, *type; } rows[] = {
        { "/index.html", "text/html; charset=utf-8" }, { "/a.js", "text/javascript; charset=utf-8" }, { "/a.mjs", "text/javascript; charset=utf-8" },
        { "/a.css", "text/css; charset=utf-8" }, { "/robots.txt", "text/plain; charset=utf-8" }, { "/a.json", "application/json" },
        { "/a.svg", "image/svg+xml" }, { "/a.png", "image/png" }, { "/a.ico", "image/x-icon" }, { "/a.woff2", "font/woff2" },
        { "/a.wasm", "application/wasm" }, { "/a.webmanifest", "application/manifest+json" }, { "/a", "application/octet-stream" },
        { "/a.HTML", "application/octet-stream" }, { "/html", "application/octet-stream" }, { "/a.js.exe", "application/octet-stream" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(console_type_of(str_c(rows[i].path)), rows[i].type);
}

static void hashed(void **state)
{
    (void)state;
    static const char *const yes[] = { "/assets/main-Bx3_9aQk.js", "/assets/a-12345678.woff2", "/assets/x---------.css", "/assets/deep/b-AbCdEfGh.js.map" };
    static const char *const no[] = { "/index.html", "/main-Bx3_9aQk.js", "/assets/main.js", "/assets/-12345678.js", "/assets/main-1234567.js",
                                      "/assets/main-123456789.js", "/assets/main-1234567~.js", "/assets/main-12345678", "/assets/", "/assets" };
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        assert_true(console_is_hashed(str_c(yes[i])));
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        if (console_is_hashed(str_c(no[i])))
            fail_msg("%s", no[i]);
}

static void a_folder(void **state)
{
    (void)state;
    size_t bytes;
    put("assets/main-Bx3_9aQk.js.br", "mb");
    put("assets/main-Bx3_9aQk.js.gz", "mgz");
    put("assets/alone.gz", "no file of its own");
    put(".hidden", "not served");
    assert_int_equal(console_open(dir, &console, &e), ERR_OK);
    assert_int_equal(console_count(console, &bytes), 2);
    const struct console_file *f = console_find(console, STR("/assets/main-Bx3_9aQk.js"));
    assert_non_null(f);
    assert_true(f->is_hashed);
    assert_true(str_eq_c(f->bodies[CODING_IDENTITY].bytes, "main"));
    assert_true(str_eq_c(f->bodies[CODING_GZIP].bytes, "mgz"));
    assert_true(str_eq_c(f->bodies[CODING_BR].bytes, "mb"));
    /* printf main | sha256sum */
    assert_string_equal(f->bodies[CODING_IDENTITY].etag, "\"0d6e4079e36703ebd37c00722f5891d28b0e2811dc114b129215123adcce3605\"");
    assert_string_not_equal(f->bodies[CODING_IDENTITY].etag, f->bodies[CODING_BR].etag);
    f = console_find(console, STR("/index.html"));
    assert_non_null(f);
    assert_false(f->is_hashed);
    assert_null(f->bodies[CODING_GZIP].bytes.ptr);
    static const char *const absent[] = { "/", "", "index.html", "/.hidden", "/assets", "/assets/", "/assets/../index.html", "/assets/alone.gz",
                                          "/assets/main-Bx3_9aQk.js.br", "/INDEX.html", "//index.html", "/index.html/" };
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
        assert_null(console_find(console, str_c(absent[i])));
    assert_null(console_find(console, str_n("/index.html\0.js", 15)));
}

static void refused(enum errc code, const char *part)
{
    assert_int_equal(console_open(dir, &console, &e), code);
    assert_null(console);
    assert_non_null(strstr(e.msg, part));
}

static void a_link_is_refused(void **state)
{
    (void)state;
    assert_int_equal(symlink("/etc/passwd", in_dir("assets/passwd.txt")), 0);
    refused(ERR_INVALID, "link");
    assert_int_equal(unlink(in_dir("assets/passwd.txt")), 0);
    assert_int_equal(symlink("/etc", in_dir("etc")), 0);
    refused(ERR_INVALID, "link");
}

static void special_files_are_refused(void **state)
{
    (void)state;
    assert_int_equal(mkfifo(in_dir("pipe"), 0600), 0);
    refused(ERR_INVALID, "neither");
}

static void names_that_need_escapes_are_refused(void **state)
{
    (void)state;
    put("a b.js", "");
    refused(ERR_INVALID, "escape");
    unlink(in_dir("a b.js"));
    put("a%2fb.js", "");
    refused(ERR_INVALID, "escape");
}

static void no_index_no_console(void **state)
{
    (void)state;
    unlink(in_dir("index.html"));
    refused(ERR_INVALID, "index.html");
    snprintf(dir + strlen(dir), 8, "/absent");
    refused(ERR_INVALID, "cannot be opened");
    *strrchr(dir, '/') = '\0';
}

static void limits(void **state)
{
    (void)state;
    char name[32];
    for (int i = 0; i < CONSOLE_FILES_MAX - 2; i++) {
        snprintf(name, sizeof name, "assets/f%d.txt", i);
        put(name, "x");
    }
    assert_int_equal(console_open(dir, &console, &e), ERR_OK);
    console_free(console);
    console = NULL;
    put("assets/one-more.txt", "x");
    refused(ERR_LIMIT, "files");
    unlink(in_dir("assets/one-more.txt"));
    int fd = open(in_dir("assets/f0.txt"), O_WRONLY);
    assert_int_equal(ftruncate(fd, CONSOLE_BYTES_MAX + 1), 0);
    close(fd);
    refused(ERR_LIMIT, "MiB");
}

static void folders_too_deep(void **state)
{
    (void)state;
    char name[64] = "d";
    for (int i = 0; i < CONSOLE_DEPTH_MAX; i++, strcat(name, "/d"))
        assert_int_equal(mkdir(in_dir(name), 0700), 0);
    assert_int_equal(console_open(dir, &console, &e), ERR_OK);
    console_free(console);
    console = NULL;
    assert_int_equal(mkdir(in_dir(name), 0700), 0);
    refused(ERR_LIMIT, "deeper");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types),
        cmocka_unit_test(hashed),
        cmocka_unit_test_setup_teardown(a_folder, setup, teardown),
        cmocka_unit_test_setup_teardown(a_link_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(special_files_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(names_that_need_escapes_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(no_index_no_console, setup, teardown),
        cmocka_unit_test_setup_teardown(limits, setup, teardown),
        cmocka_unit_test_setup_teardown(folders_too_deep, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
