/* SPDX-License-Identifier: Apache-2.0 */
/* test_kube_read.c - Jobs and pods as Kubernetes 1.20 shows them, and what they come to; refusals; cut answers. */
#include <string.h>

#include "tests/unit/scheduler/engines/kube_kit.h"
#include "scheduler/engines/kube_read.h"

static struct err e;

enum { NOW_S = 1600000000 };
#define LIST(items) "{\"kind\":\"List\",\"metadata\":{\"resourceVersion\":\"9\"},\"items\":[" items "]}"
#define JOB_OF(name, meta, more, conditions)                                                                                 \
    "{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"jobs\"," meta "\"annotations\":{\"falaj/digest\":\"falaj ab\"},"    \
    "\"labels\":{\"kueue.x-k8s.io/queue-name\":\"night\"}},\"spec\":{" more "\"parallelism\":2,\"template\":{\"spec\":{"       \
    "\"activeDeadlineSeconds\":5400,\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"3\",\"memory\":\"1Gi\"}}}]}}},"    \
    "\"status\":{\"conditions\":[" conditions "]}}"
#define JOB(conditions) JOB_OF(NAME, "", "", conditions)
#define POD(meta, status) "{\"metadata\":{" meta "\"labels\":{\"falaj/run\":\"" NAME "\"}},\"status\":{" status "}}"
#define ENDED(type, reason) "{\"type\":\"" type "\",\"status\":\"True\",\"reason\":\"" reason "\"}"
#define RUNNING "\"phase\":\"Running\",\"containerStatuses\":[{\"state\":{\"running\":{}}}],"
#define READY(value) "\"conditions\":[{\"type\":\"Ready\",\"status\":\"" value "\"}]"
#define WAITING(reason) "\"phase\":\"Pending\",\"containerStatuses\":[{\"state\":{\"waiting\":{\"reason\":\"" reason "\"}}}]"
#define UNPLACED "\"phase\":\"Pending\",\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"False\","      \
                 "\"reason\":\"Unschedulable\","                                                     \
                 "\"message\":\"0/2 nodes are available: 2 Insufficient nvidia.com/gpu.\"}]"
#define FAILED(reason, code) "\"phase\":\"Failed\",\"containerStatuses\":[{\"state\":{\"terminated\":{\"reason\":\"" reason      \
                             "\",\"exitCode\":" code "}}}]"

static struct slice read_lists(const char *jobs, const char *pods)
{
    const struct kube_pods *p = NULL;
    struct slice rows;
    assert_int_equal(kube_read_pods(arena, 200, str_c(pods), NOW_S * 1000000LL, &p, &e), ERR_OK);
    assert_int_equal(kube_read_runs(arena, 200, str_c(jobs), p, &rows, &e), ERR_OK);
    return rows;
}

static void becomes(const char *job, const char *pods, enum engine_state state, const char *word, const char *reason)
{
    const struct str all[2] = { str_fmt(arena, LIST("%s"), job), str_fmt(arena, LIST("%s"), pods) };
    const struct slice rows = read_lists(str_z(arena, all[0]), str_z(arena, all[1]));
    assert_int_equal(rows.n, 1);
    const struct engine_seen *s = rows.items;
    assert_string_equal(str_z(arena, s->word), word);
    assert_string_equal(str_z(arena, s->reason), reason);
    assert_int_equal(s->state, state);
}

