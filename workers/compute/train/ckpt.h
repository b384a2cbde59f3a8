/* SPDX-License-Identifier: Apache-2.0 */
/* ckpt.h - checkpoints: a directory per step that is complete or not there.
 *
 * dir/ckpt-<step>/ holds the files given plus state.json (string pairs, among them length and FNV-1a of every file). Written as
 * ckpt-<step>.tmp, each file fsynced, then the directory, renamed, the parent fsynced: a kill at any byte leaves the one before.
 * The two newest are kept. ckpt_load takes the newest that is whole and passes over a damaged one.
 * What is written and read goes through a vault, which whoever runs the job gives (workers/lease/ckpt_vault.h seals); without one the files
 * are plain, for tests. A file that the vault does not open is damaged. */
#pragma once
#include "core/data/safetensors.h"

enum { CKPT_FILES_MAX = 4, CKPT_STATE_MAX = 32 };

struct ckpt_file {
    const char *name;               /* "model.safetensors" */
    struct str bytes;
};

struct ckpt {
    int64_t step;                   /* -1: none found */
    struct st_pair *state;
    size_t state_count;
    struct str files[CKPT_FILES_MAX];   /* in the order of the names asked for; in the arena */
};

/* To and from an open file, from its start to its end; read gives at most max bytes. */
struct ckpt_vault {
    void *ctx;
    enum errc (*write)(void *ctx, int fd, struct str plain, struct err *e);
    enum errc (*read)(void *ctx, int fd, size_t max, struct arena *a, struct str *ret, struct err *e);
};

/* vault NULL: plain. */
enum errc ckpt_save(const struct ckpt_vault *vault, const char *dir, int64_t step, const struct ckpt_file *files, size_t file_count, const struct st_pair *state,
                    size_t state_count, struct err *e);
enum errc ckpt_load(const struct ckpt_vault *vault, struct arena *a, const char *dir, const char *const *names, size_t name_count, struct ckpt *ret, struct err *e);
/* Removes all checkpoints. */
void ckpt_clear(const char *dir);
