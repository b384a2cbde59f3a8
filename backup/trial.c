/* SPDX-License-Identifier: Apache-2.0 */
/* trial.c - a backup is restored beside the original and asked. Logs are exported as anybody exports them and verified as an
 * auditor does; objects are opened as falaj-api opens them. The server runs as the account that falaj-api has, as root may not
 * run one, and what looks runs as it too, so that the key daemons know it. */
#include "backup/trial.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "audit/export.h"
#include "audit/verify.h"
#include "backup/check.h"
#include "backup/rebuild.h"
#include "core/base/cleanup.h"
#include "core/base/clock.h"
#include "core/base/work.h"
#include "core/db/pool.h"
#include "core/db/run_tx.h"
#include "core/table/config.h"
#include "keys/client.h"
#include "registry/registry.h"
#include "registry/vault/blob_store.h"
#include "registry/vault/object.h"

enum { WORK_BYTES = 256 << 20, ANSWER_MS = 600000, KEYD_MS = 5000, NAMED = 20, PIECE = 1 << 16 };

static struct db_pool *pool_open(const char *words)
{
    static const struct stmt *const *const lists[] = { audit_export_stmts, audit_proof_stmts, registry_stmts, NULL };
    return db_pool_new(&(struct db_pool_opts){ .conninfo = words, .size = 1, .app_name = "falaj-backup", .lists = lists,
                                               .statement_timeout_ms = ANSWER_MS, .role_allow = DB_ALLOW_SUPERUSER });
}

static enum errc to_fd(void *ctx, const void *p, size_t n, struct err *e)
{
    return write_all(*(int *)ctx, p, n, e);
}

static ssize_t from_fd(void *ctx, void *p, size_t n)
{
    ssize_t k;
    do
        k = read(*(int *)ctx, p, n);
    while (k < 0 && errno == EINTR);
    return k;
}

struct logs {
    struct backup *b;
    struct audit_key keys[AUDIT_KEYS_MAX];
    uint8_t pinned[AUDIT_KEYS_MAX][AUDIT_PUB];
    size_t nkeys;
    uint64_t entries;
    int64_t good, bad;
};

/* A whole log into a file, and the file under the verifier. */
static enum errc one_log(struct logs *k, struct work *w, struct uuid tenant, const char *path, struct verify_result *ret,
                         struct err *e)
{
    struct audit_export_result did;
    CLEANUP(fd_closep) int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_errno((FAIL(e, IO, "%s cannot be made", path), e), errno);
    w->tenant_id = tenant;
    struct audit_export_opts o = { .tenant_id = tenant, .keys = k->keys, .key_count = k->nkeys, .sink = to_fd, .sink_ctx = &fd };
    TRY(audit_export(w, &o, &did, e));
    if (lseek(fd, 0, SEEK_SET) < 0)
        return err_errno((FAIL(e, IO, "%s cannot be read", path), e), errno);
    struct verify_opts v = { .pinned = k->pinned, .pinned_count = k->nkeys };
    (void)audit_verify(from_fd, &fd, &v, ret);      /* ret->damage says it */
    return ERR_OK;
}

static void judge_log(struct logs *k, struct work *w, struct uuid tenant, const char *path)
{
    struct verify_result r;
    struct err why;
    char name[UUID_TEXT];
    uuid_text(tenant, name);
    bool is_made = one_log(k, w, tenant, path, &r, &why) == ERR_OK, is_good = is_made && r.damage == VERIFY_OK;
    k->entries += is_good ? r.count : 0;
    k->good += is_good;
    if (!is_good && k->bad++ < NAMED)
        report_row(&k->b->report, REPORT_FAIL, "audit log", "tenant %s: %s", name, is_made ? r.text : why.msg);
}

static void take_key(struct logs *k, const uint8_t key[AUDIT_PUB])
{
    uint8_t id[KEY_ID_BYTES];
    ed25519_key_id(key, id);
    hex_encode(id, sizeof id, k->keys[k->nkeys].key_id);
    memcpy(k->keys[k->nkeys].pub, key, AUDIT_PUB);
    memcpy(k->pinned[k->nkeys++], key, AUDIT_PUB);
}

