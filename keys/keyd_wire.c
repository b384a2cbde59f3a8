/* SPDX-License-Identifier: Apache-2.0 */
/* keyd_wire.c - the messages between falaj-keyd and its clients. */
#include "keys/keyd_wire.h"
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>

void wire_put_raw(struct buf *b, const void *p, size_t n)
{
    (void)buf_add(b, p, n);
}

void wire_put_u8(struct buf *b, uint8_t v)
{
    (void)buf_add(b, &v, 1);
}

static void put_u16(struct buf *b, uint16_t v)
{
    const uint8_t p[2] = { (uint8_t)(v >> 8), (uint8_t)v };
    (void)buf_add(b, p, sizeof p);
}

static void be32(uint8_t p[4], uint32_t v)
{
    p[0] = (uint8_t)(v >> 24);
    p[1] = (uint8_t)(v >> 16);
    p[2] = (uint8_t)(v >> 8);
    p[3] = (uint8_t)v;
}

void wire_put_u32(struct buf *b, uint32_t v)
{
    uint8_t p[4];
    be32(p, v);
    (void)buf_add(b, p, sizeof p);
}

void wire_put_u64(struct buf *b, uint64_t v)
{
    wire_put_u32(b, (uint32_t)(v >> 32));
    wire_put_u32(b, (uint32_t)v);
}

void wire_put_text(struct buf *b, struct str s)
{
    if (s.len > UINT16_MAX) {
        b->overflow = true;
        return;
    }
    put_u16(b, (uint16_t)s.len);
    if (s.len > 0)
        (void)buf_add(b, s.ptr, s.len);
}

void wire_put_tkek(struct buf *b, const struct tkek_ref *t)
{
    wire_put_text(b, t->zone);
    wire_put_raw(b, t->tenant.b, 16);
    wire_put_text(b, t->purpose);
    wire_put_u32(b, t->version);
}

void wire_put_dek(struct buf *b, const struct dek_ref *d)
{
    wire_put_text(b, d->zone);
    wire_put_raw(b, d->tenant.b, 16);
    wire_put_text(b, d->object_kind);
    wire_put_raw(b, d->object_id.b, 16);
    wire_put_u32(b, d->object_version);
    wire_put_raw(b, d->dek_id.b, 16);
}

void wire_put_blob(struct buf *b, const struct key_blob *k)
{
    wire_put_text(b, str_n((const char *)k->b, k->n <= KEY_BLOB_MAX ? k->n : 0));
}

void wire_put_terms(struct buf *b, const struct release_terms *t)
{
    wire_put_text(b, t->zone);
    wire_put_raw(b, t->worker_id.b, 16);
    wire_put_raw(b, t->job_id.b, 16);
    wire_put_u64(b, t->fence);
    wire_put_u64(b, (uint64_t)t->not_after_us);
    wire_put_raw(b, t->worker_key, X25519_BYTES);
}

void wire_begin(struct buf *b, uint8_t kind)
{
    buf_clear(b);
    wire_put_u32(b, 0);
    wire_put_u8(b, KEYD_VERSION);
    wire_put_u8(b, kind);
}

bool wire_end(struct buf *b)
{
    if (b->overflow || b->len < KEYD_HEAD || b->len - 4 > KEYD_FRAME_MAX)
        return false;
    be32((uint8_t *)b->ptr, (uint32_t)(b->len - 4));
    return true;
}

struct str wire_run(struct wire_in *in, size_t n)
{
    if (in->bad || n > in->n - in->at) {
        in->bad = true;
        return str_n("", 0);
    }
    struct str s = str_n((const char *)in->p + in->at, n);
    in->at += n;
    return s;
}

void wire_raw(struct wire_in *in, void *out, size_t n)
{
    struct str s = wire_run(in, n);
    if (s.len == n)
        memcpy(out, s.ptr, n);
    else
        memset(out, 0, n);
}

uint8_t wire_u8(struct wire_in *in)
{
    uint8_t v;
    wire_raw(in, &v, 1);
    return v;
}

