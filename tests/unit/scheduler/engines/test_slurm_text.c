/* SPDX-License-Identifier: Apache-2.0 */
/* test_slurm_text.c - answers as slurmrestd 22.05 gave them, whole, cut and wrong; and the body of a submission. */
#include <string.h>

#include "tests/unit/scheduler/engines/engine_kit.h"
#include "core/base/cleanup.h"
#include "core/json/jsonvalue.h"
#include "scheduler/engines/slurm_text.h"

static struct err e;
static size_t large;

#define META "{\"meta\":{\"plugin\":{\"type\":\"openapi\\/v0.0.38\"}},"
#define NONE "\"errors\":[],"
#define JOB(name, state, reason) "{" JOB_ROW(name, state, reason)
#define JOB_ROW(name, state, reason)                                                                                          \
    "\"job_id\":12,\"name\":\"" name "\",\"comment\":\"falaj ab\",\"job_state\":\"" state "\",\"state_reason\":\"" reason "\"," \
    "\"partition\":\"low\",\"user_name\":\"svc\",\"cpus\":2,\"memory_per_node\":100,\"memory_per_cpu\":null,\"node_count\":1,"   \
    "\"time_limit\":30,\"nice\":null}"

static void words_become_states(void **state)
{
    (void)state;
    assert_int_equal(slurm_state(STR("PENDING")), ENGINE_WAITS);
    assert_int_equal(slurm_state(STR("COMPLETING")), ENGINE_LEAVES);
    assert_int_equal(slurm_state(STR("NODE_FAIL")), ENGINE_LOST);
    assert_int_equal(slurm_state(STR("PREEMPTED")), ENGINE_PREEMPTED);
    assert_int_equal(slurm_state(STR("TIMEOUT")), ENGINE_TIMEOUT);
    assert_int_equal(slurm_state(STR("pending")), ENGINE_STRANGE);
    assert_int_equal(slurm_state(STR("")), ENGINE_STRANGE);
    assert_false(engine_has_ended(ENGINE_STRANGE));
    assert_true(engine_has_ended(ENGINE_LOST));
    assert_false(engine_has_ended(ENGINE_LEAVES));
}

static void jobs_are_read_and_others_passed_over(void **state)
{
    (void)state;
    struct slice rows;
    const struct str body = STR(META NONE "\"jobs\":[" JOB("other", "RUNNING", "None") ","
                                JOB("falaj-" RUN "-3", "PENDING", "Resources<script>") "," JOB("falaj-short-1", "RUNNING", "None")
                                "]}");
    assert_int_equal(slurm_read_jobs(arena, 200, body, &rows, &large, &e), ERR_OK);
    assert_int_equal(rows.n, 1);
    const struct engine_seen *s = rows.items;
    assert_true(str_eq_c(s->id, "12") && str_eq_c(s->word, "PENDING") && str_eq_c(s->reason, "Resourcesscript"));
    assert_int_equal(s->state, ENGINE_WAITS);
    assert_int_equal(s->cpus, 2);
    assert_int_equal(s->memory_bytes, 100 << 20);
    assert_int_equal(s->minutes, 30);
    assert_true(str_eq_c(s->account, "svc"));
    assert_false(s->is_again);
    const struct str again = STR(META NONE "\"jobs\":[{\"restart_cnt\":1,"
                                 JOB_ROW("falaj-" RUN "-3", "PENDING", "BeginTime") "]}");
    assert_int_equal(slurm_read_jobs(arena, 200, again, &rows, &large, &e), ERR_OK);
    assert_true(((const struct engine_seen *)rows.items)->is_again);
}

