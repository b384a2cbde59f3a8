/* SPDX-License-Identifier: Apache-2.0 */
/* text_engine.c - slots, the thread that steps, and what happens to each text between steps. */
#include "workers/compute/text/text_engine.h"
#include "core/base/assert.h"
#include "core/base/clock.h"
#include "core/base/mono_cond.h"
#include "workers/compute/pool.h"

#include <pthread.h>
#include <stdlib.h>

enum { QUEUE_REQUESTS = 4096 };

struct slot {
    struct text_request *r;             /* NULL: free */
    size_t at;                          /* tokens of it that are in the cache */
    size_t rows;                        /* of this step */
    int32_t last;                       /* the token that was made last */
    float *logits;
    struct sample_room room;
    bool is_due;                        /* this step ends with a token for it */
};

struct text_engine {
    struct text_model *model;
    const struct text_info *info;
    struct slot slots[TEXT_SEQUENCES_MAX];      /* this and down to `rows`: the thread's */
    size_t turn;                                /* whose prompt is looked at first */
    float *logits;                              /* a row for each of a step at most */
    struct sample_one *rooms;
    struct text_row rows[DECODE_ROWS];
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t lock;                       /* guards what follows */
    pthread_cond_t wake;
    struct infer_queue queue;
    struct text_stats stats;
    bool is_stopping;
};

static int64_t now_us(void)
{
    return clock_mono_us(&clock_system);
}

static struct text_request *request_of(struct infer_request *r)
{
    return r->ctx;
}

static void end(struct text_request *r, enum errc rc, enum text_end why)
{
    r->done(r, rc, why);                /* r may be gone */
}

static void end_all(struct infer_request *list, enum errc rc)
{
    while (list) {
        struct infer_request *next = list->next;
        end(request_of(list), rc, TEXT_LENGTH);
        list = next;
    }
}

static void leave(struct text_engine *x, struct slot *s, enum errc rc, enum text_end why)
{
    struct text_request *r = s->r;
    s->r = NULL;
    pthread_mutex_lock(&x->lock);
    x->stats.running--;
    x->stats.ended += rc == ERR_OK;
    x->stats.gone += rc == ERR_UNAVAILABLE;
    pthread_mutex_unlock(&x->lock);
    end(r, rc, why);
}

/* Who waits takes the free slots, but for who has left while it waited. Lock held; those are linked to *gone. */
static void join(struct text_engine *x, int64_t now, struct infer_request **gone)
{
    for (size_t i = 0; i < x->info->max_sequences && x->queue.requests;) {
        struct infer_request *late = NULL;
        if (x->slots[i].r) {
            i++;
            continue;
        }
        struct infer_request *next = queue_cut(&x->queue, now, &late);
        ASSERT(next && !next->next && !late);       /* batch_rows is 1, and the late are out */
        struct text_request *r = request_of(next);
        if (r->is_gone && r->is_gone(r)) {
            next->next = *gone;
            *gone = next;
            x->stats.gone++;
            continue;
        }
        r->wait_us = now - next->arrived_us;
        x->slots[i].r = r;
        x->slots[i].at = 0;
        x->stats.running++;
        x->stats.running_max = x->stats.running > x->stats.running_max ? x->stats.running : x->stats.running_max;
    }
    x->stats.waiting = x->queue.requests;
}

/* False: it stops. */
static bool wait_for_work(struct text_engine *x)
{
    struct infer_request *late = NULL, *gone = NULL;
    pthread_mutex_lock(&x->lock);
    while (!x->is_stopping && !x->stats.running && !x->queue.requests)
        pthread_cond_wait(&x->wake, &x->lock);
    bool goes_on = !x->is_stopping;
    if (goes_on) {
        const int64_t now = now_us();
        late = queue_late(&x->queue, now);          /* texts hold their slots for long: nobody's time is over at a turn alone */
        for (const struct infer_request *r = late; r; r = r->next)
            x->stats.late++;
        join(x, now, &gone);
    }
    pthread_mutex_unlock(&x->lock);
    end_all(late, ERR_DEADLINE);
    end_all(gone, ERR_UNAVAILABLE);
    return goes_on;
}

static bool is_prompt(const struct slot *s)
{
    return s->at < s->r->prompt_count;
}