uint32_t wire_u32(struct wire_in *in)
{
    uint8_t p[4];
    wire_raw(in, p, sizeof p);
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

uint64_t wire_u64(struct wire_in *in)
{
    uint64_t high = wire_u32(in);
    return high << 32 | wire_u32(in);
}

struct str wire_text(struct wire_in *in)
{
    uint8_t p[2];
    wire_raw(in, p, sizeof p);
    return wire_run(in, (size_t)(p[0] << 8 | p[1]));
}

void wire_tkek(struct wire_in *in, struct tkek_ref *ret)
{
    ret->zone = wire_text(in);
    wire_raw(in, ret->tenant.b, 16);
    ret->purpose = wire_text(in);
    ret->version = wire_u32(in);
}

void wire_dek(struct wire_in *in, struct dek_ref *ret)
{
    ret->zone = wire_text(in);
    wire_raw(in, ret->tenant.b, 16);
    ret->object_kind = wire_text(in);
    wire_raw(in, ret->object_id.b, 16);
    ret->object_version = wire_u32(in);
    wire_raw(in, ret->dek_id.b, 16);
}

void wire_blob(struct wire_in *in, struct key_blob *ret)
{
    struct str s = wire_text(in);
    if (s.len > KEY_BLOB_MAX) {
        in->bad = true;
        s.len = 0;
    }
    ret->n = (uint16_t)s.len;
    if (s.len > 0)
        memcpy(ret->b, s.ptr, s.len);
}

void wire_terms(struct wire_in *in, struct release_terms *ret)
{
    ret->zone = wire_text(in);
    wire_raw(in, ret->worker_id.b, 16);
    wire_raw(in, ret->job_id.b, 16);
    ret->fence = wire_u64(in);
    ret->not_after_us = (int64_t)wire_u64(in);
    wire_raw(in, ret->worker_key, X25519_BYTES);
}

bool wire_open(struct wire_in *in, const void *frame, size_t n, uint8_t *ret_kind)
{
    *in = (struct wire_in){ .p = frame, .n = n };
    uint8_t version = wire_u8(in);
    *ret_kind = wire_u8(in);
    return !in->bad && version == KEYD_VERSION;
}

bool wire_done(const struct wire_in *in)
{
    return !in->bad && in->at == in->n;
}

int64_t wire_now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static enum wire_io wait_for(int fd, short events, int64_t deadline_us)
{
    for (;;) {
        int64_t left_us = deadline_us - wire_now_us();
        if (left_us <= 0)
            return WIRE_LATE;
        struct pollfd p = { .fd = fd, .events = events };
        int n = poll(&p, 1, (int)(left_us / 1000 > 60000 ? 60000 : left_us / 1000 + 1));
        if (n > 0)
            return WIRE_OK;
        if (n < 0 && errno != EINTR)
            return WIRE_BROKEN;
    }
}

enum wire_io wire_send(int fd, const struct buf *frame, int64_t deadline_us)
{
    size_t at = 0;
    while (at < frame->len) {
        ssize_t n = send(fd, frame->ptr + at, frame->len - at, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n > 0)
            at += (size_t)n;
        else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            enum wire_io io = wait_for(fd, POLLOUT, deadline_us);
            if (io != WIRE_OK)
                return io;
        } else if (n == 0 || errno != EINTR)
            return WIRE_BROKEN;
    }
    return WIRE_OK;
}

/* Reads n bytes; *deadline becomes in_frame after the first byte when in_frame is not 0. */
static enum wire_io receive_n(int fd, uint8_t *p, size_t n, int64_t *deadline_us, int64_t in_frame_us)
{
    size_t at = 0;
    while (at < n) {
        ssize_t got = recv(fd, p + at, n - at, MSG_DONTWAIT);
        if (got > 0) {
            if (at == 0 && in_frame_us > 0)
                *deadline_us = wire_now_us() + in_frame_us;
            at += (size_t)got;
        } else if (got == 0) {
            return at == 0 && in_frame_us > 0 ? WIRE_END : WIRE_BROKEN;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            enum wire_io io = wait_for(fd, POLLIN, *deadline_us);
            if (io != WIRE_OK)
                return io;
        } else if (errno != EINTR) {
            return at == 0 && in_frame_us > 0 ? WIRE_END : WIRE_BROKEN;
        }
    }
    return WIRE_OK;
}

enum wire_io wire_receive(int fd, struct buf *b, int64_t idle_until_us, int64_t in_frame_us)
{
    uint8_t head[4];
    int64_t deadline_us = idle_until_us;
    enum wire_io io = receive_n(fd, head, sizeof head, &deadline_us, in_frame_us);
    if (io != WIRE_OK)
        return io;
    size_t n = (size_t)head[0] << 24 | (size_t)head[1] << 16 | (size_t)head[2] << 8 | head[3];
    buf_clear(b);
    if (n < 2 || n > KEYD_FRAME_MAX || !buf_reserve(b, n))
        return WIRE_TOO_LONG;
    io = receive_n(fd, (uint8_t *)b->ptr, n, &deadline_us, 0);
    if (io == WIRE_OK) {
        b->len = n;
        b->ptr[n] = '\0';
    }
    return io;
}
