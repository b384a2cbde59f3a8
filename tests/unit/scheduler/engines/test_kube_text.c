/* SPDX-License-Identifier: Apache-2.0 */
/* test_kube_text.c - the Job and the Secret of a run: closed, bounded, nothing secret in the Job; suspended for a queue. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/scheduler/engines/kube_kit.h"

static struct err e;

#define POD "spec", "template", "spec"
#define WORKER POD, "containers", "0"

static void a_job_has_one_closed_pod_for_each_machine(void **state)
{
    (void)state;
    const struct engine_ask ask = kube_ask();
    const struct jval *job = kube_job(&ask), *pod = at(job, POD, NULL), *worker = at(job, WORKER, NULL);
    assert_int_equal(jval_i64(at(job, "spec", "parallelism", NULL), 0), 2);
    assert_int_equal(jval_i64(at(job, "spec", "completions", NULL), 0), 2);
    assert_int_equal(jval_i64(at(job, "spec", "backoffLimit", NULL), -1), 0);
    assert_null(at(job, "spec", "suspend", NULL));
    assert_null(at(job, "spec", "activeDeadlineSeconds", NULL));            /* it would count while it waits */
    assert_int_equal(jval_i64(jval_get(pod, "activeDeadlineSeconds"), 0), 5400);
    assert_true(str_eq_c(jval_str(jval_get(pod, "restartPolicy")), "Never"));
    assert_false(jval_bool(jval_get(pod, "automountServiceAccountToken"), true));
    assert_true(jval_bool(at(pod, "securityContext", "runAsNonRoot", NULL), false));
    assert_true(str_eq_c(TEXT(pod, "securityContext", "seccompProfile", "type"), "RuntimeDefault"));
    assert_true(jval_bool(at(worker, "securityContext", "readOnlyRootFilesystem", NULL), false));
    assert_false(jval_bool(at(worker, "securityContext", "allowPrivilegeEscalation", NULL), true));
    assert_true(str_eq_c(TEXT(worker, "securityContext", "capabilities", "drop", "0"), "ALL"));
    for (const char *const *which = (const char *[]){ "requests", "limits", NULL }; *which; which++) {
        assert_true(str_eq_c(TEXT(worker, "resources", *which, "cpu"), "3"));
        assert_true(str_eq_c(TEXT(worker, "resources", *which, "memory"), "1073741824"));
        assert_true(str_eq_c(TEXT(worker, "resources", *which, KUBE_GPU), "1"));
    }
    assert_true(str_eq_c(TEXT(worker, "image"), IMAGE));
    assert_true(str_eq_c(TEXT(worker, "volumeMounts", "1", "mountPath"), "/etc/falaj"));
    assert_true(str_eq_c(TEXT(worker, "volumeMounts", "2", "mountPath"), "/scratch"));
    assert_true(str_eq_c(TEXT(pod, "volumes", "2", "emptyDir", "sizeLimit"), "5368709120"));    /* four of 1 GiB, and one */
    struct engine_ask other = ask;
    other.memory_bytes = 0;
    assert_int_equal(jval_len(at(kube_job(&other), POD, "volumes", "2", "emptyDir", NULL)), 0);
    other.memory_bytes = INT64_MAX;
    assert_int_equal(kube_work_most(&other), 0);
    assert_true(str_eq_c(TEXT(job, "metadata", "annotations", KUBE_DIGEST), "falaj ab"));
    assert_true(str_eq_c(TEXT(job, "spec", "template", "metadata", "labels", KUBE_RUN), NAME));
    assert_true(str_eq_c(TEXT(pod, "volumes", "0", "secret", "secretName"), NAME));
    assert_null(jval_get(pod, "nodeSelector"));
    assert_null(jval_get(pod, "tolerations"));
}

