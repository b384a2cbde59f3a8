/* SPDX-License-Identifier: Apache-2.0 */
/* run_lines.c - lines are sent one by one and wait for the agent, so a program that writes fast is held up, and nobody else. */
#include "workers/lease/run_lines.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>
#include "core/base/cleanup.h"
#include "core/json/jsonvalue.h"

enum { READ_BYTES = 16384, METRIC_DEPTH = 2, METRIC_MEMBERS_MAX = 64, METRIC_NAME_MAX = 64, METRIC_BYTES = 3500,
    NOTE_MAX = 1000 };
static const char streams[] = { [BOX_STDOUT] = 'o', [BOX_STDERR] = 'e', [BOX_METRICS] = 'o' };
static const size_t SCRATCH = (size_t)1 << 20;

static void send_line(char stream, struct str text)
{
    if (frame_send(FRAME_FD, FRAME_LINE, str_n(&stream, 1), text, NULL, 0, true, NULL) != ERR_OK)
        return;                         /* the agent is gone, and so is who would read it */
}

void run_note(const struct child *c, const char *fmt, ...)
{
    char line[NOTE_MAX];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    (void)c;
    send_line('s', str_n(line, n < 0 ? 0 : n < NOTE_MAX ? (size_t)n : NOTE_MAX - 1));
}

/* Letters that need no escape, in JSON and elsewhere. */
static bool is_name(const char *s)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-";
    size_t n = strlen(s);
    return n > 0 && n <= METRIC_NAME_MAX && strspn(s, letters) == n;
}

/* Numbers by name, and the step beside them. false: it is none, and stays a line. */
static bool read_metric(struct run_lines *l, struct str text, struct buf *ret, int64_t *ret_step)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(SCRATCH);
    const struct jval *v;
    bool has_value = false;
    if (jval_parse(a, text, METRIC_DEPTH, &v, NULL) != ERR_OK || jval_type(v) != JT_OBJECT || jval_len(v) > METRIC_MEMBERS_MAX)
        return false;
    *ret_step = jval_i64(jval_get(v, "step"), l->steps);
    for (struct jval_iter it = jval_iter(v); jval_next(&it);) {
        enum jtype type = jval_type(it.value);
        if ((type != JT_INT && type != JT_REAL) || !isfinite(jval_f64(it.value, NAN)) || !is_name(it.name))
            return false;
        has_value = has_value || strcmp(it.name, "step") != 0;
    }
    return has_value && *ret_step >= 0 && jval_encode(v, false, ret);
}

static bool take_metric(struct run_lines *l, struct str text)
{
    int64_t step;
    CLEANUP(buf_releasep) struct buf json = BUF(METRIC_BYTES);
    if (!read_metric(l, text, &json, &step))
        return false;
    l->steps = step + 1;
    child_metric(l->c, step, buf_str(&json));
    return true;
}

static void take_line(struct run_lines *l, enum box_pipe which, struct str line)
{
    const size_t mark = sizeof RUN_METRIC_MARK - 1;
    if (line.len && line.ptr[line.len - 1] == '\r')
        line.len--;
    if (which == BOX_METRICS && take_metric(l, line))
        return;
    if (which == BOX_STDOUT && str_starts(line, RUN_METRIC_MARK) && take_metric(l, str_n(line.ptr + mark, line.len - mark)))
        return;
    if (which == BOX_STDERR && str_trim(line).len)
        snprintf(l->last_error, sizeof l->last_error, "%.*s", line.len < sizeof l->last_error ? (int)line.len
            : (int)sizeof l->last_error - 1,
                 line.ptr);
    if (l->logged + line.len > RUN_LOG_MAX) {
        l->dropped++;
        return;
    }
    l->logged += line.len + 1;
    send_line(streams[which], line);
}

static void take_byte(void *ctx, char c)
{
    struct run_pipe *p = ctx;
    if (c != '\n')
        p->text[p->n++] = c;
    if (c == '\n' || p->n == RUN_LINE_MAX) {
        take_line(p->of, p->which, str_n(p->text, p->n));
        p->n = 0;
    }
}

enum errc run_lines_begin(struct run_lines *l, const struct child *c, const struct mask *mask, struct err *e)
{
    *l = (struct run_lines){ .c = c };
    for (int i = 0; i < BOX_STATUS; i++) {
        l->part[i].of = l;
        l->part[i].which = (enum box_pipe)i;
        TRY(mask_begin(&l->part[i].mask, mask, take_byte, &l->part[i], e));
    }
    return ERR_OK;
}

bool run_lines_read(struct run_lines *l, enum box_pipe which, int fd)
{
    char room[READ_BYTES];
    ssize_t n = read(fd, room, sizeof room);
    if (n > 0)
        mask_feed(&l->part[which].mask, room, (size_t)n);
    return n > 0;
}

void run_lines_end(struct run_lines *l)
{
    for (int i = 0; i < BOX_STATUS; i++) {
        mask_flush(&l->part[i].mask);
        mask_end(&l->part[i].mask);
        if (l->part[i].n)
            take_line(l, (enum box_pipe)i, str_n(l->part[i].text, l->part[i].n));
        l->part[i].n = 0;
    }
    if (l->dropped)
        run_note(l->c, "warning: %zu lines were dropped: an attempt's log holds %d bytes", l->dropped, RUN_LOG_MAX);
}
