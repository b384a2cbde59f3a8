/* SPDX-License-Identifier: Apache-2.0 */
/* test_type_inspect.c - an import in a real box of the real binary: what it says of a good image, and that one with a fault is
 * refused with its layer and entry. */
#include "run_kit.h"
#include "tests/unit/workers/image/image_kit.h"

static const char status[] = "Package: base-files\nStatus: install ok installed\nVersion: 12.4\nArchitecture: amd64\n\n";

static void base(struct buf *tar)
{
    tar_text(tar, "etc/os-release", "ID=tiny\n");
    tar_text(tar, "var/lib/dpkg/status", status);
    tar_end(tar);
}

static void special(struct buf *tar)
{
    tar_put(tar, '0', "usr/bin/su", "", 04755, "x", 1);
    tar_end(tar);
}

static void plain(struct buf *tar)
{
    tar_text(tar, "opt/tool", "text");
    tar_end(tar);
}

static void device(struct buf *tar)
{
    tar_put(tar, '3', "opt/kmem", "", 0666, "", 0);
    tar_end(tar);
}

static void above(struct buf *tar)
{
    tar_text(tar, "opt/../../etc/shadow", "x");
    tar_end(tar);
}

/* An image of the base and one more layer. */
static const char *inspect(struct fixture *f, void (*second)(struct buf *), const struct image_odd *odd, const char *more)
{
    struct buf lower = BUF(KIT_TAR_MAX), upper = BUF(KIT_TAR_MAX), archive = BUF(KIT_TAR_MAX);
    char digest[72], spec[300];
    base(&lower);
    second(&upper);
    const struct str layers[] = { buf_str(&lower), buf_str(&upper) };
    image_make(layers, 2, odd, &archive, digest);
    struct err e = { 0 };
    setup_with(f, "256m", archive.ptr, archive.len);
    assert_int_equal(config_set(f->config, "worker.programs", "host", &e), ERR_OK);
    snprintf(spec, sizeof spec, "{\"dataset_id\":\"dst_0123456789abcdef0123456789abcdef\",\"dataset_version\":1%s}", more);
    struct lease_grant g = kit_grant(1, "inspect", spec);
    kit_add_input(&g, &f->store, "dataset");
    const char *r = run_to_end(f, book_add(f->book, &g, true));
    buf_release(&lower);
    buf_release(&upper);
    buf_release(&archive);
    return r;
}

static void a_good_image_is_told_whole(void **state)
{
    (void)state;
    struct fixture f;
    const char *r = inspect(&f, plain, &(struct image_odd){ 0 }, "");
    expect(r, "\"event\":\"succeed\"");
    expect(r, "\"digest\":\"sha256:");
    expect(r, "\"package_source\":\"dpkg\"");
    expect(r, "\"packages\":[\"base-files 12.4 amd64\"]");
    expect(r, "\"package_count\":1");
    expect(r, "\"files\":3");
    expect(r, "\"unpacked_bytes\":4,\"files\":1}]");     /* of its second layer */
    teardown(&f);
    expect(inspect(&f, plain, &(struct image_odd){ .zstd = true }, ""), "\"event\":\"succeed\"");
    teardown(&f);
}

static void special_bits_must_be_allowed(void **state)
{
    (void)state;
    struct fixture f;
    const char *r = inspect(&f, special, &(struct image_odd){ 0 }, "");
    expect(r, "\"event\":\"fail\"");
    expect(r, "layer 2 of the image (sha256:");
    expect(r, "entry usr/bin/su: it has a setuid or setgid bit, which this import does not allow (allow_setuid)");
    teardown(&f);
    r = inspect(&f, special, &(struct image_odd){ 0 }, ",\"allow_setuid\":true");
    expect(r, "\"event\":\"succeed\"");
    expect(r, "\"stripped\":1");
    teardown(&f);
}

static void a_fault_names_its_layer_and_entry(void **state)
{
    (void)state;
    static const struct { void (*second)(struct buf *); struct image_odd odd; const char *text; } rows[] = {
        { device, { 0 }, "entry opt/kmem: an image has no devices" },
        { above, { 0 }, "entry opt/../../etc/shadow: its name leads out of the image" },
        { plain, { .wrong_diff = true }, "unpacked it has another digest than the configuration says" },
        { plain, { .wrong_size = true }, "and should have" },
        { plain, { .no_layer = true }, "is missing: the archive has no blobs/sha256/" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture f;
        const char *r = inspect(&f, rows[i].second, &rows[i].odd, "");
        expect(r, "\"event\":\"fail\"");
        expect(r, "layer ");
        expect(r, rows[i].text);
        teardown(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_good_image_is_told_whole),
        cmocka_unit_test(special_bits_must_be_allowed),
                                        cmocka_unit_test(a_fault_names_its_layer_and_entry) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
