/* SPDX-License-Identifier: Apache-2.0 */
/* create.c - makes a backup.
 *
 * What belongs together: the database as one snapshot saw it, and of each object of that snapshot its bytes. Objects are written
 * once and their rows have the digest of the stored bytes, so the pool needs each once, ever, and copying checks it. They are
 * copied twice: before the snapshot, which takes long and holds nothing up, and after it, what came in between. An object that is
 * deleted after the snapshot and before its copy is `gone`: its row is in the backup and its bytes are not, as in the original a
 * moment later. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "backup/backup.h"
#include "backup/recovery.h"
#include "core/base/cleanup.h"
#include "core/base/clock.h"
#include "core/table/config.h"
#include "keys/client.h"
#include "registry/vault/blob_store.h"
#include "registry/vault/inventory.h"

enum { PAGE_BYTES = 4 << 20, PIECE = 1 << 16, ANSWER_MS = 60000, KEYD_MS = 3000, NAMED = 20, INCLUDES_MAX = 32 };

struct create {
    struct backup *b;
    struct set set;
    struct db_session *session;
    struct blob_store *store;
    struct arena *page;
    FILE *list;
    int64_t copied;
};

static void session_closep(struct create **c)
{
    db_session_free((*c)->session);
    blob_store_free((*c)->store);
    arena_free((*c)->page);
    if ((*c)->list)
        fclose((*c)->list);
}

/* Into a temporary name of the pool, checked, synced. */
static enum errc copy_bytes(struct blob_reader *from, const char *tmp, const struct inventory_object *o, struct err *e)
{
    CLEANUP(sha256_release) struct sha256 sum = { 0 };
    uint8_t piece[PIECE], is[SHA256_BYTES];
    ssize_t n;
    CLEANUP(fd_closep) int fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_errno((FAIL(e, IO, "%s cannot be made", tmp), e), errno);
    sha256_init(&sum);
    while ((n = blob_read(from, piece, sizeof piece)) > 0) {
        sha256_add(&sum, piece, (size_t)n);
        TRY(write_all(fd, piece, (size_t)n, e));
    }
    if (n < 0)
        return FAIL(e, DAMAGED, "its bytes cannot be read");
    sha256_final(&sum, is);
    if (memcmp(is, o->stored_sha256, sizeof is) != 0)
        return FAIL(e, DAMAGED, "its bytes are not those that were stored");
    return fsync(fd) < 0 ? err_errno((FAIL(e, IO, "%s cannot be synced", tmp), e), errno) : ERR_OK;
}

static enum errc pool_add(struct create *c, const struct inventory_object *o, const char *path, struct err *e)
{
    struct blob_reader *from = NULL;
    uint64_t size;
    const char *dir = arena_strndup(c->page, path, (size_t)(strrchr(path, '/') - path)), *tmp =
        arena_printf(c->page, "%s.tmp", path);
    TRY(blob_reader_open(c->store, o->tenant, o->object, &from, &size, e));
    if (mkdir(dir, 0700) < 0 && errno != EEXIST) {
        blob_reader_close(from);
        return err_errno((FAIL(e, IO, "%s cannot be made", dir), e), errno);
    }
    enum errc rc = copy_bytes(from, tmp, o, e);
    blob_reader_close(from);
    if (rc == ERR_OK && rename(tmp, path) < 0)
        rc = err_errno((FAIL(e, IO, "%s cannot be given its name", path), e), errno);
    if (rc != ERR_OK) {
        unlink(tmp);
        return rc;
    }
    c->copied += (int64_t)size;
    return dir_sync(dir, e);
}

/* NOT_FOUND and DAMAGED are about this object; all else ends the backup. */
static enum errc pool_have(struct create *c, const struct inventory_object *o, struct err *e)
{
    struct stat st;
    const char *path = repo_pool_path(c->page, &c->b->repo, o->stored_sha256);
    if (stat(path, &st) == 0 && (uint64_t)st.st_size == o->stored_bytes)
        return ERR_OK;
    return pool_add(c, o, path, e);
}

static enum errc each_object(struct create *c, enum errc (*fn)(struct create *c, const struct inventory_object *o, struct err *e),
                             struct err *e)
{
    struct uuid tenant = UUID_NIL, object = UUID_NIL;
    for (size_t n = INVENTORY_PAGE; n == INVENTORY_PAGE;) {
        struct inventory_object *list;
        arena_reset(c->page);
        TRY(inventory_page(c->session, c->page, tenant, object, &list, &n, e));
        for (size_t i = 0; i < n; i++) {
            tenant = list[i].tenant;
            object = list[i].object;
            TRY(fn(c, &list[i], e));
        }
    }
    return ERR_OK;
}

