/* SPDX-License-Identifier: Apache-2.0 */
/* kube_read.c - answers of a kube-apiserver, and one state out of a Job and its pods. */
#include "scheduler/engines/kube_read.h"
#include "core/base/cleanup.h"
#include "core/base/clock.h"
#include "core/json/jsonlist.h"
#include "scheduler/engines/kube_same.h"
#include "scheduler/engines/kube_text.h"

#include <string.h>

enum { LOST_AFTER_US = 60000000 };
#define WHO "Kubernetes"

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

static struct str words_of(struct arena *a, const struct jval *status)
{
    const struct jval *cause = jval_at(jval_get(jval_get(status, "details"), "causes"), 0);
    const struct str field = jval_str(jval_get(cause, "field")), reason = jval_str(jval_get(status, "reason"));
    const struct str text = jval_str(jval_get(field.len ? cause : status, "message"));
    return engine_words(a, str_fmt(a, "%.*s%s%.*s%s%.*s", STR_ARG(reason), field.len ? ", " : "", STR_ARG(field),
                                   text.len ? ", " : "", STR_ARG(text)));
}

static bool is_good(int status)
{
    return status >= 200 && status < 300;
}

/* doc: NULL where it is no object. */
static enum errc fault(struct arena *a, int status, bool is_submit, const struct jval *doc, struct err *e)
{
    const struct str words = doc ? words_of(a, doc) : STR("");
    if (status == 401)
        return FAIL(e, UPSTREAM, "Kubernetes answered 401: the credential is not taken");
    const bool is_refusal = status == 400 || status == 404 || status == 422 || (is_submit && status == 403);
    if (doc && is_refusal)
        return FAIL(e, INVALID, "Kubernetes refused: %.*s (%d)", STR_ARG(words), status);
    return FAIL(e, UPSTREAM, "Kubernetes answered %d: %.*s", status, STR_ARG(words));
}

