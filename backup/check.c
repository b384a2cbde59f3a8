/* SPDX-License-Identifier: Apache-2.0 */
/* check.c - verify, list, init, prune: what needs no database. */
#include "backup/check.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "backup/trial.h"
#include "core/base/cleanup.h"
#include "core/base/clock.h"
#include "core/table/config.h"

enum { NAMED = 20, SAMPLE_OF_PAGES = 1 << 20 };

static enum errc nowhere(void *ctx, const void *p, size_t n, struct err *e)
{
    (void)ctx, (void)p, (void)n, (void)e;
    return ERR_OK;
}

struct pool_check {
    struct backup *b;
    struct arena *page;
    bool reads;
    int64_t there, bad;
    uint64_t bytes;
};

static enum errc pool_one(void *ctx, const struct set_object *o, struct err *e)
{
    struct pool_check *k = ctx;
    struct part_sum is = { 0 };
    struct stat st;
    struct err why = { 0 };
    char t[UUID_TEXT], id[UUID_TEXT];
    (void)e;
    if (o->state != OBJECT_PRESENT)
        return ERR_OK;
    arena_reset(k->page);
    const char *path = repo_pool_path(k->page, &k->b->repo, o->sum.sha256);
    bool is_there = k->reads ? part_sum_of(path, &is, &why) == ERR_OK : stat(path, &st) == 0;
    if (!k->reads && is_there)
        is = (struct part_sum){ .bytes = (uint64_t)st.st_size };
    bool is_good = is_there && is.bytes == o->sum.bytes && (!k->reads || memcmp(is.sha256, o->sum.sha256, SHA256_BYTES) == 0);
    k->there += is_good;
    k->bytes += is.bytes;
    uuid_text(o->tenant, t);
    uuid_text(o->object, id);
    if (!is_good && k->bad++ < NAMED)
        report_row(&k->b->report, REPORT_FAIL, "object", "obj_%s of tenant %s: %s", id, t, !is_there ?
                   "its bytes are missing from the pool" :
                   is.bytes < o->sum.bytes ? "its bytes are cut" : "its bytes were changed");
    return ERR_OK;
}

static enum errc pool(struct backup *b, const struct set *s, struct pool_check *k, struct err *e)
{
    k->b = b;
    k->page = arena_new(1 << 20);
    enum errc rc = set_objects(b->arena, &b->repo, s, pool_one, k, e);
    arena_free(k->page);
    return rc;
}

enum errc check_pool(struct backup *b, const struct set *s, struct err *e)
{
    struct pool_check k = { .reads = true };
    TRY(pool(b, s, &k, e));
    report_row(&b->report, k.bad ? REPORT_FAIL : REPORT_OK, "objects", "%lld of %lld by their digests, %llu bytes%s",
               (long long)k.there,
               (long long)(s->objects - s->gone - s->missing), (unsigned long long)k.bytes, k.bad ?
                   "; what is damaged is named above" : "");
    return ERR_OK;
}

enum errc check_files(struct backup *b, const struct set *s, const struct recovery *key, struct err *e)
{
    struct pool_check k = { 0 };
    TRY(set_file_check(b->arena, &b->repo, s, "objects", &s->list, e));
    for (size_t i = 0; i < s->nparts; i++) {
        const struct set_part *p = &s->parts[i];
        const char *name = str_z(b->arena, p->name), *file = arena_printf(b->arena, "%s.fbk", name);
        TRY(set_file_check(b->arena, &b->repo, s, file, &p->sum, e));
        if (key)
            TRY(part_open(repo_set_path(b->arena, &b->repo, s, file), s->id, name, &key->secret, nowhere, NULL, e));
        report_row(&b->report, REPORT_OK, name, "%llu bytes, as the manifest says%s", (unsigned long long)p->sum.bytes,
                   key ? ", and opens to its end" : "");
    }
    TRY(pool(b, s, &k, e));
    return k.bad == 0 || b->accepts_missing ? ERR_OK : FAIL(e, DAMAGED,
                                                            "%lld objects of %.*s are missing from the pool or cut; they are "
                                                            "named above. "
                                                             "With --accept-missing the rest is restored", (long long)k.bad,
                                                                 STR_ARG(s->name));
}

