/* SPDX-License-Identifier: Apache-2.0 */
/* test_verify_evidence.c - falaj-verify as a witness: it co-signs what extends what it saw, and a fork leaves a file that
 * convicts. */
#include <sys/wait.h>
#include <unistd.h>
#include "tests/unit/audit/fixture.h"

static struct key *k;
static struct uuid tenant;
static char dir[64], key_hex[65], witness_hex[65], out[65536];

static int PRINTF_LIKE(1, 2) run(const char *fmt, ...)
{
    char cmd[2048];
    va_list ap;
    va_start(ap, fmt);
    int n = snprintf(cmd, sizeof cmd, "cd %s && B=%s/falaj-verify && ", dir, getenv("FALAJ_BIN"));
    n += vsnprintf(cmd + n, sizeof cmd - (size_t)n, fmt, ap);
    va_end(ap);
    snprintf(cmd + n, sizeof cmd - (size_t)n, " 2>&1");
    FILE *p = popen(cmd, "r");
    assert_non_null(p);
    out[fread(out, 1, sizeof out - 1, p)] = 0;
    return WEXITSTATUS(pclose(p));
}

static int setup(void **state)
{
    (void)state;
    k = key_make();
    tenant = uuid_v7(3);
    hex_encode(k->pub, 32, key_hex);
    strcpy(dir, "/tmp/falaj-witness-XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}
static int teardown(void **state)
{
    (void)state;
    char cmd[128];
    key_free(k);
    snprintf(cmd, sizeof cmd, "rm -rf %s", dir);
    return system(cmd);
}

/* A bundle of the log's first `size` entries that extends the head of size `previous`, as FILE. */
static void write_bundle(const struct log *l, uint64_t size, uint64_t previous, const char *name)
{
    char path[128];
    struct lines *s = lines_make(l, k, (struct make){ .head_size = size, .prev_size = previous });
    struct buf b = lines_join(s);
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    assert_true(f && fwrite(b.ptr, 1, b.len, f) == b.len && fclose(f) == 0);
    buf_release(&b);
    lines_free(s);
}

static int witness(const char *bundle)
{
    return run("( $B witness --state seen --key %s --sign-with secret --evidence fork %s > cosigned )", key_hex, bundle);
}

static void a_witness_signs_what_extends_what_it_saw(void **state)
{
    (void)state;
    struct log *l = log_make(tenant, 30, 5), *fork = log_make(tenant, 30, 6);
    assert_int_equal(run("$B witness-key secret"), 0);
    assert_int_equal(strlen(out), 65);
    memcpy(witness_hex, out, 64);
    assert_int_equal(run("$B witness-key secret"), 1);                      /* never written over */
    assert_int_equal(run("stat -c %%a secret"), 0);
    assert_string_equal(out, "600\n");
    write_bundle(l, 9, 0, "nine");
    write_bundle(l, 20, 9, "twenty");
    write_bundle(l, 30, 0, "thirty_alone");
    write_bundle(l, 30, 20, "thirty");
    write_bundle(fork, 9, 0, "other_nine");
    write_bundle(fork, 30, 20, "other_thirty");
    assert_int_equal(run("$B witness --state seen --sign-with secret nine"), 1);       /* no key, no trust */
    assert_int_equal(witness("nine"), 0);
    assert_int_equal(run("$B cosignature --key %s --witness %s cosigned", key_hex, witness_hex), 0);
    assert_int_equal(run("$B cosignature --key %s --witness %s cosigned", key_hex, key_hex), 2);
    assert_int_equal(witness("nine"), 0);                                   /* the same again */
    assert_int_equal(witness("thirty"), 2);                                 /* extends another head than the one seen */
    assert_int_equal(witness("twenty"), 0);
    assert_int_equal(witness("nine"), 2);                                   /* going back */
    assert_int_equal(witness("thirty_alone"), 2);                           /* no proof */
    assert_int_equal(run("test ! -e fork && test ! -s cosigned"), 0);
    assert_int_equal(witness("other_nine"), 2);
    assert_int_equal(witness("other_thirty"), 2);                           /* signed, and of another history at 20 */
    assert_int_equal(run("$B fork --key %s fork", key_hex), 0);
    assert_non_null(strstr(out, "CONVICTS"));
    assert_int_equal(run("$B fork --key %s fork", witness_hex), 2);
    assert_int_equal(witness("thirty"), 0);                                 /* what it refused has changed nothing */
    assert_int_equal(run("wc -l < seen"), 0);
    assert_string_equal(out, "1\n");
    assert_int_equal(run("printf x >> seen; $B witness --state seen --key %s --sign-with secret thirty", key_hex), 1);
    log_free(l);
    log_free(fork);
}

static void an_auditor_who_kept_a_head_gets_evidence(void **state)
{
    (void)state;
    struct log *l = log_make(tenant, 30, 5), *fork = log_make(tenant, 30, 6);
    write_bundle(l, 13, 0, "mine");
    write_bundle(fork, 30, 0, "theirs");
    assert_int_equal(run("$B --key %s --save-head head mine", key_hex), 0);
    assert_int_equal(run("$B --key %s --previous head --evidence found theirs", key_hex), 2);
    assert_non_null(strstr(out, "forked"));
    assert_int_equal(run("$B fork --key %s found", key_hex), 0);
    assert_non_null(strstr(out, "CONVICTS"));
    assert_int_equal(run("sed -i 's/\"root\":\"[0-9a-f]\\{4\\}/\"root\":\"0000/' found; $B fork --key %s found", key_hex), 2);
    log_free(l);
    log_free(fork);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_witness_signs_what_extends_what_it_saw),
        cmocka_unit_test(an_auditor_who_kept_a_head_gets_evidence) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
