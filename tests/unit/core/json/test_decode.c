/* SPDX-License-Identifier: Apache-2.0 */
/* test_decode.c - what json_decode accepts, what it refuses, and where it says the fault is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/base/cleanup.h"
#include "core/json/decode.h"
#include "core/json/encode.h"
#include "sample.h"

static struct arena *arena;
static struct sample got;
static struct err err;

static int setup(void **state)
{
    (void)state;
    arena = arena_new(1 << 20);
    memset(&got, 0, sizeof got);
    err_clear(&err);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

static enum errc dec(const char *text)
{
    return json_decode(&sample_schema, str_c(text), arena, &got, &err);
}

static void refused(const char *text, enum errc rc, const char *field, const char *msg_part)
{
    struct sample before = got;
    enum errc have = dec(text);
    if (have != rc || strcmp(err.field, field) || !strstr(err.msg, msg_part))
        fail_msg("%s\n  gave %s field=\"%s\" msg=\"%s\"", text, err_row(have)->name, err.field, err.msg);
    assert_memory_equal(&before, &got, sizeof got);
}

static void every_type(void **state)
{
    (void)state;
    assert_int_equal(dec("{\"job_id\":\"job_0123456789abcdef0123456789abcdef\",\"plain_id\":\"01234567-89ab-cdef-0123-456789abcdef\","
                         "\"name\":\"train-1\",\"password\":\"s\\u00e9cret\",\"note\":\"\",\"state\":\"done\",\"is_urgent\":true,"
                         "\"priority\":-10,\"gpus\":64,\"seed\":0,\"ratio\":2,\"made_at\":\"2026-11-21T01:02:03.004+01:00\","
                         "\"params\": {\"a\": [1.10, 1e400, \"}\"]} ,\"blob\":\"AAEC\",\"limits\":{\"weight\":0.5},"
                         "\"inputs\":[{\"name\":\"x\"},{\"name\":\"y\",\"bytes\":7}],\"tags\":[\"a\",\"\"],\"rates\":[1,2.5],"
                         "\"counts\":[-1,9223372036854775807],\"ids\":[\"inp_00000000000000000000000000000001\"],"
                         "\"states\":[\"queued\",\"done\"]}"), ERR_MALFORMED);    /* 1e400 is no double */
    assert_int_equal(dec("{\"job_id\":\"job_0123456789abcdef0123456789abcdef\",\"plain_id\":\"01234567-89ab-cdef-0123-456789abcdef\","
                         "\"name\":\"train-1\",\"password\":\"s\\u00e9cret\",\"note\":\"\",\"state\":\"done\",\"is_urgent\":true,"
                         "\"priority\":-10,\"gpus\":64,\"seed\":0,\"ratio\":2,\"made_at\":\"2026-11-21T01:02:03.004+01:00\","
                         "\"params\": {\"a\": [1.10, \"}\"]} ,\"blob\":\"AAEC\",\"limits\":{\"weight\":0.5},"
                         "\"inputs\":[{\"name\":\"x\"},{\"name\":\"y\",\"bytes\":7}],\"tags\":[\"a\",\"\"],\"rates\":[1,2.5],"
                         "\"counts\":[-1,9223372036854775807],\"ids\":[\"inp_00000000000000000000000000000001\"],"
                         "\"states\":[\"queued\",\"done\"]}"), ERR_OK);
    assert_int_equal(got.job_id.b[0], 0x01);
    assert_true(uuid_eq(got.job_id, got.plain_id));
    assert_true(str_eq_c(got.name, "train-1"));
    assert_true(str_eq_c(got.password, "s\xc3\xa9""cret"));
    assert_true(got.note.ptr && got.note.len == 0);
    assert_int_equal(got.state, 2);
    assert_true(got.is_urgent && got.has_seed);
    assert_int_equal(got.priority, -10);
    assert_int_equal(got.gpus, 64);
    assert_true(got.ratio == 2.0);
    assert_int_equal(got.made_at.us, 1795219323004000 );
    assert_true(str_eq_c(got.params.text, "{\"a\": [1.10, \"}\"]}"));       /* the caller's own bytes */
    assert_true(got.blob.data.len == 3 && !memcmp(got.blob.data.ptr, "\0\1\2", 3));
    assert_true(got.limits.weight == 0.5 && got.limits.cpus == 2);
    assert_int_equal(got.inputs.n, 2);
    assert_int_equal(((struct input *)got.inputs.items)[1].bytes, 7);
    assert_true(got.tags.n == 2 && str_eq_c(((struct str *)got.tags.items)[0], "a"));
    assert_true(((double *)got.rates.items)[1] == 2.5);
    assert_true(((int64_t *)got.counts.items)[1] == INT64_MAX);
    assert_int_equal(((struct uuid *)got.ids.items)[0].b[15], 1);
    assert_int_equal(((int *)got.states.items)[1], 2);
}

