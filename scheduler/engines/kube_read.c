/* SPDX-License-Identifier: Apache-2.0 */
/* kube_read.c - answers of a kube-apiserver, and one state out of a Job and its pods. */
#include "scheduler/engines/kube_read.h"
#include "core/base/clock.h"
#include "core/json/jsonvalue.h"
#include "scheduler/engines/kube_same.h"
#include "scheduler/engines/kube_text.h"

#include <string.h>

enum { JSON_DEPTH = 32, LOST_AFTER_US = 60000000 };

static const struct { struct str word; enum engine_state state; } ends[] = {
#define KUBE(word, state) { STR(#word), ENGINE_##state },
#include "scheduler/engines/kube_state.def"
#undef KUBE
};

static enum engine_state end_of(struct str reason)
{
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (str_eq(ends[i].word, reason))
            return ends[i].state;
    return ENGINE_FAILED;
}

/* --- answers --- */

/* At least as many as it has: marks within strings count, too. */
static size_t values_most(struct str body)
{
    size_t n = 1;
    for (size_t i = 0; i < body.len; i++)
        n += body.ptr[i] == ',' || body.ptr[i] == ':' || body.ptr[i] == '[' || body.ptr[i] == '{';
    return n;
}

static struct str words_of(struct arena *a, const struct jval *status)
{
    const struct jval *cause = jval_at(jval_get(jval_get(status, "details"), "causes"), 0);
    const struct str field = jval_str(jval_get(cause, "field")), reason = jval_str(jval_get(status, "reason"));
    const struct str text = jval_str(jval_get(field.len ? cause : status, "message"));
    return engine_words(a, str_fmt(a, "%.*s%s%.*s%s%.*s", STR_ARG(reason), field.len ? ", " : "", STR_ARG(field),
                                   text.len ? ", " : "", STR_ARG(text)));
}

enum errc kube_read(struct arena *a, int status, struct str body, bool is_submit, const struct jval **ret, struct err *e)
{
    if (values_most(body) > ENGINE_VALUES_MAX)
        return FAIL(e, UPSTREAM, "Kubernetes' answer has more than %d values", ENGINE_VALUES_MAX);
    const bool is_json = jval_parse(a, body, JSON_DEPTH, ret, NULL) == ERR_OK && jval_type(*ret) == JT_OBJECT;
    if (status >= 200 && status < 300)
        return is_json ? ERR_OK : FAIL(e, UPSTREAM, "Kubernetes answered %d without a JSON object", status);
    const struct str words = is_json ? words_of(a, *ret) : STR("");
    if (status == 401)
        return FAIL(e, UPSTREAM, "Kubernetes answered 401: the credential is not taken");
    const bool is_refusal = status == 400 || status == 404 || status == 422 || (is_submit && status == 403);
    if (is_json && is_refusal)
        return FAIL(e, INVALID, "Kubernetes refused: %.*s (%d)", STR_ARG(words), status);
    return FAIL(e, UPSTREAM, "Kubernetes answered %d: %.*s", status, STR_ARG(words));
}

enum errc kube_read_gone(struct arena *a, int status, struct str body, struct err *e)
{
    const struct jval *doc = NULL;
    const enum errc rc = kube_read(a, status, body, false, &doc, e);
    const bool is_gone = status == 404 && doc && str_eq_c(jval_str(jval_get(doc, "reason")), "NotFound");
    return is_gone ? ERR_OK : rc;
}

/* --- pods --- */

static const struct jval *condition(const struct jval *of, const char *type)
{
    const struct jval *all = jval_get(jval_get(of, "status"), "conditions");
    for (size_t i = 0; i < jval_len(all); i++)
        if (str_eq_c(jval_str(jval_get(jval_at(all, i), "type")), type))
            return jval_at(all, i);
    return NULL;
}

static bool is_condition(const struct jval *of, const char *type, const char *status)
{
    return str_eq_c(jval_str(jval_get(condition(of, type), "status")), status);
}

static struct str text_of(const struct jval *object, const char *part, const char *name)
{
    const struct str s = jval_str(jval_get(jval_get(object, part), name));
    return s.ptr ? s : STR("");
}

static const struct jval *container_state(const struct jval *pod, const char *which)
{
    const struct jval *first = jval_at(jval_get(jval_get(pod, "status"), "containerStatuses"), 0);
    return jval_get(jval_get(first, "state"), which);
}

/* What the pods of a Job come to. */
struct tally {
    size_t waits, runs, leaves, done, failed, lost, strange;
    enum engine_state end;              /* of those that failed: the worst */
    struct str waits_for, failed_as, strange_as;
};

