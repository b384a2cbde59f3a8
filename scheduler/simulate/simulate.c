/* SPDX-License-Identifier: Apache-2.0 */
/* simulate.c - options, files and the report around run.h. */
#include "scheduler/simulate/simulate.h"
#include "scheduler/simulate/run.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { DONE = 0, NOT_WRITTEN = 1, BAD_INPUT = 2 };
#define MEMORY_MAX ((size_t)8 << 30)

struct options {
    const char *nodes, *tasks, *policy, *seed, *inflate, *placements;
    bool in_order, timed, help;
};

static const char usage[] =
    "usage: falaj-scheduler simulate --nodes NODES.csv --tasks TASKS.csv --policy NAME\n"
    "           [--seed N [--inflate BY] | --in-order] [--timed] [--placements OUT.csv]\n";

static enum errc parse(int argc, char **argv, struct options *o, struct err *e)
{
    const struct { const char *name; const char **text; bool *flag; } known[] = {
        { "--nodes", &o->nodes, NULL }, { "--tasks", &o->tasks, NULL }, { "--policy", &o->policy, NULL }, { "--seed", &o->seed,
                                                                                                            NULL },
        { "--inflate", &o->inflate, NULL }, { "--placements", &o->placements, NULL }, { "--in-order", NULL, &o->in_order },
        { "--timed", NULL, &o->timed }, { "--help", NULL, &o->help } };
    for (int i = 1; i < argc; i++) {
        size_t k = 0, n = sizeof known / sizeof *known, len = strcspn(argv[i], "=");
        while (k < n && (strlen(known[k].name) != len || strncmp(argv[i], known[k].name, len) != 0))
            k++;
        if (k == n)
            return FAIL(e, INVALID, "unknown option %s", argv[i]);
        if (known[k].flag ? *known[k].flag : *known[k].text != NULL)
            return FAIL(e, INVALID, "%s stands twice", known[k].name);
        if (known[k].flag && argv[i][len])
            return FAIL(e, INVALID, "%s takes no value", known[k].name);
        if (known[k].flag)
            *known[k].flag = true;
        else if (argv[i][len])
            *known[k].text = argv[i] + len + 1;
        else if (++i < argc)
            *known[k].text = argv[i];
        else
            return FAIL(e, INVALID, "%s: a value is expected after it", known[k].name);
    }
    return ERR_OK;
}

/* "1.3" as thousandths. */
static bool milli_of(struct str s, int64_t *ret)
{
    struct str whole, part;
    int64_t w, p = 0;
    bool has_part = str_cut(s, '.', &whole, &part);
    if (!str_to_i64(whole, 0, 1000, &w) || (has_part && (part.len > 3 || !str_to_i64(part, 0, 999, &p))))
        return false;
    for (size_t i = has_part ? part.len : 3; i < 3; i++)
        p *= 10;
    *ret = w * 1000 + p;
    return *ret > 0;
}

struct ways { enum score_policy policy; int64_t seed, inflate_milli; };

static enum errc check(const struct options *o, struct ways *ret, struct err *e)
{
    if (!o->nodes || !o->tasks || !o->policy)
        return FAIL(e, INVALID, "%s is missing", !o->nodes ? "--nodes" : !o->tasks ? "--tasks" : "--policy");
    if ((ret->policy = score_by_name(str_c(o->policy))) == SCORE_COUNT)
        return FAIL(e, INVALID, "--policy: default, fgd, bestfit, random, dotprod or packing is expected, \"%s\" came",
                    o->policy);
    if (o->in_order && (o->seed || o->inflate))
        return FAIL(e, INVALID, "--in-order goes with neither --seed nor --inflate");
    if (o->timed && (o->seed || o->inflate))
        return FAIL(e, INVALID, "--timed plays tasks at their own times: it goes with neither --seed nor --inflate");
    if (o->inflate && !o->seed)
        return FAIL(e, INVALID, "--inflate draws tasks by chance: give --seed N");
    if (o->seed && !str_to_i64(str_c(o->seed), 0, INT64_MAX, &ret->seed))
        return FAIL(e, INVALID, "--seed: a whole number from 0 is expected, \"%s\" came", o->seed);
    if (o->inflate && !milli_of(str_c(o->inflate), &ret->inflate_milli))
        return FAIL(e, INVALID, "--inflate: a number of 0.001 to 1000 is expected, as 1.3; \"%s\" came", o->inflate);
    return ERR_OK;
}

