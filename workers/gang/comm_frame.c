/* SPDX-License-Identifier: Apache-2.0 */
/* comm_frame.c - heads of frames to and from bytes. */
#include "workers/gang/comm_frame.h"

#include <string.h>

static const char MAGIC[] = "FJCM";
enum { VERSION = 1 };
static const uint64_t BYTES_MAX = (uint64_t)1 << 40;

static void put(unsigned char *at, uint64_t v, int n)
{
    for (int i = 0; i < n; i++)
        at[i] = (unsigned char)(v >> 8 * i);
}

static uint64_t take(const unsigned char *at, int n)
{
    uint64_t v = 0;
    for (int i = n; i-- > 0;)
        v = v << 8 | at[i];
    return v;
}

void comm_frame_write(const struct comm_frame *f, unsigned char out[COMM_HEAD])
{
    size_t len = strnlen(f->name, COMM_NAME_MAX);
    memset(out, 0, COMM_HEAD);
    memcpy(out, MAGIC, 4);
    out[4] = VERSION;
    out[5] = (unsigned char)f->kind;
    out[6] = (unsigned char)f->rank;
    out[7] = (unsigned char)f->ranks;
    put(out + 8, f->sequence, 4);
    memcpy(out + 12, f->name, len);
    put(out + 28, f->bytes, 8);
}

/* A name of printable letters, then NULs alone. */
static bool read_name(const unsigned char *at, char *out)
{
    size_t n = strnlen((const char *)at, COMM_NAME_MAX);
    for (size_t i = 0; i < COMM_NAME_MAX; i++)
        if (i < n ? at[i] < 0x20 || at[i] > 0x7e : at[i] != 0)
            return false;
    memcpy(out, at, n);
    out[n] = 0;
    return true;
}

enum errc comm_frame_read(const unsigned char head[COMM_HEAD], struct comm_frame *ret, struct err *e)
{
    struct comm_frame f = { .kind = head[5], .rank = head[6], .ranks = head[7], .sequence = (uint32_t)take(head + 8, 4),
                            .bytes = take(head + 28, 8) };
    if (memcmp(head, MAGIC, 4) != 0)
        return FAIL(e, BAD_DATA, "the peer speaks something else: a frame begins with FJCM");
    if (head[4] != VERSION)
        return FAIL(e, BAD_DATA, "the peer speaks version %d of ranks' frames; this one speaks %d", head[4], VERSION);
    if (f.kind < COMM_HELLO || f.kind > COMM_ABORT)
        return FAIL(e, BAD_DATA, "the peer's frame has the kind %d; 1 to 3 are known", head[5]);
    if (f.ranks < 1 || f.ranks > COMM_RANKS_MAX || f.rank >= f.ranks)
        return FAIL(e, BAD_DATA, "the peer says that it is rank %d of %d; there are at most %d", f.rank, f.ranks, COMM_RANKS_MAX);
    if (!read_name(head + 12, f.name))
        return FAIL(e, BAD_DATA, "the name in the peer's frame is no text");
    if (f.bytes > BYTES_MAX || (f.kind == COMM_HELLO && f.bytes != COMM_RUN)
        || (f.kind == COMM_ABORT && f.bytes > COMM_WORDS_MAX))
        return FAIL(e, BAD_DATA, "the peer's frame of kind %d announces %llu bytes", (int)f.kind, (unsigned long long)f.bytes);
    *ret = f;
    return ERR_OK;
}

enum errc comm_frame_match(const struct comm_frame *got, const struct comm_frame *want, struct err *e)
{
    if (got->kind == want->kind && got->rank == want->rank && got->ranks == want->ranks && got->sequence == want->sequence
        && got->bytes == want->bytes && strcmp(got->name, want->name) == 0)
        return ERR_OK;
    return FAIL(e, BAD_DATA, "rank %d of %d sent part %u, '%s', %llu bytes; expected of rank %d of %d: part %u, '%s', %llu bytes",
                got->rank, got->ranks, got->sequence, got->name, (unsigned long long)got->bytes, want->rank, want->ranks,
                want->sequence, want->name, (unsigned long long)want->bytes);
}

void comm_frame_words(const unsigned char *words, size_t n, char out[COMM_WORDS_MAX + 1])
{
    n = n < COMM_WORDS_MAX ? n : COMM_WORDS_MAX;
    for (size_t i = 0; i < n; i++)
        out[i] = words[i] >= 0x20 && words[i] <= 0x7e ? (char)words[i] : '?';
    out[n] = 0;
}
