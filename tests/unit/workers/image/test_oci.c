/* SPDX-License-Identifier: Apache-2.0 */
/* test_oci.c - images of several layers become a folder, and an image in which one thing is wrong is refused with these words. */
#include "image_kit.h"

static const struct oci_limits ROOM = { 16 << 20, 10000 };
static struct arena *held;              /* what the last image says lies there */

static enum errc unpack(const struct str *layers, size_t n, const struct image_odd *odd, struct str digest,
    const struct oci_limits *most,
                        char path[64], struct oci_image *ret, struct err *e)
{
    struct buf archive = BUF(KIT_TAR_MAX);
    char manifest[72];
    arena_free(held);
    held = arena_new((size_t)64 << 20);
    *e = (struct err){ 0 };
    image_make(layers, n, odd, &archive, manifest);
    CLEANUP(fd_closep) int fd = archive_file(buf_str(&archive));
    int root = folder_make(path);
    enum errc rc = oci_unpack(fd, root, digest, most, held, ret, e);
    if (rc == ERR_OK)
        assert_true(str_eq_c(ret->digest, manifest));
    close(root);
    buf_release(&archive);
    return rc;
}

static void layers_lie_on_one_another(void **state)
{
    (void)state;
    struct buf one = BUF(1 << 20), two = BUF(1 << 20);
    struct oci_image image;
    struct err e;
    char path[64];
    tar_put(&one, '5', "./", "", 0755, "", 0);
    tar_put(&one, '5', "usr/", "", 0755, "", 0);
    tar_text(&one, "usr/kept", "kept");
    tar_text(&one, "usr/gone", "gone");
    tar_text(&one, "usr/other", "old");
    tar_text(&one, "opaque/below", "below");
    tar_put(&one, '2', "bin", "usr", 0777, "", 0);
    tar_put(&one, '2', "outside", "/etc/passwd", 0777, "", 0);
    tar_put(&one, '0', "usr/su", "", 04755, "su", 2);
    tar_put(&one, '3', "dev/null", "", 0666, "", 0);
    tar_end(&one);
    tar_text(&two, "bin/tool", "tool");                 /* through the link, within the image */
    tar_text(&two, "usr/.wh.gone", "");
    tar_text(&two, "usr/other", "new");
    tar_text(&two, "opaque/own", "own");
    tar_text(&two, "opaque/.wh..wh..opq", "");
    tar_put(&two, '1', "hard", "usr/kept", 0644, "", 0);
    tar_text(&two, "deep/er/file", "deep");
    tar_end(&two);
    const struct str layers[] = { buf_str(&one), buf_str(&two) };
    for (int plain = 0; plain < 2; plain++) {
        assert_int_equal(unpack(layers, 2, &(struct image_odd){ .plain = plain }, STR_NULL, &ROOM, path, &image, &e), ERR_OK);
        expect_text(path, "usr/kept", "kept");
        expect_text(path, "usr/other", "new");
        expect_text(path, "usr/tool", "tool");
        expect_text(path, "hard", "kept");
        expect_text(path, "deep/er/file", "deep");
        expect_text(path, "opaque/own", "own");
        assert_false(is_there(path, "usr/gone") || is_there(path, "opaque/below") || is_there(path, "dev/null"));
        struct stat st;
        char su[100];
        snprintf(su, sizeof su, "%s/usr/su", path);
        assert_int_equal(stat(su, &st), 0);
        assert_int_equal(st.st_mode & 07777, 0755);
        assert_true(image.layers == 2 && image.stripped == 1 && image.left_out == 1 && image.env.n == 2);
        assert_true(str_eq_c(((struct str *)image.env.items)[1], "IN_IMAGE=yes"));
        folder_end(path, -1);
    }
    buf_release(&one);
    buf_release(&two);
}

/* An index that names one manifest by two tags, or over a further index, has one image. */
static void one_image_may_have_two_names(void **state)
{
    (void)state;
    static const struct image_odd odd[] = { { .two_names = true }, { .indexes = 1 }, { .indexes = 32, .two_names = true } };
    struct buf tar = BUF(1 << 20);
    struct oci_image image;
    struct err e;
    char path[64];
    tar_text(&tar, "file", "content");
    tar_end(&tar);
    const struct str layer = buf_str(&tar);
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        assert_int_equal(unpack(&layer, 1, &odd[i], STR_NULL, &ROOM, path, &image, &e), ERR_OK);
        expect_text(path, "file", "content");
        folder_end(path, -1);
    }
    buf_release(&tar);
}

