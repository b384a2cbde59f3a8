/* SPDX-License-Identifier: Apache-2.0 */
/* test_run_secrets.c - a program in a real box gets its secrets as variables and files, and its log and its failure never tell
 * them. */
#include "run_kit.h"

static const char TOKEN[] = "s3cr3t-token-of-the-hub";
static const char KEY[] = "-----BEGIN KEY-----\nMIIEvQIBADANBgkq\n-----END KEY-----\n";

/* with: how many of the two the lease brought. */
static const char *run_with(struct fixture *f, const char *script, const char *secrets, const char *token, size_t n, int with)
{
    static char spec[4000];
    struct buf b = BUF(sizeof spec - 1);
    run_setup(f, "x");
    buf_add_c(&b, "{\"command\":[\"sh\",\"/falaj/code/script\"],\"script\":");
    buf_add_json(&b, str_c(script));
    buf_printf(&b, ",\"secrets\":[%s]}", secrets);
    snprintf(spec, sizeof spec, "%.*s", (int)b.len, b.ptr);
    buf_release(&b);
    struct lease_grant g = kit_grant(1, "run", spec);
    kit_add_input(&g, &f->store, "dataset");
    if (with > 0)
        kit_add_secret(&g, &f->store, "secret:env:TOKEN", token, n);
    if (with > 1)
        kit_add_secret(&g, &f->store, "secret:file:key.pem", KEY, sizeof KEY - 1);
    const char *report = run_to_end(f, book_add(f->book, &g, true));
    if (strstr(report, TOKEN) || strstr(report, "MIIEvQIBADANBgkq"))
        fail_msg("a secret is told: %s", report);
    return report;
}
#define BOTH "\"env:TOKEN=hub@3\",\"file:key.pem=deploy@1\""

static void a_program_gets_them_and_its_log_does_not(void **state)
{
    (void)state;
    struct fixture f;
    const char *r = run_with(&f, "cd /falaj/secrets; stat -c '%a %u %n' *; ls /falaj/in; cat key.pem | wc -c; [ \"$TOKEN\" = "
        "s3cr3t-token-of-'the'-hub ] && echo same\n"
        "echo \"it is $TOKEN!\"; printf s3cr3t-token; sleep 0.3; echo -of-the-hub and more; while read line; do echo \"> "
        "$line\"; done < key.pem\n"
        "cat key.pem; echo \"$TOKEN\" >&3; (echo x > key.pem) 2>/dev/null || echo read-only; echo words $(grep -c TOKEN "
        "/proc/1/cmdline) files $(ls -l /proc/self/fd | grep -c memfd)", BOTH, TOKEN, sizeof TOKEN - 1, 2);
    expect(r, "\"event\":\"succeed\"");
    expect(r, "\"text\":\"400 1000 key.pem\"");
    expect(r, "\"text\":\"dataset\"");
    expect(r, "\"text\":\"55\"");
    expect(r, "\"text\":\"same\"");
    expect(r, "\"text\":\"it is ***!\"");
    expect(r, "\"text\":\"*** and more\"");
    expect(r, "\"text\":\"> ***\"");
    expect(r, "\"text\":\"***\"");
    expect(r, "\"text\":\"read-only\"");
    expect(r, "info: secret hub@3 as variable TOKEN");
    expect(r, "info: secret deploy@1 as file key.pem");
    expect(r, "\"text\":\"words 0 files 0\"");
    if (strstr(r, "secret:"))
        fail_msg("a secret lies among the inputs: %s", r);
    teardown(&f);
}

static void a_failure_does_not_tell_them(void **state)
{
    (void)state;
    struct fixture f;
    const char *r = run_with(&f, "echo \"no access with $TOKEN\" >&2; exit 3", BOTH, TOKEN, sizeof TOKEN - 1, 2);
    expect(r, "the program ended with status 3: no access with ***");
    teardown(&f);
    r = run_with(&f, "exec \"$TOKEN\"", BOTH, TOKEN, sizeof TOKEN - 1, 2);
    expect(r, "\"event\":\"fail\"");
    teardown(&f);
}

static void what_is_not_there_or_no_variable_is_said(void **state)
{
    (void)state;
    struct fixture f;
    const char *r = run_with(&f, "true", BOTH, TOKEN, sizeof TOKEN - 1, 1);
    expect(r, "the secret deploy has been deleted since the job was submitted");
    teardown(&f);
    r = run_with(&f, "true", "\"env:TOKEN=hub@3\"", "binary\0binary", 13, 1);
    expect(r, "the secret hub has a NUL in it and cannot be a variable; ask for it as a file");
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_program_gets_them_and_its_log_does_not),
                                        cmocka_unit_test(a_failure_does_not_tell_them),
                                        cmocka_unit_test(what_is_not_there_or_no_variable_is_said) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