static void absent_and_null(void **state)
{
    (void)state;
    assert_int_equal(dec("{\"name\":\"a\",\"seed\":null,\"note\":null,\"limits\":null}"), ERR_OK);
    assert_false(got.has_seed);
    assert_null(got.note.ptr);
    assert_int_equal(got.state, 1);         /* defaults */
    assert_int_equal(got.gpus, 1);
    refused("{}", ERR_MISSING_FIELD, "/name", "required");
    refused("", ERR_MISSING_FIELD, "/name", "required");
    refused("{\"name\":null}", ERR_MISSING_FIELD, "/name", "required");
}

static void wrong_shape(void **state)
{
    (void)state;
    refused("[]", ERR_INVALID, "", "must be an object, is array");
    refused("3", ERR_INVALID, "", "must be an object, is integer");
    refused("{\"name\":\"a\",\"gpu\":1}", ERR_UNKNOWN_FIELD, "/gpu", "no member \"gpu\"");
    refused("{\"name\":\"a\",\"a/b~\":1}", ERR_UNKNOWN_FIELD, "/a~1b~0", "no member");
    refused("{\"name\":\"a\",\"tenant_id\":\"ten_00000000000000000000000000000001\"}", ERR_UNKNOWN_FIELD, "/tenant_id", "");
    refused("{\"name\":\"a\",\"who\":\"x\"}", ERR_UNKNOWN_FIELD, "/who", "");
    refused("{\"name\":7}", ERR_INVALID, "/name", "must be a string, is integer");
    refused("{\"name\":\"a\",\"gpus\":1.5}", ERR_INVALID, "/gpus", "must be an integer, is number");
    refused("{\"name\":\"a\",\"gpus\":\"1\"}", ERR_INVALID, "/gpus", "must be an integer, is string");
    refused("{\"name\":\"a\",\"ratio\":true}", ERR_INVALID, "/ratio", "must be a number, is boolean");
    refused("{\"name\":\"a\",\"is_urgent\":1}", ERR_INVALID, "/is_urgent", "true or false, is integer");
    refused("{\"name\":\"a\",\"inputs\":{}}", ERR_INVALID, "/inputs", "must be an array, is object");
    refused("{\"name\":\"a\",\"inputs\":[{\"name\":\"x\"},3]}", ERR_INVALID, "/inputs/1", "must be an object");
    refused("{\"name\":\"a\",\"inputs\":[{\"name\":\"x\"},{}]}", ERR_MISSING_FIELD, "/inputs/1/name", "required");
    refused("{\"name\":\"a\",\"inputs\":[{\"name\":\"x\",\"z\":1}]}", ERR_UNKNOWN_FIELD, "/inputs/0/z", "");
    refused("{\"name\":\"a\",\"tags\":[\"x\",null]}", ERR_INVALID, "/tags/1", "must be a string, is null");
    refused("{\"name\":\"a\",\"limits\":{\"cpus\":65}}", ERR_INVALID, "/limits/cpus", "from 1 to 64, is 65");
}