static enum errc signer_of(struct backup *b, const struct recovery *key, uint8_t text[ED25519_PUBLIC], const uint8_t **ret,
                           struct err *e)
{
    *ret = key ? key->signer : NULL;
    if (key || !b->signer)
        return ERR_OK;
    if (!hex_decode(str_c(b->signer), text, ED25519_PUBLIC))
        return FAIL(e, INVALID, "--signer is 64 hex digits");
    *ret = text;
    return ERR_OK;
}

enum errc backup_verify(struct backup *b, struct err *e)
{
    struct recovery key CLEANUP(recovery_wipe) = { 0 };
    const struct recovery *has = b->recovery_file ? &key : NULL;
    uint8_t given[ED25519_PUBLIC];
    const uint8_t *signer;
    struct set s;
    if (has)
        TRY(recovery_read(b->recovery_file, &key, e));
    TRY(signer_of(b, has, given, &signer, e));
    TRY(set_read(b->arena, &b->repo, b->set, signer, &s, e));
    report_row(&b->report, signer ? REPORT_OK : REPORT_WARN, "manifest", "%.*s, signed%s", STR_ARG(s.name),
               signer ? " by the known key" :
                   "; by a key that only the folder itself names (--signer or --recovery-key tell it from elsewhere)");
    b->accepts_missing = true;      /* check_pool tells of each */
    TRY(check_files(b, &s, has, e));
    TRY(check_pool(b, &s, e));
    if (s.missing)
        report_row(&b->report, REPORT_FAIL, "objects",
                   "%lld had no bytes when the backup was made; they are marked in the list", (long long)s.missing);
    if (!has) {
        report_row(&b->report, REPORT_SKIP, "content",
                   "no recovery key: what is in the database and whether objects open was not looked at");
        return ERR_OK;
    }
    return scratch_look(b, &s, &key, false, e);
}

enum errc backup_list(struct backup *b, struct err *e)
{
    struct str *names;
    size_t n;
    TRY(repo_sets(b->arena, &b->repo, &names, &n, e));
    for (size_t i = 0; i < n; i++) {
        struct set s;
        struct err why;
        uint64_t bytes = 0;
        if (set_read(b->arena, &b->repo, names[i], NULL, &s, &why) != ERR_OK) {
            report_err(&b->report, REPORT_WARN, str_z(b->arena, names[i]), &why);
            continue;
        }
        for (size_t k = 0; k < s.nparts; k++)
            bytes += s.parts[k].sum.bytes;
        report_row(&b->report, REPORT_OK, str_z(b->arena, names[i]),
                   "%.1f h old, schema %lld, %lld objects (%lld missing), %llu bytes and "
                   "%lld bytes of new objects, took %.1f s", (double)(clock_wall_us(&clock_system) - s.snapshot_us) / 3.6e9,
                       (long long)s.schema,
                   (long long)s.objects, (long long)s.missing, (unsigned long long)bytes, (long long)s.copied_bytes,
                   (double)(s.ended_us - s.began_us) / 1e6);
    }
    if (!n)
        report_row(&b->report, REPORT_WARN, "backups", "there is none yet");
    return ERR_OK;
}

