/* SPDX-License-Identifier: Apache-2.0 */
/* trace.c - a file as lines, a line as fields by the header's columns. */
#include "scheduler/simulate/trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS_MAX = 64 };
#define FILE_BYTES_MAX ((size_t)2 << 30)

struct column { const char *name; bool is_needed; };

struct table {
    const char *path;
    struct str rest, fields[COLUMNS_MAX];
    int line, nfields, at[16];          /* at: by wanted column, its place in the file; -1: not there */
};

static enum errc read_file(struct arena *a, const char *path, struct str *ret, struct err *e)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return FAIL(e, INVALID, "%s: cannot be read: %s", path, strerror(errno));
    char *p = NULL;
    size_t n = 0;
    long size = fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;
    if (size >= 0 && (size_t)size < FILE_BYTES_MAX)
        p = arena_try(a, (size_t)size + 1);
    if (p && fseek(f, 0, SEEK_SET) == 0)
        n = fread(p, 1, (size_t)size, f);
    (void)fclose(f);                    /* it was only read */
    if (size < 0 || (p && n != (size_t)size))
        return FAIL(e, INVALID, "%s: cannot be read to its end: a file is expected", path);
    if (!p)
        return FAIL(e, LIMIT, "%s: too large: %ld bytes", path, size);
    *ret = str_n(p, n);
    return ERR_OK;
}

#define REFUSE(t, e, fmt, ...) FAIL((e), INVALID, "%s, line %d: " fmt, (t)->path, (t)->line, ##__VA_ARGS__)

/* The next line's fields; *ret_more false: the file is over. */
static enum errc next_line(struct table *t, bool *ret_more, struct err *e)
{
    struct str line, head;
    *ret_more = t->rest.len > 0;
    if (!*ret_more)
        return ERR_OK;
    t->line++;
    (void)str_cut(t->rest, '\n', &line, &t->rest);
    if (line.len && line.ptr[line.len - 1] == '\r')
        line.len--;
    if (memchr(line.ptr, '"', line.len) || memchr(line.ptr, 0, line.len))
        return REFUSE(t, e, "holds a quote or a zero byte: the format has neither");
    bool more = true;
    for (t->nfields = 0; more; t->fields[t->nfields++] = head) {
        if (t->nfields == COLUMNS_MAX)
            return REFUSE(t, e, "more than %d columns", COLUMNS_MAX);
        more = str_cut(line, ',', &head, &line);
    }
    return ERR_OK;
}

static enum errc read_header(struct table *t, const struct column *columns, int n, struct err *e)
{
    bool more;
    TRY(next_line(t, &more, e));
    if (!more)
        return REFUSE(t, e, "empty: a header with the column %s is expected", columns[0].name);
    for (int i = 0; i < n; i++) {
        t->at[i] = -1;
        for (int k = 0; k < t->nfields; k++) {
            if (!str_eq_c(t->fields[k], columns[i].name))
                continue;
            if (t->at[i] >= 0)
                return REFUSE(t, e, "column %s stands twice", columns[i].name);
            t->at[i] = k;
        }
        if (t->at[i] < 0 && columns[i].is_needed)
            return REFUSE(t, e, "column %s is missing", columns[i].name);
    }
    return ERR_OK;
}

static enum errc next_row(struct table *t, int nfields, bool *ret_more, struct err *e)
{
    TRY(next_line(t, ret_more, e));
    if (*ret_more && t->nfields != nfields)
        return REFUSE(t, e, "%d fields, the header has %d", t->nfields, nfields);
    return ERR_OK;
}

static struct str field(const struct table *t, int column)
{
    return t->at[column] < 0 ? STR("") : t->fields[t->at[column]];
}

static enum errc whole(const struct table *t, const struct column *columns, int column, int64_t max, int64_t *ret, struct err *e)
{
    struct str s = field(t, column);
    if (!str_to_i64(s, 0, max, ret))
        return REFUSE(t, e, "%s: a whole number of 0 to %ld is expected, \"%.*s\" came", columns[column].name, (long)max,
                      STR_ARG(s));
    return ERR_OK;
}

static enum errc seconds(const struct table *t, const struct column *columns, int column, int64_t *ret, struct err *e)
{
    *ret = TRACE_TIME_UNKNOWN;
    return field(t, column).len ? whole(t, columns, column, TRACE_SECONDS_MAX, ret, e) : ERR_OK;
}

static size_t lines_of(struct str text)
{
    size_t n = 1;
    for (const char *p = text.ptr, *end = p + text.len; p && (p = memchr(p, '\n', (size_t)(end - p))); p++)
        n++;
    return n;
}

static int group_of(const struct trace *t, struct str model)
{
    for (unsigned i = 0; i < t->nmodels; i++)
        if (str_eq(t->models[i], model))
            return (int)i;
    return -1;
}

static int by_name(const void *a, const void *b)
{
    const struct trace_machine *const *x = a, *const *y = b;
    return str_cmp((*x)->name, (*y)->name);
}

