/* SPDX-License-Identifier: Apache-2.0 */
/* test_engine_login.c - what the file of a credential must be, as a token and as a certificate. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/err.h"
#include "core/table/config.h"
#include "scheduler/duty/engine_login.h"

#include <sys/stat.h>
#include <unistd.h>

static struct err e;
static struct arena *a;
static struct config *cfg;
static char folder[] = "/tmp/falaj-engines-XXXXXX", path[64];

static void put(const char *text, mode_t mode)
{
    unlink(path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    chmod(path, mode);
}

static enum errc login(struct engine_call *ret)
{
    *ret = (struct engine_call){ 0 };
    return engine_login(cfg, a, STR("x"), ret, &e);
}

static void a_token_is_one_line_that_nobody_else_may_read(void **state)
{
    (void)state;
    struct engine_call c;
    assert_int_equal(login(&c), ERR_IO);
    put("abc.def\n", 0640);
    assert_int_equal(login(&c), ERR_IO);
    assert_non_null(strstr(e.msg, "0600"));
    put("abc.def\n", 0600);
    assert_int_equal(login(&c), ERR_OK);
    assert_true(str_eq_c(c.credential, "abc.def") && !c.cert_file);
    put("abc\r\nX-Other: 1\n", 0600);
    assert_int_equal(login(&c), ERR_IO);
    put("\n", 0600);
    assert_int_equal(login(&c), ERR_IO);
    unlink(path);
    assert_int_equal(symlink("/etc/hostname", path), 0);
    assert_int_equal(login(&c), ERR_IO);
}

static void a_certificate_comes_with_its_key(void **state)
{
    (void)state;
    struct engine_call c;
    put("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", 0600);
    assert_int_equal(login(&c), ERR_IO);
    assert_non_null(strstr(e.msg, "key"));
    put("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
        "-----BEGIN PRIVATE KEY-----\nAA\n-----END PRIVATE KEY-----\n", 0600);
    assert_int_equal(login(&c), ERR_OK);
    assert_string_equal(c.cert_file, path);
    assert_int_equal(c.credential.len, 0);
}

static int setup(void **state)
{
    (void)state;
    a = arena_new(1 << 20);
    cfg = config_new_default();
    if (!mkdtemp(folder))
        return 1;
    snprintf(path, sizeof path, "%s/x", folder);
    return config_set(cfg, "scheduler.engines_dir", folder, &e) != ERR_OK;
}

static int teardown(void **state)
{
    (void)state;
    unlink(path);
    rmdir(folder);
    config_free(cfg);
    arena_free(a);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_token_is_one_line_that_nobody_else_may_read), cmocka_unit_test(a_certificate_comes_with_its_key),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