static enum errc write_seats(const char *path, const struct trace *t, const struct run_result *r, struct err *e)
{
    FILE *f = fopen(path, "wb");
    if (!f)
        return FAIL(e, INTERNAL, "%s: cannot be written: %s", path, strerror(errno));
    fputs("task_index,node,gpu_indices,gpu_milli\n", f);
    for (size_t i = 0; i < r->seats.n; i++) {
        const struct run_seat *s = &r->seats.items[i];
        struct str node = t->machines.items[s->seat.machine].name;
        const char *between = "";
        fprintf(f, "%u,%.*s,", s->task, STR_ARG(node));
        for (int g = 0; s->seat.devices >> g; g++)
            if (s->seat.devices >> g & 1) {
                fprintf(f, "%s%d", between, g);
                between = ";";
            }
        fprintf(f, ",%d\n", t->tasks.items[s->task].ask.gpu_milli);
    }
    bool is_bad = ferror(f) != 0;
    if (fclose(f) != 0 || is_bad)
        return FAIL(e, INTERNAL, "%s: could not be written to its end: %s", path, strerror(errno));
    return ERR_OK;
}

static void print_ppm(const char *name, int64_t ppm)
{
    printf(", \"%s\": %ld.%04ld", name, (long)(ppm / 10000), (long)(ppm % 10000));
}

static bool report(const struct run_result *r, bool is_timed)
{
    int64_t per_s = (int64_t)((__int128)r->tasks * 1000000 / (r->wall_us > 0 ? r->wall_us : 1));
    printf("{\"tasks\": %ld, \"placed\": %ld, \"failed\": %ld", (long)r->tasks, (long)r->placed, (long)r->failed);
    print_ppm("gpu_allocated_pct", r->gpu_ppm);
    print_ppm("cpu_allocated_pct", r->cpu_ppm);
    printf(", \"decisions_per_s\": %ld, \"wall_s\": %ld.%06ld", (long)per_s, (long)(r->wall_us / 1000000),
           (long)(r->wall_us % 1000000));
    if (is_timed) {
        int64_t mean = r->placed ? r->wait_s_sum / r->placed : 0;
        printf(", \"wait_mean_s\": %ld, \"wait_p50_s\": %ld, \"wait_p99_s\": %ld, \"wait_max_s\": %ld", (long)mean,
               (long)r->wait_s_p50,
               (long)r->wait_s_p99, (long)r->wait_s_max);
        print_ppm("fairness_pct", r->fairness_ppm);
        printf(", \"preempted\": 0");   /* no policy here takes anything back */
    }
    return puts("}") >= 0 && fflush(stdout) == 0;
}

static enum errc simulate(const struct options *o, struct arena *a, bool *ret_written, struct err *e)
{
    struct ways ways = { 0 };
    struct trace *t = ARENA_NEW(a, struct trace);
    struct run_result r;
    TRY(check(o, &ways, e));
    TRY(trace_read_machines(a, o->nodes, t, e));
    TRY(trace_read_tasks(a, o->tasks, t, e));
    if (o->timed && !t->has_times)
        return FAIL(e, INVALID, "%s, line 1: --timed needs the columns creation_time and deletion_time", o->tasks);
    uint32_t *order = NULL;
    size_t n = t->tasks.n;
    if (o->seed && !(order = run_shuffled(a, t, (uint64_t)ways.seed, ways.inflate_milli, &n)))
        return FAIL(e, LIMIT, "--inflate %s: more than %d tasks would be drawn", o->inflate ? o->inflate : "1", TRACE_TASKS_MAX);
    if (o->timed)
        run_timed(a, t, ways.policy, (uint64_t)ways.seed, &r);
    else
        run_untimed(a, t, ways.policy, (uint64_t)ways.seed, order, n, &r);
    *ret_written = false;
    if (o->placements)
        TRY(write_seats(o->placements, t, &r, e));
    *ret_written = report(&r, o->timed);
    return *ret_written ? ERR_OK : FAIL(e, INTERNAL, "standard output could not be written");
}

int simulate_main(int argc, char **argv)
{
    struct options o = { 0 };
    struct err e = { 0 };
    bool is_written = true;
    enum errc rc = parse(argc, argv, &o, &e);
    if (rc == ERR_OK && o.help)
        return fputs(usage, stdout) >= 0 && fflush(stdout) == 0 ? DONE : NOT_WRITTEN;
    if (rc == ERR_OK) {
        struct arena *a = arena_new(MEMORY_MAX);
        rc = simulate(&o, a, &is_written, &e);
        arena_free(a);
    } else {
        fputs(usage, stderr);
    }
    if (rc == ERR_OK)
        return DONE;
    fprintf(stderr, "falaj-scheduler simulate: %s\n", e.msg);
    return is_written ? BAD_INPUT : NOT_WRITTEN;
}
