/* SPDX-License-Identifier: Apache-2.0 */
/* test_spec_flags.c - every member of a spec that callers write has its flag, and what is given becomes the member and nothing else. */
#include "with_cli.h"
#include "cli/spec_flags.h"
#include "core/json/decode.h"
#include "core/wire/job_type.h"

#define DST "dst_0123456789abcdef0123456789abcdef"
#define MDL "mdl_0123456789abcdef0123456789abcdef"
#define W(...) WORDS((char *)"job", (char *)"submit", (char *)"one", __VA_ARGS__)
#define A(s) ((char *)(s))

static void spec_is(const char *kind, char **words, const char *expected)
{
    struct with_cli w;
    struct buf b = BUF(4096);
    with_cli_init(&w);
    assert_int_equal(with_cli_parse(&w, words), CLI_OK);
    assert_int_equal(spec_from_flags(&w.c, kind, &b), CLI_OK);
    buf_add(&b, "", 1);
    assert_string_equal(b.ptr, expected);
    buf_release(&b);
    with_cli_release(&w);
}

static void refuses(const char *kind, char **words, const char *why)
{
    struct with_cli w;
    struct buf b = BUF(4096);
    with_cli_init(&w);
    assert_int_equal(with_cli_parse(&w, words), CLI_OK);
    assert_int_equal(spec_from_flags(&w.c, kind, &b), CLI_USAGE);
    if (!strstr(with_cli_err(&w), why))
        fail_msg("%s does not say %s", with_cli_err(&w), why);
    buf_release(&b);
    with_cli_release(&w);
}

static void given_flags_are_the_members(void **state)
{
    (void)state;
    spec_is("train", W(A("--dataset"), A(DST), A("--hidden"), A("64,32"), A("--learning-rate"), A("1e-3"), A("--optimizer"), A("sgd"), A("--batch-size"), A("8")),
            "{\"dataset_id\":\"" DST "\",\"hidden\":[64,32],\"batch_size\":8,\"optimizer\":\"sgd\",\"learning_rate\":1e-3}");
    spec_is("train", W(A("--dataset"), A(DST)), "{\"dataset_id\":\"" DST "\"}");
    spec_is("train", W(A("--dataset"), A(DST), A("--rotary"), A("true")), "{\"dataset_id\":\"" DST "\",\"rotary\":true}");
    spec_is("train", W(A("--set"), A("{\"dataset_id\":\"x\"}"), A("--epochs"), A("3")), "{\"epochs\":3,\"dataset_id\":\"x\"}");
    spec_is("noop", W(A("--sleep-ms"), A("5"), A("--fail"), A("a\"b")), "{\"sleep_ms\":5,\"fail\":\"a\\\"b\"}");
    spec_is("noop", W(A("--set"), A("{}")), "{}");
}

/* --start-from NAME ended the program by a signal: its id has another name than its kind. */
static void every_id_of_a_spec_has_a_kind_whose_names_are_looked_up(void **state)
{
    (void)state;
    for (int k = 0; k < JOB_KIND_COUNT; k++)
        for (size_t i = 0; i < job_types[k].spec->nfields; i++) {
            const struct field *f = &job_types[k].spec->fields[i];
            if (job_is_submitted(k) && f->type == FT_UUID && !(f->flags & F_DERIVED) && !noun_by_prefix(str_c(f->prefix)))
                fail_msg("%s of %s: no kind of object begins with %s_", f->name, job_types[k].name, f->prefix);
        }
    assert_string_equal(noun_by_prefix(STR("mdl"))->what, "model");
    assert_null(noun_by_prefix(STR("md")));
}

static const struct cli_flag *flag_named(const char *name)
{
    for (const struct cli_flag *f = command_flags(command_find("job", "submit")); f->name; f++)
        if (strcmp(f->name, name) == 0)
            return f;
    fail_msg("no flag --%s", name);
    return NULL;
}

static void a_shared_flag_takes_the_words_of_all_kinds(void **state)
{
    (void)state;
    spec_is("optimise", W(A("--kind"), A("optimise"), A("--model"), A(MDL), A("--dataset"), A(DST), A("--precision"), A("int8")),
            "{\"model_id\":\"" MDL "\",\"dataset_id\":\"" DST "\",\"precision\":\"int8\"}");
    assert_string_equal(flag_named("precision")->values, "fp32|bf16|auto|int8");
}

static void help_is_whole(void **state)
{
    (void)state;
    for (size_t i = 0; i < job_types[JOB_KIND_USUAL].spec->nfields; i++) {
        const struct field *f = &job_types[JOB_KIND_USUAL].spec->fields[i];
        if (strcmp(f->name, "tensor_ranks") == 0)
            assert_non_null(strstr(flag_named("tensor-ranks")->doc, f->doc));
    }
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    refuses("train", W(A("--epochs"), A("3")), "a job of kind train needs --dataset");
    refuses("train", W(A("--dataset"), A(DST), A("--epochs"), A("many")), "--epochs takes a number, not 'many'");
    refuses("train", W(A("--dataset"), A(DST), A("--rotary"), A("1")), "--rotary takes true or false, not '1'");
    refuses("train", W(A("--dataset"), A(DST), A("--hidden"), A("64;32")), "--hidden takes numbers like 64,32");
    refuses("train", W(A("--dataset"), A(DST), A("--sleep-ms"), A("3")), "a job of kind train has no --sleep-ms");
    refuses("noop", W(A("--epochs"), A("3")), "a job of kind noop has no --epochs");
    refuses("noop", W(A("--set"), A("[]")), "--set takes a JSON object");
}

static void every_member_has_its_flag(void **state)
{
    (void)state;
    const struct command *cmd = command_find("job", "submit");
    size_t members = 0;
    for (int k = 0; k < JOB_KIND_COUNT; k++)
        for (size_t i = 0; job_is_submitted(k) && i < job_types[k].spec->nfields; i++) {
            const struct field *f = &job_types[k].spec->fields[i];
            size_t found = 0;
            char name[64];
            snprintf(name, sizeof name, "%s", f->name);
            if (f->type == FT_UUID && str_ends(str_c(name), "_id"))
                name[strlen(name) - strlen("_id")] = '\0';
            for (char *p = name; (p = strchr(p, '_')); *p = '-')
                continue;
            for (const struct cli_flag *flag = command_flags(cmd); flag->name; flag++)
                found += strcmp(flag->name, name) == 0;
            assert_int_equal(found, f->flags & F_DERIVED ? 0 : 1);
            members += found;
        }
    assert_true(members > 15);
    assert_ptr_equal(command_flags(command_find("job", "list")), command_find("job", "list")->flags);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(given_flags_are_the_members), cmocka_unit_test(what_cannot_be_is_refused), cmocka_unit_test(help_is_whole),
        cmocka_unit_test(a_shared_flag_takes_the_words_of_all_kinds),
        cmocka_unit_test(every_id_of_a_spec_has_a_kind_whose_names_are_looked_up),
                                        cmocka_unit_test(every_member_has_its_flag) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