static void what_is_wrong_with_an_image_is_said(void **state)
{
    (void)state;
    static const struct { struct image_odd odd; const char *digest, *why; enum errc rc; } rows[] = {
        { { .arch = "s390x" }, NULL, "the image is for linux/s390x", ERR_UNPROCESSABLE },
        { { .media_type = "application/vnd.oci.image.layer.v1.tar+zstd" }, NULL, "the zstd stream is damaged, or of another kind",
          ERR_BAD_DATA },
        { { .media_type = "text/plain" }, NULL, "its type text/plain is not read", ERR_BAD_DATA },
        { { .wrong_diff = true }, NULL, "layer 1 of the image (sha256:", ERR_BAD_DATA },
        { { .wrong_diff = true }, NULL, "unpacked it has another digest", ERR_BAD_DATA },
        { { .wrong_size = true }, NULL, "bytes and should have", ERR_BAD_DATA },
        { { .no_layer = true }, NULL, "layer 1 of the image is missing: the archive has no blobs/sha256/", ERR_BAD_DATA },
        { { .indexes = 33 }, NULL, "more than 32 indexes within each other", ERR_LIMIT },
        { { .env = "\"no equals\"" }, NULL, "variable 1 of the image has not the form NAME=VALUE", ERR_BAD_DATA },
        { { 0 }, "sha256:0000000000000000000000000000000000000000000000000000000000000000",
            "the archive has no image sha256:0000",
          ERR_BAD_DATA },
    };
    struct buf tar = BUF(1 << 20);
    tar_text(&tar, "file", "content");
    tar_end(&tar);
    const struct str layer = buf_str(&tar);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct oci_image image;
        struct err e;
        char path[64];
        enum errc rc = unpack(&layer, 1, &rows[i].odd, rows[i].digest ? str_c(rows[i].digest) : STR_NULL, &ROOM, path, &image,
            &e);
        if (rc != rows[i].rc || !strstr(e.msg, rows[i].why))
            fail_msg("%zu: %d %s", i, rc, e.msg);
        folder_end(path, -1);
    }
    buf_release(&tar);
}

static void bombs_end_at_their_limit(void **state)
{
    (void)state;
    static char zeros[9 << 20];
    struct buf tar = BUF(KIT_TAR_MAX);
    struct oci_image image;
    struct err e;
    char path[64];
    tar_put(&tar, '0', "large", "", 0644, zeros, sizeof zeros);
    tar_end(&tar);
    struct str layer = buf_str(&tar);
    assert_int_equal(unpack(&layer, 1, &(struct image_odd){ 0 }, STR_NULL, &(struct oci_limits){ 8 << 20, 10 }, path, &image,
        &e), ERR_LIMIT);
    assert_non_null(strstr(e.msg, "entry large: the image has more than 8388608 bytes"));
    folder_end(path, -1);
    buf_clear(&tar);
    for (int i = 0; i < 20; i++) {
        char name[16];
        snprintf(name, sizeof name, "f%d", i);
        tar_text(&tar, name, "");
    }
    tar_end(&tar);
    layer = buf_str(&tar);
    assert_int_equal(unpack(&layer, 1, &(struct image_odd){ 0 }, STR_NULL, &(struct oci_limits){ 8 << 20, 10 }, path, &image,
        &e), ERR_LIMIT);
    assert_non_null(strstr(e.msg, "more than 10 files"));
    folder_end(path, -1);
    buf_release(&tar);
}

static void what_is_no_image_is_said(void **state)
{
    (void)state;
    struct buf tar = BUF(1 << 20);
    struct arena *a = arena_new(16 << 20);
    struct oci_image image;
    struct err e = { 0 };
    char path[64];
    tar_text(&tar, "manifest.json", "[]");
    tar_end(&tar);
    int fd = archive_file(buf_str(&tar)), root = folder_make(path);
    assert_int_equal(oci_unpack(fd, root, STR_NULL, &ROOM, a, &image, &e), ERR_BAD_DATA);
    assert_non_null(strstr(e.msg, "this is no OCI image"));
    close(fd);
    folder_end(path, root);
    buf_release(&tar);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(layers_lie_on_one_another),
        cmocka_unit_test(one_image_may_have_two_names),
        cmocka_unit_test(what_is_wrong_with_an_image_is_said),
                                        cmocka_unit_test(bombs_end_at_their_limit), cmocka_unit_test(what_is_no_image_is_said) };
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    arena_free(held);
    return rc;
}
