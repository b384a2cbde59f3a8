/* SPDX-License-Identifier: Apache-2.0 */
/* create.c - makes a backup. What belongs together: the database as one snapshot saw it, of each object of that snapshot its
 * bytes (create_objects.c), and the files that neither has. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "backup/create_int.h"
#include "backup/recovery.h"
#include "core/base/cleanup.h"
#include "core/base/clock.h"
#include "core/table/config.h"
#include "keys/client.h"
#include "registry/vault/inventory.h"

enum { PAGE_BYTES = 4 << 20, PIECE = 1 << 16, ANSWER_MS = 60000, KEYD_MS = 3000, INCLUDES_MAX = 32 };

static void session_closep(struct create **c)
{
    db_session_free((*c)->session);
    blob_store_free((*c)->store);
    arena_free((*c)->page);
    if ((*c)->list)
        fclose((*c)->list);
}

/* A child's output as a part. */
static enum errc part_of(struct create *c, const char *name, const char *const *argv, const char *words, struct err *e)
{
    struct child child;
    struct part_writer *w;
    struct set_part *p = &c->set.parts[c->set.nparts];
    char piece[PIECE];
    ssize_t n;
    TRY(child_start(c->b->arena, argv, &(struct child_opts){ .words = words, .has_out = true }, &child, e));
    const char *path = arena_printf(c->b->arena, "%s.fbk", repo_set_path(c->b->arena, &c->b->repo, &c->set, name));
    enum errc rc = part_writer_new(path, c->set.id, name, c->b->repo.recovery, &w, e);
    if (rc != ERR_OK) {
        struct err ignored;
        (void)!child_wait(&child, &ignored);    /* ours was first */
        return rc;
    }
    while (rc == ERR_OK && (n = read(child.out, piece, sizeof piece)) != 0)
        if (n > 0)
            rc = part_write(w, piece, (size_t)n, e);
        else if (errno != EINTR)
            rc = err_errno((FAIL(e, IO, "%s cannot be read", child.name), e), errno);
    struct err ended;
    if (child_wait(&child, &ended) != ERR_OK && rc == ERR_OK) {
        *e = ended;
        rc = e->code;
    }
    if (rc != ERR_OK) {
        part_drop(w);
        return rc;
    }
    p->name = str_c(name);
    TRY(part_finish(w, &p->sum, e));
    c->set.nparts++;
    report_row(&c->b->report, REPORT_OK, name, "%llu bytes, sealed to the recovery key", (unsigned long long)p->sum.bytes);
    return ERR_OK;
}

static enum errc one_value(struct create *c, const char *sql, struct str *ret, struct err *e)
{
    struct db_text_rows rows;
    TRY(db_session_query(c->session, sql, NULL, 0, c->b->arena, &rows, e));
    *ret = rows.nrows == 1 ? rows.cells[0] : STR_NULL;
    return ERR_OK;
}

static enum errc facts(struct create *c, struct err *e)
{
    struct str at, schema;
    TRY(one_value(c, "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint", &at, e));
    TRY(one_value(c, "SELECT max(version) FROM schema_migration", &schema, e));
    TRY(one_value(c, "SHOW server_version", &c->set.postgres, e));
    if (!str_to_i64(at, 0, INT64_MAX, &c->set.snapshot_us) || !str_to_i64(schema, 1, INT32_MAX, &c->set.schema))
        return FAIL(e, INVALID, "this is no database of Falaj: it has no schema_migration");
    return ERR_OK;
}

static struct set_zone *zone_of(struct create *c, struct str code)
{
    for (size_t i = 0; i < c->set.nzones; i++)
        if (str_eq(c->set.zones[i].zone, code))
            return &c->set.zones[i];
    if (c->set.nzones == SET_ZONES_MAX)
        return NULL;
    struct set_zone *z = &c->set.zones[c->set.nzones++];
    z->zone = str_dup(c->b->arena, code);
    return z;
}

