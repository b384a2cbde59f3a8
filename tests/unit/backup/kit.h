/* SPDX-License-Identifier: Apache-2.0 */
/* kit.h - a folder of backups with one made by hand: two parts, three objects of the pool. */
#pragma once
#include "backup/recovery.h"
#include "tests/unit/backup/fixture.h"

static struct repo kit_repo;
static struct set kit_set;
static struct recovery kit_key;
static struct secret32 kit_seed;

static inline void kit_part(const char *name, size_t n)
{
    struct part_writer *w;
    struct set_part *p = &kit_set.parts[kit_set.nparts++];
    p->name = str_c(name);
    const char *path = arena_printf(fx_arena, "%s.fbk", repo_set_path(fx_arena, &kit_repo, &kit_set, name));
    OK(part_writer_new(path, kit_set.id, name, kit_repo.recovery, &w, &e));
    for (size_t i = 0; i < n; i++)
        OK(part_write(w, name, strlen(name), &e));
    OK(part_finish(w, &p->sum, &e));
}

static inline void kit_object(struct buf *list, int i, const char *state)
{
    char text[32], hex[65];
    uint8_t sum[32];
    int n = snprintf(text, sizeof text, "object %d", i);
    sha256(text, (size_t)n, sum);
    hex_encode(sum, 32, hex);
    buf_printf(list, "00000000-0000-0000-0000-0000000000aa 00000000-0000-0000-0000-%012d %d %s %s\n", i, n, hex, state);
    kit_set.objects++;
    if (strcmp(state, "present") != 0)
        return;
    const char *path = repo_pool_path(fx_arena, &kit_repo, sum);
    (void)mkdir(arena_strndup(fx_arena, path, strlen(path) - 65), 0700);
    OK(file_put(path, str_n(text, (size_t)n), &e));
}

/* In the folder of that name, sealed. */
static inline void kit_make(const char *name)
{
    uint8_t recovery[32], signer[32];
    CLEANUP(buf_releasep) struct buf list = BUF(4096);
    const char *key = fx_path(arena_printf(fx_arena, "%s.key", name)), *seed = fx_path(arena_printf(fx_arena, "%s.seed", name));
    OK(recovery_make(key, seed, recovery, signer, &e));
    OK(recovery_read(key, &kit_key, &e));
    OK(signing_read(seed, &kit_seed, &e));
    OK(repo_make(fx_path(name), recovery, signer, &e));
    OK(repo_open(fx_arena, fx_path(name), &kit_repo, &e));
    kit_set = (struct set){ .name = STR("20261124T020000Z-00000001"), .is_partial = true, .id = { { 5 } }, .began_us = 1,
                           .snapshot_us = 2,
                            .ended_us = 3, .schema = 97, .falaj = STR("0.1.0"), .postgres = STR("15.20"), .gone = 1 };
    assert_int_equal(mkdir(repo_set_path(fx_arena, &kit_repo, &kit_set, ""), 0700), 0);
    kit_part("database", 1000);
    kit_part("files", 3);
    kit_object(&list, 1, "present");
    kit_object(&list, 2, "gone");
    kit_object(&list, 3, "present");
    OK(file_put(repo_set_path(fx_arena, &kit_repo, &kit_set, "objects"), buf_str(&list), &e));
    OK(part_sum_of(repo_set_path(fx_arena, &kit_repo, &kit_set, "objects"), &kit_set.list, &e));
    kit_set.zones[0] = (struct set_zone){ STR("ae-dxb-1"), STR("pkcs11"), 3, true, { 4 } };
    kit_set.nzones = 1;
    OK(set_seal(fx_arena, &kit_repo, &kit_set, &kit_seed, &e));
}

static inline const char *kit_path(const char *file)
{
    return repo_set_path(fx_arena, &kit_repo, &kit_set, file);
}

static inline void flip(const char *path, off_t at)
{
    uint8_t byte;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte ^= 1;
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    close(fd);
}