enum errc backup_init(struct backup *b, struct err *e)
{
    uint8_t recovery[X25519_BYTES], signer[ED25519_PUBLIC];
    const char *signing = b->cfg->backup_sign_key;
    struct repo r;
    struct err ignored;
    if (!*b->cfg->backup_dir || !b->recovery_file || !*signing)
        return FAIL(e, INVALID, "init needs backup.dir, backup.sign_key and --recovery-key FILE");
    if (repo_open(b->arena, b->cfg->backup_dir, &r, &ignored) == ERR_OK)
        return FAIL(e, CONFLICT, "%s is a folder of backups already", b->cfg->backup_dir);
    TRY(recovery_make(b->recovery_file, signing, recovery, signer, e));
    enum errc rc = repo_make(b->cfg->backup_dir, recovery, signer, e);
    if (rc != ERR_OK) {
        unlink(b->recovery_file);
        unlink(signing);
        return rc;
    }
    report_row(&b->report, REPORT_OK, "recovery key",
               "%s: take it away from this machine, keep it twice; without it no backup opens", b->recovery_file);
    report_row(&b->report, REPORT_OK, "signing key", "%s, of this machine", signing);
    report_row(&b->report, REPORT_OK, "backups", "%s", b->cfg->backup_dir);
    return ERR_OK;
}

/* What the kept sets name, as sorted digests. */
struct kept {
    uint8_t (*sums)[SHA256_BYTES];
    size_t n, cap;
};
static int by_sum(const void *a, const void *b)
{
    return memcmp(a, b, SHA256_BYTES);
}
static enum errc keep_one(void *ctx, const struct set_object *o, struct err *e)
{
    struct kept *k = ctx;
    if (k->n == k->cap)
        return FAIL(e, LIMIT, "more objects than were counted");
    memcpy(k->sums[k->n++], o->sum.sha256, SHA256_BYTES);
    return ERR_OK;
}

static int64_t sweep_pool(struct backup *b, const struct kept *k)
{
    int64_t removed = 0;
    for (int i = 0; i < 256; i++) {
        const char *path = arena_printf(b->arena, "%s/pool/%02x", b->repo.dir, i);
        DIR *d = opendir(path);
        for (struct dirent *f; d && (f = readdir(d));) {
            uint8_t sum[SHA256_BYTES];
            if (*f->d_name == '.' || (hex_decode(str_c(f->d_name), sum, sizeof sum) &&
                                      bsearch(sum, k->sums, k->n, sizeof sum, by_sum)))
                continue;
            removed += unlinkat(dirfd(d), f->d_name, 0) == 0;
        }
        if (d)
            closedir(d);
    }
    return removed;
}

/* Nothing is removed before every set that stays was read. */
enum errc backup_prune(struct backup *b, struct err *e)
{
    struct str *names;
    size_t n, first;
    struct set *s;
    struct kept k = { 0 };
    if (b->keep < 1)
        return FAIL(e, INVALID, "--keep N is needed, 1 or more");
    TRY(repo_lock(&b->repo, e));
    repo_drop_partials(b->arena, &b->repo);
    TRY(repo_sets(b->arena, &b->repo, &names, &n, e));
    first = n > (size_t)b->keep ? n - (size_t)b->keep : 0;
    s = ARENA_ARRAY(b->arena, struct set, n - first + 1);
    for (size_t i = first; i < n; i++) {
        TRY(set_read(b->arena, &b->repo, names[i], NULL, &s[i - first], e));
        k.cap += (size_t)s[i - first].objects;
    }
    if (!(k.sums = arena_try(b->arena, (k.cap + 1) * SHA256_BYTES)))
        return FAIL(e, LIMIT, "the backups have more objects than this machine's memory takes");
    for (size_t i = first; i < n; i++)
        TRY(set_objects(b->arena, &b->repo, &s[i - first], keep_one, &k, e));
    qsort(k.sums, k.n, SHA256_BYTES, by_sum);
    for (size_t i = 0; i < first; i++)
        tree_remove(arena_printf(b->arena, "%s/sets/%.*s", b->repo.dir, STR_ARG(names[i])));
    report_row(&b->report, REPORT_OK, "pruned", "%zu backups and %lld objects that no other has; %zu stay", first,
               (long long)sweep_pool(b, &k), n - first);
    return ERR_OK;
}
