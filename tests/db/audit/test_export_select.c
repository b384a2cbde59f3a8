/* SPDX-License-Identifier: Apache-2.0 */
/* test_export_select.c - a filtered export of a log of several blocks: each line proven, the filter in the manifest, both verifiers agree,
 * and neither accepts the same lines under another filter. About 8 s. */
#include <stdlib.h>
#include <unistd.h>
#include "tests/db/audit/fixture.h"

#define MANIFEST "\"mode\":\"selection\",\"filter\":{\"from_us\":null,\"until_us\":null,\"actor\":null,\"action\":\"job.submit\",\"resource\":null}"
enum { EVENTS = 6500, OTHER_EVERY = 3 };

static void append_mixed(int n)
{
    struct unit *u = unit_open(app_pool, SCOPE_TENANT(tenant_a));
    for (int i = 0; i < n; i++) {
        struct audit_event ev = audit_event_of(&u->w, i % OTHER_EVERY ? AUDIT_JOB_SUBMIT : AUDIT_JOB_CANCEL);
        audit_event_detail(&ev, AUDIT_D_INT("i", i));
        OK(audit_append(&u->w, &ev, &e));
    }
    unit_commit(u);
}

static enum errc export_filtered(const struct audit_filter *f, uint64_t from, struct buf *b, struct audit_export_result *r)
{
    struct audit_key k;
    struct unit *u = unit_open(NULL, SCOPE_TENANT(tenant_a));
    memcpy(k.key_id, key->id, sizeof k.key_id);
    memcpy(k.pub, key->pub, 32);
    enum errc rc = audit_export(&u->w, &(struct audit_export_opts){ .tenant_id = tenant_a, .from = from, .filter = f, .keys = &k, .key_count = 1,
                                                                   .sink = sink, .sink_ctx = b }, r, &e);
    unit_close(u);
    return rc;
}

static int python_says(struct str bundle)
{
    char path[] = "/tmp/bundle_XXXXXX", cmd[256];
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, bundle.ptr, bundle.len) == (ssize_t)bundle.len);
    close(fd);
    snprintf(cmd, sizeof cmd, "python3 docs/verify-audit.py --trust-embedded-key %s >/dev/null 2>&1", path);
    int rc = system(cmd);
    unlink(path);
    return WEXITSTATUS(rc);
}

static void a_selection_of_any_length_is_proven(void **state)
{
    (void)state;
    append_mixed(EVENTS);
    assert_int_equal(tick(EVENTS + 1), EVENTS);
    assert_int_equal(sign_heads(), 1);
    struct audit_filter f = { .action = "job.submit" };
    static const uint64_t starts[] = { 1, 2, 1024, 1025, 4000, EVENTS - 3 };
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        struct buf b = BUF(64u << 20);
        struct audit_export_result r;
        OK(export_filtered(&f, starts[i], &b, &r));
        uint64_t want = 0;
        for (uint64_t t = starts[i]; t <= EVENTS; t++)
            want += (t - 1) % OTHER_EVERY != 0;
        assert_int_equal(r.count, want);
        struct verify_result v = verify_text(buf_str(&b), key, NULL);
        assert_string_equal(verify_damage_text(v.damage), "ok");
        assert_int_equal(v.count, want);
        assert_non_null(memmem(b.ptr, b.len, MANIFEST, sizeof MANIFEST - 1));
        if (i == 4)
            assert_int_equal(python_says(buf_str(&b)), 0);
        buf_release(&b);
    }
}

/* One letter of the manifest's filter: what the file holds was then never asked for. The end line's sum would fall too, but later. */
static void another_filter_over_the_same_lines_is_refused(void **state)
{
    (void)state;
    struct audit_filter f = { .action = "job.cancel" };
    struct buf b = BUF(64u << 20);
    struct audit_export_result r;
    OK(export_filtered(&f, 1, &b, &r));
    char *at = memmem(b.ptr, b.len, "\"action\":\"job.cancel\"", 21);
    assert_non_null(at);
    memcpy(at, "\"action\":\"job.cancal\"", 21);
    struct verify_result v = verify_text(buf_str(&b), key, NULL);
    assert_string_equal(verify_damage_text(v.damage), "inserted");
    assert_int_equal(v.tseq, 1);
    assert_int_equal(python_says(buf_str(&b)), 2);
    buf_release(&b);
    f = (struct audit_filter){ .action = "job.nothing" };
    assert_int_equal(export_filtered(&f, 1, &b, &r), ERR_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_selection_of_any_length_is_proven),
        cmocka_unit_test(another_filter_over_the_same_lines_is_refused) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
