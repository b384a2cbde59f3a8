/* SPDX-License-Identifier: Apache-2.0 */
/* data_table.c - roles of columns, and cells by their role. */
#include "core/data/data_table_int.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const data_target_names[] = { "class", "number", "flags", "none", NULL };

static const char NO_MEMORY[] = "the header does not fit in memory";

static ptrdiff_t find_name(const struct str *names, size_t n, struct str name)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(names[i], name))
            return (ptrdiff_t)i;
    return -1;
}

static int by_name(const void *x, const void *y)
{
    return str_cmp(*(const struct str *)x, *(const struct str *)y);
}

static enum errc refuse_duplicates(struct arena *a, const char *where, const struct table_plan *p, struct err *e)
{
    struct str *sorted = arena_try(a, p->file_cols * sizeof *sorted);
    if (!sorted)
        return FAIL(e, LIMIT, "%s", NO_MEMORY);
    memcpy(sorted, p->file_names, p->file_cols * sizeof *sorted);
    qsort(sorted, p->file_cols, sizeof *sorted, by_name);
    for (size_t i = 1; i < p->file_cols; i++)
        if (str_eq(sorted[i - 1], sorted[i]))
            return FAIL(e, BAD_DATA, "%s: two columns are named \"%.*s\"", where, STR_ARG(sorted[i]));
    return ERR_OK;
}

static bool is_label(const struct data_schema *s, struct str name)
{
    if (s->target == TARGET_NONE)
        return false;
    if (s->target != TARGET_FLAGS)
        return str_eq(name, s->label);
    return name.len >= s->label.len && !memcmp(name.ptr, s->label.ptr, s->label.len - 1);
}

static enum errc find_labels(const struct data_schema *s, const char *where, struct table_plan *p, size_t *ret_n, struct err *e)
{
    size_t n = 0;
    for (size_t i = 0; i < p->file_cols; i++)
        p->role[i] = is_label(s, p->file_names[i]) ? -1 - (int32_t)n++ : 0;
    *ret_n = n;
    return n || s->target == TARGET_NONE ? ERR_OK
           : FAIL(e, BAD_DATA, "%s: there is no label column \"%.*s\"", where, STR_ARG(s->label));
}

static enum errc drop_ignored(const struct data_schema *s, const char *where, struct table_plan *p, struct err *e)
{
    const struct str *names = s->ignored.items;
    for (size_t i = 0; i < s->ignored.n; i++) {
        ptrdiff_t at = find_name(p->file_names, p->file_cols, names[i]);
        if (at < 0)
            return FAIL(e, BAD_DATA, "%s: there is no column \"%.*s\" to ignore", where, STR_ARG(names[i]));
        if (p->role[at] < 0)
            return FAIL(e, INVALID, "column \"%.*s\" is named twice: as the label or as ignored", STR_ARG(names[i]));
        p->role[at] = ROLE_UNUSED;
    }
    return ERR_OK;
}

static enum errc mark_categories(struct arena *a, const struct data_schema *s, const char *where, struct table_plan *p,
                                 struct data_table *t, struct err *e)
{
    const struct str *names = s->categories.items;
    for (size_t i = 0; i < s->categories.n; i++) {
        ptrdiff_t at = find_name(p->file_names, p->file_cols, names[i]);
        if (at < 0)
            return FAIL(e, BAD_DATA, "%s: there is no column \"%.*s\" of categories", where, STR_ARG(names[i]));
        if (p->role[at] != 0)
            return FAIL(e, INVALID, "column \"%.*s\" is named twice: as the label, as ignored, or as one of categories",
                        STR_ARG(names[i]));
        p->role[at] = ROLE_CATEGORY;
    }
    t->category_count = s->categories.n;
    t->words = arena_try(a, (t->category_count + 1) * sizeof *t->words);
    return t->words ? ERR_OK : FAIL(e, LIMIT, "%s", NO_MEMORY);
}

/* All columns of a role, in the order of the file. */
static void take_role(struct table_plan *p, int32_t role, struct data_table *t, struct str *names, const int32_t *was)
{
    for (size_t i = 0; i < p->file_cols; i++)
        if (was[i] == role) {
            p->role[i] = (int32_t)t->cols;
            names[t->cols++] = p->file_names[i];
        }
}