static void a_run_is_its_job_and_its_pods(void **state)
{
    (void)state;
    const char *job = JOB("");
    becomes(job, "", ENGINE_WAITS, "Pending", "no pod yet");
    becomes(job, POD("", UNPLACED), ENGINE_WAITS, "Pending", "Unschedulable, 2 Insufficient nvidia.com/gpu.");
    becomes(job, POD("", WAITING("ImagePullBackOff")), ENGINE_WAITS, "Pending", "ImagePullBackOff");
    becomes(job, POD("", RUNNING READY("True")), ENGINE_RUNS, "Running", "");
    becomes(job, POD("", RUNNING READY("True")) "," POD("", UNPLACED), ENGINE_WAITS, "Pending",
            "1 of 2 started, Unschedulable, 2 Insufficient nvidia.com/gpu.");
    becomes(job, POD("", "\"phase\":\"Dreaming\""), ENGINE_STRANGE, "Dreaming", "");
    becomes(job, POD("", FAILED("Error", "7")), ENGINE_LEAVES, "Ending", "Error/7");
    becomes(JOB_OF(NAME, "", "\"suspend\":true,", ""), "", ENGINE_WAITS, "Suspended", "not admitted by its queue");
    becomes(JOB_OF(NAME, "\"deletionTimestamp\":\"2020-09-13T12:26:40Z\",", "", ""), "", ENGINE_LEAVES, "Terminating", "");
    becomes(JOB(ENDED("Complete", "")), POD("", "\"phase\":\"Succeeded\""), ENGINE_DONE, "Complete", "");
    becomes(JOB(ENDED("Complete", "")), POD("", RUNNING READY("True")), ENGINE_LEAVES, "Terminating", "");
    becomes(JOB(ENDED("Failed", "BackoffLimitExceeded")), POD("", FAILED("OOMKilled", "137")), ENGINE_FAILED, "Failed",
            "OOMKilled/137");
    becomes(JOB(ENDED("Failed", "BackoffLimitExceeded")), POD("", FAILED("Error", "7")), ENGINE_FAILED, "Failed", "Error/7");
    becomes(JOB(ENDED("Failed", "BackoffLimitExceeded")), "", ENGINE_FAILED, "Failed", "BackoffLimitExceeded");
    becomes(JOB(ENDED("Failed", "DeadlineExceeded")), "", ENGINE_TIMEOUT, "Failed", "DeadlineExceeded");
    becomes(JOB(ENDED("Failed", "BackoffLimitExceeded")), POD("", "\"reason\":\"DeadlineExceeded\"," FAILED("Error", "143")),
            ENGINE_TIMEOUT, "Failed", "DeadlineExceeded");
    becomes(JOB(ENDED("Failed", "BackoffLimitExceeded")), POD("", FAILED("Error", "1")) ","
            POD("", "\"phase\":\"Failed\",\"reason\":\"Evicted\"") "," POD("", FAILED("Error", "2")),
            ENGINE_PREEMPTED, "Failed", "Evicted");
}

static void a_node_that_went_away_is_seen_by_its_pods(void **state)
{
    (void)state;
    const char *const lost = "its node is not heard of";
    becomes(JOB(""), POD("", RUNNING READY("False")), ENGINE_LOST, "Lost", lost);
    becomes(JOB(""), POD("", "\"phase\":\"Running\",\"containerStatuses\":[{\"state\":{\"terminated\":{}}}]," READY("False")),
            ENGINE_RUNS, "Running", "");                                    /* it has ended: its node says so */
    becomes(JOB(""), POD("", "\"phase\":\"Unknown\""), ENGINE_LOST, "Lost", lost);
    becomes(JOB(""), POD("\"deletionTimestamp\":\"2020-09-13T12:26:40Z\",", "\"reason\":\"NodeLost\"," RUNNING READY("True")),
            ENGINE_LOST, "Lost", lost);
    /* 1600000000 is 12:26:40: it leaves until a minute behind the end of its grace. */
    becomes(JOB(""), POD("\"deletionTimestamp\":\"2020-09-13T12:26:00Z\",", RUNNING READY("False")), ENGINE_LEAVES, "Ending", "");
    becomes(JOB(""), POD("\"deletionTimestamp\":\"2020-09-13T12:25:00Z\",", RUNNING READY("False")), ENGINE_LOST, "Lost", lost);
    becomes(JOB(""), POD("\"deletionTimestamp\":\"2020-09-13T12:26:00Z\",", RUNNING READY("True")) "," POD("", UNPLACED),
            ENGINE_WAITS, "Pending", "Unschedulable, 2 Insufficient nvidia.com/gpu.");
}

static void what_was_stored_is_read_and_others_are_passed_over(void **state)
{
    (void)state;
    const struct slice rows = read_lists(LIST(JOB_OF("other", "", "", "") "," JOB("") "," JOB_OF("falaj-short-1", "", "", "")),
                                         LIST("{\"metadata\":{\"labels\":{\"falaj/run\":\"other\"}},"
                                              "\"status\":{\"phase\":\"Unknown\"}},{},7"));
    assert_int_equal(rows.n, 1);
    const struct engine_seen *s = rows.items;
    assert_true(str_eq_c(s->name, NAME) && str_eq(s->id, s->name) && str_eq_c(s->account, "jobs") && str_eq_c(s->place, "night"));
    assert_true(str_eq_c(s->comment, "falaj ab"));
    assert_int_equal(s->machines, 2);
    assert_int_equal(s->cpus, 6);
    assert_int_equal(s->memory_bytes, 1 << 30);
    assert_int_equal(s->minutes, 90);
}