/* How many rows each slot gets: texts one, prompts an even share of the rest. Returns all of them. */
static size_t share_rows(struct text_engine *x)
{
    size_t n = x->info->max_sequences, used = 0, prompts = 0;
    for (size_t i = 0; i < n; i++) {
        struct slot *s = &x->slots[i];
        s->rows = s->r && !is_prompt(s) ? 1 : 0;
        used += s->rows;
        prompts += s->r && is_prompt(s);
    }
    for (size_t i = 0; i < n && prompts; i++) {
        struct slot *s = &x->slots[(x->turn + i) % n];
        if (!s->r || !is_prompt(s))
            continue;
        size_t left = s->r->prompt_count - s->at, share = (DECODE_ROWS - used + prompts - 1) / prompts;
        s->rows = left < share ? left : share;
        used += s->rows;
        prompts--;
    }
    x->turn = (x->turn + 1) % n;
    return used;
}

static void fill_rows(struct text_engine *x)
{
    size_t n = 0, due = 0;
    for (size_t i = 0; i < x->info->max_sequences; i++) {
        struct slot *s = &x->slots[i];
        s->is_due = false;
        for (size_t k = 0; k < s->rows; k++, n++) {
            size_t at = s->at + k;
            x->rows[n] = (struct text_row){ i, at, at < s->r->prompt_count ? s->r->prompt[at] : s->last, NULL };
            bool is_last = at + 1 >= s->r->prompt_count, is_asked = s->r->on_scores && at < s->r->prompt_count;
            if (!is_last && !is_asked)
                continue;
            s->is_due = is_last && s->r->max_tokens;
            s->logits = x->rows[n].logits = x->logits + due++ * x->info->vocab;
        }
        s->at += s->rows;
    }
}

static void sample_task(void *arg, size_t task)
{
    struct text_engine *x = arg;
    struct slot *s = &x->slots[task];
    if (s->is_due)
        s->last = sample_token(s->logits, x->info->vocab, &s->r->how, s->at, &s->room);
}

/* A token was made for s. */
static void take_token(struct text_engine *x, struct slot *s)
{
    struct text_request *r = s->r;
    for (size_t i = 0; i < r->stop_count; i++)
        if (r->stops[i] == s->last) {
            leave(x, s, ERR_OK, TEXT_STOP);
            return;
        }
    if (!r->made++)
        r->first_us = now_us() - r->in.arrived_us;
    if (!r->on_token(r, s->last))
        leave(x, s, ERR_OK, TEXT_STOP);
    else if (r->made == r->max_tokens)
        leave(x, s, ERR_OK, TEXT_LENGTH);
}

/* The scores of this step to who asked for them, in the order of their places. */
static void tell_scores(struct text_engine *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct text_row *row = &x->rows[i];
        struct text_request *r = x->slots[row->slot].r;
        if (r->on_scores && row->at < r->prompt_count)
            r->on_scores(r, row->at, row->logits);
    }
}

static void leave_gone(struct text_engine *x)
{
    for (size_t i = 0; i < x->info->max_sequences; i++) {
        struct slot *s = &x->slots[i];
        if (s->r && s->r->is_gone && s->r->is_gone(s->r))
            leave(x, s, ERR_UNAVAILABLE, TEXT_LENGTH);
    }
}

static void step(struct text_engine *x)
{
    struct err e = { 0 };
    size_t made = 0, prompts = 0, n;
    leave_gone(x);
    n = share_rows(x);
    if (!n)
        return;
    fill_rows(x);
    enum errc rc = text_step(x->model, x->rows, n, &e);
    if (rc == ERR_OK) {
        tell_scores(x, n);
        pool_run(text_model_pool(x->model), x->info->max_sequences, sample_task, x);
    }
    for (size_t i = 0; i < x->info->max_sequences; i++) {
        struct slot *s = &x->slots[i];
        if (!s->r)
            continue;
        made += s->is_due;
        prompts += s->at <= s->r->prompt_count ? s->rows : 0;
        if (rc != ERR_OK)
            leave(x, s, rc, TEXT_LENGTH);
        else if (s->is_due)
            take_token(x, s);
        else if (!s->r->max_tokens && s->at == s->r->prompt_count)
            leave(x, s, ERR_OK, TEXT_LENGTH);
    }
    pthread_mutex_lock(&x->lock);
    x->stats.steps++;
    x->stats.rows += n;
    x->stats.tokens += made;
    x->stats.prompt_tokens += prompts;
    pthread_mutex_unlock(&x->lock);
}

static void *thread_main(void *arg)
{
    struct text_engine *x = arg;
    pthread_setname_np(pthread_self(), "falaj-text");
    while (wait_for_work(x))
        step(x);
    for (size_t i = 0; i < x->info->max_sequences; i++)
        if (x->slots[i].r)
            leave(x, &x->slots[i], ERR_UNAVAILABLE, TEXT_LENGTH);
    for (struct infer_request *late = NULL, *r;; late = NULL) {
        pthread_mutex_lock(&x->lock);
        r = x->queue.requests ? queue_cut(&x->queue, now_us(), &late) : NULL;
        pthread_mutex_unlock(&x->lock);
        end_all(late, ERR_UNAVAILABLE);
        end_all(r, ERR_UNAVAILABLE);
        if (!r && !late)
            return NULL;
    }
}