/* All that has no other role: numbers, then categories. */
static enum errc take_rest(struct arena *a, struct table_plan *p, struct data_table *t, struct str *names, struct err *e)
{
    int32_t *was = arena_try(a, p->file_cols * sizeof *was);
    if (!was)
        return FAIL(e, LIMIT, "%s", NO_MEMORY);
    memcpy(was, p->role, p->file_cols * sizeof *was);
    take_role(p, 0, t, names, was);
    take_role(p, ROLE_CATEGORY, t, names, was);
    return ERR_OK;
}

static enum errc take_asked(const struct data_schema *s, const char *where, struct table_plan *p, struct data_table *t,
                            struct str *names, struct err *e)
{
    for (size_t i = 0; i < p->file_cols; i++)
        p->role[i] = p->role[i] < 0 ? p->role[i] : ROLE_UNUSED;
    for (; t->cols < s->feature_count; t->cols++) {
        struct str name = s->features[t->cols];
        ptrdiff_t at = find_name(p->file_names, p->file_cols, name);
        if (at < 0)
            return FAIL(e, BAD_DATA, "%s: there is no feature column \"%.*s\"", where, STR_ARG(name));
        if (p->role[at] != ROLE_UNUSED)
            return FAIL(e, INVALID, "column \"%.*s\" is asked for twice", STR_ARG(name));
        p->role[at] = (int32_t)t->cols;
        names[t->cols] = p->file_names[at];
    }
    return ERR_OK;
}

enum errc table_plan_make(struct arena *a, const struct data_schema *s, const char *where, struct table_plan *p,
                          struct data_table *t,
                          struct err *e)
{
    size_t labels, room = s->features ? s->feature_count : p->file_cols;
    TRY(refuse_duplicates(a, where, p, e));
    if (room > TABLE_COLUMNS_MAX)
        return FAIL(e, LIMIT, "more than %d columns", TABLE_COLUMNS_MAX);
    p->role = arena_try(a, p->file_cols * sizeof *p->role);
    struct str *names = arena_try(a, (room + 1) * sizeof *names);
    if (!p->role || !names)
        return FAIL(e, LIMIT, "%s", NO_MEMORY);
    TRY(find_labels(s, where, p, &labels, e));
    TRY(drop_ignored(s, where, p, e));
    TRY(mark_categories(a, s, where, p, t, e));
    if (s->features)
        TRY(take_asked(s, where, p, t, names, e));
    else
        TRY(take_rest(a, p, t, names, e));
    if (t->cols == 0)
        return s->target == TARGET_NONE ? FAIL(e, BAD_DATA, "there is no feature column")
               : FAIL(e, BAD_DATA, "there is no feature column besides the label \"%.*s\"", STR_ARG(s->label));
    t->names = names;
    t->target_count = s->target == TARGET_CLASS ? 0 : labels;
    t->classes = s->target == TARGET_FLAGS ? (int64_t)labels : 0;
    return ERR_OK;
}

enum errc table_allocate(struct arena *a, size_t rows, struct data_table *t, struct err *e)
{
    if (rows > TABLE_ROWS_MAX)
        return FAIL(e, LIMIT, "more than %zu rows", TABLE_ROWS_MAX);
    t->x = arena_try(a, rows * t->cols * sizeof *t->x + 64);
    t->labels = arena_try(a, rows * sizeof *t->labels + 64);
    t->targets = t->target_count ? arena_try(a, rows * t->target_count * sizeof *t->targets + 64) : NULL;
    if (!t->x || !t->labels || (t->target_count && !t->targets))
        return FAIL(e, LIMIT, "a table of %zu rows and %zu columns does not fit in the memory of this job", rows, t->cols);
    return ERR_OK;
}

static enum errc put_class(const struct data_schema *s, struct data_table *t, double v, struct err *why)
{
    double top = (double)(s->classes ? s->classes : TABLE_CLASSES_MAX) - 1;
    if (!(v >= 0 && v <= top && v == floor(v)))
        return FAIL(why, BAD_DATA, "the label %g is not an integer of 0 to %.0f", v, top);
    if (t->labels)
        t->labels[t->rows] = (int32_t)v;
    if (v + 1 > (double)t->classes)
        t->classes = (int64_t)v + 1;
    return ERR_OK;
}

