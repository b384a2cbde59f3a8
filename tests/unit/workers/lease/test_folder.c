/* SPDX-License-Identifier: Apache-2.0 */
/* test_folder.c - a folder comes back as it was; what is no plain file stays away, and bytes that lead out of it are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/base/cleanup.h"
#include "workers/lease/folder.h"
#include "workers/lease/work_dir.h"

struct place {
    char dir[64];
    int fd;
};

static struct place place_new(void)
{
    struct place p = { "/tmp/falaj-folder-XXXXXX", -1 };
    assert_non_null(mkdtemp(p.dir));
    p.fd = open(p.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(p.fd >= 0);
    return p;
}

static void place_free(struct place *p)
{
    close(p->fd);
    work_dir_remove(p->dir);
}

static void put(const struct place *p, const char *path, const char *text, mode_t mode)
{
    int fd = openat(p->fd, path, O_WRONLY | O_CREAT | O_TRUNC, mode);
    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
}

static void what_was_packed_comes_back(void **state)
{
    (void)state;
    struct err e = { 0 };
    struct stat st;
    int64_t step = 0, size = 0;
    int fd = -1;
    char got[8] = "";
    struct folder_about before, after;
    CLEANUP(buf_releasep) struct buf b = BUF(1 << 20);
    struct place from = place_new(), to = place_new();
    assert_int_equal(mkdirat(from.fd, "a", 0755) + mkdirat(from.fd, "a/b", 0755), 0);
    put(&from, "a/b/run", "run", 0755);
    put(&from, "empty", "", 0644);
    put(&from, "half.tmp", "half", 0644);
    assert_int_equal(symlinkat("/etc/passwd", from.fd, "link") + mkfifoat(from.fd, "pipe", 0600), 0);
    assert_int_equal(folder_look(from.fd, &before, &e), ERR_OK);
    assert_int_equal(before.files, 2);
    assert_int_equal(before.left_out, 3);
    assert_int_equal(folder_pack(from.fd, 7, &b, &e), ERR_OK);
    assert_int_equal(folder_unpack(to.fd, buf_str(&b), &step, &e), ERR_OK);
    assert_int_equal(step, 7);
    assert_int_equal(folder_look(to.fd, &after, &e), ERR_OK);
    assert_int_equal(after.files, 2);
    assert_int_equal(folder_open(to.fd, STR("a/b/run"), &fd, &size, &e), ERR_OK);
    assert_true(read(fd, got, sizeof got) == 3 && size == 3 && memcmp(got, "run", 3) == 0);
    assert_true(fstat(fd, &st) == 0 && st.st_mode & S_IXUSR);
    close(fd);
    put(&from, "empty", "x", 0644);
    assert_int_equal(folder_look(from.fd, &after, &e), ERR_OK);
    assert_true(after.mark != before.mark);
    folder_empty(to.fd);
    assert_int_equal(folder_look(to.fd, &after, &e), ERR_OK);
    assert_int_equal(after.files, 0);
    place_free(&from);
    place_free(&to);
}

static void nothing_is_followed(void **state)
{
    (void)state;
    struct err e = { 0 };
    int fd = -1;
    int64_t size;
    struct place p = place_new();
    assert_int_equal(symlinkat("/etc", p.fd, "etc") + symlinkat("/etc/passwd", p.fd, "passwd") + mkdirat(p.fd, "d", 0755), 0);
    static const char *const bad[] = { "etc/passwd", "passwd", "../etc/passwd", "/etc/passwd", "d", "d/../../etc/passwd" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_not_equal(folder_open(p.fd, str_c(bad[i]), &fd, &size, &e), ERR_OK);
    assert_int_equal(folder_open(p.fd, STR("none"), &fd, &size, &e), ERR_NOT_FOUND);
    place_free(&p);
}

/* One entry with this path and these sizes, as a stranger would write it. */
static void entry(struct buf *b, const char *path, uint32_t len, int64_t size, const char *bytes, bool end)
{
    const int64_t step = 1;
    const uint32_t head[2] = { len, 0644 }, none = 0;
    buf_clear(b);
    buf_add(b, "FJFOLDR1", 8);
    buf_add(b, &step, sizeof step);
    buf_add(b, head, sizeof head);
    buf_add(b, &size, sizeof size);
    buf_add_c(b, path);
    buf_add_c(b, bytes);
    if (end)
        buf_add(b, &none, sizeof none);
}

static void bytes_that_lie_are_refused(void **state)
{
    (void)state;
    static const struct { const char *path; uint32_t len; int64_t size; const char *bytes; bool end, ok; } rows[] = {
        { "ok", 2, 1, "x", true, true }, { "ok", 2, 1, "x", false, false }, { "../out", 6, 1, "x", true, false },
        { "/tmp/out", 8, 1, "x", true, false }, { "a//b", 4, 1, "x", true, false }, { "a/./b", 5, 1, "x", true, false },
        { "a/..", 4, 1, "x", true, false }, { "ok", 2, -1, "x", true, false }, { "ok", 2, 100, "x", true, false },
        { "ok", 300, 1, "x", true, false }, { "ok", UINT32_MAX, 1, "x", true, false }, { "ok", 2, INT64_MAX, "x", true, false },
        { "ok", 2, 0, "x", true, false },
    };
    CLEANUP(buf_releasep) struct buf b = BUF(4096);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct err e = { 0 };
        int64_t step;
        struct place p = place_new();
        entry(&b, rows[i].path, rows[i].len, rows[i].size, rows[i].bytes, rows[i].end);
        enum errc rc = folder_unpack(p.fd, buf_str(&b), &step, &e);
        if ((rc == ERR_OK) != rows[i].ok)
            fail_msg("row %zu (%s): %s", i, rows[i].path, e.msg);
        place_free(&p);
    }
}

static void limits_hold(void **state)
{
    (void)state;
    struct err e = { 0 };
    struct folder_about about;
    char path[200] = "d";
    CLEANUP(buf_releasep) struct buf small = BUF(64);
    struct place p = place_new();
    put(&p, "large", "0123456789012345678901234567890123456789", 0644);
    assert_int_equal(folder_pack(p.fd, 1, &small, &e), ERR_LIMIT);
    for (int i = 0; i < FOLDER_DEPTH_MAX; i++) {
        assert_int_equal(mkdirat(p.fd, path, 0755), 0);
        assert_int_equal(folder_look(p.fd, &about, &e), i < FOLDER_DEPTH_MAX - 1 ? ERR_OK : ERR_LIMIT);
        strcat(path, "/d");
    }
    place_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(what_was_packed_comes_back), cmocka_unit_test(nothing_is_followed),
                                        cmocka_unit_test(bytes_that_lie_are_refused), cmocka_unit_test(limits_hold) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