/* What falaj-keyd says of its zone; it knows accounts, not root. */
static void ask_keyd(struct create *c, struct keyd_client *keyd, size_t i)
{
    struct set_zone *z = zone_of(c, str_c(keyd_client_zone(keyd, i)));
    struct keyd_health h;
    uint8_t id[KEY_ID_BYTES];
    struct err why;
    if (!z)
        return;
    z->has_key = keyd_public_key(keyd, z->zone, z->audit_key, id, &why) == ERR_OK;
    if (!z->has_key || keyd_health(keyd, z->zone, &h, &why) != ERR_OK) {
        report_row(&c->b->report, REPORT_WARN, "zone",
                   "%.*s: %s; without its key nobody can say later whether the logs in this backup are the "
                   "ones that were signed", STR_ARG(z->zone), why.msg);
        return;
    }
    z->provider = str_dup(c->b->arena, str_c(h.provider));
    z->root_version = h.root_version;
}

/* Whose root keys are elsewhere, and the public keys that the logs are signed with. */
static enum errc zones(struct create *c, struct err *e)
{
    CLEANUP(keyd_client_freep) struct keyd_client *keyd = NULL;
    struct db_text_rows rows;
    struct account account;
    TRY(inventory_roots(c->session, c->b->arena, &rows, e));
    for (size_t i = 0; i < rows.nrows; i++) {
        struct set_zone *z = zone_of(c, rows.cells[i * rows.ncols]);
        if (z)
            z->provider = rows.cells[i * rows.ncols + 1];
        if (z)
            (void)str_to_i64(rows.cells[i * rows.ncols + 2], 0, INT64_MAX, &z->root_version);
    }
    TRY(account_find(c->b->account, &account, e));
    TRY(keyd_client_new(str_c(c->b->cfg->keys_sockets), KEYD_MS, &keyd, e));
    account_enter(&account);
    for (size_t i = 0; i < keyd_client_zones(keyd); i++)
        ask_keyd(c, keyd, i);
    account_leave(&account);
    for (size_t i = 0; i < c->set.nzones; i++)
        if (str_eq_c(c->set.zones[i].provider, "pkcs11"))
            report_row(&c->b->report, REPORT_OK, "root key",
                       "zone %.*s: version %lld is in a PKCS#11 token and never leaves it; back the token "
                       "up by its maker's own steps, without it no object opens", STR_ARG(c->set.zones[i].zone),
                       (long long)c->set.zones[i].root_version);
    return ERR_OK;
}

