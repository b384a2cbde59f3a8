/* SPDX-License-Identifier: Apache-2.0 */
/* queue.c - lines of callers. Few are busy at once, so the fairest is found by looking at each. */
#include "workers/compute/infer/queue.h"

static struct queue_line *line_of(struct infer_queue *q, uint64_t caller)
{
    uint64_t h = caller * UINT64_C(0x9e3779b97f4a7c15);
    return &q->lines[(h ^ h >> 32) % QUEUE_LINES];
}

static void take_out(struct infer_queue *q, struct queue_line *l, struct infer_request *r)
{
    *(r->prev ? &r->prev->next : &l->head) = r->next;
    *(r->next ? &r->next->prev : &l->tail) = r->prev;
    r->next = r->prev = NULL;
    l->rows -= r->rows;
    l->requests--;
    q->rows -= r->rows;
    q->requests--;
    size_t at = 0;
    for (; !l->head && &q->lines[q->busy[at]] != l; at++)
        ;
    if (!l->head)
        q->busy[at] = q->busy[--q->busy_count];
}

static bool is_full(const struct infer_queue *q, size_t rows)
{
    return q->rows && (q->requests >= q->requests_max || rows > q->rows_max || q->rows > q->rows_max - rows);
}

/* Who has most of what there is too much of. */
static struct queue_line *longest(struct infer_queue *q, bool by_requests)
{
    struct queue_line *most = NULL;
    for (size_t i = 0; i < q->busy_count; i++) {
        struct queue_line *l = &q->lines[q->busy[i]];
        if (!most || (by_requests ? l->requests > most->requests : l->rows > most->rows))
            most = l;
    }
    return most;
}

/* Makes room, as long as somebody has more than r's caller would have with it. */
static bool make_room(struct infer_queue *q, const struct queue_line *own, size_t rows, struct infer_request **gone)
{
    while (is_full(q, rows)) {
        bool by_requests = q->requests >= q->requests_max;
        struct queue_line *l = longest(q, by_requests);
        if (l == own || (by_requests ? l->requests <= own->requests + 1 : l->rows <= own->rows + rows))
            return false;
        struct infer_request *last = l->tail;
        take_out(q, l, last);
        last->next = *gone;
        *gone = last;
    }
    return true;
}

static int64_t priority_of(const struct infer_request *r)
{
    return r->priority ? r->priority : QUEUE_PRIORITY_USUAL;
}

/* Behind all of the line that are as urgent. */
static void put_in(struct queue_line *l, struct infer_request *r)
{
    r->prev = l->tail;
    while (r->prev && priority_of(r->prev) > priority_of(r))
        r->prev = r->prev->prev;
    r->next = r->prev ? r->prev->next : l->head;
    *(r->prev ? &r->prev->next : &l->head) = r;
    *(r->next ? &r->next->prev : &l->tail) = r;
}

int64_t queue_late_at(const struct infer_queue *q, const struct infer_request *r)
{
    int64_t timeout_us = r->timeout_us && (!q->timeout_us || r->timeout_us < q->timeout_us) ? r->timeout_us : q->timeout_us;
    return !timeout_us || timeout_us > INT64_MAX - r->arrived_us ? INT64_MAX : r->arrived_us + timeout_us;
}

bool queue_put(struct infer_queue *q, struct infer_request *r, int64_t now_us, struct infer_request **ret_gone)
{
    struct queue_line *l = line_of(q, r->caller);
    *ret_gone = NULL;
    if (!make_room(q, l, r->rows, ret_gone))
        return false;
    if (!l->head) {
        l->start = l->start > q->start ? l->start : q->start;
        q->busy[q->busy_count++] = (unsigned short)(l - q->lines);
    }
    r->arrived_us = now_us;
    q->late_us = queue_late_at(q, r) < q->late_us ? queue_late_at(q, r) : q->late_us;
    put_in(l, r);
    l->rows += r->rows;
    l->requests++;
    q->rows += r->rows;
    q->requests++;
    return true;
}

int64_t queue_due_us(const struct infer_queue *q)
{
    int64_t oldest = INT64_MAX;
    if (q->rows >= q->batch_rows)
        return 0;
    for (size_t i = 0; i < q->busy_count; i++) {
        const struct infer_request *r = q->lines[q->busy[i]].head;
        oldest = r->arrived_us < oldest ? r->arrived_us : oldest;
    }
    return oldest == INT64_MAX ? oldest : oldest + q->delay_us;
}

static struct queue_line *fairest(struct infer_queue *q)
{
    struct queue_line *least = NULL;
    for (size_t i = 0; i < q->busy_count; i++) {
        struct queue_line *l = &q->lines[q->busy[i]];
        if (!least || l->start < least->start || (l->start == least->start && l->head->arrived_us < least->head->arrived_us))
            least = l;
    }
    return least;
}

struct infer_request *queue_cut(struct infer_queue *q, int64_t now_us, struct infer_request **ret_late)
{
    struct infer_request *first = NULL, **end = &first;
    size_t rows = 0;
    *ret_late = NULL;
    for (struct queue_line *l; (l = fairest(q));) {
        struct infer_request *r = l->head;
        bool is_late = now_us > queue_late_at(q, r);
        if (!is_late && rows && rows + r->rows > q->batch_rows)
            break;
        q->start = l->start;
        take_out(q, l, r);
        if (is_late) {
            r->next = *ret_late;
            *ret_late = r;
            continue;
        }
        l->start += r->rows;
        rows += r->rows;
        *end = r;
        end = &r->next;
    }
    return first;
}

struct infer_request *queue_late(struct infer_queue *q, int64_t now_us)
{
    struct infer_request *late = NULL;
    if (now_us <= q->late_us)
        return NULL;
    q->late_us = INT64_MAX;
    for (size_t at = 0; at < q->busy_count;) {
        struct queue_line *l = &q->lines[q->busy[at]];
        for (struct infer_request *r = l->head, *next; r; r = next) {
            const int64_t due = queue_late_at(q, r);
            next = r->next;
            if (now_us <= due) {
                q->late_us = due < q->late_us ? due : q->late_us;
                continue;
            }
            take_out(q, l, r);
            r->next = late;
            late = r;
        }
        at += l->head != NULL;          /* an empty line has given its place to another */
    }
    return late;
}
