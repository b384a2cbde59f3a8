/* SPDX-License-Identifier: Apache-2.0 */
/* test_executor.c - a real child trains digits from a sealed file; others fail, or break the rules. */
#include "executor_kit.h"

#include "workers/lease/frame.h"
#include "workers/compute/infer/model.h"

#define SPEC(more) "{\"dataset_id\":\"dst_00000000000000000000000000000001\",\"dataset_version\":1,\"label_column\":\"label\"," more "}"

static struct held *add(struct fixture *f, const char *spec, int64_t max_runtime_s)
{
    return add_kind(f, "train", spec, max_runtime_s);
}

/* Its model goes up in parts, and what had come of them is lost on the way. */
static void test_trains(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, "1g");
    f.store.lose_after = 2;
    executor_run(&f.env, add(&f, SPEC("\"epochs\":8,\"seed\":1"), 0));
    CLEANUP(buf_releasep) struct buf report = BUF((size_t)4 << 20);
    kit_report(f.book, &report);
    assert_non_null(strstr(report.ptr, "\"event\":\"start\""));
    if (!strstr(report.ptr, "\"event\":\"succeed\""))
        fprintf(stderr, "%s\n", report.ptr);
    assert_non_null(strstr(report.ptr, "\"event\":\"succeed\""));
    assert_non_null(strstr(report.ptr, "\"holdout_rows\":["));
    assert_non_null(strstr(report.ptr, "\"samples_per_s\":"));
    static const char *const stages[] = { "info: data opened: 1797 rows, 65 columns, 10 classes, ", "info: epoch 1: loss ",
                                         "info: epoch 8: loss ",
                                          "info: model sealed: " };
    const char *at = report.ptr;
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
        at = strstr(at, stages[i]);
        assert_non_null(at);
    }
    assert_null(strstr(report.ptr, "error"));
    const char *accuracy = strstr(report.ptr, "\"result\":{\"holdout_accuracy\":");
    assert_non_null(accuracy);
    assert_true(strtod(accuracy + strlen("\"result\":{\"holdout_accuracy\":"), NULL) > 0.9);
    CLEANUP(buf_releasep) struct buf model = BUF(0);
    kit_open_output(&f.store, &model);
    assert_int_equal(model.len, f.store.out_size);
    assert_int_equal(f.store.lose_after, 0);
    assert_int_equal(f.store.uploads, 2 + (f.store.uploaded.len + KIT_PART - 1) / KIT_PART);
    uint8_t digest[32];
    char hex[65];
    sha256(model.ptr, model.len, digest);
    hex_encode(digest, 32, hex);
    assert_string_equal(hex, f.store.out_sha);
    teardown(&f);
}

/* A lease with a card, on a machine whose settings name another backend: it computes there, and its log says so. */
static void test_a_card_that_is_not_used_is_told_of(void **state)
{
    (void)state;
    struct fixture f;
    struct err e = { 0 };
    setup(&f, "1g");
    assert_int_equal(config_set(f.config, "worker.backend", "ref", &e), ERR_OK);
    struct lease_grant g = kit_grant(1, "train", SPEC("\"epochs\":1,\"seed\":1,\"hidden\":[4]"));
    g.gpus = 1;
    g.devices = 2;
    kit_add_input(&g, &f.store, "dataset");
    kit_add_checkpoints(&g, &f.store);
    run_and_expect(&f, book_add(f.book, &g, true), "\"event\":\"succeed\"",
                   "warning: this lease has a GPU, but the machine's settings name another backend; computing on");
    teardown(&f);
}

static void test_an_unknown_kind_fails_with_its_name(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, "1g");
    run_and_expect(&f, add_kind(&f, "dance", "{}", 0), "\"event\":\"fail\"", "this worker does not know jobs of kind dance");
    teardown(&f);
}

static void test_bad_data_fails_with_its_reason(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, "1g");
    run_and_expect(&f, add(&f, "{\"dataset_id\":\"dst_00000000000000000000000000000001\",\"label_column\":\"nosuch\"}", 0),
                   "\"event\":\"fail\"",
                   "{\"stream\":\"stderr\",\"text\":\"error: the job failed: row 1: there is no label column \\\"nosuch\\\"\"}]");
    teardown(&f);
}

static void test_tampered_input_is_refused(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, "1g");
    f.store.sealed.ptr[f.store.sealed.len / 2] ^= 1;
    run_and_expect(&f, add(&f, SPEC("\"epochs\":1"), 0), "\"event\":\"fail\"", "\"message\":");
    assert_int_equal(f.store.uploaded.len, 0);
    teardown(&f);
}

/* --- children that do not keep to the rules: this program itself, run as the lease's child; the grant's name says which rule
 * --- */

static void say(enum frame_type type, const void *head, size_t n, const char *body)
{
    if (frame_send(FRAME_FD, type, str_n(head, n), str_c(body), NULL, 0, true, NULL) != ERR_OK)
        _exit(1);
}

