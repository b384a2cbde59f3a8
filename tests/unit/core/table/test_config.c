/* SPDX-License-Identifier: Apache-2.0 */
/* test_config.c - sources, their order, and every refusal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/table/config.h"

static char path[64];

static int setup(void **state)
{
    (void)state;
    strcpy(path, "/tmp/test_config_XXXXXX");
    close(mkstemp(path));
    unsetenv("FALAJ_CONFIG");
    unsetenv("FALAJ_DB_POOL_SIZE");
    unsetenv("FALAJ_LOG_LEVEL");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

static void write_file(const char *text)
{
    FILE *f = fopen(path, "w");
    fputs(text, f);
    fclose(f);
    setenv("FALAJ_CONFIG", path, 1);
}

static enum errc load(struct config **c, struct err *e, const char *flag)
{
    char arg[200];
    snprintf(arg, sizeof arg, "%s", flag ? flag : "--");
    char *argv[] = { "x", arg, NULL };
    int argc = 2;
    return config_load(&argc, argv, c, e);
}

static void defaults(void **state)
{
    (void)state;
    struct config *c = config_new_default();
    assert_string_equal(c->api_bind, "127.0.0.1");
    assert_int_equal(c->api_port, 8080);
    assert_int_equal(c->run_profile, PROFILE_DEV);
    assert_int_equal(c->log_level, 1);
    assert_string_equal(c->db_url, "");
    config_free(c);
}

static void order_of_sources(void **state)
{
    (void)state;
    struct config *c;
    struct err e;
    write_file("# a comment\n\ndb.pool_size = 5\r\nlog.level=warn\napi.bind =  ::1  \napi.max_body = 2m\n"
               "api.drain_ms = 3s\n");
    assert_int_equal(load(&c, &e, NULL), ERR_OK);
    assert_int_equal(c->db_pool_size, 5);
    assert_int_equal(c->log_level, 2);
    assert_string_equal(c->api_bind, "::1");
    assert_int_equal(c->api_max_body, 2 << 20);
    assert_int_equal(c->api_drain_ms, 3000);
    assert_string_equal(c->file, path);
    config_free(c);
    setenv("FALAJ_DB_POOL_SIZE", "6", 1);
    assert_int_equal(load(&c, &e, NULL), ERR_OK);
    assert_int_equal(c->db_pool_size, 6);
    config_free(c);
    assert_int_equal(load(&c, &e, "--db.pool_size=7"), ERR_OK);
    assert_int_equal(c->db_pool_size, 7);
    config_free(c);
}

static void flags_are_taken_out(void **state)
{
    (void)state;
    struct config *c;
    struct err e;
    char conf[100];
    write_file("api.port = 1\n");
    unsetenv("FALAJ_CONFIG");
    snprintf(conf, sizeof conf, "--config=%s", path);
    char *argv[] = { "x", "--check-db", conf, "--db.pool_size=3", "a.b", "--", "--api.port=9", NULL };
    int argc = 7;
    assert_int_equal(config_load(&argc, argv, &c, &e), ERR_OK);
    assert_int_equal(argc, 5);
    assert_string_equal(argv[1], "--check-db");
    assert_string_equal(argv[2], "a.b");
    assert_string_equal(argv[4], "--api.port=9");
    assert_null(argv[5]);
    assert_int_equal(c->api_port, 1);
    assert_int_equal(c->db_pool_size, 3);
    config_free(c);
    char *words[] = { "x", "--config", path, "--db.pool_size=3", "rest", NULL };
    argc = 5;
    assert_int_equal(config_load(&argc, words, &c, &e), ERR_OK);
    assert_int_equal(argc, 2);
    assert_string_equal(words[1], "rest");
    assert_int_equal(c->api_port, 1);
    config_free(c);
    char *cut[] = { "x", "--config", NULL };
    argc = 2;
    assert_int_equal(config_load(&argc, cut, &c, &e), ERR_INVALID);
}

static void refused(const char *file, const char *flag, const char *msg)
{
    struct config *c = NULL;
    struct err e = { 0 };
    write_file(file);
    if (load(&c, &e, flag) != ERR_INVALID || !strstr(e.msg, msg))
        fail_msg("\"%s\" %s gave \"%s\" (%s)", file, flag ? flag : "", e.msg, e.detail);
    assert_null(c);
}

static void refusals(void **state)
{
    (void)state;
    refused("\n\ndb.pool = 3\n", NULL, ":3: there is no setting db.pool; did you mean db.");
    refused("db.pol_size = 3\n", NULL, "did you mean db.pool_size?");
    refused("", "--api.prot=3", "did you mean api.port?");
    refused("", "--zzzzzzzzzzzzzzzz.qqqqqqqqqqqqqqq=3", "there is no setting zzzz");
    refused("", "--api.port", "write --api.port=VALUE");
    refused("api.port 3\n", NULL, ":1: expected section.name = value");
    refused("api.port = 70000\n", NULL, "api.port must be from 0 to 65535");
    refused("api.port = x\n", NULL, "api.port must be an integer");
    refused("api.port = 1k\n", NULL, "api.port must be an integer");
    refused("api.max_body = 9999999999g\n", NULL, "must be a size");
    refused("api.drain_ms = 1w\n", NULL, "must be a duration");
    refused("log.level = loud\n", NULL, "log.level must be one of debug|info|warn|error");
    setenv("FALAJ_DB_POOL_SIZE", "0", 1);
    refused("", NULL, "db.pool_size must be from 1 to 512");
    unsetenv("FALAJ_DB_POOL_SIZE");
    unlink(path);
    struct config *c;
    struct err e;
    assert_int_equal(load(&c, &e, NULL), ERR_INVALID);
    assert_non_null(strstr(e.msg, "cannot open"));
    assert_null(strstr(e.msg, "errno"));
}

static void reload(void **state)
{
    (void)state;
    struct config *c;
    struct err e;
    write_file("log.level = warn\nscheduler.tick_ms = 100\nscheduler.batch=7\napi.port = 1\n");
    assert_int_equal(load(&c, &e, "--scheduler.batch=8"), ERR_OK);
    write_file("log.level = error\nscheduler.tick_ms = 200\nscheduler.batch=9\napi.port = 2\n");
    assert_int_equal(config_reload(c, &e), ERR_OK);
    assert_int_equal(c->log_level, 3);
    assert_int_equal(c->scheduler_tick_ms, 200);
    assert_int_equal(c->scheduler_batch, 8);        /* a flag stays */
    assert_int_equal(c->api_port, 1);               /* not reloadable */
    write_file("log.level = debug\nscheduler.tick_ms = no\n");
    assert_int_equal(config_reload(c, &e), ERR_INVALID);
    assert_int_equal(c->log_level, 3);              /* all or nothing */
    config_free(c);
}

static void setting_one(void **state)
{
    (void)state;
    struct config *c = config_new_default();
    struct err e;
    assert_int_equal(config_set(c, "run.profile", "prod", &e), ERR_OK);
    assert_int_equal(c->run_profile, PROFILE_PROD);
    assert_int_equal(config_set(c, "run.profil", "prod", &e), ERR_INVALID);
    config_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
        T(defaults), T(order_of_sources), T(flags_are_taken_out), T(refusals), T(reload), T(setting_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
