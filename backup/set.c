/* SPDX-License-Identifier: Apache-2.0 */
/* set.c - the manifest of a backup: written, signed, read, compared with what lies there. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "backup/repo.h"
#include "core/base/cleanup.h"
#include "core/json/jsonvalue.h"

enum { MANIFEST_MAX = 1 << 20, LINE_MAX_ = 256 };

const char *const set_object_states[] = { [OBJECT_PRESENT] = "present", [OBJECT_GONE] = "gone", [OBJECT_MISSING] = "missing",
                                         NULL };

static void put_sum(struct buf *b, const struct part_sum *s)
{
    buf_printf(b, "\"bytes\":%llu,\"sha256\":\"", (unsigned long long)s->bytes);
    buf_add_hex(b, s->sha256, SHA256_BYTES);
    buf_add_char(b, '"');
}

static void put_zones(struct buf *b, const struct set *s)
{
    for (size_t i = 0; i < s->nzones; i++) {
        const struct set_zone *z = &s->zones[i];
        buf_add_c(b, i ? ",{\"zone\":" : "{\"zone\":");
        buf_add_json(b, z->zone);
        buf_add_c(b, ",\"provider\":");
        buf_add_json(b, z->provider);
        buf_printf(b, ",\"root_version\":%lld,\"audit_key\":\"", (long long)z->root_version);
        if (z->has_key)
            buf_add_hex(b, z->audit_key, ED25519_PUBLIC);
        buf_add_c(b, "\"}");
    }
}

static void put_manifest(struct buf *b, const struct set *s)
{
    char id[UUID_TEXT];
    uuid_text(s->id, id);
    buf_printf(b, "{\"format\":1,\"set\":\"%.*s\",\"id\":\"%s\",\"began_us\":%lld", STR_ARG(s->name), id,
               (long long)s->began_us);
    buf_printf(b, ",\"snapshot_us\":%lld,\"ended_us\":%lld,\"falaj\":\"%.*s\"", (long long)s->snapshot_us,
               (long long)s->ended_us, STR_ARG(s->falaj));
    buf_printf(b, ",\"schema\":%lld,\"postgres\":", (long long)s->schema);
    buf_add_json(b, s->postgres);
    buf_printf(b, ",\"objects\":{\"count\":%lld,\"bytes_stored\":%lld,\"bytes_copied\":%lld,\"gone\":%lld,\"missing\":%lld,",
               (long long)s->objects, (long long)s->object_bytes, (long long)s->copied_bytes, (long long)s->gone,
                   (long long)s->missing);
    put_sum(b, &s->list);
    buf_add_c(b, "},\"parts\":[");
    for (size_t i = 0; i < s->nparts; i++) {
        buf_printf(b, "%s{\"name\":\"%.*s\",", i ? "," : "", STR_ARG(s->parts[i].name));
        put_sum(b, &s->parts[i].sum);
        buf_add_char(b, '}');
    }
    buf_add_c(b, "],\"zones\":[");
    put_zones(b, s);
    buf_add_c(b, "]}\n");
}

enum errc set_seal(struct arena *a, const struct repo *r, struct set *s, const struct secret32 *signer, struct err *e)
{
    CLEANUP(buf_releasep) struct buf text = BUF(MANIFEST_MAX), hex = BUF(256);
    uint8_t sig[ED25519_SIG];
    const char *partial = repo_set_path(a, r, s, "");
    put_manifest(&text, s);
    if (text.overflow)
        return FAIL(e, LIMIT, "the manifest is too large");
    TRY(ed25519_sign(signer, text.ptr, text.len, sig, e));
    buf_add_hex(&hex, sig, sizeof sig);
    buf_add_char(&hex, '\n');
    TRY(file_put(repo_set_path(a, r, s, "manifest.json"), buf_str(&text), e));
    TRY(file_put(repo_set_path(a, r, s, "manifest.sig"), buf_str(&hex), e));
    TRY(dir_sync(partial, e));
    s->is_partial = false;
    if (rename(partial, repo_set_path(a, r, s, "")) < 0)
        return err_errno((FAIL(e, IO, "the backup cannot be given its name"), e), errno);
    return dir_sync(arena_printf(a, "%s/sets", r->dir), e);
}

static bool take_sum(const struct jval *v, struct part_sum *ret)
{
    int64_t bytes = jval_i64(jval_get(v, "bytes"), -1);
    ret->bytes = (uint64_t)bytes;
    return bytes >= 0 && hex_decode(jval_str(jval_get(v, "sha256")), ret->sha256, SHA256_BYTES);
}

static bool take_lists(const struct jval *v, struct set *s)
{
    const struct jval *parts = jval_get(v, "parts"), *zones = jval_get(v, "zones");
    if (jval_len(parts) > SET_PARTS_MAX || jval_len(zones) > SET_ZONES_MAX)
        return false;
    for (s->nparts = 0; s->nparts < jval_len(parts); s->nparts++) {
        struct set_part *p = &s->parts[s->nparts];
        p->name = jval_str(jval_get(jval_at(parts, s->nparts), "name"));
        if (!p->name.len || !take_sum(jval_at(parts, s->nparts), &p->sum))
            return false;
    }
    for (s->nzones = 0; s->nzones < jval_len(zones); s->nzones++) {
        const struct jval *z = jval_at(zones, s->nzones);
        struct set_zone *to = &s->zones[s->nzones];
        to->zone = jval_str(jval_get(z, "zone"));
        to->provider = jval_str(jval_get(z, "provider"));
        to->root_version = jval_i64(jval_get(z, "root_version"), 0);
        to->has_key = hex_decode(jval_str(jval_get(z, "audit_key")), to->audit_key, ED25519_PUBLIC);
    }
    return true;
}

static enum errc take_manifest(const struct jval *v, struct set *s, struct err *e)
{
    const struct jval *o = jval_get(v, "objects");
    if (jval_i64(jval_get(v, "format"), 0) != 1)
        return FAIL(e, INVALID, "the manifest has another format than this program knows (1)");
    if (!str_eq(jval_str(jval_get(v, "set")), s->name))
        return FAIL(e, DAMAGED, "the manifest is that of another backup, %.*s", STR_ARG(jval_str(jval_get(v, "set"))));
    s->began_us = jval_i64(jval_get(v, "began_us"), 0);
    s->snapshot_us = jval_i64(jval_get(v, "snapshot_us"), 0);
    s->ended_us = jval_i64(jval_get(v, "ended_us"), 0);
    s->schema = jval_i64(jval_get(v, "schema"), 0);
    s->falaj = jval_str(jval_get(v, "falaj"));
    s->postgres = jval_str(jval_get(v, "postgres"));
    s->objects = jval_i64(jval_get(o, "count"), -1);
    s->object_bytes = jval_i64(jval_get(o, "bytes_stored"), 0);
    s->copied_bytes = jval_i64(jval_get(o, "bytes_copied"), 0);
    s->gone = jval_i64(jval_get(o, "gone"), 0);
    s->missing = jval_i64(jval_get(o, "missing"), 0);
    if (!uuid_parse(jval_str(jval_get(v, "id")), &s->id) || s->objects < 0 || !take_sum(o, &s->list) || !take_lists(v, s))
        return FAIL(e, DAMAGED, "the manifest is not what falaj-backup writes");
    return ERR_OK;
}

static enum errc newest(struct arena *a, const struct repo *r, struct str *ret, struct err *e)
{
    struct str *names;
    size_t n;
    TRY(repo_sets(a, r, &names, &n, e));
    while (n > 0 && str_ends(names[n - 1], ".partial"))
        n--;
    if (n == 0)
        return FAIL(e, NOT_FOUND, "%s has no finished backup", r->dir);
    *ret = names[n - 1];
    return ERR_OK;
}

enum errc set_read(struct arena *a, const struct repo *r, struct str name, const uint8_t signer[ED25519_PUBLIC], struct set *ret,
                   struct err *e)
{
    uint8_t sig[ED25519_SIG];
    struct str text, hex;
    const struct jval *v;
    *ret = (struct set){ .name = name };
    if (!name.len)
        TRY(newest(a, r, &ret->name, e));
    if (str_ends(ret->name, ".partial"))
        return FAIL(e, CONFLICT, "%.*s was not finished: nothing in it may be trusted", STR_ARG(ret->name));
    if (str_find(ret->name, '/') >= 0)
        return FAIL(e, INVALID, "a backup is named as falaj-backup list names it");
    if (file_get(a, repo_set_path(a, r, ret, "manifest.json"), MANIFEST_MAX, &text, e) != ERR_OK)
        return e->code == ERR_NOT_FOUND ? FAIL(e, NOT_FOUND, "there is no backup %.*s in %s", STR_ARG(ret->name), r->dir) :
            e->code;
    TRY(file_get(a, repo_set_path(a, r, ret, "manifest.sig"), 256, &hex, e));
    if (hex.len && hex.ptr[hex.len - 1] == '\n')
        hex.len--;
    if (!hex_decode(hex, sig, sizeof sig) || !ed25519_verify(signer ? signer : r->signer, text.ptr, text.len, sig))
        return FAIL(e, DAMAGED,
                    "the manifest of %.*s is not signed by the key of these backups: it was changed, or is another's",
        STR_ARG(ret->name));
    TRY(jval_parse(a, text, 0, &v, e));
    return take_manifest(v, ret, e);
}

const struct set_part *set_part_find(const struct set *s, const char *name)
{
    for (size_t i = 0; i < s->nparts; i++)
        if (str_eq_c(s->parts[i].name, name))
            return &s->parts[i];
    return NULL;
}

enum errc set_file_check(struct arena *a, const struct repo *r, const struct set *s, const char *file,
                         const struct part_sum *want,
                         struct err *e)
{
    struct part_sum is;
    TRY(part_sum_of(repo_set_path(a, r, s, file), &is, e));
    if (is.bytes < want->bytes)
        return FAIL(e, DAMAGED, "%s is cut: %llu of %llu bytes are there", file, (unsigned long long)is.bytes,
                    (unsigned long long)want->bytes);
    if (is.bytes != want->bytes || memcmp(is.sha256, want->sha256, SHA256_BYTES) != 0)
        return FAIL(e, DAMAGED, "%s was changed: its digest is not that of the manifest", file);
    return ERR_OK;
}

static bool take_line(struct str line, struct set_object *o)
{
    struct str f[5];
    int64_t bytes;
    for (int i = 0; i < 5; i++)
        if (str_cut(line, ' ', &f[i], &line) != (i < 4))
            return false;
    o->sum = (struct part_sum){ 0 };
    if (!uuid_parse(f[0], &o->tenant) || !uuid_parse(f[1], &o->object) || !str_to_i64(f[2], 0, INT64_MAX, &bytes) ||
        !hex_decode(f[3], o->sum.sha256, SHA256_BYTES))
        return false;
    o->sum.bytes = (uint64_t)bytes;
    for (int i = 0; set_object_states[i]; i++)
        if (str_eq_c(f[4], set_object_states[i])) {
            o->state = (enum set_object_state)i;
            return true;
        }
    return false;
}

static void file_closep(FILE **f)
{
    if (*f)
        fclose(*f);
}

enum errc set_objects(struct arena *a, const struct repo *r, const struct set *s,
                      enum errc (*fn)(void *ctx, const struct set_object *o, struct err *e), void *ctx, struct err *e)
{
    char line[LINE_MAX_];
    struct set_object o;
    int64_t n = 0;
    CLEANUP(file_closep) FILE *f = fopen(repo_set_path(a, r, s, "objects"), "re");
    if (!f)
        return err_errno((FAIL(e, IO, "the list of objects cannot be read"), e), errno);
    for (; fgets(line, sizeof line, f); n++) {
        size_t len = strcspn(line, "\n");
        if (!take_line(str_n(line, len), &o))
            return FAIL(e, DAMAGED, "line %lld of the list of objects says nothing", (long long)n + 1);
        TRY(fn(ctx, &o, e));
    }
    return n == s->objects ? ERR_OK : FAIL(e, DAMAGED, "the list has %lld objects, the manifest %lld", (long long)n,
                                           (long long)s->objects);
}