static void limits(void **state)
{
    (void)state;
    refused("{\"name\":\"\"}", ERR_INVALID, "/name", "must not be empty");
    refused("{\"name\":\"aaaaaaaaaaaaaaaaa\"}", ERR_INVALID, "/name", "at most 16 characters, has 17");
    refused("{\"name\":\"A\"}", ERR_INVALID, "/name", "lower-case");
    refused("{\"name\":\"a\",\"priority\":11}", ERR_INVALID, "/priority", "from -10 to 10, is 11");
    refused("{\"name\":\"a\",\"gpus\":-1}", ERR_INVALID, "/gpus", "from 0 to 64, is -1");
    refused("{\"name\":\"a\",\"gpus\":99999999999999999999}", ERR_MALFORMED, "", "too big integer");
    refused("{\"name\":\"a\",\"state\":\"Done\"}", ERR_INVALID, "/state", "one of queued, running, done");
    refused("{\"name\":\"a\",\"states\":[\"x\"]}", ERR_INVALID, "/states/0", "one of");
    refused("{\"name\":\"a\",\"job_id\":\"inp_0123456789abcdef0123456789abcdef\"}", ERR_INVALID, "/job_id", "job_ and 32");
    refused("{\"name\":\"a\",\"ids\":[\"inp_1\"]}", ERR_INVALID, "/ids/0", "inp_");
    refused("{\"name\":\"a\",\"made_at\":\"2026-02-29T00:00:00Z\"}", ERR_INVALID, "/made_at", "RFC 3339");
    refused("{\"name\":\"a\",\"blob\":\"A\"}", ERR_INVALID, "/blob", "base64");
    refused("{\"name\":\"a\",\"blob\":\"AAAAAAAAAAAAAAAAAAAAAAAA\"}", ERR_INVALID, "/blob", "0 to 16 bytes, has 18");
    refused("{\"name\":\"a\",\"tags\":[\"\",\"\",\"\",\"\",\"\"]}", ERR_INVALID, "/tags", "at most 4 items, has 5");
    char big[400] = "{\"name\":\"a\",\"params\":\"";
    memset(big + strlen(big), 'x', 220);
    strcat(big, "\"}");
    refused(big, ERR_INVALID, "/params", "at most 200 bytes");
}

static void malformed(void **state)
{
    (void)state;
    refused("{\"name\":\"a\",\"name\":\"b\"}", ERR_MALFORMED, "", "given twice");
    refused("{\"name\":\"a\"", ERR_MALFORMED, "", "not JSON");
    refused("{\"name\":\"a\"} x", ERR_MALFORMED, "", "not JSON");
    refused("{\"name\":\"\xff\"}", ERR_MALFORMED, "", "UTF-8");
    refused("{\"name\":\"\xed\xa0\x80\"}", ERR_MALFORMED, "", "UTF-8");
    refused("{\"name\":\"a\\u0000\"}", ERR_MALFORMED, "", "NUL");
    refused("{'name':'a'}", ERR_MALFORMED, "", "not JSON");
    refused("{\"name\":NaN}", ERR_MALFORMED, "", "not JSON");
    /* What the caller wrote must not come back in the message: it may be a secret. */
    assert_int_equal(dec("{\"name\":\"a\", hunter2"), ERR_MALFORMED);
    assert_null(strstr(err.msg, "hunter2"));
}

static void depth(void **state)
{
    (void)state;
    char text[400];
    for (int n = 30; n <= 32; n++) {        /* one more bracket is the object itself */
        int at = snprintf(text, sizeof text, "{\"name\":\"a\",\"params\":");
        memset(text + at, '[', (size_t)n);
        memset(text + at + n, ']', (size_t)n);
        memcpy(text + at + 2 * n, "}", 2);
        assert_int_equal(dec(text), n + 1 <= JSON_DEPTH_MAX ? ERR_OK : ERR_MALFORMED);
    }
    /* Brackets in strings do not count. */
    int at = snprintf(text, sizeof text, "{\"name\":\"a\",\"note\":\"\\\"");
    memset(text + at, '[', 100);
    memcpy(text + at + 100, "\"}", 3);
    assert_int_equal(dec(text), ERR_OK);
}

static void raw_json_with_escaped_names(void **state)
{
    (void)state;
    assert_int_equal(dec("{\"n\\u0061me\":\"a\", \"params\": [1, 2]}"), ERR_OK);    /* falls back to the tree */
    assert_true(str_eq_c(got.params.text, "[1,2]"));
    assert_int_equal(dec("{\"params\"\n:\t-0.0e5\r\n, \"name\":\"a\"}"), ERR_OK);
    assert_true(str_eq_c(got.params.text, "-0.0e5"));
    assert_int_equal(dec("{\"params\":\"\\\\\",\"name\":\"a\"}"), ERR_OK);
    assert_true(str_eq_c(got.params.text, "\"\\\\\""));
}

static void arena_limit(void **state)
{
    (void)state;
    struct arena *small = arena_new(sizeof(struct sample) + 64);
    const char *text = "{\"name\":\"a\",\"note\":\"0123456789012345678901234567890123456789012345678901234567890123456789\"}";
    assert_int_equal(json_decode(&sample_schema, str_c(text), small, &got, &err), ERR_LIMIT);
    arena_free(small);
    assert_int_equal(json_decode(&sample_schema, STR("{"), arena, &got, NULL), ERR_MALFORMED);
}