static enum errc copy_ahead(struct create *c, const struct inventory_object *o, struct err *e)
{
    enum errc rc = pool_have(c, o, e);
    return rc == ERR_NOT_FOUND || rc == ERR_DAMAGED ? ERR_OK : rc;     /* the pass in the snapshot judges */
}

static enum errc list_one(struct create *c, const struct inventory_object *o, struct err *e)
{
    char t[UUID_TEXT], id[UUID_TEXT], hex[2 * SHA256_BYTES + 1];
    struct err why = { 0 };
    enum errc rc = pool_have(c, o, &why);
    if (rc != ERR_OK && rc != ERR_NOT_FOUND && rc != ERR_DAMAGED) {
        *e = why;
        return rc;
    }
    uuid_text(o->tenant, t);
    uuid_text(o->object, id);
    hex_encode(o->stored_sha256, SHA256_BYTES, hex);
    c->set.objects++;
    c->set.object_bytes += (int64_t)o->stored_bytes;
    c->set.missing += rc != ERR_OK;
    if (rc != ERR_OK && c->set.missing <= NAMED)
        report_row(&c->b->report, REPORT_WARN, "object", "obj_%s of tenant %s: %s", id, t, why.msg);
    if (fprintf(c->list, "%s %s %llu %s %s\n", t, id, (unsigned long long)o->stored_bytes, hex,
                set_object_states[rc == ERR_OK ? OBJECT_PRESENT : OBJECT_MISSING]) < 0)
        return FAIL(e, IO, "the list of objects cannot be written");
    return ERR_OK;
}

/* What has no bytes and, by now, no row either was deleted while we worked: nothing is wrong with it. */
static enum errc judge_one(void *ctx, const struct set_object *o, struct err *e)
{
    struct create *c = ctx;
    char t[UUID_TEXT], id[UUID_TEXT], hex[2 * SHA256_BYTES + 1];
    enum set_object_state state = o->state;
    if (state == OBJECT_MISSING) {
        bool is_there;
        arena_reset(c->page);
        TRY(inventory_has(c->session, c->page, o->tenant, o->object, &is_there, e));
        state = is_there ? OBJECT_MISSING : OBJECT_GONE;
        c->set.missing -= !is_there;
        c->set.gone += !is_there;
    }
    uuid_text(o->tenant, t);
    uuid_text(o->object, id);
    hex_encode(o->sum.sha256, SHA256_BYTES, hex);
    return fprintf(c->list, "%s %s %llu %s %s\n", t, id, (unsigned long long)o->sum.bytes, hex, set_object_states[state]) < 0
               ? FAIL(e, IO, "the list of objects cannot be written") : ERR_OK;
}

static enum errc list_open(struct create *c, const char *path, struct err *e)
{
    c->list = fopen(path, "wxe");
    return c->list ? ERR_OK : err_errno((FAIL(e, IO, "%s cannot be made", path), e), errno);
}

static enum errc list_close(struct create *c, struct err *e)
{
    bool is_good = fflush(c->list) == 0 && fsync(fileno(c->list)) == 0;
    fclose(c->list);
    c->list = NULL;
    return is_good ? ERR_OK : err_errno((FAIL(e, IO, "the list of objects cannot be synced"), e), errno);
}

/* In the snapshot. */
static enum errc list_objects(struct create *c, struct err *e)
{
    TRY(list_open(c, repo_set_path(c->b->arena, &c->b->repo, &c->set, "objects"), e));
    TRY(each_object(c, list_one, e));
    return list_close(c, e);
}

/* After the snapshot. */
static enum errc judge_missing(struct create *c, struct err *e)
{
    struct arena *a = c->b->arena;
    const char *path = repo_set_path(a, &c->b->repo, &c->set, "objects"), *next = arena_printf(a, "%s.next", path);
    if (c->set.missing) {
        TRY(list_open(c, next, e));
        TRY(set_objects(a, &c->b->repo, &c->set, judge_one, c, e));
        TRY(list_close(c, e));
        if (rename(next, path) < 0)
            return err_errno((FAIL(e, IO, "%s cannot be given its name", path), e), errno);
    }
    return part_sum_of(path, &c->set.list, e);
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
    TRY(list_objects(c, e));
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
    TRY(each_object(c, copy_ahead, e));
    TRY(dump_database(c, e));
    TRY(judge_missing(c, e));
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