static enum errc dump_database(struct create *c, struct err *e)
{
    struct str snapshot;
    TRY(db_session_exec_script(c->session, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", e));
    TRY(db_session_exec_script(c->session, "SET LOCAL idle_in_transaction_session_timeout = 0", e));
    TRY(one_value(c, "SELECT pg_export_snapshot()", &snapshot, e));
    TRY(facts(c, e));
    const char *argv[] = { "pg_dump", "-Fc", "--no-password", arena_printf(c->b->arena, "--snapshot=%.*s", STR_ARG(snapshot)),
                          NULL };
    TRY(part_of(c, "database", argv, c->b->cfg->backup_url, e));
    TRY(zones(c, e));
    TRY(create_list_objects(c, e));
    return db_session_exec_script(c->session, "COMMIT", e);
}

/* The journal of erasures and the files that were named, each as tar has it. */
static enum errc more_parts(struct create *c, struct err *e)
{
    const char *dir = c->b->cfg->audit_erasure_dir, *argv[INCLUDES_MAX + 10] =
        { "tar", "--create", "--file=-", "--numeric-owner", "--sparse" };
    size_t n = 5;
    if (*dir && access(arena_printf(c->b->arena, "%s/falaj-erasures.jsonl", dir), F_OK) == 0)
        TRY(part_of(c, "erasures", (const char *const[]){ "cat", arena_printf(c->b->arena, "%s/falaj-erasures.jsonl", dir),
                                                         NULL }, NULL, e));
    else
        report_row(&c->b->report, *dir ? REPORT_OK : REPORT_WARN, "erasures", *dir ? "nobody was erased yet" :
                   "audit.erasure_dir is not set: a restore would not know whom it must erase again");
    argv[n++] = "--directory=/";
    for (struct str rest = str_c(c->b->cfg->backup_include), one; rest.len && n < INCLUDES_MAX + 8;) {
        bool more = str_cut(rest, ',', &one, &rest);
        one = str_trim(one);
        if (one.len && *one.ptr != '/')
            return FAIL(e, INVALID, "backup.include names whole paths, not %.*s", STR_ARG(one));
        if (one.len)
            argv[n++] = arena_printf(c->b->arena, "./%.*s", (int)one.len - 1, one.ptr + 1);
        if (!more)
            break;
    }
    if (n == 6) {
        report_row(&c->b->report, REPORT_WARN, "files",
                   "backup.include is empty: settings, certificates and key stores are not in the backup");
        return ERR_OK;
    }
    return part_of(c, "files", argv, NULL, e);
}

static enum errc begin_set(struct create *c, struct err *e)
{
    char time[TIME_TEXT], hex[UUID_HEX];
    struct set *s = &c->set;
    s->began_us = clock_wall_us(&clock_system);
    s->id = uuid_v7(s->began_us);
    time_text(s->began_us, time);
    hex_encode(s->id.b, 16, hex);
    s->name = str_fmt(c->b->arena, "%.4s%.2s%.5s%.2s%.2sZ-%.12s", time, time + 5, time + 8, time + 14, time + 17, hex);
    s->is_partial = true;
    s->falaj = STR(FALAJ_VERSION);
    repo_drop_partials(c->b->arena, &c->b->repo);
    const char *path = repo_set_path(c->b->arena, &c->b->repo, s, "");
    return mkdir(path, 0700) < 0 ? err_errno((FAIL(e, IO, "%s cannot be made", path), e), errno) : ERR_OK;
}

static enum errc run(struct create *c, const struct secret32 *signer, struct err *e)
{
    const struct config *cfg = c->b->cfg;
    TRY(begin_set(c, e));
    TRY(blob_store_open(cfg, &c->store, e));
    TRY(db_session_new(cfg->backup_url, "falaj-backup", ANSWER_MS, &c->session, e));
    TRY(create_copy_ahead(c, e));
    TRY(dump_database(c, e));
    TRY(create_judge_missing(c, e));
    TRY(more_parts(c, e));
    c->set.copied_bytes = c->copied;
    c->set.ended_us = clock_wall_us(&clock_system);
    return set_seal(c->b->arena, &c->b->repo, &c->set, signer, e);
}

enum errc backup_create(struct backup *b, struct err *e)
{
    struct secret32 signer CLEANUP(secret32_wipe) = { 0 };
    uint8_t public_key[ED25519_PUBLIC];
    struct create *c = &(struct create){ .b = b, .page = arena_new(PAGE_BYTES) };
    CLEANUP(session_closep) struct create *own = c;
    (void)own;
    if (!*b->cfg->backup_url)
        return FAIL(e, INVALID, "backup.url is not set: how falaj_backup reaches PostgreSQL");
    TRY(signing_read(b->cfg->backup_sign_key, &signer, e));
    TRY(ed25519_public(&signer, public_key, e));
    if (memcmp(public_key, b->repo.signer, sizeof public_key) != 0)
        return FAIL(e, INVALID, "%s is not the signing key of %s", b->cfg->backup_sign_key, b->repo.dir);
    TRY(repo_lock(&b->repo, e));
    TRY(run(c, &signer, e));
    report_row(&b->report, c->set.missing ? REPORT_FAIL : REPORT_OK, "objects",
               "%lld, of them %lld deleted meanwhile and %lld without bytes; %lld bytes "
               "copied, the rest was there", (long long)c->set.objects, (long long)c->set.gone, (long long)c->set.missing,
                   (long long)c->copied);
    report_row(&b->report, REPORT_OK, "backup", "%.*s, of the moment %.1f s ago", STR_ARG(c->set.name),
               (double)(clock_wall_us(&clock_system) - c->set.snapshot_us) / 1e6);
    return ERR_OK;
}