static void tokens_stand_in_the_secret_alone(void **state)
{
    (void)state;
    const struct engine_ask ask = kube_ask();
    CLEANUP(buf_releasep) struct buf job = BUF(1 << 17), secret = BUF(1 << 17);
    const struct jval *doc = NULL;
    kube_job_body(&ask, &job);
    kube_secret_body(&ask, &secret);
    assert_null(strstr(job.ptr, "flj_join"));
    assert_null(strstr(job.ptr, "FALAJ_TOKENS"));
    assert_non_null(strstr(job.ptr, "FALAJ_NAMES"));
    assert_int_equal(jval_parse(arena, buf_str(&secret), 0, &doc, &e), ERR_OK);
    assert_true(str_eq_c(TEXT(doc, "stringData", "tokens"), "flj_join_one flj_join_two"));
    assert_true(str_eq_c(TEXT(doc, "metadata", "name"), NAME));
    assert_true(str_eq_c(TEXT(doc, "metadata", "labels", KUBE_LABEL), KUBE_OWNER));
}

static void a_queue_gets_it_suspended_and_numbered(void **state)
{
    (void)state;
    struct engine_ask ask = kube_ask();
    ask.place = STR("night");
    ask.selector = STR("gpu=h100");
    ask.tolerations = STR("gpu:NoSchedule");
    const struct jval *job = kube_job(&ask);
    assert_true(jval_bool(at(job, "spec", "suspend", NULL), false));
    assert_true(str_eq_c(TEXT(job, "spec", "completionMode"), "Indexed"));
    assert_true(str_eq_c(TEXT(job, "metadata", "labels", KUBE_QUEUE), "night"));
    assert_true(str_eq_c(TEXT(job, POD, "nodeSelector", "gpu"), "h100"));
    assert_true(str_eq_c(TEXT(job, POD, "tolerations", "0", "effect"), "NoSchedule"));
}

/* The script is run: a worker that takes none but the second token stands for one whose first token another pod has used. */
static void a_pod_tries_each_token_until_one_is_taken(void **state)
{
    (void)state;
    char folder[] = "/tmp/falaj-kube-XXXXXX", text[16384], path[256], command[1024];
    assert_non_null(mkdtemp(folder));
    assert_null(strstr(kube_script, "$$"));
    const char *tokens = strstr(kube_script, KUBE_TOKENS);
    assert_non_null(tokens);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(tokens - kube_script), kube_script, folder, tokens + sizeof KUBE_TOKENS - 1);
    const struct { const char *file, *text; } files[] = {
        { "script", text }, { "tokens", "one two three" },
        { "worker", "#!/bin/bash\nfor a; do case $a in --worker.join_token_file=*) t=${a#*=};; --worker.cert=*) c=${a#*=};;"
                    " --worker.name=*) n=${a#*=};; esac; done\necho $n $(cat $t) >>$(dirname $0)/tried\n"
                    "[ $(cat $t) = $GOOD ] || exit 1\ntouch $c; exit 7\n" } };
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i].file);
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fputs(files[i].text, f);
        fclose(f);
    }
    snprintf(command, sizeof command, "cd %s && chmod +x worker && FALAJ_FOLDER=%s FALAJ_NAMES='k-1 k-2 k-3' "
             "FALAJ_WORKER=%s/worker JOB_COMPLETION_INDEX=2 GOOD=two bash script; s=$?; "
             "[ \"$(tr '\\n' , <tried)\" = 'k-3 three,k-1 one,k-2 two,' ] && "
             "[ $s = 7 ] && ! ls -d falaj-* 2>/dev/null", folder, folder, folder);
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof command, "cd %s && rm tried && FALAJ_FOLDER=%s FALAJ_NAMES='k-1 k-2 k-3' FALAJ_WORKER=%s/worker "
             "GOOD=none bash script; [ $? = 1 ] && [ $(wc -l <tried) = 3 ]", folder, folder, folder);
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_has_one_closed_pod_for_each_machine), cmocka_unit_test(tokens_stand_in_the_secret_alone),
        cmocka_unit_test(a_queue_gets_it_suspended_and_numbered), cmocka_unit_test(a_pod_tries_each_token_until_one_is_taken),
    };
    return cmocka_run_group_tests(tests, arena_up, arena_down);
}
