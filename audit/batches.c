/* SPDX-License-Identifier: Apache-2.0 */
/* batches.c - a ring of blocks between one caller and the threads that look at lines and sum them. */
#include "audit/batches_int.h"
#include <stdlib.h>
#include "core/base/assert.h"
#include "core/base/thread.h"

void batches_open(struct batches *b, verify_read_fn read, void *ctx, int threads, struct look_room *room)
{
    int64_t spare = thread_processors() - 1;
    *b = (struct batches){ .read = read, .ctx = ctx, .room = room, .after = LINE_HERE,
        .threads_max = threads < 0 ? 0 : threads == 0 ? (int)(spare < BATCH_THREADS_MAX ? spare : BATCH_THREADS_MAX) :
                       threads < BATCH_THREADS_MAX ? threads : BATCH_THREADS_MAX };
    sha256_init(&b->sum);
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->changed, NULL);
}

/* Once it is needed: a small bundle has one. */
static void batch_init(struct batch *x)
{
    x->facts = malloc(BATCH_LINES * sizeof *x->facts);
    x->block.bytes = malloc(LINES_BYTES);
    ASSERT(x->facts && x->block.bytes);
}

/* Reads the next block. Its first bytes are the last line of the block before, for the sum, and the part of a line behind it. */
static void fill(struct batches *b)
{
    struct batch *x = &b->batch[b->filled % BATCHES];
    if (!x->facts)
        batch_init(x);
    x->block.len = x->skip = x->fact_count = 0;
    x->is_looked = false;
    if (b->filled) {
        const struct batch *p = &b->batch[(b->filled - 1) % BATCHES];
        x->block.len = p->block.len - p->sum_to;
        x->skip = p->block.whole - p->sum_to;
        memcpy(x->block.bytes, p->block.bytes + p->sum_to, x->block.len);
    }
    b->after = line_block_fill(b->read, b->ctx, &x->block);
    size_t whole = x->block.whole;
    const char *nl = whole > 1 ? memrchr(x->block.bytes, '\n', whole - 1) : NULL;
    x->sum_to = nl ? (size_t)(nl - x->block.bytes) + 1 : 0;
    if (whole - x->sum_to > AUDIT_LINE_MAX + 1)
        b->after = LINE_LONG;           /* it would not fit in front of the next block, and nobody comes past it */
}

static void look(const struct look_case *c, struct batch *x, struct look_room *room)
{
    struct str rest = str_n(x->block.bytes + x->skip, x->block.whole - x->skip), line;
    x->rest = rest;
    while (x->fact_count < BATCH_LINES && line_cut(&rest, &line) && line.len <= AUDIT_LINE_MAX) {
        verify_look(c, line, room, &x->facts[x->fact_count++]);
        x->rest = rest;
    }
}

/* Under the lock, which is let go meanwhile. False: there is nothing to do at present. */
static bool do_task(struct batches *b, struct look_room *room)
{
    if (!b->is_summing && b->summed < b->filled) {
        struct batch *x = &b->batch[b->summed % BATCHES];
        b->is_summing = true;
        pthread_mutex_unlock(&b->lock);
        sha256_add(&b->sum, x->block.bytes, x->sum_to);
        pthread_mutex_lock(&b->lock);
        b->is_summing = false;
        b->summed++;
    } else if (b->claimed < b->filled) {
        struct batch *x = &b->batch[b->claimed++ % BATCHES];
        pthread_mutex_unlock(&b->lock);
        look(b->look, x, room);
        pthread_mutex_lock(&b->lock);
        x->is_looked = true;
    } else {
        return false;
    }
    pthread_cond_broadcast(&b->changed);
    return true;
}

static struct look_room *room_new(void)
{
    struct look_room *room = malloc(sizeof *room);
    ASSERT(room);
    return room;
}

static void *thread_main(void *arg)
{
    struct batches *b = arg;
    struct look_room *room = room_new();
    pthread_mutex_lock(&b->lock);
    while (!b->is_stopping)
        if (!do_task(b, room))
            pthread_cond_wait(&b->changed, &b->lock);
    pthread_mutex_unlock(&b->lock);
    free(room);
    return NULL;
}

static void start_threads(struct batches *b)
{
    while (b->threads < b->threads_max && pthread_create(&b->thread[b->threads], NULL, thread_main, b) == 0)
        b->threads++;
    b->threads_max = b->threads;
}

enum line_state batches_first(struct batches *b, struct str *ret)
{
    struct batch *x = &b->batch[0];
    fill(b);
    struct str rest = str_n(x->block.bytes, x->block.whole);
    if (!line_cut(&rest, ret))
        return b->after;
    x->skip = ret->len + 1;
    return ret->len > AUDIT_LINE_MAX ? LINE_LONG : LINE_HERE;
}

void batches_look(struct batches *b, const struct look_case *look)
{
    b->look = look;
    b->filled = 1;
}

/* Under the lock: reads what there is room for. A caller without threads reads when it needs to. */
static void fill_up(struct batches *b)
{
    while (b->after == LINE_HERE && b->filled < b->given + BATCHES && b->filled < b->summed + BATCHES &&
           (b->threads_max > 0 || b->filled == b->given)) {
        pthread_mutex_unlock(&b->lock);
        fill(b);
        if (b->threads < b->threads_max)
            start_threads(b);
        pthread_mutex_lock(&b->lock);
        b->filled++;
        pthread_cond_broadcast(&b->changed);
    }
}

/* To the next block; false: there is none. */
static bool advance(struct batches *b)
{
    pthread_mutex_lock(&b->lock);
    b->given += b->current != NULL;
    b->current = NULL;
    for (;;) {
        struct batch *x = &b->batch[b->given % BATCHES];
        fill_up(b);
        if (b->given == b->filled && b->after != LINE_HERE)
            break;
        if (b->given < b->filled && x->is_looked) {
            b->current = x;
            b->at = 0;
            break;
        }
        if (!do_task(b, b->room))
            pthread_cond_wait(&b->changed, &b->lock);
    }
    pthread_mutex_unlock(&b->lock);
    return b->current;
}

enum line_state batches_next(struct batches *b, const struct line_facts **ret)
{
    for (;;) {
        struct batch *x = b->current;
        struct str line;
        if (x && b->at < x->fact_count) {
            *ret = &x->facts[b->at++];
            return LINE_HERE;
        }
        if (x && line_cut(&x->rest, &line)) {
            if (line.len > AUDIT_LINE_MAX)
                return LINE_LONG;
            verify_look(b->look, line, b->room, &b->extra);
            *ret = &b->extra;
            return LINE_HERE;
        }
        if (!advance(b))
            return b->after;
    }
}

void batches_sum(struct batches *b, uint8_t ret[SHA256_BYTES])
{
    pthread_mutex_lock(&b->lock);
    while (b->summed < b->filled)
        if (!do_task(b, b->room))
            pthread_cond_wait(&b->changed, &b->lock);
    pthread_mutex_unlock(&b->lock);
    sha256_final(&b->sum, ret);
}

void batches_close(struct batches *b)
{
    pthread_mutex_lock(&b->lock);
    b->is_stopping = true;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
    for (int i = 0; i < b->threads; i++)
        pthread_join(b->thread[i], NULL);
    pthread_mutex_destroy(&b->lock);
    pthread_cond_destroy(&b->changed);
    sha256_release(&b->sum);
    for (int i = 0; i < BATCHES; i++) {
        free(b->batch[i].facts);
        free(b->batch[i].block.bytes);
    }
}
