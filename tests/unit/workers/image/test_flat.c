/* SPDX-License-Identifier: Apache-2.0 */
/* test_flat.c - an image that was kept is the image that was checked; one that does not fit is not kept; one that was cut or
 * changed is refused, and never written outside of its folder. */
#include "image_kit.h"
#include "workers/image/flat.h"

static const struct oci_limits ROOM = { 16 << 20, 10000 };

/* Two layers with all that a layer has. */
static int make(uint64_t most, bool *ret_whole, struct oci_image *image, struct arena *a)
{
    struct buf one = BUF(1 << 20), two = BUF(1 << 20), archive = BUF(KIT_TAR_MAX);
    struct err e = { 0 };
    struct flat f;
    char path[64], digest[72];
    tar_text(&one, "usr/kept", "kept");
    tar_text(&one, "usr/gone", "gone");
    tar_put(&one, '2', "bin", "usr", 0777, "", 0);
    tar_put(&one, '0', "usr/su", "", 04755, "su", 2);
    tar_put(&one, '3', "dev/null", "", 0666, "", 0);
    tar_end(&one);
    tar_text(&two, "bin/tool", "tool");
    tar_text(&two, "usr/.wh.gone", "");
    tar_put(&two, '1', "hard", "usr/kept", 0644, "", 0);
    tar_end(&two);
    const struct str layers[] = { buf_str(&one), buf_str(&two) };
    image_make(layers, 2, &(struct image_odd){ 0 }, &archive, digest);
    CLEANUP(fd_closep) int fd = archive_file(buf_str(&archive)), root = folder_make(path);
    int kept = memfd_create("kept", MFD_CLOEXEC);
    flat_begin(&f, kept, most);
    if (oci_unpack_keeping(fd, root, STR_NULL, &ROOM, &f, a, image, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    *ret_whole = flat_end(&f, image);
    folder_end(path, -1);
    buf_release(&one);
    buf_release(&two);
    buf_release(&archive);
    return kept;
}

static void what_was_kept_is_what_was_checked(void **state)
{
    (void)state;
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)64 << 20);
    struct oci_image first, again;
    struct err e = { 0 };
    struct stat st;
    bool whole;
    char path[64];
    CLEANUP(fd_closep) int kept = make(16 << 20, &whole, &first, a), root = folder_make(path);
    assert_true(whole);
    if (flat_unpack(kept, root, &ROOM, a, &again, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    expect_text(path, "usr/kept", "kept");
    expect_text(path, "usr/tool", "tool");
    expect_text(path, "hard", "kept");
    assert_int_equal(fstatat(root, "usr/gone", &st, 0), -1);
    assert_int_equal(fstatat(root, "usr/su", &st, 0), 0);
    assert_int_equal(st.st_mode & 07777, 0755);
    assert_true(str_eq(first.digest, again.digest));
    assert_int_equal(again.layers, 2);
    assert_int_equal(again.env.n, first.env.n);
    for (size_t i = 0; i < first.env.n; i++)
        assert_true(str_eq(((const struct str *)first.env.items)[i], ((const struct str *)again.env.items)[i]));
    assert_int_equal(again.bytes, first.bytes);
    assert_int_equal(again.files, first.files);
    assert_int_equal(again.stripped, first.stripped);
    assert_int_equal(again.left_out, first.left_out);
    for (int i = 0; i < 2; i++)
        assert_true(str_eq(first.layer[i].digest, again.layer[i].digest) && first.layer[i].bytes == again.layer[i].bytes);
    folder_end(path, -1);
}

static void limits_hold_for_what_was_kept(void **state)
{
    (void)state;
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)64 << 20);
    struct oci_image image;
    struct err e = { 0 };
    bool whole;
    char path[64];
    CLEANUP(fd_closep) int kept = make(16 << 20, &whole, &image, a), root = folder_make(path);
    assert_int_equal(flat_unpack(kept, root, &(struct oci_limits){ 16 << 20, 3 }, a, &image, &e), ERR_LIMIT);
    folder_end(path, -1);
}

static void one_that_does_not_fit_is_not_kept(void **state)
{
    (void)state;
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)64 << 20);
    struct oci_image image;
    struct stat st;
    bool whole;
    CLEANUP(fd_closep) int kept = make(3000, &whole, &image, a);
    assert_false(whole);
    assert_int_equal(fstat(kept, &st), 0);
    assert_int_equal(st.st_size, 0);                    /* nor is its memory */
}

static void one_that_was_cut_is_refused(void **state)
{
    (void)state;
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)64 << 20);
    struct oci_image image;
    bool whole;
    CLEANUP(fd_closep) int kept = make(16 << 20, &whole, &image, a);
    const off_t size = lseek(kept, 0, SEEK_END);
    for (off_t at = size - 1; at > size - 40; at--) {
        struct err e = { 0 };
        char path[64];
        assert_int_equal(ftruncate(kept, at), 0);
        CLEANUP(fd_closep) int root = folder_make(path);
        assert_int_equal(flat_unpack(kept, root, &ROOM, a, &image, &e), ERR_BAD_DATA);
        folder_end(path, -1);
    }
}

/* Variables are as long as an image's configuration may have them. */
static void long_variables_are_kept(void **state)
{
    (void)state;
    enum { LONG = 100000 };
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)64 << 20);
    char *text = arena_alloc(a, LONG), path[64];
    struct flat f;
    struct err e = { 0 };
    memset(text, 'x', LONG);
    memcpy(text, "LONG=\"\n", 7);
    const struct str env[] = { str_n(text, LONG), STR("SHORT=") };
    const struct oci_image image = { .digest = STR("sha256:x"), .env = { (void *)(uintptr_t)env, 2 } };
    struct oci_image again;
    CLEANUP(fd_closep) int kept = memfd_create("kept", MFD_CLOEXEC), root = folder_make(path);
    flat_begin(&f, kept, 16 << 20);
    assert_true(flat_end(&f, &image));
    if (flat_unpack(kept, root, &ROOM, a, &again, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    assert_int_equal(again.env.n, 2);
    assert_true(str_eq(((const struct str *)again.env.items)[0], env[0]));
    folder_end(path, -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_kept_is_what_was_checked), cmocka_unit_test(limits_hold_for_what_was_kept),
        cmocka_unit_test(one_that_does_not_fit_is_not_kept), cmocka_unit_test(one_that_was_cut_is_refused),
        cmocka_unit_test(long_variables_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