/* Any byte of a good body changed at random: never a crash, and what is accepted encodes and decodes to itself. */
static void mutations(void **state)
{
    (void)state;
    const char *good = "{\"name\":\"ab\",\"state\":\"done\",\"gpus\":3,\"seed\":5,\"ratio\":0.25,\"params\":{\"k\":[1,{\"z\":null}]},"
                       "\"blob\":\"AAEC\",\"limits\":{\"cpus\":4},\"inputs\":[{\"name\":\"x\",\"bytes\":1}],\"tags\":[\"t\"]}";
    size_t n = strlen(good);
    int accepted = 0;
    srand(7);
    for (int round = 0; round < 20000; round++) {
        char text[512];
        memcpy(text, good, n + 1);
        for (int k = rand() % 3; k >= 0; k--)
            text[(size_t)rand() % n] = "{}[]\",:0123456789aeE.-\\u\x80 tfn"[rand() % 29];
        struct arena *a = arena_new(1 << 16);
        struct sample s = { 0 }, t = { 0 };
        if (json_decode(&sample_schema, str_n(text, n), a, &s, &err) == ERR_OK) {
            struct buf one = BUF(4096), two = BUF(4096);
            json_encode(&sample_schema, &s, &one);
            assert_int_equal(json_decode(&sample_schema, buf_str(&one), a, &t, &err), ERR_OK);
            json_encode(&sample_schema, &t, &two);
            assert_string_equal(one.ptr, two.ptr);
            buf_release(&one);
            buf_release(&two);
            accepted++;
        }
        arena_free(a);
    }
    assert_in_range(accepted, 100, 19000);
}

/* A body of many items, each with free JSON in it: every item gets its own text, odd names and white space included. */
struct note { struct json body; int64_t n; };
struct notes { struct slice notes; };
SCHEMA_OF(note, "A note", FIELD(note, body, F_REQ, .doc = "Body"), FIELD(note, n, 0, .doc = "N"));
SCHEMA_OF(notes, "Notes", FIELD_LIST(notes, notes, &note_schema, 0, .max = 100000, .doc = "Notes"));

static void free_json_of_many_items(void **state)
{
    (void)state;
    enum { N = 20000 };
    CLEANUP(buf_releasep) struct buf b = BUF(1 << 21);
    CLEANUP(arena_freep) struct arena *a = arena_new(8 << 20);
    buf_add_c(&b, "{\"notes\": [");
    for (int i = 0; i < N; i++)
        buf_printf(&b, "%s{\"body\":%s%d%s,\"n\":%d}", i ? " , " : "", i % 2 ? "[\"],\"," : "{\"n\" : ", i, i % 2 ? "]" : "}", i);
    buf_add_c(&b, "]}");
    struct notes got_notes = { 0 };
    assert_int_equal(json_decode(&notes_schema, buf_str(&b), a, &got_notes, &err), ERR_OK);
    assert_int_equal(got_notes.notes.n, N);
    for (int i = 0; i < N; i++) {
        const struct note *k = (const struct note *)got_notes.notes.items + i;
        char want[40];
        snprintf(want, sizeof want, i % 2 ? "[\"],\",%d]" : "{\"n\" : %d}", i);
        assert_true(str_eq_c(k->body.text, want) && k->n == i);
    }
}

static void a_reply_may_say_more_than_is_known(void **state)
{
    (void)state;
    static const char text[] = "{\"name\":\"a\",\"born_later\":{\"x\":[1]},\"inputs\":[{\"name\":\"i\",\"also_new\":true}]}";
    refused(text, ERR_UNKNOWN_FIELD, "/born_later", "born_later");
    assert_int_equal(json_decode_reply(&sample_schema, str_c(text), arena, &got, &err), ERR_OK);
    assert_true(str_eq_c(got.name, "a") && got.inputs.n == 1);
    assert_int_equal(json_decode_reply(&sample_schema, STR("{\"born_later\":1}"), arena, &got, &err), ERR_MISSING_FIELD);
    assert_int_equal(json_decode_reply(&sample_schema, STR("{\"name\":1}"), arena, &got, &err), ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
        T(every_type), T(absent_and_null), T(wrong_shape), T(limits), T(malformed), T(depth), T(raw_json_with_escaped_names),
        T(arena_limit), T(mutations), T(free_json_of_many_items), T(a_reply_may_say_more_than_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