enum errc text_engine_new(struct text_model *m, const struct text_engine_options *o, struct text_engine **ret, struct err *e)
{
    struct text_engine *x = calloc(1, sizeof *x);
    ASSERT(x);
    x->model = m;
    x->info = text_model_info(m);
    x->queue.requests_max = o->queue_requests ? o->queue_requests : QUEUE_REQUESTS;
    x->queue.rows_max = x->queue.requests_max * x->info->max_context;
    x->queue.batch_rows = 1;
    x->queue.timeout_us = o->timeout_us;
    pthread_mutex_init(&x->lock, NULL);
    mono_cond_init(&x->wake);
    x->logits = malloc(DECODE_ROWS * x->info->vocab * sizeof *x->logits);
    x->rooms = malloc(x->info->max_sequences * x->info->vocab * sizeof *x->rooms);
    enum errc rc =
        x->logits && x->rooms ? ERR_OK : FAIL(e, LIMIT, "no memory for the answers of %zu texts", x->info->max_sequences);
    for (size_t i = 0; rc == ERR_OK && i < x->info->max_sequences; i++)
        x->slots[i].room.list = x->rooms + i * x->info->vocab;
    if (rc == ERR_OK && pthread_create(&x->thread, NULL, thread_main, x))
        rc = FAIL(e, LIMIT, "a thread for texts cannot be started");
    x->has_thread = rc == ERR_OK;
    if (rc != ERR_OK) {
        text_engine_free(x);
        return rc;
    }
    *ret = x;
    return ERR_OK;
}

void text_engine_free(struct text_engine *x)
{
    if (!x)
        return;
    pthread_mutex_lock(&x->lock);
    x->is_stopping = true;
    pthread_cond_broadcast(&x->wake);
    pthread_mutex_unlock(&x->lock);
    if (x->has_thread)
        pthread_join(x->thread, NULL);
    pthread_cond_destroy(&x->wake);
    pthread_mutex_destroy(&x->lock);
    free(x->logits);
    free(x->rooms);
    free(x);
}

static enum errc check(const struct text_engine *x, const struct text_request *r, struct err *e)
{
    size_t most = x->info->max_context;
    if (r->prompt_count < 1 || (r->max_tokens < 1 && !r->on_scores))
        return FAIL(e, INVALID, "a text needs a token to begin with and room for one more");
    if (r->prompt_count > most || r->max_tokens > most - r->prompt_count)
        return FAIL(e, INVALID, "the prompt has %zu tokens and %zu more are asked for; the model has room for %zu in all",
                    r->prompt_count, r->max_tokens, most);
    for (size_t i = 0; i < r->prompt_count; i++)
        if (r->prompt[i] < 0 || (size_t)r->prompt[i] >= x->info->vocab)
            return FAIL(e, INVALID, "token %zu of the prompt, %d, is not below the vocabulary of %zu", i, (int)r->prompt[i],
                        x->info->vocab);
    return ERR_OK;
}

enum errc text_engine_submit(struct text_engine *x, struct text_request *r, struct err *e)
{
    struct infer_request *gone = NULL;
    TRY(check(x, r, e));
    r->in.ctx = r;
    r->in.rows = r->prompt_count + r->max_tokens;
    r->made = 0;
    pthread_mutex_lock(&x->lock);
    bool is_stopping = x->is_stopping, is_in = !is_stopping && queue_put(&x->queue, &r->in, now_us(), &gone);
    for (const struct infer_request *g = gone; g; g = g->next)
        x->stats.gave_way++;
    x->stats.requests += is_in;
    x->stats.waiting = x->queue.requests;
    size_t waiting = x->queue.requests;
    if (is_in)
        pthread_cond_signal(&x->wake);
    pthread_mutex_unlock(&x->lock);
    end_all(gone, ERR_RATE);
    if (is_stopping)
        return FAIL(e, UNAVAILABLE, "the model is stopping");
    return is_in ? ERR_OK : FAIL(e, RATE, "%zu texts wait already for the %zu that are made at a time; try again", waiting,
                                 x->info->max_sequences);
}

void text_engine_get_stats(struct text_engine *x, struct text_stats *ret)
{
    pthread_mutex_lock(&x->lock);
    *ret = x->stats;
    pthread_mutex_unlock(&x->lock);
}

const struct text_info *text_engine_info(const struct text_engine *x)
{
    return x->info;
}
