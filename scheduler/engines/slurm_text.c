/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_text.c - bodies for slurmrestd, and its answers. */
#include "scheduler/engines/slurm_text.h"
#include "core/base/cleanup.h"
#include "core/json/jsonlist.h"

#include <inttypes.h>

enum { MIB = 1 << 20, JOBS_MAX = 200000 };
#define WHO "slurmrestd"

static const struct { struct str word; enum engine_state state; } states[] = {
#define SLURM(w, s) { STR(#w), ENGINE_##s },
#include "scheduler/engines/slurm_state.def"
#undef SLURM
};

enum engine_state slurm_state(struct str word)
{
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (str_eq(states[i].word, word))
            return states[i].state;
    return ENGINE_STRANGE;
}

static void member(struct buf *b, const char *name, struct str value)
{
    buf_printf(b, ",\"%s\":", name);
    buf_add_json(b, value);
}

void slurm_submit_body(const struct engine_ask *ask, struct buf *out)
{
    buf_add_c(out, "{\"job\":{\"name\":");
    buf_add_json(out, ask->name);
    member(out, "comment", ask->comment);
    member(out, "current_working_directory", ask->folder);
    member(out, "standard_output", STR("/dev/null"));
    member(out, "standard_error", STR("/dev/null"));
    if (ask->place.len)
        member(out, "partition", ask->place);
    buf_printf(out, ",\"nodes\":%" PRId64 ",\"tasks\":%" PRId64 ",\"tasks_per_node\":1,\"requeue\":false", ask->machines,
               ask->machines);
    if (ask->cpus)
        buf_printf(out, ",\"cpus_per_task\":%" PRId64, ask->cpus);
    if (ask->memory_bytes)
        buf_printf(out, ",\"memory_per_node\":%" PRId64, (ask->memory_bytes + MIB - 1) / MIB);
    if (ask->gpus)
        buf_printf(out, ",\"gres\":\"gpu:%" PRId64 "\"", ask->gpus);
    buf_printf(out, ",\"time_limit\":%" PRId64 ",\"environment\":{", ask->minutes);
    for (size_t i = 0; i < ask->nvariables; i++) {
        buf_add_c(out, i ? "," : "");
        buf_add_json(out, str_c(ask->variables[i].name));
        buf_add_char(out, ':');
        buf_add_json(out, ask->variables[i].value);
    }
    buf_add_c(out, "}},\"script\":");
    buf_add_json(out, ask->script);
    buf_add_char(out, '}');
}

/* Its own words of the first fault. Codes of slurm_errno.h from 2000 on are about a job; others, as that of a controller that
 * does not answer, say nothing about it. */
static enum errc first_error(struct arena *a, const struct jval *doc, int64_t *ret_number, struct err *e)
{
    const struct jval *x = jval_at(jval_get(doc, "errors"), 0);
    *ret_number = 0;
    if (!x)
        return ERR_OK;
    const struct jval *number = jval_get(x, "error_number");
    *ret_number = jval_i64(number ? number : jval_get(x, "error_code"), -1);
    struct str text = jval_str(jval_get(x, "error"));
    if (!text.len)
        text = jval_str(jval_get(x, "description"));
    const struct str word = engine_word(a, text);
    const bool is_refusal = *ret_number >= 2000 && *ret_number < 3000;
    if (is_refusal)
        return FAIL(e, INVALID, "Slurm refused: %.*s (%lld)", STR_ARG(word), (long long)*ret_number);
    return FAIL(e, UPSTREAM, "slurmrestd answered: %.*s (%lld)", STR_ARG(word), (long long)*ret_number);
}

static enum errc check_taken(int status, struct err *e)
{
    return status == 401 || status == 403
           ? FAIL(e, UPSTREAM, "slurmrestd answered %d: the credential or the account is not taken", status) : ERR_OK;
}

static enum errc read_doc(struct arena *a, int status, struct str body, const struct jval **ret, struct err *e)
{
    TRY(check_taken(status, e));
    return engine_parse(a, body, WHO, ret, e);
}

static enum errc check_status(int status, struct err *e)
{
    return status >= 200 && status < 300 ? ERR_OK : FAIL(e, UPSTREAM, "slurmrestd answered %d", status);
}

enum errc slurm_read_plain(struct arena *a, int status, struct str body, struct err *e)
{
    const struct jval *doc = NULL;
    int64_t number;
    TRY(read_doc(a, status, body, &doc, e));
    const enum errc rc = first_error(a, doc, &number, e);
    if (number == SLURM_ERROR_UNKNOWN_JOB || number == SLURM_ERROR_HAS_ENDED)
        return ERR_OK;
    return rc == ERR_OK ? check_status(status, e) : rc;
}

