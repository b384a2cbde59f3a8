/* SPDX-License-Identifier: Apache-2.0 */
/* lines.c - the lines of a bundle from a reader, and their sum on a thread of its own.
 *
 * A verifier hashes every byte twice: each event for its leaf, and all lines for the end line. The second is one long chain of
 * blocks that nothing else waits for, which makes it the part to give away: one hand-over for each buffer of a quarter of a megabyte. */
#include "audit/lines_int.h"
#include <stdlib.h>
#include "core/base/assert.h"

static char *half_new(void)
{
    char *p = malloc(LINES_BYTES);
    ASSERT(p);
    return p;
}

void lines_open(struct line_feed *l, verify_read_fn read, void *ctx)
{
    *l = (struct line_feed){ .read = read, .ctx = ctx, .half = { half_new() } };
    sha256_init(&l->sum);
    pthread_mutex_init(&l->summer.lock, NULL);
    pthread_cond_init(&l->summer.changed, NULL);
}

static void *summer_main(void *arg)
{
    struct line_feed *l = arg;
    struct line_summer *s = &l->summer;
    pthread_mutex_lock(&s->lock);
    for (;;) {
        while (!s->todo.ptr && !s->is_stopping)
            pthread_cond_wait(&s->changed, &s->lock);
        if (!s->todo.ptr)
            break;
        struct str todo = s->todo;
        pthread_mutex_unlock(&s->lock);
        sha256_add(&l->sum, todo.ptr, todo.len);
        pthread_mutex_lock(&s->lock);
        s->todo = STR_NULL;
        pthread_cond_signal(&s->changed);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* Until the sum is ours again. */
static void summer_wait(struct line_summer *s)
{
    if (!s->is_running)
        return;
    pthread_mutex_lock(&s->lock);
    while (s->todo.ptr)
        pthread_cond_wait(&s->changed, &s->lock);
    pthread_mutex_unlock(&s->lock);
}

static void sum_more(struct line_feed *l, const char *p, size_t n)
{
    struct line_summer *s = &l->summer;
    if (!s->is_running)
        s->is_running = pthread_create(&s->thread, NULL, summer_main, l) == 0;
    summer_wait(s);
    if (!s->is_running || n == 0) {
        sha256_add(&l->sum, p, n);
        return;
    }
    pthread_mutex_lock(&s->lock);
    s->todo = str_n(p, n);
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

/* Read until the buffer is full or there is no more; false when the reader failed. */
static bool fill(struct line_feed *l)
{
    char *p = l->half[l->at];
    while (!l->is_eof && l->start + l->len < LINES_BYTES) {
        size_t room = LINES_BYTES - l->start - l->len;
        ssize_t n = l->read(l->ctx, p + l->start + l->len, room);
        if (n < 0 || (size_t)n > room)
            return false;
        l->is_eof = n == 0;
        l->len += (size_t)n;
    }
    return true;
}

/* The buffer is used up but for a part of a line: hand it to the sum, take the part along to the other one. */
static bool turn(struct line_feed *l)
{
    char *from = l->half[l->at] + l->start;
    if (l->start + l->len == LINES_BYTES) {
        int other = 1 - l->at;
        if (!l->half[other])
            l->half[other] = half_new();
        sum_more(l, l->half[l->at] + l->unsummed, l->start - l->unsummed);    /* waits for the other half first */
        memcpy(l->half[other], from, l->len);
        l->at = other;
        l->start = l->unsummed = 0;
    }
    return fill(l);
}

enum line_state lines_next(struct line_feed *l, struct str *ret)
{
    for (;;) {
        char *from = l->half[l->at] + l->start;
        char *nl = l->len > l->scanned ? memchr(from + l->scanned, '\n', l->len - l->scanned) : NULL;
        if (nl) {
            *ret = str_n(from, (size_t)(nl - from));
            l->line_at = l->start;
            l->start += ret->len + 1;
            l->len -= ret->len + 1;
            l->scanned = 0;
            return ret->len > AUDIT_LINE_MAX ? LINE_LONG : LINE_HERE;
        }
        l->scanned = l->len;
        if (l->is_eof)
            return l->len > AUDIT_LINE_MAX ? LINE_LONG : l->len ? LINE_PARTIAL : LINE_END;
        if (l->len > AUDIT_LINE_MAX)
            return LINE_LONG;
        if (!turn(l))
            return LINE_ERROR;
    }
}

void lines_sum(struct line_feed *l, uint8_t ret[SHA256_BYTES])
{
    summer_wait(&l->summer);
    sha256_add(&l->sum, l->half[l->at] + l->unsummed, l->line_at - l->unsummed);
    sha256_final(&l->sum, ret);
}

void lines_close(struct line_feed *l)
{
    struct line_summer *s = &l->summer;
    if (s->is_running) {
        pthread_mutex_lock(&s->lock);
        s->is_stopping = true;
        pthread_cond_signal(&s->changed);
        pthread_mutex_unlock(&s->lock);
        pthread_join(s->thread, NULL);
    }
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->changed);
    sha256_release(&l->sum);
    free(l->half[0]);
    free(l->half[1]);
}
