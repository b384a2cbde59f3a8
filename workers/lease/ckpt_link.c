/* SPDX-License-Identifier: Apache-2.0 */
/* ckpt_link.c - one exchange with the keeper at a time: place, seal, done; or read. */
#include "workers/lease/ckpt_link.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/base/clock.h"
#include "core/crypto/hash.h"
#include "core/crypto/stream.h"

struct sealed {                         /* a checkpoint that this process kept: its ciphertext, without a name on the disk */
    int fd;
    struct frame_output place;
    struct frame_result about;
};

struct ckpt_link {
    struct child *c;
    int fd;
    int64_t gap_us;
    struct ckpt_store store;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* under the lock */
    struct buf file;                    /* to be kept */
    int64_t step, next_us;
    bool is_busy, ends;
    bool is_new;                        /* of the run: the lease's are not loaded */
    struct sealed own;                  /* of the thread while is_busy, else of the run */
    char room[FRAME_MAX];               /* the same */
};

static enum errc into_file(void *ctx, const void *p, size_t n, struct err *e)
{
    for (const char *at = p; n;) {
        ssize_t w = write(*(int *)ctx, at, n);
        if (w <= 0)
            return FAIL(e, IO, "the work directory cannot be written");
        at += w;
        n -= (size_t)w;
    }
    return ERR_OK;
}

/* Says something and hears the answer, which is of this type and length, with or without a descriptor. */
static enum errc ask(struct ckpt_link *l, enum frame_type say, struct str body, enum frame_type hear, size_t len, int *ret_fd,
                     struct frame *f, struct err *e)
{
    TRY(frame_send(l->fd, say, STR_NULL, body, NULL, 0, true, e));
    TRY(frame_receive(l->fd, l->room, f, e));
    bool is_odd = f->type != hear || f->body.len != len || f->nfds != (ret_fd ? 1 : 0);
    if (is_odd || !ret_fd)
        frame_close_fds(f);
    if (f->type == FRAME_CKPT_NO)
        return FAIL(e, UNAVAILABLE, "%.*s", STR_ARG(f->body));
    if (is_odd)
        return FAIL(e, DAMAGED, "the agent answered with what was not asked");
    if (ret_fd)
        *ret_fd = f->fds[0];
    return ERR_OK;
}

static enum errc seal(struct sealed *s, struct str plain, struct err *e)
{
    const struct stream_ref ref = { s->place.tenant_id, STR(LEASE_CHECKPOINT), s->place.object_id, s->place.version,
                                   s->place.dek_id };
    CLEANUP(stream_sealer_freep) struct stream_sealer *sealer = NULL;
    TRY(stream_sealer_new(&s->place.key, &ref, into_file, &s->fd, &sealer, e));
    TRY(stream_sealer_feed(sealer, plain.ptr, plain.len, e));
    return stream_sealer_finish(sealer, e);
}

static void sealed_clear(struct sealed *s)
{
    fd_closep(&s->fd);
    secret_wipe(s, sizeof *s);
    s->fd = -1;
}

static enum errc keep(struct ckpt_link *l, struct sealed *s, struct str plain, int64_t step, struct err *e)
{
    struct frame f = { 0 };
    TRY(ask(l, FRAME_CKPT_PLACE, STR(""), FRAME_OUTPUT, sizeof s->place, &s->fd, &f, e));
    memcpy(&s->place, f.body.ptr, sizeof s->place);
    secret_wipe(l->room, sizeof s->place + sizeof(uint32_t));
    s->about.plain_size = (int64_t)plain.len;
    sha256(plain.ptr, plain.len, s->about.sha256);
    TRY(seal(s, plain, e));
    const struct frame_ckpt done = { s->about, step };
    return ask(l, FRAME_CKPT_DONE, str_n((const char *)&done, sizeof done), FRAME_CKPT_OK, 0, NULL, &f, e);
}

static void keep_one(struct ckpt_link *l)
{
    struct err e = { 0 };
    struct sealed s = { .fd = -1 };
    enum errc rc = keep(l, &s, buf_str(&l->file), l->step, &e);
    if (rc == ERR_OK) {
        child_log(l->c, "info: checkpoint kept at step %ld: %zu bytes", (long)l->step, l->file.len);
        sealed_clear(&l->own);
        l->own = s;
        secret_wipe(&s, sizeof s);
    } else {
        sealed_clear(&s);
        if (e.msg[0])                   /* without a reason: the lease ends, and nobody goes on from it */
            child_log(l->c, "warning: the checkpoint at step %ld could not be kept: %s", (long)l->step, e.msg);
    }
    secret_wipe(l->file.ptr, l->file.len);
    buf_release(&l->file);
}

static void *thread_main(void *p)
{
    struct ckpt_link *l = p;
    pthread_mutex_lock(&l->lock);
    while (!l->ends) {
        if (!l->is_busy) {
            pthread_cond_wait(&l->changed, &l->lock);
            continue;
        }
        pthread_mutex_unlock(&l->lock);
        keep_one(l);
        pthread_mutex_lock(&l->lock);
        l->next_us = clock_mono_us(&clock_system) + l->gap_us;
        l->is_busy = false;
        pthread_cond_broadcast(&l->changed);
    }
    pthread_mutex_unlock(&l->lock);
    return NULL;
}

