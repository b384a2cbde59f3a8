/* SPDX-License-Identifier: Apache-2.0 */
/* repo.h - a folder of backups and what stands in it.
 *
 *   DIR/falaj-backup.json            format, public recovery key, public key that manifests are signed with
 *   DIR/pool/<hh>/<sha256>           sealed objects as they lie in the blob store, each once, by the digest of their bytes
 *   DIR/sets/<time>-<id>/            one backup: manifest.json, manifest.sig (Ed25519, hex), objects, and parts (part.h)
 *   DIR/sets/<…>.partial/            one that was not finished: nothing in it may be trusted; the next create removes it
 * `objects` has a line for each object of the database: tenant, object, bytes, sha256, present | gone | missing. The manifest has
 * the digest of every file of its set; `objects` has those of the pool. So the signature covers all.
 * Calling order: repo_make once; repo_open -> repo_lock -> …; repo_close. Strings live in the arena. One thread.
 * Errors: NOT_FOUND, INVALID (no folder of backups), CONFLICT (another backup runs), DAMAGED, IO. */
#pragma once
#include "backup/part.h"
#include "core/base/arena.h"
#include "core/crypto/sign.h"

enum { SET_PARTS_MAX = 4, SET_NAME_MAX = 48, SET_ZONES_MAX = 64 };

struct repo {
    const char *dir;
    int lock_fd;
    uint8_t recovery[X25519_BYTES], signer[ED25519_PUBLIC];
};
struct set_part {
    struct str name;            /* "database", "erasures", "files" */
    struct part_sum sum;
};
struct set_zone {               /* whose root key is not in the backup, or whose log is signed */
    struct str zone, provider;
    int64_t root_version;
    bool has_key;
    uint8_t audit_key[ED25519_PUBLIC];
};
struct set {
    struct str name;            /* of its folder */
    bool is_partial;
    struct uuid id;
    int64_t began_us, snapshot_us, ended_us, schema, objects, object_bytes, copied_bytes, gone, missing;
    struct str falaj, postgres;
    struct part_sum list;       /* of the file `objects` */
    struct set_part parts[SET_PARTS_MAX];
    size_t nparts;
    struct set_zone zones[SET_ZONES_MAX];
    size_t nzones;
};

MUST_CHECK enum errc repo_make(const char *dir, const uint8_t recovery[X25519_BYTES], const uint8_t signer[ED25519_PUBLIC],
                               struct err *e);
MUST_CHECK enum errc repo_open(struct arena *a, const char *dir, struct repo *ret, struct err *e);
MUST_CHECK enum errc repo_lock(struct repo *r, struct err *e);
void repo_close(struct repo *r);

const char *repo_pool_path(struct arena *a, const struct repo *r, const uint8_t sha256[SHA256_BYTES]);
const char *repo_set_path(struct arena *a, const struct repo *r, const struct set *s, const char *file);
/* Names of all sets, oldest first; unfinished ones too. */
MUST_CHECK enum errc repo_sets(struct arena *a, const struct repo *r, struct str **ret, size_t *ret_n, struct err *e);
void repo_drop_partials(struct arena *a, const struct repo *r);

/* Writes manifest and signature and gives the set its name. */
MUST_CHECK enum errc set_seal(struct arena *a, const struct repo *r, struct set *s, const struct secret32 *signer, struct err *e);
/* name STR_NULL: the newest finished one. The signature is checked against `signer`, NULL: the folder's own. DAMAGED: it does not
 * hold, or what is signed is no manifest. */
MUST_CHECK enum errc set_read(struct arena *a, const struct repo *r, struct str name, const uint8_t signer[ED25519_PUBLIC],
                              struct set *ret, struct err *e);
const struct set_part *set_part_find(const struct set *s, const char *name);
/* Is the file what the manifest says? NOT_FOUND, DAMAGED (which file, what was expected, what is there). */
MUST_CHECK enum errc set_file_check(struct arena *a, const struct repo *r, const struct set *s, const char *file,
                                    const struct part_sum *want, struct err *e);

/* The lines of `objects`. */
struct set_object {
    struct uuid tenant, object;
    struct part_sum sum;
    enum set_object_state { OBJECT_PRESENT, OBJECT_GONE, OBJECT_MISSING } state;
};
extern const char *const set_object_states[];
/* fn until it says other than OK. DAMAGED: a line that says nothing. */
MUST_CHECK enum errc set_objects(struct arena *a, const struct repo *r, const struct set *s,
                                 enum errc (*fn)(void *ctx, const struct set_object *o, struct err *e), void *ctx, struct err *e);

MUST_CHECK enum errc dir_sync(const char *path, struct err *e);
/* A small file whole, synced, 0600; INVALID: it is there already. */
MUST_CHECK enum errc file_put(const char *path, struct str text, struct err *e);
MUST_CHECK enum errc file_get(struct arena *a, const char *path, size_t max, struct str *ret, struct err *e);
/* With everything below it. */
void tree_remove(const char *path);
