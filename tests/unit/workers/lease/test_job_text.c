/* SPDX-License-Identifier: Apache-2.0 */
/* test_job_text.c - a real serving child with a decoder: text whole and as a stream, scores of a context, and who leaves. */
#include "serve_kit.h"
#include "../compute/text/text_kit.h"

struct seen_stream {
    struct buf all;
    size_t pieces;
    bool leaves;                /* after the first piece */
};

static bool on_stream(void *ctx, const char *p, size_t n)
{
    struct seen_stream *s = ctx;
    s->pieces++;
    buf_add(&s->all, p, n);
    return !s->leaves;
}

static const char *text_of(struct arena *a, struct http_client *api, const char *body)
{
    struct http_result r;
    assert_int_equal(serve_ask(api, a, "/generate", str_c(body), &r), 200);
    const char *at = strstr(str_z(a, r.body), "\"text_output\":");
    assert_non_null(at);
    return at;
}

#define TEXT_CALL "{\"id\":\"t\",\"text_input\":\"abab\",\"parameters\":{\"max_tokens\":20,\"temperature\":1.5,\"seed\":7"

static void asks_for_text(struct serve_zone *z, struct http_client *api)
{
    struct http_result r;
    struct arena *a = z->a;
    const char *one = text_of(a, api, TEXT_CALL "}}");
    assert_non_null(strstr(one, "\"finish_reason\":"));
    assert_non_null(strstr(one, "\"prompt_tokens\":2"));
    assert_string_equal(one, text_of(a, api, TEXT_CALL "}}"));
    assert_string_not_equal(one, text_of(a, api, "{\"id\":\"t\",\"text_input\":\"abab\",\"parameters\":{\"max_tokens\":20,"
                                                 "\"temperature\":1.5,\"seed\":8}}"));
    assert_int_equal(serve_ask(api, a, "/generate", STR(TEXT_CALL ",\"top\":1}}"), &r), 400);
    assert_non_null(strstr(str_z(a, r.body), "\\\"top\\\" is not known"));
    assert_int_equal(serve_ask(api, a, "/generate", STR("{\"text_input\":\"a\",\"parameters\":{\"max_tokens\":48}}"), &r), 400);
    assert_non_null(strstr(str_z(a, r.body), "the prompt has 1 tokens and 48 more are asked for; the model has room for 48"));
}

/* The stream's pieces are the text; who leaves gives the slot back to who waits. */
static void streams_text(struct serve_zone *z, struct http_client *api)
{
    struct seen_stream s = { .all = BUF(1 << 20) };
    struct http_result r;
    struct err e = { 0 };
    struct http_call call = {
        .method = "POST", .path = "/generate_stream", .body = STR(TEXT_CALL "}}"), .on_data = on_stream, .ctx = &s
    };
    assert_int_equal(http_client_call(api, z->a, &call, &r, &e), ERR_OK);
    assert_true(r.status == 200 && str_eq_c(r.content_type, "text/event-stream"));
    const char *all = str_z(z->a, buf_str(&s.all)), *last = all;
    size_t events = 0;
    for (const char *p = all; (p = strstr(p, "data: ")); p += 6, events++)
        last = p;
    assert_int_equal(events, 21);
    assert_non_null(strstr(last, "\"finish_reason\":\"length\""));
    assert_null(strstr(all + 1, "event:"));
    s.leaves = true;
    call.body = STR("{\"text_input\":\"ab\",\"parameters\":{\"max_tokens\":47,\"temperature\":1}}");
    for (int i = 0; i < 20; i++)        /* more than there are slots: each comes to its turn */
        assert_int_equal(http_client_call(api, z->a, &call, &r, &e), ERR_OK);
    (void)text_of(z->a, api, TEXT_CALL "}}");
    buf_release(&s.all);
}

/* A decoder answers `infer`, too: what follows each token of a whole context. */
static void scores_a_context(struct serve_zone *z, struct http_client *api)
{
    struct http_result r;
    CLEANUP(buf_releasep) struct buf b = BUF(1 << 16);
    assert_int_equal(serve_ask(api, z->a, "/metadata", STR_NULL, &r), 200);
    assert_non_null(strstr(str_z(z->a, r.body), "\"platform\":\"falaj_gpt\""));
    buf_add_c(&b, "{\"inputs\":[{\"name\":\"input\",\"datatype\":\"INT64\",\"shape\":[2,48],\"data\":[");
    for (int i = 0; i < 96; i++)
        buf_printf(&b, "%s%d", i ? "," : "", i % 48);
    buf_add_c(&b, "]}],\"outputs\":[{\"name\":\"next\"}]}");
    assert_int_equal(serve_ask(api, z->a, "/infer", buf_str(&b), &r), 200);
    const char *data = strstr(str_z(z->a, r.body), "\"data\":[");
    assert_non_null(data);
    long next[96];
    char *at = (char *)(uintptr_t)data + 7;     /* the bracket */
    for (int i = 0; i < 96; i++)
        next[i] = strtol(at + 1, &at, 10);
    for (int i = 0; i < 48; i++)
        assert_int_equal(next[i], next[48 + i]);
}

static void test_serves_text(void **state)
{
    (void)state;
    struct serve_zone z;
    struct serve_child c;
    struct text_kit k;
    CLEANUP(buf_releasep) struct buf report = BUF((size_t)4 << 20);
    tk_make_of(&k, TK_WORDS, TK_LLAMA);
    serve_zone_init_empty(&z);
    kit_put(&z.store, "model", k.file.ptr, k.file.len);
    serve_start(&z, NULL, 1, &c);
    assert_string_not_equal(c.endpoint, "");
    struct http_client *api = serve_caller(&z, "api", c.endpoint, c.attempt);
    asks_for_text(&z, api);
    streams_text(&z, api);
    scores_a_context(&z, api);
    http_client_free(api);
    serve_stop(&c, &report);
    assert_non_null(strstr(report.ptr, "\"event\":\"return\""));
    serve_zone_release(&z);
    tk_free(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_serves_text) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
