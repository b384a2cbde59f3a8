/* SPDX-License-Identifier: Apache-2.0 */
/* test_cmd_support.c - what was planted in settings and logs is not in the bundle; what a maintainer needs is. */
#include "with_cli.h"
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli/dev/dev.h"
#include "core/json/jsonvalue.h"

static char dir[] = "/tmp/falaj-support-XXXXXX";

static void put(const char *name, const char *text)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* Each stands where a careless collector would take it along. */
static const char *const planted[] = { "heron", "fatima", "10.20.30.40", "bank.example", "flj_", "/srv/secret-project",
                                       "obj_0192", "emirates",
                                       "ibis", "tnt_", "BEGIN PRIVATE", "host=/x" };

static void plant(void)
{
    char path[200];
    put("api.conf",
        "run.profile = prod\ndb.url = host=/x user=falaj_app password=heron\napi.port = 8443\napi.bind = 10.20.30.40\n"
                    "api.public_url = https://bank.example\nblob.dir = /srv/secret-project\n# fatima@bank.example wrote this\n"
                    "unknown.setting = ibis\napi.threads = flj_0123456789\nredis.password = ibis\n"
                    "log.level = heron\napi.max_body = 64k\nworker.name =\n");
    put("scheduler.conf", "scheduler.tick_ms = 250ms\nscheduler.url = password=heron\n-----BEGIN PRIVATE KEY-----\n");
    snprintf(path, sizeof path, "%s/logs", dir);
    mkdir(path, 0700);
    put("logs/api.log", "ts=1 level=info event=api.ready url=https://bank.example\n"
                        "ts=2 level=error event=object.damaged object=obj_0192 tenant=tnt_1 msg=\"fatima of emirates\"\n"
                        "ts=3 level=error event=object.damaged object=obj_0192\nfatima alone\n"
                        "event=\"emirates bank\" level=info\nlevel=info event=fatima@bank.example\n");
    put("logs/worker.log", "{\"ts\":1,\"level\":\"warn\",\"event\":\"lease.lost\",\"job\":\"emirates\"}\n");
}

static void what_was_planted_is_not_there(void **state)
{
    (void)state;
    struct with_cli w;
    const struct jval *v, *s, *l;
    struct err e;
    char logs[200];
    plant();
    snprintf(logs, sizeof logs, "%s/logs", dir);
    with_cli_init(&w);
    assert_int_equal(with_cli_parse(&w, WORDS("support", "bundle", "--etc", dir, "--logs", logs)), CLI_OK);
    assert_int_equal(w.c.cmd->run(&w.c), CLI_OK);
    const char *text = with_cli_out(&w);
    for (size_t i = 0; i < sizeof planted / sizeof *planted; i++)
        if (strstr(text, planted[i]))
            fail_msg("%s is in the bundle: %s", planted[i], text);
    assert_null(strstr(text, dir));
    if (jval_parse(w.c.arena, str_c(text), 0, &v, &e) != ERR_OK)
        fail_msg("no JSON: %s: %s", e.msg, text);
    s = jval_get(jval_get(v, "settings"), "api.conf");
    assert_true(str_eq_c(jval_str(jval_get(s, "api.port")), "8443") && str_eq_c(jval_str(jval_get(s, "run.profile")), "prod"));
    assert_true(str_eq_c(jval_str(jval_get(s, "api.max_body")), "64k") && str_eq_c(jval_str(jval_get(s, "log.level")), "set"));
    assert_true(str_eq_c(jval_str(jval_get(s, "db.url")), "set") && str_eq_c(jval_str(jval_get(s, "worker.name")), "empty"));
    l = jval_get(v, "log_events");
    assert_int_equal(jval_i64(jval_get(l, "error object.damaged"), 0), 2);
    assert_int_equal(jval_i64(jval_get(l, "warn lease.lost"), 0), 1);
    assert_true(jval_len(jval_get(v, "checks")) > 2);
    with_cli_release(&w);
}

static void a_file_is_not_written_over(void **state)
{
    (void)state;
    char path[200];
    struct stat st;
    snprintf(path, sizeof path, "%s/bundle.json", dir);
    with_cli_expect(WORDS("support", "bundle", "--etc", dir, "--file", path), CLI_OK, "read it before you send it");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    with_cli_expect(WORDS("support", "bundle", "--etc", dir, "--file", path), CLI_FAILED, "not written over");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(what_was_planted_is_not_there),
                                        cmocka_unit_test(a_file_is_not_written_over) };
    if (!mkdtemp(dir))
        return 1;
    int failed = cmocka_run_group_tests_name("cli_cmd_support", tests, NULL, NULL);
    files_remove_tree(dir);
    return failed;
}
