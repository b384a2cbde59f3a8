/* SPDX-License-Identifier: Apache-2.0 */
/* test_packages.c - both databases, and what in them is no package: what is not installed, what a terminal would obey, links
 * that lead out of the image, and more than there is room for. */
#include "image_kit.h"
#include "workers/image/packages.h"

static struct arena *a;

static const char *texts(const struct packages *p)
{
    const struct str *all = p->all.items;
    const char *ret = "";
    for (size_t i = 0; i < p->all.n; i++)
        ret = arena_printf(a, "%s%s%.*s", ret, i ? "," : "", STR_ARG(all[i]));
    return ret;
}

static const char dpkg[] =
    "Package: zlib1g\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1:1.2.13\nDescription: x\n Package: no\n\n"
    "Package: gone\nStatus: deinstall ok config-files\nArchitecture: amd64\nVersion: 1\n\n"
    "Package: evil\x1b[2J\nStatus: install ok installed\nArchitecture: all\nVersion: 1\n\n"
    "Package: adduser\nStatus: install ok installed\nVersion: 3.134\nArchitecture: all";
static const char apk[] = "C:Q1x\nP:musl\nV:1.2.4-r2\nA:x86_64\n\nP:busybox\nV:1.36.1-r5\nA:x86_64\nF:bin\nR:busybox\n\n";

static void what_is_installed_is_listed_by_name(void **state)
{
    (void)state;
    struct packages p;
    packages_parse(str_c(dpkg), false, a, &p);
    assert_string_equal(texts(&p), "adduser 3.134 all,zlib1g 1:1.2.13 amd64");
    assert_int_equal(p.count, 2);
    packages_parse(str_c(apk), true, a, &p);
    assert_string_equal(texts(&p), "busybox 1.36.1-r5 x86_64,musl 1.2.4-r2 x86_64");
    packages_parse(STR(""), true, a, &p);
    assert_int_equal(p.count, 0);
}

static void more_than_has_room_is_counted(void **state)
{
    (void)state;
    struct packages p;
    struct buf b = BUF(8 << 20);
    for (int i = 0; i < 6000; i++)
        buf_printf(&b, "Package: package-number-%05d\nVersion: 1.0\nArchitecture: amd64\n\n", i);
    packages_parse(buf_str(&b), false, a, &p);
    assert_int_equal(p.count, 6000);
    assert_in_range(p.all.n, 2000, 3000);
    buf_release(&b);
}

static void put(const char *dir, const char *name, const char *text)
{
    char path[300], *at = path;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    while ((at = strchr(at + 1, '/'))) {
        *at = '\0';
        (void)mkdir(path, 0755);
        *at = '/';
    }
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void databases_are_found_within_the_image(void **state)
{
    (void)state;
    char dir[] = "/tmp/falaj-packages-XXXXXX", outside[] = "/tmp/falaj-outside-XXXXXX", path[100];
    struct packages p;
    struct err e = { 0 };
    assert_non_null(mkdtemp(dir));
    assert_non_null(mkdtemp(outside));
    CLEANUP(fd_closep) int root = open(dir, O_RDONLY | O_DIRECTORY);
    assert_int_equal(packages_read(root, a, &p, &e), ERR_OK);
    assert_string_equal(p.source, "none");
    put(outside, "status", dpkg);                           /* reached by a link of the image: it is not the image's */
    put(dir, "var/lib/x", "");
    snprintf(path, sizeof path, "%s/var/lib/dpkg", dir);
    assert_int_equal(symlink(outside, path), 0);
    assert_int_equal(packages_read(root, a, &p, &e), ERR_OK);
    assert_int_equal(p.count, 0);
    unlink(path);
    put(dir, "var/lib/dpkg/status.d/base", "Package: base-files\nVersion: 12\nArchitecture: all\n");
    put(dir, "var/lib/dpkg/status.d/base.md5sums", "Package: no\nVersion: 1\n");
    assert_int_equal(packages_read(root, a, &p, &e), ERR_OK);
    assert_string_equal(texts(&p), "base-files 12 all");
    assert_string_equal(p.source, "dpkg");
    put(dir, "lib/apk/db/installed", apk);
    assert_int_equal(packages_read(root, a, &p, &e), ERR_OK);
    assert_int_equal(p.count, 3);
}

/* An image may have as many of them as files: room is taken for one at a time. */
static void parts_take_no_more_room_than_the_largest(void **state)
{
    (void)state;
    enum { PARTS = 20, BYTES = 1 << 20 };
    char dir[] = "/tmp/falaj-packages-XXXXXX", name[100];
    CLEANUP(arena_freep) struct arena *small = arena_new(PARTS * BYTES / 4);
    CLEANUP(buf_releasep) struct buf text = BUF(2 * BYTES);
    struct packages p;
    struct err e;
    assert_non_null(mkdtemp(dir));
    CLEANUP(fd_closep) int root = open(dir, O_RDONLY | O_DIRECTORY);
    for (int i = 0; i < PARTS; i++) {
        buf_clear(&text);
        buf_printf(&text, "Package: part-%02d\nVersion: 1\nDescription: ", i);
        while (text.len < BYTES)
            buf_add_char(&text, 'x');
        snprintf(name, sizeof name, "var/lib/dpkg/status.d/part-%d", i);
        put(dir, name, text.ptr);
    }
    assert_int_equal(packages_read(root, small, &p, &e), ERR_OK);
    assert_int_equal(p.count, PARTS);
    assert_true(str_eq_c(((const struct str *)p.all.items)[PARTS - 1], "part-19 1 -"));
}

static int setup(void **state)
{
    (void)state;
    a = arena_new((size_t)1 << 30);
    return 0;
}
static int teardown(void **state)
{
    (void)state;
    arena_free(a);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(what_is_installed_is_listed_by_name),
                                        cmocka_unit_test(more_than_has_room_is_counted),
                                        cmocka_unit_test(databases_are_found_within_the_image),
                                        cmocka_unit_test(parts_take_no_more_room_than_the_largest) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