/* With the lock held. */
static void wait_idle(struct ckpt_link *l)
{
    while (l->is_busy)
        pthread_cond_wait(&l->changed, &l->lock);
}

static bool is_ready(void *ctx)
{
    struct ckpt_link *l = ctx;
    pthread_mutex_lock(&l->lock);
    bool ready = !l->is_busy && clock_mono_us(&clock_system) >= l->next_us;
    pthread_mutex_unlock(&l->lock);
    return ready;
}

static enum errc save(void *ctx, int64_t step, struct buf *file, bool wait, struct err *e)
{
    struct ckpt_link *l = ctx;
    (void)e;
    pthread_mutex_lock(&l->lock);
    wait_idle(l);
    l->file = *file;
    l->step = step;
    l->is_busy = true;
    *file = BUF(0);
    pthread_cond_broadcast(&l->changed);
    if (wait)
        wait_idle(l);
    pthread_mutex_unlock(&l->lock);
    return ERR_OK;
}

static void free_buf(void *p)
{
    buf_release(p);
}

static enum errc open_into(struct arena *a, int fd, const struct stream_ref *ref, const struct secret32 *key, int64_t size,
                           const uint8_t sha256[32], struct str *ret, struct err *e)
{
    struct buf *b = ARENA_NEW(a, struct buf);
    arena_defer(a, free_buf, b);
    if (lseek(fd, 0, SEEK_SET) != 0)
        return FAIL(e, IO, "a checkpoint cannot be read");
    TRY(child_open_sealed(fd, ref, key, size, sha256, b, e));
    *ret = buf_str(b);
    return ERR_OK;
}

static enum errc load_input(struct ckpt_link *l, size_t input, struct arena *a, struct str *ret, struct err *e)
{
    const struct child_input *in = &l->c->inputs[input];
    const struct lease_input *about = &in->about;
    const struct stream_ref ref = { l->c->grant.lease.tenant_id, about->kind, about->object_id, (uint32_t)about->version,
                                   in->key.dek_id };
    const uint32_t index = (uint32_t)input;
    uint8_t sha[32];
    struct frame f = { 0 };
    CLEANUP(fd_closep) int fd = -1;
    if (!hex_decode(about->sha256, sha, sizeof sha))
        return FAIL(e, DAMAGED, "a checkpoint came without its digest");
    TRY(ask(l, FRAME_CKPT_READ, str_n((const char *)&index, sizeof index), FRAME_CKPT_OK, 0, &fd, &f, e));
    return open_into(a, fd, &ref, &in->key.key, about->size_bytes, sha, ret, e);
}

static enum errc load(void *ctx, size_t i, struct arena *a, struct str *ret, bool *ret_found, struct err *e)
{
    struct ckpt_link *l = ctx;
    pthread_mutex_lock(&l->lock);
    wait_idle(l);
    pthread_mutex_unlock(&l->lock);
    size_t own = l->own.fd >= 0, input = lease_grant_files(&l->c->grant.lease) + i - own;
    *ret_found = i < own || (!l->is_new && input < l->c->n_inputs);
    if (!*ret_found)
        return ERR_OK;
    if (i >= own)
        return load_input(l, input, a, ret, e);
    const struct sealed *s = &l->own;
    const struct stream_ref ref = { s->place.tenant_id, STR(LEASE_CHECKPOINT), s->place.object_id, s->place.version,
                                   s->place.dek_id };
    return open_into(a, s->fd, &ref, &s->place.key, s->about.plain_size, s->about.sha256, ret, e);
}

enum errc ckpt_link_new(struct child *c, int64_t gap_ms, struct ckpt_link **ret, struct err *e)
{
    struct ckpt_link *l = calloc(1, sizeof *l);
    ASSERT(l);
    l->c = c;
    l->fd = c->keeper;
    l->gap_us = gap_ms * 1000;
    l->own.fd = -1;
    l->store = (struct ckpt_store){ l, is_ready, save, load };
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->changed, NULL);
    if (pthread_create(&l->thread, NULL, thread_main, l) != 0) {
        free(l);
        return FAIL(e, LIMIT, "no thread for checkpoints");
    }
    c->keeper = -1;
    *ret = l;
    return ERR_OK;
}

const struct ckpt_store *ckpt_link_store(struct ckpt_link *l)
{
    return &l->store;
}

void ckpt_link_forget(struct ckpt_link *l)
{
    l->is_new = true;
}

void ckpt_link_free(struct ckpt_link *l)
{
    if (!l)
        return;
    pthread_mutex_lock(&l->lock);
    l->ends = true;
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
    (void)shutdown(l->fd, SHUT_RDWR);   /* who waits for an answer of the agent waits no longer */
    pthread_join(l->thread, NULL);
    sealed_clear(&l->own);
    buf_release(&l->file);
    close(l->fd);
    free(l);
}

void ckpt_link_freep(struct ckpt_link **l)
{
    ckpt_link_free(*l);
    *l = NULL;
}