static enum errc names_differ(struct arena *a, const struct table *t, const struct trace *tr, struct err *e)
{
    const struct trace_machine **sorted = ARENA_ARRAY(a, const struct trace_machine *, tr->machines.n + 1);
    for (size_t i = 0; i < tr->machines.n; i++)
        sorted[i] = &tr->machines.items[i];
    qsort(sorted, tr->machines.n, sizeof *sorted, by_name);
    for (size_t i = 1; i < tr->machines.n; i++)
        if (by_name(&sorted[i - 1], &sorted[i]) == 0) {
            const struct trace_machine *later = sorted[i - 1] > sorted[i] ? sorted[i - 1] : sorted[i];
            return FAIL(e, INVALID, "%s, line %d: machine %.*s stands twice", t->path, (int)(later - tr->machines.items) + 2,
                        STR_ARG(later->name));
        }
    return ERR_OK;
}

enum errc trace_read_machines(struct arena *a, const char *path, struct trace *tr, struct err *e)
{
    static const struct column columns[] = { { "sn", true }, { "cpu_milli", true }, { "memory_mib", true }, { "gpu", true },
                                             { "model", true } };
    struct table t = { .path = path };
    TRY(read_file(a, path, &t.rest, e));
    tr->machines.items = ARENA_ARRAY(a, struct trace_machine, lines_of(t.rest));
    TRY(read_header(&t, columns, 5, e));
    const int nfields = t.nfields;
    for (bool more;;) {
        TRY(next_row(&t, nfields, &more, e));
        if (!more)
            break;
        struct trace_machine *m = &tr->machines.items[tr->machines.n];
        int64_t memory_mib, gpus;
        if (tr->machines.n++ == TRACE_MACHINES_MAX)
            return REFUSE(&t, e, "more than %d machines", TRACE_MACHINES_MAX);
        m->name = field(&t, 0);
        if (!m->name.len)
            return REFUSE(&t, e, "sn: a name is expected, nothing came");
        TRY(whole(&t, columns, 1, CPU_MILLI_MAX, &m->all.cpu_milli, e));
        TRY(whole(&t, columns, 2, MEMORY_BYTES_MAX >> 20, &memory_mib, e));
        TRY(whole(&t, columns, 3, MACHINE_GPUS_MAX, &gpus, e));
        m->all.memory_bytes = memory_mib << 20;
        m->all.gpus = (uint16_t)gpus;
        for (int i = 0; i < gpus; i++)
            m->all.milli[i] = GPU_MILLI;
        int group = group_of(tr, field(&t, 4));
        if (group < 0 && tr->nmodels == GROUPS_MAX)
            return REFUSE(&t, e, "more than %d models", GROUPS_MAX);
        if (group < 0)
            tr->models[group = (int)tr->nmodels++] = field(&t, 4);
        m->all.group = (uint16_t)group;
    }
    if (!tr->machines.n)
        return REFUSE(&t, e, "no machine");
    return names_differ(a, &t, tr, e);
}

/* Models that no machine has serve nobody. */
static void read_spec(const struct trace *tr, struct str spec, struct groups *ret)
{
    if (!spec.len)
        memset(ret, 0xff, sizeof *ret);
    for (struct str one; spec.len;) {
        (void)str_cut(spec, '|', &one, &spec);
        int group = group_of(tr, one);
        if (group >= 0)
            groups_add(ret, (unsigned)group);
    }
}

enum errc trace_read_tasks(struct arena *a, const char *path, struct trace *tr, struct err *e)
{
    static const struct column columns[] = { { "name", true }, { "cpu_milli", true }, { "memory_mib", true }, { "num_gpu", true },
                                             { "gpu_milli", true }, { "gpu_spec", false }, { "qos", false }, { "creation_time",
                                                                                                               false },
                                             { "deletion_time", false }, { "scheduled_time", false } };
    struct table t = { .path = path };
    TRY(read_file(a, path, &t.rest, e));
    tr->tasks.items = ARENA_ARRAY(a, struct trace_task, lines_of(t.rest));
    TRY(read_header(&t, columns, 10, e));
    tr->has_times = t.at[7] >= 0 && t.at[8] >= 0;
    const int nfields = t.nfields;
    for (bool more;;) {
        TRY(next_row(&t, nfields, &more, e));
        if (!more)
            break;
        struct trace_task *k = &tr->tasks.items[tr->tasks.n];
        int64_t memory_mib, gpus, milli;
        if (tr->tasks.n++ == TRACE_TASKS_MAX)
            return REFUSE(&t, e, "more than %d tasks", TRACE_TASKS_MAX);
        TRY(whole(&t, columns, 1, CPU_MILLI_MAX, &k->ask.cpu_milli, e));
        TRY(whole(&t, columns, 2, MEMORY_BYTES_MAX >> 20, &memory_mib, e));
        TRY(whole(&t, columns, 3, MACHINE_GPUS_MAX, &gpus, e));
        TRY(whole(&t, columns, 4, GPU_MILLI, &milli, e));
        k->ask.memory_bytes = memory_mib << 20;
        k->ask.gpus = (int32_t)gpus;
        k->ask.gpu_milli = (int32_t)milli;
        if (!ask_is_valid(&k->ask))
            return REFUSE(&t, e, "num_gpu %ld with gpu_milli %ld: 0 with 0, 1 with 1 to 1000, or several with 1000 are expected",
                          (long)gpus, (long)milli);
        read_spec(tr, field(&t, 5), &k->ask.groups);
        k->qos = field(&t, 6);
        TRY(seconds(&t, columns, 7, &k->created_s, e));
        TRY(seconds(&t, columns, 8, &k->deleted_s, e));
        TRY(seconds(&t, columns, 9, &k->scheduled_s, e));
    }
    if (!tr->tasks.n)
        return REFUSE(&t, e, "no task");
    return ERR_OK;
}
