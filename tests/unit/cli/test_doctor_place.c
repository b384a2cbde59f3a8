/* SPDX-License-Identifier: Apache-2.0 */
/* test_doctor_place.c - each check of a server's files says ok, warn or fail where it should, at its edges; none is left out
 * silently. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>
#include <cmocka.h>
#include "cli/dev/dev.h"
#include "cli/doctor.h"

static char dir[64];
static struct cli cli;

static const char *path_of(const char *name)
{
    return arena_printf(cli.arena, "%s/%s", dir, name);
}
static void put(const char *name, const char *text)
{
    FILE *f = fopen(path_of(name), "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}
/* The rows as text, of the files as they are now. */
static const char *look(void)
{
    struct doctor d = { .c = &cli, .rows = BUF(1 << 20) };
    doctor_place(&d, dir, dir, dir);
    const char *text = arena_strndup(cli.arena, d.rows.ptr, d.rows.len);
    buf_release(&d.rows);
    return text;
}
static void says(const char *text, const char *word)
{
    if (!strstr(text, word))
        fail_msg("%s does not say %s", text, word);
}

static void backup_of(double hours, int missing)
{
    put("backups/sets/20260101T000000Z-a/manifest.json",
        arena_printf(cli.arena, "{\"snapshot_us\":%.0f,\"objects\":{\"missing\":%d}}",
                                                                     ((double)time(NULL) - hours * 3600) * 1e6, missing));
}

static void the_age_of_a_backup_is_judged(void **state)
{
    (void)state;
    put("backup.conf", arena_printf(cli.arena, "# a comment\nbackup.dir = /nowhere\nbackup.dir = %s\n", path_of("backups")));
    says(look(), "\"check\":\"backup\",\"result\":\"fail\",\"seen\":\"there is none");
    mkdir(path_of("backups"), 0700);
    mkdir(path_of("backups/sets"), 0700);
    mkdir(path_of("backups/sets/20270101T000000Z-b.partial"), 0700);
    says(look(), "\"check\":\"backup\",\"result\":\"fail\",\"seen\":\"there is none");
    mkdir(path_of("backups/sets/20260101T000000Z-a"), 0700);
    backup_of(25.9, 0);
    says(look(), "\"check\":\"backup\",\"result\":\"ok\"");
    backup_of(26.1, 0);
    says(look(), "\"check\":\"backup\",\"result\":\"warn\"");
    backup_of(1, 3);
    says(look(), "\"check\":\"backup\",\"result\":\"warn\",\"seen\":\"20260101T000000Z-a is 1.0 h old, 3 objects");
    backup_of(72.1, 0);
    says(look(), "\"check\":\"backup\",\"result\":\"fail\"");
    put("backups/sets/20260101T000000Z-a/manifest.json", "{");
    says(look(), "\"check\":\"backup\",\"result\":\"fail\"");
}

static void anchors_that_stopped_are_seen(void **state)
{
    (void)state;
    struct utimbuf then = { 0 };
    put("scheduler.conf", arena_printf(cli.arena, "audit.anchor_dir = %s\n", path_of("anchors")));
    says(look(), "\"check\":\"audit anchors\",\"result\":\"warn\"");
    mkdir(path_of("anchors"), 0700);
    says(look(), "\"check\":\"audit anchors\",\"result\":\"fail\",\"seen\":\"no head");
    put("anchors/falaj-anchor-ae-dxb-1.jsonl", "x\n");
    says(look(), "\"check\":\"audit anchors\",\"result\":\"ok\"");
    then.modtime = time(NULL) - 4 * 3600;
    utime(path_of("anchors/falaj-anchor-ae-dxb-1.jsonl"), &then);
    says(look(), "\"check\":\"audit anchors\",\"result\":\"warn\"");
    then.modtime = time(NULL) - 25 * 3600;
    utime(path_of("anchors/falaj-anchor-ae-dxb-1.jsonl"), &then);
    says(look(), "\"check\":\"audit anchors\",\"result\":\"fail\"");
}

/* A falaj-migrate of ours that says what it is told to; it must get the address by its environment, with the right role. */
static void the_schema_is_asked_about(void **state)
{
    (void)state;
    put("api.conf", "db.url = host=/x dbname=falaj user=falaj_app password=heron\n");
    put("pg-falaj_migrate", "ibis\n");
    put("falaj-migrate",
        "#!/bin/sh\n[ \"$FALAJ_MIGRATE_URL\" = 'host=/x dbname=falaj user=falaj_migrate password=ibis' ] || exit 3\n"
                         "[ \"$*\" = --status ] || exit 4\necho '0001_foundation.sql  applied 2026 in 3 ms'\n"
                         "[ ! -e \"${0%/*}/more\" ] || echo '0099_new.sql  pending'\n");
    chmod(path_of("falaj-migrate"), 0755);
    says(look(), "\"check\":\"schema\",\"result\":\"ok\",\"seen\":\"1 steps applied, 0 pending\"");
    put("more", "");
    says(look(), "\"check\":\"schema\",\"result\":\"fail\",\"seen\":\"1 steps applied, 1 pending\"");
    put("falaj-migrate", "#!/bin/sh\necho 'falaj-migrate: the database has 9 migrations but this program knows 8' >&2; exit 1\n");
    says(look(), "\"check\":\"schema\",\"result\":\"fail\",\"seen\":\"falaj-migrate: the database has 9");
}

static void disks_clock_and_hidden_files(void **state)
{
    (void)state;
    bool hidden = false;
    put("api.conf", arena_printf(cli.arena, "blob.dir = %s\n", path_of("blobs/not/there/yet")));
    says(look(), "\"check\":\"space of objects\",\"result\":");
    says(look(), "\"check\":\"clock\",\"result\":");
    assert_null(doctor_setting(cli.arena, path_of("absent"), "x", &hidden));
    assert_false(hidden);
    assert_null(doctor_setting(cli.arena, path_of("api.conf"), "blob.min_free", &hidden));
    mkdir(path_of("worker.conf"), 0700);        /* there, and no file that can be read */
    assert_null(doctor_setting(cli.arena, path_of("worker.conf"), "x", &hidden));
    assert_true(hidden);
}

static int setup(void **state)
{
    (void)state;
    cli.arena = arena_new(16 << 20);
    strcpy(dir, "/tmp/falaj-doctor-XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}
static int teardown(void **state)
{
    (void)state;
    files_remove_tree(dir);
    arena_free(cli.arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_age_of_a_backup_is_judged),
                                        cmocka_unit_test(anchors_that_stopped_are_seen),
                                        cmocka_unit_test(the_schema_is_asked_about),
                                            cmocka_unit_test(disks_clock_and_hidden_files) };
    return cmocka_run_group_tests_name("cli_doctor_place", tests, setup, teardown);
}