static enum errc prove_logs(struct backup *b, const struct set *s, const char *words, const char *dir, struct err *e)
{
    CLEANUP(db_session_freep) struct db_session *session = NULL;
    CLEANUP(db_pool_freep) struct db_pool *pool = NULL;
    struct db_text_rows rows;
    struct logs *k = ARENA_NEW(b->arena, struct logs);
    struct app app = { .program = "falaj-backup", .config = b->cfg, .clock = &clock_system };
    struct work w = { .app = &app, .arena = arena_new(WORK_BYTES) };
    k->b = b;
    for (size_t i = 0; i < s->nzones && k->nkeys < AUDIT_KEYS_MAX; i++)
        if (s->zones[i].has_key)
            take_key(k, s->zones[i].audit_key);
    enum errc rc = db_session_new(words, "falaj-backup", ANSWER_MS, &session, e);
    if (rc == ERR_OK)
        rc = audit_logs(session, b->arena, &rows, e);
    app.pool = pool = pool_open(words);
    const char *path = arena_printf(b->arena, "%s/bundle", dir);
    if (rc == ERR_OK && !k->nkeys)
        report_row(&b->report, REPORT_SKIP, "audit log",
                   "the manifest names no key of a log: falaj-keyd did not answer when the backup was made");
    for (size_t i = 0; rc == ERR_OK && k->nkeys && i < rows.nrows; i++) {
        struct uuid tenant;
        arena_reset(w.arena);
        if (uuid_parse(rows.cells[2 * i], &tenant))
            judge_log(k, &w, tenant, path);
    }
    unlink(path);
    arena_free(w.arena);
    if (rc == ERR_OK && k->nkeys)
        report_row(&b->report, k->bad ? REPORT_FAIL : REPORT_OK, "audit log",
                   "%lld of %zu logs verify from their first entry, %llu entries",
                   (long long)k->good, rows.nrows, (unsigned long long)k->entries);
    return rc;
}

struct opening {
    struct backup *b;
    struct work w;
    int64_t opened, destroyed, bad;
    bool is_over;               /* no key daemon answers */
};

static enum errc open_it(struct opening *o, struct uuid object, struct err *e)
{
    const struct object_keys *keys = NULL;
    CLEANUP(object_reader_freep) struct object_reader *r = NULL;
    char piece[PIECE];
    ssize_t n;
    TRY(RUN_READ(&o->w, object_find(&o->w, object, NULL, &keys, e), e));
    TRY(object_open_found(&o->w, keys, &r, e));
    while ((n = object_read(r, piece, sizeof piece)) > 0)
        ;
    secret_wipe(piece, sizeof piece);
    if (n == 0)
        return ERR_OK;
    *e = *object_reader_error(r);
    return e->code;
}

static bool open_one(void *ctx, struct uuid tenant, struct uuid object)
{
    struct opening *o = ctx;
    struct err why;
    char id[UUID_TEXT];
    arena_reset(o->w.arena);
    o->w.tenant_id = tenant;
    enum errc rc = open_it(o, object, &why);
    uuid_text(object, id);
    if (rc == ERR_UNAVAILABLE || rc == ERR_SEALED || rc == ERR_FORBIDDEN) {
        report_err(&o->b->report, REPORT_SKIP, "objects open", &why);
        o->is_over = true;
    } else if (rc == ERR_KEY_DESTROYED) {
        o->destroyed++;
    } else if (rc != ERR_OK && o->bad++ < NAMED) {
        report_row(&o->b->report, REPORT_FAIL, "objects open", "obj_%s: %s %s", id, why.msg, why.detail);
    }
    o->opened += rc == ERR_OK;
    return !o->is_over && o->opened + o->destroyed + o->bad < o->b->sample;
}

static enum errc prove_objects(struct backup *b, const char *words, const char *blobs, struct err *e)
{
    CLEANUP(db_pool_freep) struct db_pool *pool = pool_open(words);
    CLEANUP(keyd_client_freep) struct keyd_client *keyd = NULL;
    struct app app = { .program = "falaj-backup", .config = b->cfg, .clock = &clock_system, .pool = pool };
    struct opening o = { .b = b, .w = { .app = &app } };
    if (!*b->cfg->keys_sockets) {
        report_row(&b->report, REPORT_SKIP, "objects open", "keys.sockets is not set: no key is at hand to open one");
        return ERR_OK;
    }
    TRY(keyd_client_new(str_c(b->cfg->keys_sockets), KEYD_MS, &keyd, e));
    TRY(blob_store_open_local(blobs, &app.blobs, e));
    app.keyd = keyd;
    o.w.arena = arena_new(WORK_BYTES);
    enum errc rc = blob_each(app.blobs, 0, open_one, &o, e);
    arena_free(o.w.arena);
    blob_store_free(app.blobs);
    if (rc == ERR_OK && !o.is_over)
        report_row(&b->report, o.bad ? REPORT_FAIL : REPORT_OK, "objects open",
                   "%lld opened whole, %lld under destroyed keys, %lld damaged",
                   (long long)o.opened, (long long)o.destroyed, (long long)o.bad);
    return rc;
}

enum { START_MS = 60000, STEP_NS = 20000000 };

struct scratch {
    const char *dir, *data, *blobs;
    struct account account;
    struct child server;
};

static enum errc make_dirs(struct backup *b, struct scratch *k, struct err *e)
{
    char *dir = arena_printf(b->arena, "%s/falaj-drill-XXXXXX", b->scratch);
    if (!mkdtemp(dir))
        return err_errno((FAIL(e, IO, "%s cannot hold a folder to try the backup in (--scratch)", b->scratch), e), errno);
    k->dir = dir;
    k->data = arena_printf(b->arena, "%s/pg", dir);
    k->blobs = arena_printf(b->arena, "%s/blobs", dir);
    tree_give(dir, &k->account);
    return ERR_OK;
}

