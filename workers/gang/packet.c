/* SPDX-License-Identifier: Apache-2.0 */
/* packet.c - heads of frames, and the addresses in a packet's own head. */
#include "workers/gang/packet.h"

enum { IP_HEAD = 20, IP_FROM = 12, IP_TO = 16, IP_VERSION = 4, NET_0 = 10, NET_1 = 91, NET_2 = 0 };

void packet_head_write(enum packet_kind kind, size_t bytes, unsigned char out[PACKET_HEAD])
{
    out[0] = (unsigned char)kind;
    out[1] = (unsigned char)bytes;
    out[2] = (unsigned char)(bytes >> 8);
    out[3] = (unsigned char)(bytes >> 16);
}

static size_t most_of(enum packet_kind kind)
{
    return kind == PACKET_IP ? PACKET_MAX : kind == PACKET_DONE ? 1 : PACKET_WORDS_MAX;
}

enum errc packet_head_read(const unsigned char head[PACKET_HEAD], enum packet_kind *ret, size_t *ret_bytes, struct err *e)
{
    const size_t bytes = head[1] | (size_t)head[2] << 8 | (size_t)head[3] << 16;
    if (head[0] < PACKET_IP || head[0] > PACKET_FAILED)
        return FAIL(e, BAD_DATA, "the peer's frame has the kind %d; 1 to 4 are known", head[0]);
    if (!bytes || bytes > most_of((enum packet_kind)head[0]))
        return FAIL(e, BAD_DATA, "the peer's frame of kind %d announces %zu bytes; 1 to %zu are expected", head[0], bytes,
                    most_of((enum packet_kind)head[0]));
    *ret = (enum packet_kind)head[0];
    *ret_bytes = bytes;
    return ERR_OK;
}

static bool rank_at(const unsigned char *p, int ranks, int *ret)
{
    *ret = p[3] - 1;
    return p[0] == NET_0 && p[1] == NET_1 && p[2] == NET_2 && *ret >= 0 && *ret < ranks;
}

bool packet_ranks(const unsigned char *p, size_t n, int ranks, int *ret_from, int *ret_to)
{
    bool ok = n >= IP_HEAD && p[0] >> 4 == IP_VERSION;
    return ok && rank_at(p + IP_FROM, ranks, ret_from) && rank_at(p + IP_TO, ranks, ret_to) && *ret_from != *ret_to;
}
