/* SPDX-License-Identifier: Apache-2.0 */
/* test_verify_main.c - falaj-verify as a program, and the Python verifier beside it: both must agree on whole and damaged bundles. */
#include <sys/wait.h>
#include <unistd.h>
#include "tests/unit/audit/fixture.h"

static struct key *k, *other;
static struct uuid tenant;
static char dir[64], bundle[96], key_hex[65], out[4096];

static int setup(void **state)
{
    (void)state;
    k = key_make();
    other = key_make();
    tenant = uuid_v7(3);
    hex_encode(k->pub, 32, key_hex);
    strcpy(dir, "/tmp/falaj-verify-XXXXXX");
    assert_non_null(mkdtemp(dir));
    snprintf(bundle, sizeof bundle, "%s/b.jsonl", dir);
    return 0;
}
static int teardown(void **state)
{
    (void)state;
    char cmd[128];
    key_free(k);
    key_free(other);
    snprintf(cmd, sizeof cmd, "rm -rf %s", dir);
    return system(cmd);
}

static int PRINTF_LIKE(1, 2) run(const char *fmt, ...)
{
    char cmd[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(cmd, sizeof cmd - 8, fmt, ap);
    va_end(ap);
    strcat(cmd, " 2>&1");
    FILE *p = popen(cmd, "r");
    assert_non_null(p);
    size_t n = fread(out, 1, sizeof out - 1, p);
    out[n] = 0;
    return WEXITSTATUS(pclose(p));
}

static const char *bin(void)
{
    static char path[512];
    const char *b = getenv("FALAJ_BIN");
    snprintf(path, sizeof path, "%s/falaj-verify", b ? b : "build/dev/bin");
    return path;
}
static int run_python(void)
{
    const char *src = getenv("FALAJ_SRC");
    return run("python3 %s/docs/verify-audit.py --key %s %s", src ? src : ".", key_hex, bundle);
}

static void write_lines(const struct lines *s)
{
    struct buf b = lines_join(s);
    FILE *f = fopen(bundle, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(b.ptr, 1, b.len, f), b.len);
    fclose(f);
    buf_release(&b);
}

static void whole_bundles_pass_both_verifiers(void **state)
{
    (void)state;
    struct log *l = log_make(tenant, 19, 2);
    static const struct make makes[] = { { 0 }, { .from = 5, .to = 11 }, { .from = 6 }, { .to = 8, .checkpoint = 4 },
                                         { .from = 3, .to = 15, .is_selection = true }, { .prev_size = 7 } };
    for (size_t i = 0; i < sizeof makes / sizeof makes[0]; i++) {
        struct lines *s = lines_make(l, k, makes[i]);
        write_lines(s);
        assert_int_equal(run("%s --key %s %s", bin(), key_hex, bundle), 0);
        assert_non_null(strstr(out, "OK: tenant"));
        assert_int_equal(run_python(), 0);
        lines_free(s);
    }
    log_free(l);
}

static void damaged_bundles_fail_both_at_the_same_entry(void **state)
{
    (void)state;
    for (int m = 0; m < 9; m++) {
        struct log *l = log_make(tenant, 12, 2), *b = log_make(uuid_v7(4), 12, 6);
        struct lines *s = lines_make(l, m == 8 ? other : k, (struct make){ .head_size = m == 7 ? 0 : 12 });
        uint64_t at = 6;
        struct buf x;
        switch (m) {
        case 0: x = s->line[6]; x.ptr[x.len - 5] = x.ptr[x.len - 5] == '1' ? '2' : '1'; break;
        case 1: lines_delete(s, 6); break;
        case 2: while (s->n > 6) lines_delete(s, s->n - 1); break;
        case 3: lines_insert(s, 6, lines_record(6, &b->e[0])); break;
        case 4: x = s->line[6]; s->line[6] = s->line[7]; s->line[7] = x; break;
        case 5: lines_insert(s, 6, lines_record(5, &l->e[4])); break;
        case 6: buf_release(&s->line[6]); s->line[6] = lines_record(6, &b->e[5]); break;
        case 7: {
            struct lines *forged;
            l->e[5].body.ptr[l->e[5].body.len - 3] ^= 1;
            log_rechain(l, 5);
            forged = lines_make(l, k, (struct make){ 0 });
            buf_release(&forged->line[0]);
            forged->line[0] = BUF(AUDIT_LINE_MAX);
            buf_add_str(&forged->line[0], buf_str(&s->line[0]));
            memcpy(forged->sig, s->sig, AUDIT_SIG);
            lines_free(s);
            s = forged;
            break;
        }
        default: break;
        }
        write_lines(s);
        assert_int_equal(run("%s --key %s %s", bin(), key_hex, bundle), 2);
        char want[64];
        snprintf(want, sizeof want, "at entry %llu", (unsigned long long)at);
        if (m < 7)
            assert_non_null(strstr(out, want));
        assert_int_equal(run_python(), 2);
        if (m < 7)
            assert_non_null(strstr(out, want));
        lines_free(s);
        log_free(l);
        log_free(b);
    }
}

static void options_and_exit_codes(void **state)
{
    (void)state;
    struct log *l = log_make(tenant, 9, 2);
    struct lines *s = lines_make(l, k, (struct make){ 0 });
    struct buf pem = BUF(4096);
    struct err e;
    char path[128];
    write_lines(s);
    assert_int_equal(run("%s", bin()), 1);
    assert_int_equal(run("%s --nonsense x", bin()), 1);
    assert_int_equal(run("%s --key 1234 %s", bin(), bundle), 1);
    assert_int_equal(run("%s %s/none", bin(), dir), 1);
    assert_int_equal(run("%s --help", bin()), 0);
    assert_int_equal(run("%s %s", bin(), bundle), 2);
    assert_non_null(strstr(out, "wrong_key"));
    assert_int_equal(run("%s --trust-embedded-key %s", bin(), bundle), 0);
    assert_non_null(strstr(out, "UNTRUSTED KEY"));
    assert_non_null(strstr(out, "Mode: range, no filter. Every entry from 1 to 9 is here."));
    assert_int_equal(run("%s --trust-embedded-key --json - < %s", bin(), bundle), 0);
    assert_non_null(strstr(out, "{\"result\":\"ok\",\"tseq\":0"));
    assert_non_null(strstr(out, "\"mode\":\"range\",\"filter\":null,\"proves\":\"range\",\"key\":\"embedded\","
                                "\"unproved_drops\":0,\"checkpoints\":0,\"withheld\":0}"));
    assert_int_equal(ed25519_public_pem(k->pub, &pem, &e), ERR_OK);
    snprintf(path, sizeof path, "%s/k.pem", dir);
    FILE *f = fopen(path, "w");
    fwrite(pem.ptr, 1, pem.len, f);
    fclose(f);
    buf_release(&pem);
    assert_int_equal(run("%s --key %s --save-head %s/head %s", bin(), path, dir, bundle), 0);
    lines_free(s);
    s = lines_make(l, k, (struct make){ .head_size = 5 });
    write_lines(s);
    assert_int_equal(run("%s --key %s --previous %s/head %s", bin(), path, dir, bundle), 2);
    assert_non_null(strstr(out, "truncated at entry 6"));
    lines_free(s);
    log_free(l);
}

/* A head is kept with its signature, so that it can be held against whoever signed it; both programs read it, and look at the
 * signature. */
static void a_kept_head_has_its_signature(void **state)
{
    (void)state;
    struct log *l = log_make(tenant, 9, 2), *fork = log_make(tenant, 9, 3);
    struct lines *s = lines_make(l, k, (struct make){ 0 });
    const char *src = getenv("FALAJ_SRC") ? getenv("FALAJ_SRC") : ".";
    write_lines(s);
    assert_int_equal(run("%s --key %s --save-head %s/head %s", bin(), key_hex, dir, bundle), 0);
    assert_int_equal(run("cat %s/head", dir), 0);
    struct bundle_head h;
    assert_true(bundle_kept_decode(str_c(out), &h) && ed25519_verify(k->pub, h.body, h.len, h.sig));
    assert_int_equal(run("%s --key %s --previous %s/head %s", bin(), key_hex, dir, bundle), 0);
    assert_int_equal(run("python3 %s/docs/verify-audit.py --key %s --previous %s/head %s", src, key_hex, dir, bundle), 0);
    lines_free(s);
    s = lines_make(fork, k, (struct make){ 0 });
    write_lines(s);
    assert_int_equal(run("%s --key %s --previous %s/head %s", bin(), key_hex, dir, bundle), 2);
    assert_non_null(strstr(out, "forked"));
    assert_int_equal(run("python3 %s/docs/verify-audit.py --key %s --previous %s/head %s", src, key_hex, dir, bundle), 2);
    assert_non_null(strstr(out, "forked"));
    /* A kept head that nobody trusted signed convicts nobody: it is not compared, it is refused. */
    lines_free(s);
    s = lines_make(l, k, (struct make){ 0 });
    write_lines(s);
    h.sig[3] ^= 1;
    struct buf b = BUF(4096);
    assert_true(bundle_kept_encode(&h, &b));
    char path[128];
    snprintf(path, sizeof path, "%s/forged", dir);
    FILE *f = fopen(path, "w");
    fputs(b.ptr, f);
    fclose(f);
    buf_release(&b);
    assert_int_equal(run("%s --key %s --previous %s %s", bin(), key_hex, path, bundle), 2);
    assert_non_null(strstr(out, "wrong_key"));
    assert_int_equal(run("python3 %s/docs/verify-audit.py --key %s --previous %s %s", src, key_hex, path, bundle), 2);
    assert_non_null(strstr(out, "wrong_key"));
    lines_free(s);
    log_free(l);
    log_free(fork);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(whole_bundles_pass_both_verifiers),
        cmocka_unit_test(damaged_bundles_fail_both_at_the_same_entry), cmocka_unit_test(options_and_exit_codes),
                cmocka_unit_test(a_kept_head_has_its_signature) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