static void faults_say_whether_anything_is_known(void **state)
{
    (void)state;
    struct slice rows;
    struct str id;
    const struct str unknown = STR(META "\"errors\":[{\"description\":\"Unable to find JobId=9\",\"error_number\":2017,"
                                   "\"error\":\"Invalid job id specified\"}],\"jobs\":[]}");
    assert_int_equal(slurm_read_jobs(arena, 500, unknown, &rows, &large, &e), ERR_OK);
    assert_int_equal(rows.n, 0);
    assert_int_equal(slurm_read_plain(arena, 500, unknown, &e), ERR_OK);           /* cancelled or gone: the same */
    const struct str ended = STR(META "\"errors\":[{\"error_number\":2021,\"error\":\"Job/step already completing\"}]}");
    assert_int_equal(slurm_read_plain(arena, 500, ended, &e), ERR_OK);             /* it ended before it was cancelled */
    const struct str partition = STR(META "\"errors\":[{\"error_code\":2000,\"error\":\"Invalid partition name specified\"}]}");
    assert_int_equal(slurm_read_submit(arena, 500, partition, &id, &e), ERR_INVALID);
    assert_non_null(strstr(e.msg, "Invalid partition name specified (2000)"));
    const struct str down = STR(META "\"errors\":[{\"description\":\"slurmctld config is unable to load\",\"error_number\":-1,"
                                "\"error\":\"Unspecified error\",\"source\":\"slurm_load_ctl_conf\"}]}");
    assert_int_equal(slurm_read_submit(arena, 500, down, &id, &e), ERR_UPSTREAM);
    assert_int_equal(slurm_read_jobs(arena, 500, down, &rows, &large, &e), ERR_UPSTREAM);   /* never: there are none */
    assert_int_equal(slurm_read_ping(arena, 500, down, &e), ERR_UPSTREAM);
    assert_int_equal(slurm_read_jobs(arena, 401, STR("Authentication failure"), &rows, &large, &e), ERR_UPSTREAM);
    assert_int_equal(slurm_read_jobs(arena, 200, STR(META "\"errors\":[]}"), &rows, &large, &e), ERR_UPSTREAM);
    assert_int_equal(slurm_read_jobs(arena, 200, STR("[]"), &rows, &large, &e), ERR_UPSTREAM);
    assert_int_equal(slurm_read_submit(arena, 200, STR(META NONE "\"job_id\":0}"), &id, &e), ERR_UPSTREAM);
    assert_int_equal(slurm_read_submit(arena, 200, STR(META NONE "\"job_id\":7}"), &id, &e), ERR_OK);
    assert_true(str_eq_c(id, "7"));
    const struct str one_up = STR(META NONE "\"pings\":[{\"ping\":\"DOWN\"},{\"ping\":\"UP\"}]}");
    assert_int_equal(slurm_read_ping(arena, 200, one_up, &e), ERR_OK);
    assert_int_equal(slurm_read_ping(arena, 200, STR(META NONE "\"pings\":[{\"ping\":\"DOWN\"}]}"), &e), ERR_UPSTREAM);
}

/* Each would cost a hundred times its two bytes. Of two jobs each is read by itself. */
static void a_job_of_small_values_is_not_read(void **state)
{
    (void)state;
    CLEANUP(buf_releasep) struct buf b = BUF(ENGINE_LIST_MAX);
    struct slice rows;
    buf_add_c(&b, META NONE "\"jobs\":[[0");
    for (size_t i = 2; i < ENGINE_VALUES_MAX; i++)
        buf_add_c(&b, i == ENGINE_VALUES_MAX / 2 ? "],[0" : ",0");
    const size_t n = b.len;
    buf_add_c(&b, "]]}");
    assert_int_equal(slurm_read_jobs(arena, 200, buf_str(&b), &rows, &large, &e), ERR_OK);
    b.len = n;
    for (size_t i = 0; i < ENGINE_VALUES_MAX; i++)
        buf_add_c(&b, ",0");
    buf_add_c(&b, "]]}");
    assert_int_equal(slurm_read_jobs(arena, 200, buf_str(&b), &rows, &large, &e), ERR_UPSTREAM);
    assert_non_null(strstr(e.msg, "values"));
}

