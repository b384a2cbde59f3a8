/* SPDX-License-Identifier: Apache-2.0 */
/* test_type_run.c - the small languages of a program's spec, at their edges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include "core/base/cleanup.h"
#include "core/json/decode.h"
#include "core/wire/type_run.h"

#define HEX "0123456789abcdef0123456789abcdef"

static void what_an_input_is(void **state)
{
    (void)state;
    static const struct { const char *text; int from; int64_t version; const char *output; } rows[] = {
        { "a=dst_" HEX, RUN_DATASET, 0, "" }, { "a=dst_" HEX "@3", RUN_DATASET, 3, "" }, { "a-1=mdl_" HEX "@1", RUN_MODEL, 1,
            "" },
        { "a=job_" HEX "/weights", RUN_JOB, 0, "weights" }, { "a=job_" HEX, -1, 0, "" }, { "a=job_" HEX "/", -1, 0, "" },
        { "a=dst_" HEX "@0", -1, 0, "" }, { "a=dst_" HEX "@-1", -1, 0, "" }, { "a=dst_" HEX "@", -1, 0, "" },
        { "a=dst_" HEX "/x", -1, 0, "" }, { "A=dst_" HEX, -1, 0, "" }, { "=dst_" HEX, -1, 0, "" }, { "a/b=dst_" HEX, -1, 0, "" },
        { "..=dst_" HEX, -1, 0, "" }, { "a=usr_" HEX, -1, 0, "" }, { "a=", -1, 0, "" }, { "a", -1, 0, "" }, { "", -1, 0, "" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct run_input in;
        bool ok = run_input(str_c(rows[i].text), &in);
        if (ok != (rows[i].from >= 0) || (ok && ((int)in.from != rows[i].from || in.version != rows[i].version)) ||
            (ok && in.output.len != strlen(rows[i].output)))
            fail_msg("%s", rows[i].text);
    }
}

static void what_a_secret_is(void **state)
{
    (void)state;
    static const struct { const char *text; int as; int64_t version; const char *target, *name; } rows[] = {
        { "env:TOKEN=hub-token", RUN_SECRET_ENV, 0, "TOKEN", "hub-token" }, { "env:_a1=x@7", RUN_SECRET_ENV, 7, "_a1", "x" },
        { "file:key.pem=deploy@1", RUN_SECRET_FILE, 1, "key.pem", "deploy" }, { "file:A_b-3=x", RUN_SECRET_FILE, 0, "A_b-3", "x"
            },
        { "env:1A=x", -1, 0, "", "" }, { "env:A-B=x", -1, 0, "", "" }, { "env:FALAJ_JOB_ID=x", -1, 0, "", "" },
            { "env:=x", -1, 0, "", "" },
        { "file:.ssh=x", -1, 0, "", "" }, { "file:a/b=x", -1, 0, "", "" }, { "file:..=x", -1, 0, "", "" },
            { "file:=x", -1, 0, "", "" },
        { "dir:a=x", -1, 0, "", "" }, { "A=x", -1, 0, "", "" }, { "env:A=", -1, 0, "", "" }, { "env:A=X", -1, 0, "", "" },
        { "env:A=x@", -1, 0, "", "" }, { "env:A=x@0", -1, 0, "", "" }, { "env:A", -1, 0, "", "" }, { "", -1, 0, "", "" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct run_secret got;
        bool ok = run_secret(str_c(rows[i].text), &got);
        if (ok != (rows[i].as >= 0) || (ok && ((int)got.as != rows[i].as || got.version != rows[i].version ||
            !str_eq_c(got.target, rows[i].target) || !str_eq_c(got.name, rows[i].name))))
            fail_msg("%s", rows[i].text);
    }
}

static void what_an_environment_is(void **state)
{
    (void)state;
#define SHA "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
    static const struct { const char *text; bool ok, is_host, has_digest; int64_t version; } rows[] = {
        { "host", true, true, false, 0 }, { "dst_" HEX, true, false, false, 0 }, { "dst_" HEX "@3", true, false, false, 3 },
        { "dst_" HEX "@3/" SHA, true, false, true, 3 }, { "dst_" HEX "/" SHA, true, false, true, 0 }, { "", .ok = false },
        { "mdl_" HEX, .ok = false }, { "dst_" HEX "@0", .ok = false }, { "dst_" HEX "/", .ok = false }, { "host@1", .ok = false },
        { "dst_" HEX "@1/sha256:ABCDEF6789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", .ok = false },
        { "dst_" HEX "@1/" SHA "0", .ok = false }, { "debian:12", .ok = false },
        { "debian", true, false, false, 0 }, { "debian@" SHA, true, false, true, 0 }, { SHA, true, false, true, 0 },
        { "env_" HEX, true, false, false, 0 }, { "debian@1", .ok = false }, { "@" SHA, .ok = false }, { SHA "0", .ok = false },
        { "Debian", .ok = false }, { "env_" HEX "@1", .ok = false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct run_environment got;
        bool ok = run_environment(str_c(rows[i].text), &got);
        if (ok != rows[i].ok || (ok && (got.is_host != rows[i].is_host || got.version != rows[i].version ||
            (got.digest.len > 0) != rows[i].has_digest ||
            got.is_named == (got.is_host || str_starts(str_c(rows[i].text), "dst_")))))
            fail_msg("%s", rows[i].text);
    }
}

static void where_an_output_is(void **state)
{
    (void)state;
    static const struct { const char *text, *path; } rows[] = {
        { "m", "m" }, { "m=a/b.onnx", "a/b.onnx" }, { "m=a b", "a b" }, { "m=../a", NULL }, { "m=/a", NULL }, { "m=a/./b", NULL },
        { "m=a//b", NULL }, { "m=a/", NULL }, { "m=", NULL }, { "M", NULL }, { "m=a\nb", NULL }, { "m=.", NULL }, { "", NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct str name, path;
        bool ok = run_output(str_c(rows[i].text), &name, &path);
        if (ok != (rows[i].path != NULL) || (ok && !str_eq_c(path, rows[i].path)))
            fail_msg("%s", rows[i].text);
    }
}

static void what_a_spec_may_say(void **state)
{
    (void)state;
    static const struct { const char *text, *field; } rows[] = {
        { "{\"command\":[\"x\"]}", NULL }, { "{\"command\":[]}", "/command" }, { "{\"command\":[\"\"]}", "/command/0" },
        { "{\"command\":[\"x\"],\"env\":[\"A=1\",\"A=2\"]}", "/env/1" },
        { "{\"command\":[\"x\"],\"env\":[\"1A=1\"]}", "/env/0" }, { "{\"command\":[\"x\"],\"env\":[\"A\"]}", "/env/0" },
        { "{\"command\":[\"x\"],\"env\":[\"FALAJ_A=1\"]}", "/env/0" }, { "{\"command\":[\"x\"],\"workdir\":\"a\"}", "/workdir" },
        { "{\"command\":[\"x\"],\"workdir\":\"/a/../b\"}", "/workdir" }, { "{\"command\":[\"x\"],\"outputs\":[\"a\",\"a=b\"]}",
            "/outputs/1" },
        { "{\"command\":[\"x\"],\"environment\":\"Cloud\"}", "/environment" }, { "{\"command\":[\"x\"],\"grace_seconds\":601}",
            "/grace_seconds" },
        { "{\"command\":[\"x\"],\"image\":1}", "/image" },
        { "{\"command\":[\"x\"],\"secrets\":[\"env:A=x\",\"file:A=x\"]}", NULL },
        { "{\"command\":[\"x\"],\"secrets\":[\"env:A=x\",\"env:A=y\"]}", "/secrets/1" },
        { "{\"command\":[\"x\"],\"secrets\":[\"A=x\"]}", "/secrets/0" },
        { "{\"command\":[\"x\"],\"secrets\":[\"env:A=x\"],\"env\":[\"A=1\"]}", "/secrets/0" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
        struct run_job job = { 0 };
        struct err e = { 0 };
        enum errc rc = json_decode(&run_job_schema, str_c(rows[i].text), a, &job, &e);
        if (rc == ERR_OK)
            rc = run_job_settle(&job, &e);
        if ((rc == ERR_OK) != (rows[i].field == NULL) || (rows[i].field && strcmp(e.field, rows[i].field)))
            fail_msg("%s: %s %s", rows[i].text, e.field, e.msg);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(what_an_input_is), cmocka_unit_test(what_a_secret_is),
                                        cmocka_unit_test(what_an_environment_is), cmocka_unit_test(where_an_output_is),
                                        cmocka_unit_test(what_a_spec_may_say) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
