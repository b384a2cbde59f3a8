/* SPDX-License-Identifier: Apache-2.0 */
/* test_cmd_text.c - `falaj generate` as it is called: what cannot be asked is told before anything is sent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Exit status; both streams in out. Nobody listens at the address. */
static int generate(const char *words, char out[4096])
{
    char line[1024];
    snprintf(line, sizeof line, "HOME=/nonexistent FALAJ_TOKEN=x FALAJ_URL=http://127.0.0.1:1 %s/falaj generate %s 2>&1",
             getenv("FALAJ_BIN"), words);
    FILE *p = popen(line, "r");
    assert_non_null(p);
    out[fread(out, 1, 4095, p)] = 0;
    int status = pclose(p);
    return status < 0 ? -1 : status >> 8;
}

static void faults_are_told(void **st)
{
    (void)st;
    static const struct { const char *words, *why; } rows[] = {
        { "writer", "a prompt is PROMPT or --tokens" },
        { "writer 'The water' --tokens 1,2", "a prompt is PROMPT or --tokens" },
        { "writer --tokens 1,x", "--tokens are up to 16384 numbers with commas between" },
        { "writer 'The water' --temperature warm", "--temperature: \"warm\" is no number" },
        { "writer 'The water' --seed x", "--seed: \"x\" is no number" },
    };
    char out[4096];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (generate(rows[i].words, out) == 0 || !strstr(out, rows[i].why))
            fail_msg("%s: \"%s\" does not say \"%s\"", rows[i].words, out, rows[i].why);
    assert_int_not_equal(generate("writer 'The water' --stream --stop END --top-k 3", out), 0);
    assert_null(strstr(out, "is no number"));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(faults_are_told) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