static struct str hear(char *room)
{
    struct frame f = { 0 };
    if (frame_receive(FRAME_FD, room, &f, NULL) != ERR_OK)
        _exit(1);
    frame_close_fds(&f);
    return f.body;
}

#define FIGURES \
    "{\"epochs\":3, " \
    "\"seconds\":0.5,\"parameters\":7,\"holdout_count\":0,\"early_stopped\":false,\"backend\":\"ref\",\"model_object_id\":" \
    "\"obj_00000000000000000000000000000001\"}"

static int bad_child(void)
{
    static char grant[FRAME_MAX + 1], room[FRAME_MAX];
    struct frame_result r = { 0 };
    int64_t minus = -1, step = 1;
    (void)hear(grant);
    const char *name = strstr(grant + sizeof(uint32_t), "\"name\":\"") + strlen("\"name\":\"");
    (void)hear(room);                                   /* the keys */
    if (str_starts(str_c(name), "stays")) {
        close(FRAME_FD);
        sleep(60);
    } else if (str_starts(str_c(name), "minus")) {
        say(FRAME_METRIC, &minus, sizeof minus, "{}");
    } else if (str_starts(str_c(name), "list")) {
        say(FRAME_METRIC, &step, sizeof step, "[1]");
    } else if (str_starts(str_c(name), "nowhere")) {
        say(FRAME_READY, "", 0, "");
    } else if (str_starts(str_c(name), "alone")) {
        say(FRAME_ALONE, "", 0, "another machine was lost");
    } else if (str_starts(str_c(name), "asks")) {
        say(FRAME_CSR, "", 0, "-----BEGIN CERTIFICATE REQUEST-----");
    } else {
        say(FRAME_WANT, &r.plain_size, sizeof r.plain_size, "");
        (void)hear(room);
        for (int i = 0; i < 3 && str_starts(str_c(name), "none"); i++)
            say(FRAME_RESULT, &r, sizeof r, "[]");
        for (int i = 0; i < 3 && str_starts(str_c(name), "half"); i++)
            say(FRAME_RESULT, &r, sizeof r, "{\"seconds\":1}");
        say(FRAME_RESULT, &r, sizeof r, FIGURES " \n ");
    }
    _exit(0);
}

static void with_bad_child(const char *name, const char *event, const char *text)
{
    struct fixture f;
    setup(&f, "1g");
    struct lease_grant g = kit_grant(1, "train", "{}");
    g.name = str_c(name);
    kit_add_input(&g, &f.store, "dataset");
    f.env.program = "/proc/self/exe";
    int64_t began = clock_mono_us(&clock_system);
    executor_run(&f.env, book_add(f.book, &g, true));
    assert_true(clock_mono_us(&clock_system) - began < 50000000);        /* one of them stays for 60 s */
    CLEANUP(buf_releasep) struct buf report = BUF((size_t)4 << 20);
    CLEANUP(arena_freep) struct arena *a = arena_new(4 << 20);
    const struct jval *doc;
    kit_report(f.book, &report);
    if (!strstr(report.ptr, event) || !strstr(report.ptr, text))
        fprintf(stderr, "%s: %s\n", name, report.ptr);
    assert_non_null(strstr(report.ptr, event));
    assert_non_null(strstr(report.ptr, text));
    assert_int_equal(jval_parse(a, buf_str(&report), 0, &doc, NULL), ERR_OK);
    teardown(&f);
}

static void test_a_child_that_breaks_the_rules_harms_its_own_lease_only(void **state)
{
    (void)state;
    with_bad_child("minus", "\"event\":\"fail\"", "of no step");
    with_bad_child("list", "\"event\":\"fail\"", "no object");
    with_bad_child("nowhere", "\"event\":\"fail\"", "without a certificate");
    with_bad_child("asks", "\"event\":\"fail\"", "where none is expected");
    with_bad_child("alone", "\"event\":\"fail\"", "of a job on one machine");
    with_bad_child("none", "\"event\":\"fail\"", "figures that are none:  must be an object");
    with_bad_child("half", "\"event\":\"fail\"", "figures that are none: /epochs the member epochs is required");
    with_bad_child("tail", "\"event\":\"succeed\"",
                   "\"backend\":\"ref\",\"model_object_id\":\"obj_0102030000000000000000000000003c\"}");
}

static void test_a_child_that_closes_its_end_and_stays_is_killed(void **state)
{
    (void)state;
    with_bad_child("stays", "\"event\":\"fail\"", "signal 9");
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "--run-lease"))
        return bad_child();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trains), cmocka_unit_test(test_a_card_that_is_not_used_is_told_of),
        cmocka_unit_test(test_bad_data_fails_with_its_reason),
        cmocka_unit_test(test_an_unknown_kind_fails_with_its_name),
        cmocka_unit_test(test_tampered_input_is_refused),
        cmocka_unit_test(test_a_child_that_breaks_the_rules_harms_its_own_lease_only),
        cmocka_unit_test(test_a_child_that_closes_its_end_and_stays_is_killed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