static void put_feature(const struct table_plan *p, struct data_table *t, size_t col, float v)
{
    if (t->x)
        t->x[t->rows * t->cols + (size_t)p->role[col]] = v;
}

bool table_is_category(const struct table_plan *p, const struct data_table *t, size_t col)
{
    return p->role[col] >= 0 && (size_t)p->role[col] >= t->cols - t->category_count;
}

enum errc table_put_word(struct arena *a, const struct table_plan *p, struct data_table *t, size_t col, struct str word,
                         struct err *why)
{
    struct words *w = &t->words[(size_t)p->role[col] - (t->cols - t->category_count)];
    size_t before = w->n;
    int32_t number;
    TRY(words_add(a, w, word, before + TABLE_WORDS_MAX - t->word_count, &number, why));
    t->word_count += w->n - before;
    put_feature(p, t, col, (float)number);
    return ERR_OK;
}

enum errc table_put_missing(const struct table_plan *p, const struct data_schema *s, struct data_table *t, size_t col,
                            struct err *why)
{
    if (p->role[col] < 0 || !s->has_missing)
        return FAIL(why, INVALID, "the field is empty%s", p->role[col] < 0 ? "" : "; a data set with missing_values takes it");
    put_feature(p, t, col, (float)NAN);
    return ERR_OK;
}

enum errc table_put(const struct table_plan *p, const struct data_schema *s, struct data_table *t, size_t col, double v,
                    struct err *why)
{
    int32_t role = p->role[col];
    if (role == ROLE_UNUSED)
        return ERR_OK;
    if (role < 0 && s->target == TARGET_CLASS)
        return put_class(s, t, v, why);
    if (role < 0 && s->target == TARGET_FLAGS && v != 0 && v != 1)
        return FAIL(why, BAD_DATA, "the flag %g is neither 0 nor 1", v);
    if (isnan(v) && role >= 0 && s->has_missing)
        return table_put_missing(p, s, t, col, why);
    if (!isfinite(v))
        return FAIL(why, BAD_DATA, "%g is not a finite number", v);
    if (fabs(v) > (double)FLT_MAX)
        return FAIL(why, BAD_DATA, "%g is too large for a 32-bit float", v);
    if (role < 0 && t->targets)
        t->targets[t->rows * t->target_count + (size_t)(-1 - role)] = (float)v;
    else if (role >= 0)
        put_feature(p, t, col, (float)v);
    return ERR_OK;
}

enum errc table_add_row(struct data_table *t, struct err *e)
{
    if (t->rows == TABLE_ROWS_MAX)
        return FAIL(e, LIMIT, "more than %zu rows", TABLE_ROWS_MAX);
    t->rows++;
    return ERR_OK;
}

enum errc table_schema_check(const struct data_schema *s, struct err *e)
{
    if (s->classes < 0 || s->classes > TABLE_CLASSES_MAX)
        return FAIL_AT(e, INVALID, "/classes", "must be 0 to %d", TABLE_CLASSES_MAX);
    if (s->label.len == 0 && s->target != TARGET_NONE)
        return FAIL_AT(e, INVALID, "/label", "the name of the label column is missing");
    if (s->features && s->categories.n)
        return FAIL_AT(e, INVALID, "/features", "are asked for by name only where none is of categories");
    if (s->categories.n > TABLE_CATEGORIES_MAX)
        return FAIL_AT(e, INVALID, "/categories", "are at most %d columns", TABLE_CATEGORIES_MAX);
    if (s->target == TARGET_FLAGS && (s->label.len < 2 || s->label.ptr[s->label.len - 1] != '*'))
        return FAIL_AT(e, INVALID, "/label", "of flags is how the names of their columns begin, and *: topic_*");
    return ERR_OK;
}

enum errc table_finish(const struct data_schema *s, struct data_table *t, struct data_table *ret, struct err *e)
{
    if (!t->rows)
        return FAIL(e, BAD_DATA, "the file has a header but no data row");
    if (s->classes && s->target == TARGET_CLASS)
        t->classes = s->classes;
    *ret = *t;
    return ERR_OK;
}