static enum errc wait_ready(struct backup *b, struct scratch *k, struct err *e)
{
    int64_t end = clock_mono_us(&clock_system) + INT64_C(1000) * START_MS;
    for (;;) {
        CLEANUP(db_session_freep) struct db_session *s = NULL;
        if (admin_session(b, &k->account, "postgres", &s, e) == ERR_OK)
            return ERR_OK;
        if (clock_mono_us(&clock_system) > end)
            return err_note(e, "the PostgreSQL to try the backup in did not come up");
        nanosleep(&(struct timespec){ .tv_nsec = STEP_NS }, NULL);
    }
}

static enum errc server_start(struct backup *b, struct scratch *k, struct err *e)
{
    const struct child_opts as = { .account = k->account };
    const char *init[] = { "initdb", "-D", k->data, "-U", "postgres", "--auth=trust", "--no-sync", "--no-instructions", "-E",
                          "UTF8",
                           "--locale=C.UTF-8", NULL };
    const char *run[] = { "postgres", "-D", k->data, "-c", "listen_addresses=", "-c",
                         arena_printf(b->arena, "unix_socket_directories=%s", k->dir),
                          "-c", "fsync=off", "-c", "port=5432", NULL };
    if (child_run(b->arena, init, &as, e) != ERR_OK)
        return err_note(e, "trying a backup needs PostgreSQL 15's server programs on this machine (postgresql-15)");
    TRY(child_start(b->arena, run, &as, &k->server, e));
    b->admin = arena_printf(b->arena, "host=%s port=5432 user=postgres", k->dir);
    return wait_ready(b, k, e);
}

static enum errc prove(struct backup *b, const struct set *s, struct scratch *k, struct err *e)
{
    const char *words = admin_words(b, b->database);
    account_enter(&k->account);
    enum errc rc = prove_logs(b, s, words, k->dir, e);
    if (rc == ERR_OK)
        rc = prove_objects(b, words, k->blobs, e);
    account_leave(&k->account);
    return rc;
}

static enum errc look(struct backup *b, const struct set *s, const struct recovery *key, bool with_all, struct scratch *k,
                      struct err *e)
{
    int64_t start = clock_mono_us(&clock_system), n = 0, wanted = s->objects - s->gone - s->missing;
    TRY(account_find(b->account, &k->account, e));
    TRY(make_dirs(b, k, e));
    TRY(server_start(b, k, e));
    TRY(rebuild_database(b, &k->account, s, key, e));
    report_row(&b->report, REPORT_OK, "database", "reads in whole into a PostgreSQL of its own");
    TRY(rebuild_objects(b, s, k->blobs, with_all || wanted <= b->sample ? 1 : wanted / b->sample, &n, e));
    tree_give(k->blobs, &k->account);
    double restored_s = (double)(clock_mono_us(&clock_system) - start) / 1e6;
    TRY(prove(b, s, k, e));
    if (with_all)
        report_row(&b->report, REPORT_OK, "RTO", "%.1f s until database and %lld objects were back, %.1f s with the proofs",
                   restored_s,
                   (long long)n, (double)(clock_mono_us(&clock_system) - start) / 1e6);
    return ERR_OK;
}

enum errc scratch_look(struct backup *b, const struct set *s, const struct recovery *key, bool with_all, struct err *e)
{
    struct scratch k = { 0 };
    const char *admin = b->admin;
    enum errc rc = look(b, s, key, with_all, &k, e);
    child_stop(&k.server);
    if (k.dir)
        tree_remove(k.dir);
    b->admin = admin;
    return rc;
}

/* What would be lost: since the newest backup now, and between two of them at the worst. */
static enum errc recovery_point(struct backup *b, const struct recovery *key, struct err *e)
{
    struct str *names;
    size_t n;
    int64_t before = 0, widest = 0, last = 0;
    TRY(repo_sets(b->arena, &b->repo, &names, &n, e));
    for (size_t i = 0; i < n; i++) {
        struct set s;
        struct err ignored;
        if (set_read(b->arena, &b->repo, names[i], key->signer, &s, &ignored) != ERR_OK)
            continue;
        last = s.snapshot_us;
        if (before && last - before > widest)
            widest = last - before;
        before = last;
    }
    report_row(&b->report, REPORT_OK, "RPO", "%.1f s: so much would be lost now; %.1f s at the widest between two backups",
               (double)(clock_wall_us(&clock_system) - last) / 1e6, (double)widest / 1e6);
    return ERR_OK;
}

enum errc backup_drill(struct backup *b, struct err *e)
{
    struct recovery key CLEANUP(recovery_wipe) = { 0 };
    struct set s;
    if (!b->recovery_file)
        return FAIL(e, INVALID, "--recovery-key FILE is needed: a drill uses what a disaster leaves");
    TRY(recovery_read(b->recovery_file, &key, e));
    TRY(set_read(b->arena, &b->repo, b->set, key.signer, &s, e));
    report_row(&b->report, REPORT_OK, "from", "%.*s", STR_ARG(s.name));
    TRY(check_files(b, &s, &key, e));
    TRY(recovery_point(b, &key, e));
    return scratch_look(b, &s, &key, true, e);
}