enum errc kube_read(struct arena *a, int status, struct str body, bool is_submit, const struct jval **ret, struct err *e)
{
    struct err why = { 0 };
    const enum errc rc = engine_parse(a, body, WHO, ret, &why);
    if (!is_good(status))
        return fault(a, status, is_submit, *ret, e);
    if (rc != ERR_OK)
        *e = why;
    return rc;
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

/* What the pods of a Job come to. Words are copies, as engine_word leaves them. */
struct tally {
    struct str run;
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

/* own: for this pod alone. */
static void count(struct arena *a, struct arena *own, const struct jval *pod, int64_t now_us, struct tally *t)
{
    const struct str phase = text_of(pod, "status", "phase");
    const bool leaves = text_of(pod, "metadata", "deletionTimestamp").len > 0;
    enum engine_state end;
    if (str_eq_c(phase, "Succeeded"))
        t->done++;
    else if (str_eq_c(phase, "Failed")) {
        const struct str as = engine_word(a, failed_as(own, pod, &end));
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
        t->waits_for = engine_word(a, waits_for(own, pod));
    } else {
        t->strange++;
        t->strange_as = engine_word(a, phase);
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

static struct str kept(struct arena *a, struct str s)
{
    return s.ptr ? str_dup(a, s) : STR("");
}

static void read_job(struct arena *a, const struct jval *job, const struct tally *t, struct engine_seen *ret)
{
    const struct jval *spec = jval_get(job, "spec"), *pod = jval_get(jval_get(spec, "template"), "spec");
    const struct jval *asked = jval_get(jval_get(jval_at(jval_get(pod, "containers"), 0), "resources"), "requests");
    const struct jval *meta = jval_get(job, "metadata");
    const struct verdict v = judge(a, job, t);
    const struct str name = kept(a, text_of(job, "metadata", "name"));
    const int64_t machines = count_of(spec, "parallelism"), cpus = whole(asked, "cpu");
    *ret = (struct engine_seen){
        .id = name, .name = name, .comment = kept(a, jval_str(jval_get(jval_get(meta, "annotations"), KUBE_DIGEST))),
        .account = kept(a, text_of(job, "metadata", "namespace")),
        .place = kept(a, jval_str(jval_get(jval_get(meta, "labels"), KUBE_QUEUE))), .state = v.state,
        .word = engine_word(a, v.word), .reason = engine_word(a, v.reason), .machines = machines,
        .memory_bytes = whole(asked, "memory"), .minutes = count_of(pod, "activeDeadlineSeconds") / 60,
        .is_leaving = text_of(job, "metadata", "deletionTimestamp").len > 0 };
    if (__builtin_mul_overflow(cpus, machines, &ret->cpus))
        ret->cpus = 0;
}

/* --- lists --- */

struct kube_pods { struct tally *of; size_t n; };

/* A refusal has no items and may be what it likes to be; a list must be whole. */
static enum errc open_list(struct arena *a, int status, struct str body, const char *what, struct jlist *ret, struct err *e)
{
    const struct jval *rest = NULL;
    struct err why = { 0 };
    if (!is_good(status))
        return fault(a, status, false, engine_parse(a, body, WHO, &rest, &why) == ERR_OK ? rest : NULL, e);
    TRY(engine_list_open(a, body, WHO, "items", ret, &rest, e));
    if (text_of(rest, "metadata", "continue").len)
        return FAIL(e, UPSTREAM, "Kubernetes gave a part of the list of %s", what);
    return jlist_is_there(ret) ? ERR_OK : FAIL(e, UPSTREAM, "Kubernetes' list of %s is missing", what);
}

/* *ret: NULL behind the last. */
static enum errc next_of(struct jlist *l, struct arena *own, const char *what, size_t *n, const struct jval **ret, struct err *e)
{
    TRY(engine_list_next(l, own, WHO, ret, e));
    return !*ret || ++*n <= KUBE_OBJECTS_MAX ? ERR_OK
           : FAIL(e, UPSTREAM, "Kubernetes' list of %s has more than %d", what, KUBE_OBJECTS_MAX);
}

static const struct tally *tally_of(const struct kube_pods *p, struct str run)
{
    for (size_t i = p->n; i-- > 0;)
        if (str_eq(p->of[i].run, run))
            return &p->of[i];
    return NULL;
}

enum errc kube_read_pods(struct arena *a, int status, struct str body, int64_t now_us, const struct kube_pods **ret,
                         struct err *e)
{
    CLEANUP(arena_freep) struct arena *own = arena_new(ENGINE_OWN_MAX);
    struct kube_pods *p = ARENA_NEW(a, struct kube_pods);
    const struct jval *pod = NULL;
    struct jlist list;
    struct uuid id;
    int64_t tries;
    TRY(open_list(a, status, body, "pods", &list, e));
    p->of = ARENA_ARRAY(a, struct tally, KUBE_OBJECTS_MAX);
    for (size_t n = 0;;) {
        TRY(next_of(&list, own, "pods", &n, &pod, e));
        if (!pod)
            break;
        const struct str run = jval_str(jval_get(jval_get(jval_get(pod, "metadata"), "labels"), KUBE_RUN));
        if (!run.ptr || run.len >= ENGINE_NAME_TEXT || !engine_name_read(run, &id, &tries))
            continue;
        struct tally *t = (struct tally *)(uintptr_t)tally_of(p, run);
        if (!t) {
            t = &p->of[p->n++];
            *t = (struct tally){ .run = str_dup(a, run), .end = ENGINE_FAILED };
        }
        count(a, own, pod, now_us, t);
    }
    *ret = p;
    return ERR_OK;
}

/* Names are unique in a namespace: of two of one name no answer can speak. */
static bool is_there(const struct engine_seen *seen, size_t n, struct str name)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(seen[i].name, name))
            return true;
    return false;
}

enum errc kube_read_runs(struct arena *a, int status, struct str body, const struct kube_pods *pods, struct slice *ret,
                         struct err *e)
{
    static const struct tally none = { .end = ENGINE_FAILED };
    CLEANUP(arena_freep) struct arena *own = arena_new(ENGINE_OWN_MAX);
    const struct jval *job = NULL;
    struct engine_seen *seen = NULL;
    struct jlist list;
    struct uuid run;
    int64_t tries;
    *ret = (struct slice){ 0 };
    TRY(open_list(a, status, body, "jobs", &list, e));
    for (size_t n = 0;;) {
        TRY(next_of(&list, own, "jobs", &n, &job, e));
        if (!job)
            break;
        const struct str name = text_of(job, "metadata", "name");
        if (name.len >= ENGINE_NAME_TEXT || !engine_name_read(name, &run, &tries))
            continue;
        if (is_there(seen, ret->n, name))
            return FAIL(e, UPSTREAM, "Kubernetes' list has two jobs that are named %.*s", STR_ARG(name));
        const struct tally *t = tally_of(pods, name);
        engine_seen_room(a, &seen, ret->n);
        read_job(a, job, t ? t : &none, &seen[ret->n++]);
    }
    ret->items = seen;
    return ERR_OK;
}
