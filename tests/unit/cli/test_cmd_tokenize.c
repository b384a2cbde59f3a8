/* SPDX-License-Identifier: Apache-2.0 */
/* test_cmd_tokenize.c - `falaj dataset tokenize` as it is called: a vocabulary is learnt once and used after, a shard gives its
 * texts
 * back, and what cannot be is told with its file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char dir[] = "/tmp/falaj-tokenize-XXXXXX";

/* A line of the shell in the folder; T: the command. */
static int sh(const char *line, char out[4096])
{
    char all[2048];
    snprintf(all, sizeof all, "cd %s && HOME=%s && T() { %s/falaj dataset tokenize \"$@\"; }; { %s; } 2>&1", dir, dir,
             getenv("FALAJ_BIN"),
             line);
    FILE *p = popen(all, "r");
    assert_non_null(p);
    out[fread(out, 1, 4095, p)] = 0;
    int status = pclose(p);
    return status < 0 ? -1 : status >> 8;
}

static void texts_come_back(void **st)
{
    (void)st;
    char out[4096];
    static const char *const steps[] = {
        "for i in $(seq 400); do echo \"the water of falaj $i flows\"; done > a.txt; printf '\\377\\376 no end' > b.txt",
        "T --vocabulary v.bpe --size 300 --to one.tokens a.txt b.txt && test $(sed -n 2p v.bpe) = 300",
        "cp v.bpe kept.bpe && T --vocabulary v.bpe --to two.tokens a.txt b.txt",
        "cmp v.bpe kept.bpe && cmp one.tokens two.tokens",
        "rm v.bpe && T --vocabulary v.bpe --size 300 --to two.tokens a.txt b.txt && cmp v.bpe kept.bpe",
        "T --vocabulary v.bpe --decode --to back.txt one.tokens && cat a.txt b.txt | cmp - back.txt",
        "tail -c $(stat -c %s v.bpe) one.tokens | cmp - v.bpe",
        "test $(stat -c %s one.tokens) -lt $(stat -c %s a.txt)",
    };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (sh(steps[i], out) != 0)
            fail_msg("%s: %s", steps[i], out);
}

static void faults_are_told(void **st)
{
    (void)st;
    char out[4096];
    static const struct { const char *line, *why; } rows[] = {
        { "T --to x a.txt", "--vocabulary is missing" },
        { "T --vocabulary v.bpe a.txt", "--to is missing" },
        { "T --vocabulary a.txt --to x a.txt", "a.txt: line 1: this is no vocabulary" },
        { "T --vocabulary v.bpe --to x none.txt", "none.txt" },
        { "T --vocabulary v.bpe --decode --to x a.txt", "a.txt: byte 0: neither a token shard" },
        { "printf 'falaj-bpe 1\\n257\\n' > s.bpe; T --vocabulary s.bpe --decode --to x one.tokens",
          "is no token of a vocabulary of 257" },
        { "T --vocabulary new.bpe --size 256 --to x a.txt", "256" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (sh(rows[i].line, out) == 0 || !strstr(out, rows[i].why))
            fail_msg("%s: \"%s\" does not say \"%s\"", rows[i].line, out, rows[i].why);
    assert_int_equal(sh("test ! -e x && test ! -e new.bpe && test -z \"$(ls *.part 2>/dev/null)\"", out), 0);
}

static int make(void **st)
{
    (void)st;
    return mkdtemp(dir) ? 0 : -1;
}

static int drop(void **st)
{
    char out[4096];
    (void)st;
    return sh("rm -r \"$HOME\"", out);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(texts_come_back), cmocka_unit_test(faults_are_told) };
    return cmocka_run_group_tests(tests, make, drop);
}
