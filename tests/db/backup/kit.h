/* SPDX-License-Identifier: Apache-2.0 */
/* kit.h - a database with objects and the folder of their bytes, and falaj-backup's commands on them, one call each. */
#pragma once
#include "tests/unit/backup/fixture.h"
#include "backup/backup.h"
#include "backup/recovery.h"
#include "core/db/session.h"
#include "core/table/config.h"
#include "registry/vault/blob_store.h"
#include "tests/db/harness.h"

static struct pg_harness *pg;
static struct config *cfg;
static struct blob_store *store;
static const char TENANT[] = "00000000-0000-0000-0000-0000000000aa";

static inline struct uuid uuid_of(const char *text)
{
    struct uuid u;
    assert_true(uuid_parse(str_c(text), &u));
    return u;
}
static inline const char *object_name(int i)
{
    return arena_printf(fx_arena, "00000000-0000-0000-0000-%012d", i);
}

/* A row, and its bytes in the folder. */
static inline void add_object(int i)
{
    struct blob_writer *w;
    uint64_t size;
    uint8_t sum[32];
    char hex[65], text[64];
    OK(blob_writer_new(store, uuid_of(TENANT), uuid_of(object_name(i)), &w, &e));
    OK(blob_write(w, text, (size_t)snprintf(text, sizeof text, "sealed bytes of object %d", i), &e));
    OK(blob_commit(w, &size, sum, &e));
    hex_encode(sum, 32, hex);
    pg_harness_exec(pg, "falaj",
                    arena_printf(fx_arena,
                                 "INSERT INTO object (tenant_id, object_id, zone, kind, state, size_bytes, sha256, stored_bytes,"
        " stored_sha256) VALUES ('%s', '%s', 'ae-dxb-1', 'dataset', 'COMMITTED', 1, '\\x%s', %d, '\\x%s')", TENANT,
            object_name(i), hex, (int)size, hex));
}
static inline void drop_blob(int i)
{
    OK(blob_delete(store, uuid_of(TENANT), uuid_of(object_name(i)), &e));
}

static inline void set_to(const char *key, const char *value)
{
    OK(config_set(cfg, key, value, &e));
}

static inline int kit_setup(void **state)
{
    fx_setup(state);
    chmod(fx_dir, 0755);
    cfg = config_new_default();
    pg = pg_harness_new();
    pg_harness_migrate(pg, "falaj");
    pg_harness_exec(pg, "falaj", "INSERT INTO zone (code, name, country) VALUES ('ae-dxb-1', 'Dubai', 'AE')");
    pg_harness_exec(pg, "falaj",
                    arena_printf(fx_arena, "INSERT INTO tenant (tenant_id, name, display_name, home_zone, allowed_zones) VALUES"
                                              " ('%s', 'amana', 'Amana', 'ae-dxb-1', ARRAY['ae-dxb-1'])", TENANT));
    OK(blob_store_open_local(fx_path("blobs"), &store, &e));
    set_to("backup.url", pg_harness_conninfo(pg, "falaj_backup", "falaj"));
    set_to("backup.dir", fx_path("backups"));
    set_to("backup.sign_key", fx_path("signing"));
    set_to("blob.dir", fx_path("blobs"));
    return 0;
}
static inline int kit_teardown(void **state)
{
    blob_store_free(store);
    config_free(cfg);
    pg_harness_free(pg);
    return fx_teardown(state);
}

/* What a command said, after it ended as it should. */
static inline const char *run(enum errc (*command)(struct backup *b, struct err *e), enum errc want, size_t failures)
{
    struct backup b = { .cfg = cfg, .arena = fx_arena, .report = { .as_json = true, .rows = BUF(1 << 20) },
                        .account = command == backup_drill ? "nobody" : "", .database = "again", .scratch = fx_dir, .sample = 20,
                        .recovery_file = command == backup_verify ? NULL : fx_path("recovery"), .roles = "migrations/roles.sql",
                        .admin = arena_printf(fx_arena, "host=%s user=postgres password=none", pg_harness_socket_dir(pg)) };
    if (command != backup_init)
        OK(repo_open(fx_arena, cfg->backup_dir, &b.repo, &e));
    enum errc rc = command(&b, &e);
    const char *said = arena_printf(fx_arena, "%s %s %s", rc == ERR_OK ? "" : e.msg, rc == ERR_OK ? "" : e.detail,
                                    b.report.rows.ptr ? b.report.rows.ptr : "");
    if (rc != want || b.report.failures != failures)
        fail_msg("it ended with %d, %zu failures: %s", rc, b.report.failures, said);
    if (command != backup_init)
        repo_close(&b.repo);
    buf_release(&b.report.rows);
    return said;
}
static inline void says(const char *said, const char *word)
{
    if (!said || !strstr(said, word))
        fail_msg("\"%s\" does not say \"%s\"", said ? said : "", word);
}
