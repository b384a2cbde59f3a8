/* SPDX-License-Identifier: Apache-2.0 */
/* test_pull.c - an image from a registry of the test's: a good one becomes an archive that unpacks, and each lie is told. */
#include "registry_kit.h"
#include <fcntl.h>
#include <sys/mman.h>
#include "workers/image/oci.h"
#include "workers/image/pull.h"

static struct kit_registry r;
static bool stop_now;

static int start(void **state)
{
    (void)state;
    kit_registry_start(&r);
    return 0;
}

static int end(void **state)
{
    (void)state;
    kit_registry_end(&r);
    return 0;
}

static bool is_stopped(void *ctx)
{
    (void)ctx;
    return stop_now;
}

static enum errc pull(const char *repo, const char *what, uint64_t most, int into, struct str *ret, struct err *e)
{
    const struct image_pull p = {
        .place = { .host = str_c(r.host), .ca_pem = str_c(r.ca), .repository = str_c(repo), .credentials = STR(""),
                   .silent_s = !strcmp(repo, "drip") || !strcmp(repo, "silent") ? 1 : 60,
                   .dial = kit_dial, .is_stopped = is_stopped, .ctx = &r },
        .digest = kit_digest(&r, what), .most = most, .pause_ms = 1 };
    *e = (struct err){ 0 };
    r.dials = 0;
    return image_pull(&p, into, r.a, ret, e);
}

static void a_good_one_unpacks(void **state)
{
    (void)state;
    /* as a manifest, of a list, over a redirect, with a connection that breaks, and one that begins anew after it */
    static const char *const rows[][2] = { { "team/open", "manifest" }, { "open", "index" }, { "stored", "manifest" },
                                           { "broken", "manifest" }, { "restarted", "manifest" }, { "bearer/x", "manifest" } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CLEANUP(fd_closep) int fd = memfd_create("archive", 0);
        struct str digest;
        struct err e;
        struct oci_image image;
        char folder[] = "/tmp/falaj-pulled-XXXXXX", cmd[64];
        if (pull(rows[i][0], rows[i][1], 1 << 24, fd, &digest, &e) != ERR_OK)
            fail_msg("%s: %s %s", rows[i][0], e.msg, e.detail);
        assert_true(str_eq(digest, kit_digest(&r, "manifest")));
        assert_non_null(mkdtemp(folder));
        CLEANUP(fd_closep) int into = open(folder, O_RDONLY | O_DIRECTORY);
        const struct oci_limits most = { 1 << 24, 100, true };
        if (oci_unpack(fd, into, STR_NULL, &most, r.a, &image, &e) != ERR_OK)
            fail_msg("%s: %s", rows[i][0], e.msg);
        assert_int_equal(image.files, 3);
        assert_true(str_eq(image.digest, digest));
        snprintf(cmd, sizeof cmd, "rm -rf %s", folder);
        assert_int_equal(system(cmd), 0);
    }
    assert_non_null(strstr(kit_log(&r), "bytes="));             /* the rest was asked for, not all of it */
}

static void each_lie_is_told(void **state)
{
    (void)state;
    static const struct { const char *repo, *what, *says; enum errc rc; } rows[] = {
        { "wrongmanifest", "manifest", "has another digest", ERR_BAD_DATA },
        { "hugemanifest", "manifest", "more than 4194304 bytes where a manifest is wanted", ERR_LIMIT },
        { "open", "nojson", "is no JSON object", ERR_BAD_DATA },
        { "open", "schema1", "names no layers", ERR_UNPROCESSABLE },
        { "open", "others", "no image for linux/amd64; it has linux/riscv64, linux/s390x", ERR_UNPROCESSABLE },
        { "open", "indexsize", "and should have", ERR_BAD_DATA },
        { "open", "huge", "has more than 16777216 bytes up to layer 1", ERR_LIMIT },
        { "open", "negative", "the size of layer 1 is missing or below 0", ERR_BAD_DATA },
        { "open", "nodigest", "layer 1 has no digest of the form sha256", ERR_BAD_DATA },
        { "open", "missing", "has no such image", ERR_NOT_FOUND },
        { "open", "longer", "and the manifest that it has", ERR_BAD_DATA },
        { "open", "shorter", "and the manifest that it has", ERR_BAD_DATA },
        { "says", "manifest", "and the manifest that it has", ERR_BAD_DATA },
        { "wrongblob", "manifest", "has another digest", ERR_BAD_DATA },
        { "endless", "manifest", "is longer than", ERR_BAD_DATA },
        { "drip", "manifest", "less than 1024 bytes a second for 1 seconds", ERR_DEADLINE },
        { "silent", "manifest", "less than 1024 bytes a second for 1 seconds", ERR_DEADLINE },
        { "elsewhere", "manifest", "sends to elsewhere.example, which the zone's row", ERR_FORBIDDEN },
        { "metadata", "manifest", "sends to 169.254.169.254, which the zone's row", ERR_FORBIDDEN },
        { "plain", "manifest", "sends to an address that is none of https", ERR_FORBIDDEN },
        { "user", "manifest", "sends to an address that is none of https", ERR_FORBIDDEN },
        { "circle", "manifest", "sends on more than 5 times", ERR_BAD_DATA },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CLEANUP(fd_closep) int fd = memfd_create("archive", 0);
        struct str digest;
        struct err e;
        if (pull(rows[i].repo, rows[i].what, 1 << 24, fd, &digest, &e) != rows[i].rc || !strstr(e.msg, rows[i].says))
            fail_msg("%s %s: %d %s", rows[i].repo, rows[i].what, e.code, e.msg);
        assert_int_equal(strncmp(r.dialled, "localhost:", 10), 0);
        assert_true(lseek(fd, 0, SEEK_END) < 1 << 20);          /* what does not fit was not written */
    }
}

static void what_is_down_is_asked_again_and_then_told(void **state)
{
    (void)state;
    CLEANUP(fd_closep) int fd = memfd_create("archive", 0);
    struct str digest;
    struct err e;
    assert_int_equal(pull("down", "manifest", 1 << 24, fd, &digest, &e), ERR_UNAVAILABLE);
    assert_non_null(strstr(e.msg, "answers 503"));
}

static void who_is_told_to_stop_stops(void **state)
{
    (void)state;
    CLEANUP(fd_closep) int fd = memfd_create("archive", 0);
    struct str digest;
    struct err e;
    stop_now = true;
    assert_int_equal(pull("silent", "manifest", 1 << 24, fd, &digest, &e), ERR_RETRY);
    stop_now = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_good_one_unpacks), cmocka_unit_test(each_lie_is_told),
        cmocka_unit_test(what_is_down_is_asked_again_and_then_told), cmocka_unit_test(who_is_told_to_stop_stops) };
    return cmocka_run_group_tests(tests, start, end);
}
