/* SPDX-License-Identifier: Apache-2.0 */
/* test_complete_names.c - candidates without an API: values of flags, profiles, nothing where nothing is known; kept names are
 * shown as long as they are fresh, the caller's own and of the same place. */
#include "with_cli.h"
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>
#include "core/crypto/hash.h"

static char dir[64];

static int setup(void **state)
{
    (void)state;
    snprintf(dir, sizeof(dir), "/tmp/falaj-test-XXXXXX");
    unsetenv("FALAJ_PROFILE");
    unsetenv("FALAJ_TOKEN");
    unsetenv("FALAJ_CACERT");
    return mkdtemp(dir) && setenv("FALAJ_CONFIG_DIR", dir, 1) == 0 && setenv("XDG_CACHE_HOME", dir, 1) == 0 &&
           setenv("FALAJ_URL", "http://127.0.0.1:1", 1) == 0 ? 0 : -1;
}

static void gives(const char *const *words, const char *expected)
{
    struct with_cli w;
    with_cli_init(&w);
    for (; *words; words++)
        w.c.args[w.c.nargs++] = *words;
    assert_int_equal(cmd_complete(&w.c), CLI_OK);
    assert_string_equal(with_cli_out(&w), expected);
    assert_string_equal(with_cli_err(&w), "");
    with_cli_release(&w);
}
#define GIVES(expected, ...) gives((const char *const[]){ __VA_ARGS__, NULL }, expected)

static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void flags_and_profiles(void **state)
{
    (void)state;
    char path[128];
    snprintf(path, sizeof(path), "%s/config", dir);
    put(path, "current = one\n[one]\nurl = http://127.0.0.1:1\n[two]\nurl = http://127.0.0.1:1\n");
    GIVES("waiting\n", "job", "list", "--group", "w");
    GIVES("RUNNING\nREJECTED\n", "job", "list", "--state", "R");
    GIVES("table\n", "-o", "ta");
    GIVES("one\ntwo\n", "profile", "use", "");
    GIVES("two\n", "job", "list", "--profile", "t");
    GIVES("", "job", "get", "x", "");
    GIVES("", "no", "such", "");
    GIVES("", "job", "get", "");            /* the API is not there */
    unlink(path);
}

static void kept_names(void **state)
{
    (void)state;
    uint8_t sum[SHA256_BYTES];
    char hex[2 * SHA256_BYTES + 1], path[256];
    static const char key[] = "http://127.0.0.1:1\n\n/v1/jobs";
    struct sha256 s;
    sha256_init(&s);
    sha256_add(&s, key, strlen(key));
    sha256_final(&s, sum);
    hex_encode(sum, sizeof(sum), hex);
    snprintf(path, sizeof(path), "%s/falaj", dir);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof(path), "%s/falaj/names-%.24s", dir, hex);
    put(path, "reeds-a\tjob_01\nreeds-b\tjob_02\nother\tjob_03\n");
    GIVES("reeds-a\nreeds-b\n", "job", "get", "ree");
    GIVES("job_03\n", "job", "cancel", "job_03");
    GIVES("", "model", "get", "ree");       /* another list */
    GIVES("", "--url", "http://127.0.0.1:2", "job", "get", "ree");
    struct timeval old[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };
    assert_int_equal(utimes(path, old), 0);
    GIVES("", "job", "get", "ree");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(flags_and_profiles), cmocka_unit_test(kept_names) };
    return cmocka_run_group_tests(tests, setup, NULL);
}
