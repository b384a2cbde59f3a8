/* SPDX-License-Identifier: Apache-2.0 */
/* test_unpack.c - entries that would leave the folder, hide what is not theirs, or be what no image has; a file outside stays
 * as it is. */
#include "image_kit.h"

static enum errc put_all(int root, struct str archive, struct err *e)
{
    static struct tar t;
    struct unpack u = { .root = root, .bytes_most = 1 << 20, .files_most = 1000 };
    struct bytes_at b = { .s = archive };
    struct tar_entry en;
    bool more = true;
    *e = (struct err){ 0 };
    tar_begin(&t, (struct source){ read_bytes, &b });
    for (;;) {
        TRY(tar_next(&t, &en, &more, e));
        if (!more)
            return ERR_OK;
        TRY(unpack_is_whiteout(&en) ? unpack_whiteout(&u, &en, e) : unpack_entry(&u, &t, &en, e));
    }
}

static const struct evil {
    const char *what, *why;         /* why NULL: it goes well, and nothing outside is touched */
    struct { char type; const char *name, *link; } entries[4];
} evil[] = {
    { "a name with ..", "leads out of the image", { { '0', "../out", "" } } },
    { "a name with .. within", "leads out of the image", { { '0', "a/../../out", "" } } },
    { "a rooted name", NULL, { { '0', "/secret", "" } } },
    { "a link out, and a file through it", "its folder is none, or leads nowhere",
        { { '2', "l", "../../../../../tmp/nowhere-at-all" }, { '0', "l/secret", "" } } },
    { "a rooted link, and a file through it", NULL, { { '2', "l", "/" }, { '0', "l/secret", "" } } },
    { "a link to the secret, and a file over it", NULL, { { '2', "secret", "../secret" }, { '0', "secret", "" } } },
    { "a hard link out", "leads out of the image", { { '1', "h", "../secret" } } },
    { "a hard link to a link", "link to what is no file", { { '2', "l", "../secret" }, { '1', "h", "l" }, { '0', "h", "" } } },
    { "a hard link through a link", "link to what is not there", { { '2', "l", ".." }, { '1', "h", "l/secret" } } },
    { "a hard link to itself", "link to what is not there", { { '1', "h", "h" } } },
    { "a link to itself", "its folder is none", { { '2', "l", "l" }, { '0', "l/x", "" } } },
    { "a whiteout of ..", "whiteout of nothing", { { '0', ".wh...", "" } } },
    { "a whiteout of .", "whiteout of nothing", { { '0', ".wh..", "" } } },
    { "a whiteout of nothing", "whiteout of nothing", { { '0', "a/.wh.", "" } } },
    { "a whiteout of a whiteout", "whiteout of nothing", { { '0', ".wh..wh.x", "" } } },
    { "a whiteout through a link out", NULL, { { '2', "l", "/.." }, { '0', "l/.wh.secret", "" } } },
    { "a whiteout with ..", "leads out of the image", { { '0', "../.wh.secret", "" } } },
    { "an opaque one through a link out", NULL, { { '2', "l", "../.." }, { '0', "l/.wh..wh..opq", "" } } },
    { "a device", "an image has no devices", { { '3', "sda", "" } } },
    { "a character device in the root of another name", "an image has no devices", { { '4', "devil/x", "" } } },
    { "a pipe", "an image has no pipes", { { '6', "p", "" } } },
    { "a device below dev", NULL, { { '4', "dev/sda", "" } } },
    { "a folder over a link out", NULL, { { '2', "l", ".." }, { '5', "l", "" }, { '0', "l/secret", "" } } },
    { "no name", "it has no name", { { '0', ".", "" } } },
    { "a link to nothing", "its link cannot be made", { { '2', "l", "" } } },
    { "a file as a folder", "its folder is none", { { '0', "f", "" }, { '0', "f/x", "" } } },
};

static void nothing_is_written_outside(void **state)
{
    (void)state;
    int n = 0;
    for (size_t i = 0; i < sizeof evil / sizeof *evil; i++, n++) {
        struct buf b = BUF(1 << 16);
        struct err e;
        char path[64];
        int above = folder_make(path);
        int secret = openat(above, "secret", O_WRONLY | O_CREAT, 0644);
        assert_int_equal(write(secret, "secret", 6) + close(secret), 6);
        assert_int_equal(mkdirat(above, "root", 0755), 0);
        CLEANUP(fd_closep) int root = openat(above, "root", O_RDONLY | O_DIRECTORY);
        for (int k = 0; k < 4 && evil[i].entries[k].name; k++)
            tar_put(&b, evil[i].entries[k].type, evil[i].entries[k].name, evil[i].entries[k].link, 0755, "evil",
                    evil[i].entries[k].type == '0' ? 4 : 0);
        tar_end(&b);
        enum errc rc = put_all(root, buf_str(&b), &e);
        if ((rc == ERR_OK) != (evil[i].why == NULL) || (evil[i].why && !strstr(e.msg, evil[i].why)))
            fail_msg("%s: %d %s", evil[i].what, rc, e.msg);
        expect_text(path, "secret", "secret");
        assert_false(is_there(path, "out") || is_there(path, "x"));
        folder_end(path, above);
        buf_release(&b);
    }
    printf("image: %d evil archives, nothing outside of the folder was touched\n", n);
}

static void names_have_limits(void **state)
{
    (void)state;
    struct buf b = BUF(1 << 20), name = BUF(4096);
    struct err e;
    char path[64];
    int root = folder_make(path);
    for (int i = 0; i < 200; i++)
        buf_add_c(&name, "d/");
    tar_put(&b, 'L', "long", "", 0, name.ptr, name.len);
    tar_text(&b, "x", "");
    tar_end(&b);
    assert_int_equal(put_all(root, buf_str(&b), &e), ERR_BAD_DATA);
    assert_non_null(strstr(e.msg, "too long, or too deep"));
    folder_end(path, root);
    buf_release(&b);
    buf_release(&name);
}

/* What a box puts something on is a folder or a file, whatever the image has there. */
static void places_are_no_links(void **state)
{
    (void)state;
    struct buf b = BUF(1 << 16);
    struct err e;
    char path[64];
    struct stat st;
    int root = folder_make(path);
    tar_put(&b, '2', "proc", "/somewhere", 0777, "", 0);
    tar_put(&b, '2', "etc", "usr", 0777, "", 0);
    tar_put(&b, '5', "usr/passwd", "", 0755, "", 0);
    tar_put(&b, '0', "tmp", "", 0644, "x", 1);
    tar_end(&b);
    assert_int_equal(put_all(root, buf_str(&b), &e), ERR_OK);
    struct unpack u = { .root = root };
    static const struct { const char *path; bool is_folder; } places[] = { { "proc", true }, { "etc/passwd", false },
        { "tmp", true },
        { "falaj/in", true } };
    for (int i = 0; i < 4; i++) {
        assert_int_equal(unpack_place(&u, places[i].path, places[i].is_folder, &e), ERR_OK);
        assert_int_equal(fstatat(root, places[i].path, &st, AT_SYMLINK_NOFOLLOW), 0);
        assert_true(places[i].is_folder ? S_ISDIR(st.st_mode) : S_ISREG(st.st_mode));
    }
    assert_int_equal(fstatat(root, "etc", &st, AT_SYMLINK_NOFOLLOW), 0);
    assert_true(S_ISDIR(st.st_mode));
    folder_end(path, root);
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(nothing_is_written_outside), cmocka_unit_test(names_have_limits),
                                        cmocka_unit_test(places_are_no_links) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
