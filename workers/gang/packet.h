/* SPDX-License-Identifier: Apache-2.0 */
/* packet.h - what the machines of a program's gang send each other over a connection: packets of its network, and words about
 * the program. A frame is a head of PACKET_HEAD bytes, u8 kind and u24 length (little endian), then so many bytes.
 *
 * The network is PACKET_NET/24, rank r at PACKET_NET + r + 1: a namespace of its own on each machine, so the numbers meet no
 * others. A packet is IPv4 (RFC 791 §3.1) between two ranks; a sender sends its own, a receiver takes what is for it and from
 * whom it came: no rank speaks as another. Read as hostile input, although it comes from a peer that TLS has named. Pure. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/base/err.h"

enum { PACKET_HEAD = 4, PACKET_MAX = 65535, PACKET_WORDS_MAX = 200 };
#define PACKET_NET "10.91.0.0"
#define PACKET_MASK "255.255.255.0"
#define PACKET_HOST "10.91.0.%d"        /* with rank + 1 */

enum packet_kind {
    PACKET_IP = 1,
    PACKET_STOP,                        /* the machine was told to stop its program; text */
    PACKET_DONE,                        /* the program ended well: 0, or 1 where it asks to be queued again */
    PACKET_FAILED                       /* it did not; text */
};

void packet_head_write(enum packet_kind kind, size_t bytes, unsigned char out[PACKET_HEAD]);
/* BAD_DATA: what was expected. */
MUST_CHECK enum errc packet_head_read(const unsigned char head[PACKET_HEAD], enum packet_kind *ret, size_t *ret_bytes,
                                      struct err *e);
/* The ranks that it goes from and to; false: none of `ranks` or no such packet. */
bool packet_ranks(const unsigned char *p, size_t n, int ranks, int *ret_from, int *ret_to);
