/* SPDX-License-Identifier: Apache-2.0 */
/* array_tasks.c - the index is put into the text of the spec, where it is digits between two quotes whatever stands around it,
 * and what comes out is read again by the schema: so a member takes "{{index}}" where its form allows it, and nowhere is it
 * decided twice. */
#include "scheduler/jobs/array_tasks.h"
#include <string.h>
#include "core/base/cleanup.h"
#include "core/json/decode.h"
#include "core/json/encode.h"
#include "core/wire/job_type.h"
#include "core/wire/type_run.h"

#define PLACEHOLDER "{{index}}"
#define VARIABLE RUN_ARRAY_INDEX "="
enum { SPEC_MAX = 65536 + 4096 };

static bool number(struct str s, int64_t most, int64_t *ret)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] < '0' || s.ptr[i] > '9')
            return false;
    return s.len && str_to_i64(s, 0, most, ret);
}

enum errc array_range_of(struct str text, struct array_range *ret, struct err *e)
{
    struct str range, most, ends, step, first, last;
    struct array_range r = { .step = 1, .most = ARRAY_MOST_MAX };
    const bool has_most = str_cut(text, '%', &range, &most), has_step = str_cut(has_most ? range : text, ':', &ends, &step);
    if (!has_step)
        ends = has_most ? range : text;
    const bool is_range = str_cut(ends, '-', &first, &last);
    int64_t end;
    if (!is_range)
        first = last = ends;
    if (!number(first, INT64_MAX, &r.first) || !number(last, INT64_MAX, &end) || (has_step && (!is_range || !number(step,
        INT64_MAX, &r.step)))
        || (has_most && !number(most, INT64_MAX, &r.most)))
        return FAIL(e, UNPROCESSABLE, "must be FIRST-LAST, FIRST-LAST:STEP or INDEX, with %%MOST behind it or not, such as "
                                      "0-99%%8;"
                    " got '%.*s'", STR_ARG(text));
    if (r.first > ARRAY_INDEX_MAX || end > ARRAY_INDEX_MAX)
        return FAIL(e, UNPROCESSABLE, "has indexes from 0 to %d; %ld was asked", ARRAY_INDEX_MAX, (long)(end > r.first ? end
                                                                                                         : r.first));
    if (end < r.first)
        return FAIL(e, UNPROCESSABLE, "has its last index (%ld) before its first (%ld)", (long)end, (long)r.first);
    if (r.step < 1)
        return FAIL(e, UNPROCESSABLE, "has a step of at least 1; 0 was asked");
    if (r.most < 1)
        return FAIL(e, UNPROCESSABLE, "lets at least 1 task run at once (%%1); %%0 was asked");
    r.total = (end - r.first) / r.step + 1;
    if (r.total > ARRAY_TASKS_MAX)
        return FAIL(e, UNPROCESSABLE, "has at most %d tasks; %ld were asked", ARRAY_TASKS_MAX, (long)r.total);
    if (has_most && r.most > ARRAY_MOST_MAX)
        return FAIL(e, UNPROCESSABLE, "lets at most %d tasks run at once; %%%ld was asked", ARRAY_MOST_MAX, (long)r.most);
    *ret = r;
    return ERR_OK;
}

static struct str put_index(struct str spec, int64_t index, struct arena *a)
{
    CLEANUP(buf_releasep) struct buf b = BUF(SPEC_MAX);
    size_t from = 0;
    for (size_t i = 0; i + sizeof PLACEHOLDER - 1 <= spec.len; i++)
        if (!memcmp(spec.ptr + i, PLACEHOLDER, sizeof PLACEHOLDER - 1)) {
            buf_add(&b, spec.ptr + from, i - from);
            buf_add_i64(&b, index);
            i += sizeof PLACEHOLDER - 2;
            from = i + 1;
        }
    buf_add(&b, spec.ptr + from, spec.len - from);
    return str_dup(a, buf_str(&b));
}

/* Its variable, behind those it has; one of that name comes from a task that was submitted again, and goes. */
static void add_variable(struct slice *env, int64_t index, struct arena *a)
{
    const struct str *had = env->items;
    struct str *all = ARENA_ARRAY(a, struct str, env->n + 1);
    size_t n = 0;
    for (size_t i = 0; i < env->n; i++)
        if (!str_starts(had[i], VARIABLE))
            all[n++] = had[i];
    all[n++] = str_fmt(a, VARIABLE "%ld", (long)index);
    *env = (struct slice){ all, n };
}

enum errc array_task_spec(int kind, struct str spec, int64_t index, struct arena *a, struct str *ret, struct err *e)
{
    CLEANUP(buf_releasep) struct buf b = BUF(SPEC_MAX);
    const struct schema *schema = job_types[kind].spec;
    const struct field *env = schema_find(schema, STR("env"));
    void *v = arena_alloc(a, schema->size);
    TRY(json_decode(schema, put_index(spec, index, a), a, v, e));
    if (env && env->type == FT_LIST && env->item == FT_STR) {
        add_variable(field_at(env, v), index, a);
        if ((int64_t)((const struct slice *)field_at(env, v))->n > field_max(env))
            return FAIL_AT(e, UNPROCESSABLE, "/env", "has at most %ld variables in an array, which adds one; %ld came",
                           (long)field_max(env) - 1, (long)field_max(env));
    }
    json_encode(schema, v, &b);
    *ret = str_dup(a, buf_str(&b));
    return ERR_OK;
}

struct str array_task_name(struct str name, int64_t index, struct arena *a)
{
    return str_fmt(a, "%.*s[%ld]", STR_ARG(name), (long)index);
}

bool array_task_name_fits(struct str name)
{
    return name.len && name.ptr[name.len - 1] == ']';
}
