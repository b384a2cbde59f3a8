/* SPDX-License-Identifier: Apache-2.0 */
/* test_run_image.c - a program in an image: its root is the image's alone, with the same walls; what is wrong with an image
 * ends the job with these words. The image holds a static shell. */
#include "run_kit.h"
#include "tests/unit/workers/image/image_kit.h"
#include "workers/lease/image_cache.h"

static const char SHELL[] = "/usr/bin/busybox";

static void add_image(struct lease_grant *g, struct kit_store *s, struct str archive)
{
    kit_add_sealed(g, s, "image:", "dataset", STR(""), archive);
}

/* A shell and some files; more: further entries. */
static void image_of_shell(const struct image_odd *odd, void (*more)(struct buf *), struct buf *ret)
{
    struct buf tar = BUF(KIT_TAR_MAX), shell;
    char digest[72];
    kit_read_file(SHELL, &shell);
    tar_put(&tar, '5', "bin/", "", 0755, "", 0);
    tar_put(&tar, '0', "bin/sh", "", 04755, shell.ptr, shell.len);
    tar_put(&tar, '2', "bin/busybox", "sh", 0777, "", 0);
    tar_text(&tar, "etc/os-release", "ID=tiny\n");
    if (more)
        more(&tar);
    tar_end(&tar);
    const struct str layer = buf_str(&tar);
    *ret = BUF(KIT_TAR_MAX);
    image_make(&layer, 1, odd, ret, digest);
    buf_release(&tar);
    buf_release(&shell);
}

static struct image_cache *images;      /* of the machine; NULL: none */

static const char *run_in(struct fixture *f, struct str archive, const char *script)
{
    static char spec[8000];
    struct buf b = BUF(sizeof spec - 1);
    run_setup(f, "an input");
    buf_add_c(&b, "{\"command\":[\"/bin/sh\",\"/falaj/code/script\"],\"environment\":\"dst_0123456789abcdef0123456789abcdef@1\","
              "\"env\":[\"OWN=yes\"],\"outputs\":[\"made\"],\"script\":");
    buf_add_json(&b, str_c(script));
    buf_add_char(&b, '}');
    snprintf(spec, sizeof spec, "%.*s", (int)b.len, b.ptr);
    buf_release(&b);
    struct lease_grant g = kit_grant(1, "run", spec);
    f->env.images = images;
    kit_add_input(&g, &f->store, "dataset");
    add_image(&g, &f->store, archive);
    return run_to_end(f, book_add(f->book, &g, true));
}

static void links_for_places(struct buf *tar)
{
    tar_put(tar, '2', "proc", "/oldroot", 0777, "", 0);
    tar_put(tar, '2', "falaj", "/oldroot/tmp", 0777, "", 0);
    tar_put(tar, '2', "tmp", "../../..", 0777, "", 0);
    tar_put(tar, '2', "etc/passwd", "/oldroot/etc/shadow", 0777, "", 0);
}

static const char script[] =
    "set -- /*; echo \"root $*\"; read x < /etc/os-release; echo $x $IN_IMAGE $OWN $PATH\n"
    "[ -e /usr ] || echo no usr; read u < /etc/passwd; echo $u; busybox id -u; busybox cat /falaj/in/dataset; echo\n"
    "echo new > /etc/os-release && echo writable; (echo x > /falaj/in/x) 2>/dev/null || echo inputs not\n"
    "busybox grep -E 'CapEff|NoNewPrivs|Seccomp:' /proc/self/status | busybox tr '\\t\\n' '  '; echo\n"
    "busybox ls -l /bin/sh | busybox cut -c1-10\n"
    "busybox unshare -U true 2>/dev/null || echo no namespaces\n"
    "echo yes > /falaj/out/made; busybox ls /dev | busybox grep -cE 'sd|mem|kvm'; true";