/* One user's job with a long comment, or of many values, hides nobody's: ours are read, with what is short of them. */
static void a_huge_job_hides_no_other(void **state)
{
    (void)state;
    CLEANUP(buf_releasep) struct buf b = BUF(ENGINE_LIST_MAX);
    struct slice rows;
    static const char *const names[] = { "other", "falaj-" RUN "-2" };
    buf_add_c(&b, META NONE "\"jobs\":[" JOB("falaj-" RUN "-1", "RUNNING", "None"));
    for (size_t i = 0; i < 2; i++) {
        buf_printf(&b, ",{\"environment\":[0");
        for (size_t k = 0; i == 0 && k < ENGINE_VALUES_MAX; k++)
            buf_add_c(&b, ",0");
        buf_printf(&b, "],\"name\":\"%s\",\"job_state\":\"PENDING\",\"job_id\":77,\"cpus\":4,\"comment\":\"\\\"}],", names[i]);
        for (size_t k = 0; k < ENGINE_ONE_MAX; k++)
            buf_add_char(&b, '{');
        buf_add_c(&b, "\",\"partition\":\"low\"}");
    }
    buf_add_c(&b, "," JOB("falaj-" RUN "-3", "PENDING", "Resources"));
    const size_t n = b.len;
    buf_add_c(&b, "]}");
    assert_int_equal(slurm_read_jobs(arena, 200, buf_str(&b), &rows, &large, &e), ERR_OK);
    assert_int_equal(large, 2);
    assert_int_equal(rows.n, 3);
    const struct engine_seen *s = rows.items;
    assert_true(str_eq_c(s[0].id, "12") && str_eq_c(s[1].id, "77") && str_eq_c(s[2].id, "12"));
    assert_true(s[1].state == ENGINE_WAITS && s[1].cpus == 4 && str_eq_c(s[1].place, "low") && !s[1].comment.len);
    assert_true(s[2].state == ENGINE_WAITS && str_eq_c(s[2].comment, "falaj ab"));
    /* A name longer than ours is another's; whose it is where there is none, nobody knows. */
    for (size_t i = 0; i < 2; i++) {
        b.len = n;
        buf_printf(&b, ",{\"%s\":\"falaj-", i ? "nome" : "name");
        for (size_t k = 0; k < ENGINE_ONE_MAX; k++)
            buf_add_char(&b, 'n');
        buf_add_c(&b, "\"}]}");
        assert_int_equal(slurm_read_jobs(arena, 200, buf_str(&b), &rows, &large, &e), i ? ERR_UPSTREAM : ERR_OK);
        assert_int_equal(rows.n, 3);
    }
}

static void no_cut_answer_is_taken(void **state)
{
    (void)state;
    const struct str body = STR(META NONE "\"jobs\":[" JOB("falaj-" RUN "-1", "RUNNING", "None") "]}");
    struct slice rows;
    for (size_t n = 0; n < body.len; n++)
        assert_int_equal(slurm_read_jobs(arena, 200, str_n(body.ptr, n), &rows, &large, &e), ERR_UPSTREAM);
}

static void a_submission_is_json_with_all_that_was_asked(void **state)
{
    (void)state;
    struct engine_ask ask = { .name = STR("falaj-x-1"), .comment = STR("c"), .script = STR("#!/bin/bash\necho \"é\"\n"),
                              .place = STR("gpu"), .folder = STR("/tmp"), .nvariables = 2,
                              .variables = { { "PATH", STR("/bin") }, { "T", STR("a\"b\\") } },
                              .machines = 2, .cpus = 3, .memory_bytes = (1 << 20) + 1, .gpus = 1, .minutes = 90 };
    CLEANUP(buf_releasep) struct buf b = BUF(1 << 16);
    const struct jval *doc = NULL;
    slurm_submit_body(&ask, &b);
    assert_int_equal(jval_parse(arena, buf_str(&b), 0, &doc, &e), ERR_OK);
    const struct jval *job = jval_get(doc, "job");
    assert_true(str_eq(jval_str(jval_get(doc, "script")), ask.script));
    assert_int_equal(jval_i64(jval_get(job, "memory_per_node"), 0), 2);
    assert_int_equal(jval_i64(jval_get(job, "nodes"), 0), 2);
    assert_int_equal(jval_i64(jval_get(job, "time_limit"), 0), 90);
    assert_true(str_eq_c(jval_str(jval_get(job, "gres")), "gpu:1"));
    assert_true(str_eq_c(jval_str(jval_get(jval_get(job, "environment"), "T")), "a\"b\\"));
    assert_false(jval_bool(jval_get(job, "requeue"), true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_become_states), cmocka_unit_test(jobs_are_read_and_others_passed_over),
        cmocka_unit_test(faults_say_whether_anything_is_known), cmocka_unit_test(a_job_of_small_values_is_not_read),
        cmocka_unit_test(a_huge_job_hides_no_other), cmocka_unit_test(no_cut_answer_is_taken),
        cmocka_unit_test(a_submission_is_json_with_all_that_was_asked),
    };
    return cmocka_run_group_tests(tests, arena_up, arena_down);
}