enum errc slurm_read_ping(struct arena *a, int status, struct str body, struct err *e)
{
    const struct jval *doc = NULL;
    int64_t number;
    TRY(read_doc(a, status, body, &doc, e));
    TRY(first_error(a, doc, &number, e));
    TRY(check_status(status, e));
    const struct jval *pings = jval_get(doc, "pings");
    for (size_t i = 0; i < jval_len(pings); i++)
        if (str_eq_c(jval_str(jval_get(jval_at(pings, i), "ping")), "UP"))
            return ERR_OK;
    return FAIL(e, UPSTREAM, "no controller of Slurm answers its slurmrestd");
}

enum errc slurm_read_submit(struct arena *a, int status, struct str body, struct str *ret_id, struct err *e)
{
    const struct jval *doc = NULL;
    int64_t number;
    TRY(read_doc(a, status, body, &doc, e));
    TRY(first_error(a, doc, &number, e));
    TRY(check_status(status, e));
    const int64_t id = jval_i64(jval_get(doc, "job_id"), 0);
    if (id <= 0)
        return FAIL(e, UPSTREAM, "slurmrestd took a job and named no job_id");
    *ret_id = str_fmt(a, "%lld", (long long)id);
    return ERR_OK;
}

static int64_t count_of(const struct jval *job, const char *name)
{
    const int64_t n = jval_i64(jval_get(job, name), 0);
    return n > 0 ? n : 0;
}

static struct str kept(struct arena *a, const struct jval *job, const char *name)
{
    const struct str s = jval_str(jval_get(job, name));
    return s.ptr ? str_dup(a, s) : s;
}

/* What read_job reads, the name first. */
static const char *const read_of[] = { "name", "job_id", "comment", "user_name", "partition", "job_state", "state_reason",
                                       "node_count", "cpus", "memory_per_node", "time_limit", "restart_cnt", NULL };

static void read_job(struct arena *a, const struct jval *job, struct engine_seen *ret)
{
    const struct str word = engine_word(a, jval_str(jval_get(job, "job_state")));
    *ret = (struct engine_seen){
        .id = str_fmt(a, "%lld", (long long)jval_i64(jval_get(job, "job_id"), 0)), .name = kept(a, job, "name"),
        .comment = kept(a, job, "comment"), .account = kept(a, job, "user_name"), .place = kept(a, job, "partition"),
        .state = slurm_state(word), .word = word,
        .reason = engine_word(a, jval_str(jval_get(job, "state_reason"))), .machines = count_of(job, "node_count"),
        .cpus = count_of(job, "cpus"), .memory_bytes = count_of(job, "memory_per_node") * MIB,
        .minutes = count_of(job, "time_limit"), .is_again = count_of(job, "restart_cnt") > 0 };
}

/* Anybody's job stands in the list, as large as its owner likes: it is no reason not to look at ours. */
enum errc slurm_read_jobs(struct arena *a, int status, struct str body, struct slice *ret, size_t *ret_large, struct err *e)
{
    CLEANUP(arena_freep) struct arena *own = arena_new(ENGINE_OWN_MAX);
    const struct jval *doc = NULL, *job = NULL;
    struct jlist jobs;
    int64_t number, tries;
    struct uuid run;
    bool is_large;
    *ret = (struct slice){ 0 };
    *ret_large = 0;
    TRY(check_taken(status, e));
    TRY(engine_list_open(a, body, WHO, "jobs", &jobs, &doc, e));
    const enum errc rc = first_error(a, doc, &number, e);
    if (number == SLURM_ERROR_UNKNOWN_JOB)
        return ERR_OK;
    TRY(rc);
    TRY(check_status(status, e));
    if (!jlist_is_there(&jobs))
        return FAIL(e, UPSTREAM, WHO "'s list of jobs is missing");
    struct engine_seen *seen = NULL;
    for (size_t n = 0;; n++) {
        TRY(engine_list_next_of(&jobs, own, WHO, read_of[0], &job, &is_large, e));
        if (!job)
            break;
        if (n >= JOBS_MAX || ret->n >= ENGINE_SEEN_MAX)
            return FAIL(e, UPSTREAM, WHO "'s list has more than %d jobs, or %d of ours", JOBS_MAX, ENGINE_SEEN_MAX);
        *ret_large += is_large;
        const struct str name = jval_str(jval_get(job, read_of[0]));
        if (name.len >= ENGINE_NAME_TEXT || !engine_name_read(name, &run, &tries))
            continue;
        if (is_large)
            TRY(engine_list_narrow(&jobs, own, WHO, read_of, &job, e));
        engine_seen_room(a, &seen, ret->n);
        read_job(a, job, &seen[ret->n++]);
    }
    ret->items = seen;
    return ERR_OK;
}