static void the_root_is_the_images(void **state)
{
    (void)state;
    for (int odd = 0; odd < 2; odd++) {
        struct fixture f;
        struct buf archive;
        image_of_shell(&(struct image_odd){ 0 }, odd ? links_for_places : NULL, &archive);
        const char *r = run_in(&f, buf_str(&archive), script);
        expect(r, "\"event\":\"succeed\"");
        expect(r, "\"text\":\"root /bin /dev /etc /falaj /proc /tmp\"");
        expect(r, "\"text\":\"ID=tiny yes yes /bin\"");
        expect(r, "\"text\":\"no usr\"");
        expect(r, "\"text\":\"falaj:x:1000:1000::/falaj/scratch:/bin/sh\"");
        expect(r, "\"text\":\"1000\"");
        expect(r, "\"text\":\"an input\"");
        expect(r, "\"text\":\"writable\"");
        expect(r, "\"text\":\"inputs not\"");
        expect(r, "CapEff: 0000000000000000 NoNewPrivs: 1 Seccomp: 2");
        expect(r, "\"text\":\"-rwxr-xr-x\"");
        expect(r, "\"text\":\"no namespaces\"");
        expect(r, "\"text\":\"0\"");
        expect(r, "info: image sha256:");
        expect(r, "info: 1 files lost their setuid and setgid bits");
        struct buf made;
        kit_open_artifact(&f.store, "made", &made);
        assert_string_equal(made.ptr, "yes\n");
        buf_release(&made);
        buf_release(&archive);
        teardown(&f);
    }
}

static void out_of_it(struct buf *tar)
{
    tar_text(tar, "../../etc/passwd", "x");
}

static void what_is_wrong_ends_the_job(void **state)
{
    (void)state;
    static const struct { struct image_odd odd; void (*more)(struct buf *); const char *text; } rows[] = {
        { { 0 }, out_of_it, "entry ../../etc/passwd: its name leads out of the image" },
        { { .wrong_diff = true }, NULL, "unpacked it has another digest than the configuration says" },
        { { .arch = "riscv64" }, NULL, "the image is for linux/riscv64; this machine runs linux/" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture f;
        struct buf archive;
        image_of_shell(&rows[i].odd, rows[i].more, &archive);
        const char *r = run_in(&f, buf_str(&archive), "echo ran");
        expect(r, "\"event\":\"fail\"");
        expect(r, rows[i].text);
        if (strstr(r, "\"text\":\"ran\""))
            fail_msg("it ran: %s", r);
        buf_release(&archive);
        teardown(&f);
    }
}

/* The second lease of a machine begins with what the first has checked, and with nothing of what that one wrote. */
static void a_second_lease_finds_it_unpacked(void **state)
{
    (void)state;
    static const char writes[] = "echo x > /etc/os-release; echo x > /made; busybox rm /bin/busybox; echo y > /falaj/out/made";
    static const char reads[] = "read x < /etc/os-release; echo $x $IN_IMAGE; [ -e /made ] || echo nothing made; busybox id -u; "
        "echo y > /falaj/out/made";
    struct buf archive;
    image_of_shell(&(struct image_odd){ 0 }, NULL, &archive);
    images = image_cache_new(64 << 20, 60000, &clock_system);
    for (int turn = 0; turn < 3; turn++) {
        struct fixture f;
        const char *r = run_in(&f, buf_str(&archive), turn < 2 ? writes : reads);
        expect(r, "\"event\":\"succeed\"");
        expect(r, "info: image sha256:");
        if (!strstr(r, ", unpacked on this machine before") != !turn)
            fail_msg("turn %d: %s", turn, r);
        if (turn == 2) {
            expect(r, "\"text\":\"ID=tiny yes\"");
            expect(r, "\"text\":\"nothing made\"");
            expect(r, "\"text\":\"1000\"");
        }
        teardown(&f);
    }
    image_cache_free(images);
    images = NULL;
    buf_release(&archive);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_root_is_the_images), cmocka_unit_test(what_is_wrong_ends_the_job),
                                        cmocka_unit_test(a_second_lease_finds_it_unpacked) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