/* "0/4 nodes are available: 4 Insufficient cpu." without what stands in every such message. */
static struct str waits_for(struct arena *a, const struct jval *pod)
{
    const struct jval *placed = condition(pod, "PodScheduled");
    const struct str reason = jval_str(jval_get(container_state(pod, "waiting"), "reason"));
    if (reason.len)
        return reason;
    if (!str_eq_c(jval_str(jval_get(placed, "status")), "False"))
        return placed ? STR("Starting") : STR("Pending");
    const struct str text = jval_str(jval_get(placed, "message"));
    const char *behind = text.ptr ? strstr(text.ptr, "available: ") : NULL;
    const char *from = behind ? behind + sizeof "available: " - 1 : text.ptr;
    return str_fmt(a, "%.*s%s%s", STR_ARG(jval_str(jval_get(placed, "reason"))), from ? ", " : "", from ? from : "");
}

static struct str failed_as(struct arena *a, const struct jval *pod, enum engine_state *ret_end)
{
    const struct str reason = text_of(pod, "status", "reason");
    const struct jval *ended = container_state(pod, "terminated");
    *ret_end = end_of(reason);
    if (reason.len)
        return reason;
    const struct str why = jval_str(jval_get(ended, "reason"));
    *ret_end = end_of(why);
    return str_fmt(a, "%.*s/%lld", STR_ARG(why.len ? why : STR("Failed")), (long long)jval_i64(jval_get(ended, "exitCode"), -1));
}

/* Its node has not been heard of: Ready turns False by itself for no other reason where there is no probe. */
static bool is_lost(const struct jval *pod, struct str phase, int64_t now_us)
{
    const struct str leaves_at = text_of(pod, "metadata", "deletionTimestamp");
    int64_t at_us;
    if (str_eq_c(phase, "Unknown") || str_eq_c(text_of(pod, "status", "reason"), "NodeLost"))
        return true;
    if (!str_eq_c(phase, "Running") || !is_condition(pod, "Ready", "False"))
        return false;
    if (leaves_at.len)
        return time_parse(leaves_at, &at_us) && now_us > at_us + LOST_AFTER_US;
    return container_state(pod, "running");
}

static void count(struct arena *a, const struct jval *pod, int64_t now_us, struct tally *t)
{
    const struct str phase = text_of(pod, "status", "phase");
    const bool leaves = text_of(pod, "metadata", "deletionTimestamp").len > 0;
    enum engine_state end;
    if (str_eq_c(phase, "Succeeded"))
        t->done++;
    else if (str_eq_c(phase, "Failed")) {
        const struct str as = failed_as(a, pod, &end);
        if (!t->failed++ || end != ENGINE_FAILED) {
            t->failed_as = as;
            t->end = end;
        }
    } else if (is_lost(pod, phase, now_us))
        t->lost++;
    else if (leaves)
        t->leaves++;
    else if (str_eq_c(phase, "Running"))
        t->runs++;
    else if (str_eq_c(phase, "Pending")) {
        t->waits++;
        t->waits_for = waits_for(a, pod);
    } else {
        t->strange++;
        t->strange_as = phase;
    }
}

/* --- a Job --- */

struct verdict { enum engine_state state; struct str word, reason; };

static struct verdict ended(const struct jval *job, const struct tally *t)
{
    const struct jval *failed = condition(job, "Failed");
    const struct str reason = jval_str(jval_get(failed, "reason"));
    if (!is_condition(job, "Failed", "True"))
        return (struct verdict){ ENGINE_DONE, STR("Complete"), STR("") };
    if (t->failed)
        return (struct verdict){ t->end, STR("Failed"), t->failed_as };
    return (struct verdict){ end_of(reason), STR("Failed"), reason };
}

static struct verdict judge(struct arena *a, const struct jval *job, const struct tally *t)
{
    const size_t alive = t->waits + t->runs + t->leaves + t->strange;
    const bool has_ended = is_condition(job, "Failed", "True") || is_condition(job, "Complete", "True");
    if (t->lost)
        return (struct verdict){ ENGINE_LOST, STR("Lost"), STR("its node is not heard of") };
    if (has_ended && !alive)
        return ended(job, t);
    if (has_ended || text_of(job, "metadata", "deletionTimestamp").len)
        return (struct verdict){ ENGINE_LEAVES, STR("Terminating"), STR("") };
    if (t->strange)
        return (struct verdict){ ENGINE_STRANGE, t->strange_as, STR("") };
    if (jval_bool(jval_get(jval_get(job, "spec"), "suspend"), false))
        return alive ? (struct verdict){ ENGINE_LEAVES, STR("Terminating"), STR("") }
                     : (struct verdict){ ENGINE_WAITS, STR("Suspended"), STR("not admitted by its queue") };
    if (t->waits && t->runs)
        return (struct verdict){ ENGINE_WAITS, STR("Pending"), str_fmt(a, "%zu of %zu started, %.*s", t->runs, t->runs + t->waits,
                                                                       STR_ARG(t->waits_for)) };
    if (t->waits)
        return (struct verdict){ ENGINE_WAITS, STR("Pending"), t->waits_for };
    if (t->runs)
        return (struct verdict){ ENGINE_RUNS, STR("Running"), STR("") };
    if (t->leaves || t->done || t->failed)
        return (struct verdict){ ENGINE_LEAVES, STR("Ending"), t->failed_as.ptr ? t->failed_as : STR("") };
    return (struct verdict){ ENGINE_WAITS, STR("Pending"), STR("no pod yet") };
}

