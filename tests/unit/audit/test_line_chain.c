/* SPDX-License-Identifier: Apache-2.0 */
/* test_line_chain.c - each line names the one before, whatever became of that one. */
#include "tests/unit/audit/fixture.h"
#include "audit/line_chain.h"
#include "core/base/cleanup.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[] = "/tmp/line_chain_XXXXXX", path[64];
static struct err e;

static size_t slurp(char *text, size_t cap)
{
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    size_t n = fread(text, 1, cap - 1, f);
    fclose(f);
    text[n] = 0;
    return n;
}

static void lines_chain_and_a_torn_one_counts(void **state)
{
    uint8_t one[SHA256_BYTES], two[SHA256_BYTES], of[SHA256_BYTES];
    char text[4096], hex[65], want[256];
    (void)state;
    assert_int_equal(line_chain_append(dir, "chain", STR("\"n\":1"), one, &e), ERR_OK);
    assert_int_equal(line_chain_append(dir, "chain", STR("\"n\":2"), two, &e), ERR_OK);
    hex_encode(one, sizeof one, hex);
    snprintf(want, sizeof want, "{\"v\":1,\"n\":1,\"prev\":\"%064d\"}\n{\"v\":1,\"n\":2,\"prev\":\"%s\"}\n", 0, hex);
    slurp(text, sizeof text);
    assert_string_equal(text, want);
    sha256(strchr(want, '\n') + 1, strlen(strchr(want, '\n') + 1) - 1, of);
    assert_memory_equal(of, two, sizeof of);
    FILE *f = fopen(path, "a");
    fputs("torn", f);
    fclose(f);
    assert_int_equal(line_chain_append(dir, "chain", STR("\"n\":3"), one, &e), ERR_OK);
    sha256("torn", 4, of);
    hex_encode(of, sizeof of, hex);
    slurp(text, sizeof text);
    assert_non_null(strstr(text, "}\ntorn\n{\"v\":1,\"n\":3,"));
    assert_non_null(strstr(strstr(text, "\"n\":3"), hex));
}

static void what_cannot_be_kept_is_an_error(void **state)
{
    uint8_t line[SHA256_BYTES];
    char before[4096], after[4096], link[80], *long_text = malloc(LINE_CHAIN_MAX + 1);
    (void)state;
    memset(long_text, 'x', LINE_CHAIN_MAX);
    slurp(before, sizeof before);
    assert_int_equal(line_chain_append(dir, "chain", str_n(long_text, LINE_CHAIN_MAX), line, &e), ERR_INTERNAL);
    slurp(after, sizeof after);
    assert_string_equal(before, after);
    free(long_text);
    assert_int_equal(line_chain_append("/nowhere", "chain", STR("\"n\":1"), line, &e), ERR_IO);
    snprintf(link, sizeof link, "%s/link", dir);
    assert_int_equal(symlink(path, link), 0);
    assert_int_equal(line_chain_append(dir, "link", STR("\"n\":1"), line, &e), ERR_IO);        /* nobody leads us away */
    unlink(link);
}

static int setup(void **state)
{
    (void)state;
    if (!mkdtemp(dir))
        return -1;
    snprintf(path, sizeof path, "%s/chain", dir);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(lines_chain_and_a_torn_one_counts),
        cmocka_unit_test(what_cannot_be_kept_is_an_error) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
