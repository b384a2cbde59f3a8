/* SPDX-License-Identifier: Apache-2.0 */
/* run_end.c - what is said of a lease's end: its result, or why there is none and whether another attempt is worth it. Every way
 * out of a good lease says one end. */
#include "workers/lease/child_int.h"
#include "workers/lease/executor_int.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include "core/base/cleanup.h"
#include "core/base/log.h"
#include "core/json/encode.h"
#include "workers/lease/deliver.h"
#include "workers/lease/keeper.h"

enum { LOST_CHILDREN_MAX = 3 };

/* The end, with what was measured. */
static void finish(struct run *r, struct lease_item *end)
{
    end->has_cpu_mj = r->energy.has_cpu;
    end->cpu_mj = (int64_t)(r->energy.cpu_uj / 1000);
    end->has_gpu_mj = r->energy.has_gpu;
    end->gpu_mj = (int64_t)r->energy.gpu_mj;
    held_finish(r->held, end);
}

static void say_success(struct run *r)
{
    CLEANUP(buf_releasep) struct buf json = BUF(LEASE_RESULT_MAX);
    size_t n = r->n_artifacts;
    if (r->has_output) {
        job_result_set_object(run_result_schema(r), r->figures, r->object_id);
        r->artifacts[n++] = (struct lease_output){ STR("model"), r->object_id };
    }
    json_encode(run_result_schema(r), r->figures, &json);
    finish(r, &(struct lease_item){ .event = LE_SUCCEED, .has_exit_code = !r->has_output, .result = { buf_str(&json) },
                                               .outputs = { r->artifacts, n } });
}

static bool may_go_on(const struct run *r)
{
    return (r->keeper && keeper_kept(r->keeper)) || r->g->fence <= LOST_CHILDREN_MAX;
}

/* Killed by somebody else, as by the kernel for want of memory of the whole machine or by a person: what a kind kept is worth
 * another
 * attempt. Each must have got further than the one before, but for the first few, so that there is an end to it. */
static bool is_lost(const struct run *r)
{
    bool is_killed = WIFSIGNALED(r->status) && WTERMSIG(r->status) == SIGKILL && !r->was_killed;
    return is_killed && (r->keeper || r->g->rank) && r->failed.code == ERR_OK && may_go_on(r);
}

/* What had begun to answer callers is missed by them however it died: another attempt, after the pause of every return. One
 * that never answered fails, or it would be tried for ever. */
static bool is_missed(const struct run *r)
{
    const struct job_type *t = job_type_find(r->g->kind);
    return WIFSIGNALED(r->status) && !r->was_killed && r->failed.code == ERR_OK && r->is_ready && t && t->traits & JT_STAYS;
}

static void say_end(struct run *r)
{
    char text[200] = "";
    int code = WIFEXITED(r->status) ? WEXITSTATUS(r->status) : 128 + WTERMSIG(r->status);
    struct lease_item end = { .event = LE_FAIL, .exit_code = code ? code : 1, .message = str_c(text) };
    if (r->cage && cage_is_oom(r->cage, r->status, r->peak_bytes)) {
        snprintf(text, sizeof text, "the job needed more than its %ld MiB of memory", (long)(r->memory_bytes >> 20));
        end.event = LE_OOM;
        end.exit_code = code;
    } else if (r->stop_event) {
        end.event = (int)r->stop_event;
        end.exit_code = code;
    } else if (r->lost_others) {
        end.event = LE_RETURN;
        end.exit_code = code;
        end.message = r->failed.code != ERR_OK ? str_c(r->failed.msg) : STR("another machine of the job ended it");
    } else if (r->asks_again && may_go_on(r)) {
        end.event = LE_RETURN;
        end.exit_code = code;
        end.message = str_c(r->failed.msg);
    } else if (r->asks_again) {
        snprintf(text, sizeof text, "%.100s, as in the attempts before, but none of them kept a checkpoint", r->failed.msg);
    } else if (r->failed.code != ERR_OK) {
        end.message = str_c(r->failed.msg);
    } else if (is_lost(r)) {
        snprintf(text, sizeof text,
                 "the job's process was killed from outside; another attempt goes on from its last checkpoint");
        end.event = LE_RETURN;
        end.exit_code = code;
    } else if (is_missed(r)) {
        snprintf(text, sizeof text, "the serving process was ended by signal %d (%s); another one takes its place",
                 WTERMSIG(r->status), strsignal(WTERMSIG(r->status)));
        end.event = LE_RETURN;
        end.exit_code = code;
    } else if (WIFSIGNALED(r->status)) {
        snprintf(text, sizeof text, "the job was ended by signal %d (%s)", WTERMSIG(r->status), strsignal(WTERMSIG(r->status)));
    } else {
        snprintf(text, sizeof text, "the job ended with status %d without a result", code);
    }
    if (end.message.ptr == text)
        end.message.len = strlen(text);
    finish(r, &end);
}

/* Every way out of a good lease says one end. */
void run_conclude(struct run *r, enum errc rc, struct err *e)
{
    if (held_is_stale(r->held))
        return;
    const struct delivery d = { r->client, r->arena, r->output, r->object_id, r->part_bytes_max, r->result };
    if (r->has_result && rc == ERR_OK && (!r->has_output || run_deliver(r, &d, e) == ERR_OK))
        return say_success(r);
    if (r->g->rank && rc == ERR_OK && !r->stop_event && WIFEXITED(r->status) && WEXITSTATUS(r->status) == CHILD_DONE) {
        finish(r, &(struct lease_item){ .event = LE_SUCCEED });     /* rank 0 gives what all made */
        return;
    }
    r->lost_others |= lease_grant_is_gang(r->g) && rc == ERR_OK && WIFEXITED(r->status) &&
                      WEXITSTATUS(r->status) == CHILD_STOPPED;
    if (r->lost_others && !r->stop_event && run_others_ended_it(r))
        return;
    if (!r->stop_event && held_is_cancelled(r->held))
        r->stop_event = *r->env->stopping ? LE_RETURN : LE_CANCEL;
    if (!r->stop_event && held_preempt_us(r->held))
        r->stop_event = LE_PREEMPT;
    if (r->failed.code == ERR_OK && e->code != ERR_OK)
        r->failed = *e;
    if (r->failed.code != ERR_OK && !r->asks_again)
        log_err(LOG_WARN, "lease.failed", &r->failed);
    say_end(r);
}