static int64_t whole(const struct jval *quantities, const char *name)
{
    const struct jval *v = jval_get(quantities, name);
    const int64_t n = kube_quantity(jval_str(v).ptr ? jval_str(v) : STR(""));
    return n > 0 ? n / 1000 : 0;
}

static int64_t count_of(const struct jval *of, const char *name)
{
    const int64_t n = jval_i64(jval_get(of, name), 0);
    return n > 0 ? n : 0;
}

static void read_job(struct arena *a, const struct jval *job, const struct tally *t, struct engine_seen *ret)
{
    const struct jval *spec = jval_get(job, "spec"), *pod = jval_get(jval_get(spec, "template"), "spec");
    const struct jval *asked = jval_get(jval_get(jval_at(jval_get(pod, "containers"), 0), "resources"), "requests");
    const struct jval *meta = jval_get(job, "metadata");
    const struct verdict v = judge(a, job, t);
    const struct str name = text_of(job, "metadata", "name"), queue = jval_str(jval_get(jval_get(meta, "labels"), KUBE_QUEUE));
    const int64_t machines = count_of(spec, "parallelism"), cpus = whole(asked, "cpu");
    *ret = (struct engine_seen){
        .id = name, .name = name, .comment = jval_str(jval_get(jval_get(meta, "annotations"), KUBE_DIGEST)),
        .account = text_of(job, "metadata", "namespace"), .place = queue.ptr ? queue : STR(""), .state = v.state,
        .word = engine_word(a, v.word), .reason = engine_word(a, v.reason), .machines = machines,
        .memory_bytes = whole(asked, "memory"), .minutes = count_of(pod, "activeDeadlineSeconds") / 60,
        .is_leaving = text_of(job, "metadata", "deletionTimestamp").len > 0 };
    if (__builtin_mul_overflow(cpus, machines, &ret->cpus))
        ret->cpus = 0;
}

static enum errc items_of(const struct jval *doc, const char *what, const struct jval **ret, struct err *e)
{
    *ret = jval_get(doc, "items");
    if (text_of(doc, "metadata", "continue").len)
        return FAIL(e, UPSTREAM, "Kubernetes gave a part of the list of %s", what);
    if (jval_type(*ret) != JT_ARRAY || jval_len(*ret) > KUBE_OBJECTS_MAX)
        return FAIL(e, UPSTREAM, "Kubernetes' list of %s is missing or has more than %d", what, KUBE_OBJECTS_MAX);
    return ERR_OK;
}

/* Names are unique in a namespace: of two of one name no answer can speak, and each would be told of the same pods. */
static bool is_there(const struct engine_seen *seen, size_t n, struct str name)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(seen[i].name, name))
            return true;
    return false;
}

enum errc kube_read_runs(struct arena *a, const struct jval *jobs, const struct jval *pods, int64_t now_us, struct slice *ret,
                         struct err *e)
{
    const struct jval *job_items, *pod_items;
    struct uuid run;
    int64_t tries;
    *ret = (struct slice){ 0 };
    TRY(items_of(jobs, "jobs", &job_items, e));
    TRY(items_of(pods, "pods", &pod_items, e));
    const size_t njobs = jval_len(job_items), npods = jval_len(pod_items);
    struct str *of = ARENA_ARRAY(a, struct str, npods + 1);
    for (size_t i = 0; i < npods; i++)
        of[i] = jval_str(jval_get(jval_get(jval_get(jval_at(pod_items, i), "metadata"), "labels"), KUBE_RUN));
    struct engine_seen *seen = ARENA_ARRAY(a, struct engine_seen, njobs + 1);
    for (size_t i = 0; i < njobs; i++) {
        const struct jval *job = jval_at(job_items, i);
        const struct str name = text_of(job, "metadata", "name");
        struct tally t = { .end = ENGINE_FAILED };
        if (name.len >= ENGINE_NAME_TEXT || !engine_name_read(name, &run, &tries))
            continue;
        if (is_there(seen, ret->n, name))
            return FAIL(e, UPSTREAM, "Kubernetes' list has two jobs that are named %.*s", STR_ARG(name));
        for (size_t k = 0; k < npods; k++)
            if (str_eq(of[k], name))
                count(a, jval_at(pod_items, k), now_us, &t);
        read_job(a, job, &t, &seen[ret->n++]);
    }
    ret->items = seen;
    return ERR_OK;
}