static void a_part_of_a_list_says_nothing(void **state)
{
    (void)state;
    static const struct { int status; struct str body; } bad[] = {
        { 200, STR("{\"metadata\":{\"continue\":\"abc\"},\"items\":[]}") },
        { 200, STR("{}") }, { 200, STR("[]") }, { 200, STR("") },
        { 200, STR("{\"items\":{}}") }, { 200, STR("{\"items\":[],\"items\":[]}") }, { 200, STR("{\"items\":[{}") },
        { 200, STR("{\"items\":[{},]}") }, { 200, STR("{\"items\":[{}{}]}") }, { 200, STR("{\"items\":[{\"a\":1,\"a\":2}]}") },
        { 403, STR("{\"reason\":\"Forbidden\"}") }, { 503, STR(LIST("")) },
    };
    const struct kube_pods *pods = NULL;
    struct slice rows;
    assert_int_equal(kube_read_pods(arena, 200, STR(LIST("")), 0, &pods, &e), ERR_OK);
    assert_int_equal(kube_read_runs(arena, 200, STR(LIST("")), pods, &rows, &e), ERR_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const struct kube_pods *none = NULL;
        assert_int_equal(kube_read_pods(arena, bad[i].status, bad[i].body, 0, &none, &e), ERR_UPSTREAM);
        assert_int_equal(kube_read_runs(arena, bad[i].status, bad[i].body, pods, &rows, &e), ERR_UPSTREAM);
    }
}

/* A list costs one object at a time: of more values than one may have, each pod by itself has few. */
static void a_long_list_is_read_an_object_at_a_time(void **state)
{
    (void)state;
    enum { PODS = 300, CELLS = 1000 };
    static char cells[2 * CELLS];
    const struct kube_pods *pods = NULL;
    struct slice rows;
    CLEANUP(buf_releasep) struct buf b = BUF(ENGINE_LIST_MAX);
    CLEANUP(arena_freep) struct arena *kept = arena_new(8 << 20);
    for (int i = 0; i < CELLS; i++)
        memcpy(cells + 2 * i, "0,", 2);
    buf_add_c(&b, "{\"items\":[");
    for (int i = 0; i < PODS; i++) {
        buf_printf(&b, "%s{\"metadata\":{\"labels\":{\"falaj/run\":\"" NAME "\"}},\"status\":{\"phase\":\"Running\"},"
                   "\"x\":[", i ? "," : "");
        buf_add(&b, cells, sizeof cells - 1);
        buf_add_c(&b, "]}");
    }
    buf_add_c(&b, "]}");
    assert_false(b.overflow);
    assert_int_equal(kube_read_pods(kept, 200, buf_str(&b), 0, &pods, &e), ERR_OK);
    assert_int_equal(kube_read_runs(kept, 200, STR(LIST(JOB(""))), pods, &rows, &e), ERR_OK);
    assert_int_equal(((const struct engine_seen *)rows.items)->state, ENGINE_RUNS);
}

static void a_job_that_was_told_to_go_says_so_on_a_lost_machine(void **state)
{
    (void)state;
    const char *pods = LIST(POD("", "\"phase\":\"Unknown\""));
    struct slice rows = read_lists(LIST(JOB("")), pods);
    const struct engine_seen *s = rows.items;
    assert_true(rows.n == 1 && s->state == ENGINE_LOST && !s->is_leaving);
    rows = read_lists(LIST(JOB_OF(NAME, "\"deletionTimestamp\":\"2020-09-13T12:26:40Z\",", "", "")), pods);
    s = rows.items;
    assert_true(rows.n == 1 && s->state == ENGINE_LOST && s->is_leaving);
}

static void two_jobs_of_one_name_are_no_answer(void **state)
{
    (void)state;
    enum { JOBS = 128 };
    const struct kube_pods *pods = NULL;
    struct slice rows;
    CLEANUP(buf_releasep) struct buf b = BUF(1 << 20);
    for (int i = 0; i < JOBS; i++)
        buf_printf(&b, "%s%s", i ? "," : "", JOB(""));
    const struct str text = str_fmt(arena, LIST("%.*s"), STR_ARG(buf_str(&b)));
    assert_int_equal(kube_read_pods(arena, 200, STR(LIST("")), 0, &pods, &e), ERR_OK);
    assert_int_equal(kube_read_runs(arena, 200, text, pods, &rows, &e), ERR_UPSTREAM);
    assert_string_equal(e.msg, "Kubernetes' list has two jobs that are named " NAME);
}

#define STATUS(reason, message, more)                                                                     \
    "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"" reason "\",\"message\":\"" message "\"" more "}"

static void faults_say_whether_anything_was_taken(void **state)
{
    (void)state;
    const struct jval *doc = NULL;
    const struct str invalid = STR(STATUS("Invalid", "Job.batch \\\"x\\\" is invalid", 
                                          ",\"details\":{\"causes\":[{\"reason\":\"FieldValueInvalid\","
                                          "\"message\":\"Invalid value: -1\",\"field\":\"spec.parallelism\"}]}"));
    assert_int_equal(kube_read(arena, 422, invalid, true, &doc, &e), ERR_INVALID);
    assert_string_equal(e.msg, "Kubernetes refused: Invalid, spec.parallelism, Invalid value: -1 (422)");
    const struct str forbidden = STR(STATUS("Forbidden", "jobs.batch is forbidden: exceeded quota", ""));
    assert_int_equal(kube_read(arena, 403, forbidden, true, &doc, &e), ERR_INVALID);
    assert_non_null(strstr(e.msg, "exceeded quota"));
    assert_int_equal(kube_read(arena, 403, forbidden, false, &doc, &e), ERR_UPSTREAM);
    const struct str exists = STR(STATUS("AlreadyExists", "jobs.batch x already exists", ""));
    assert_int_equal(kube_read(arena, 409, exists, true, &doc, &e), ERR_UPSTREAM);         /* it is there: look */
    assert_int_equal(kube_read(arena, 401, STR(STATUS("Unauthorized", "Unauthorized", "")), true, &doc, &e), ERR_UPSTREAM);
    assert_int_equal(kube_read(arena, 400, STR("<html>a front</html>"), true, &doc, &e), ERR_UPSTREAM);
    assert_int_equal(kube_read(arena, 429, STR(STATUS("TooManyRequests", "", "")), true, &doc, &e), ERR_UPSTREAM);
    assert_int_equal(kube_read(arena, 503, STR(""), true, &doc, &e), ERR_UPSTREAM);
    assert_int_equal(kube_read(arena, 200, STR("[]"), false, &doc, &e), ERR_UPSTREAM);
    assert_int_equal(kube_read_gone(arena, 404, STR(STATUS("NotFound", "", "")), &e), ERR_OK);
    assert_int_equal(kube_read_gone(arena, 404, STR("404 page not found"), &e), ERR_UPSTREAM);  /* no API server's word */
    assert_int_equal(kube_read_gone(arena, 403, forbidden, &e), ERR_UPSTREAM);
}

static void no_cut_answer_is_taken(void **state)
{
    (void)state;
    const struct str body = STR(LIST(JOB("")));
    const struct jval *doc = NULL;
    for (size_t n = 0; n < body.len; n++)
        assert_int_equal(kube_read(arena, 200, str_n(body.ptr, n), false, &doc, &e), ERR_UPSTREAM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_is_its_job_and_its_pods), cmocka_unit_test(a_node_that_went_away_is_seen_by_its_pods),
        cmocka_unit_test(what_was_stored_is_read_and_others_are_passed_over), cmocka_unit_test(a_part_of_a_list_says_nothing),
        cmocka_unit_test(a_long_list_is_read_an_object_at_a_time),
        cmocka_unit_test(faults_say_whether_anything_was_taken), cmocka_unit_test(no_cut_answer_is_taken),
        cmocka_unit_test(two_jobs_of_one_name_are_no_answer),
        cmocka_unit_test(a_job_that_was_told_to_go_says_so_on_a_lost_machine),
    };
    return cmocka_run_group_tests(tests, arena_up, arena_down);
}
