/* SPDX-License-Identifier: Apache-2.0 */
/* comm_frame.h - what ranks send each other over a connection: a head of COMM_HEAD bytes, then so many bytes.
 *
 *   0  "FJCM"   4  version 1   5  kind   6  rank   7  ranks   8  sequence (u32)   12  name, NUL padded   28  bytes (u64)
 * Whole numbers are little endian. HELLO opens a connection, both ways: COMM_RUN bytes, the digest of what the run is. DATA is a
 * part of an exchange, named and counted, so that ranks that differ are found out. ABORT is a sender's last words: text.
 * Read as hostile input, although it comes from a peer that TLS has named. Errors: BAD_DATA says what was expected. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "workers/compute/train/comm.h"

enum { COMM_HEAD = 36, COMM_RUN = 32, COMM_WORDS_MAX = 200 };
enum comm_kind { COMM_HELLO = 1, COMM_DATA, COMM_ABORT };

struct comm_frame {
    enum comm_kind kind;
    int rank, ranks;                    /* the sender, and how many it believes there are */
    uint32_t sequence;                  /* exchanges so far */
    char name[COMM_NAME_MAX + 1];
    uint64_t bytes;
};

void comm_frame_write(const struct comm_frame *f, unsigned char out[COMM_HEAD]);
MUST_CHECK enum errc comm_frame_read(const unsigned char head[COMM_HEAD], struct comm_frame *ret, struct err *e);
/* Is it what this rank waits for? */
MUST_CHECK enum errc comm_frame_match(const struct comm_frame *got, const struct comm_frame *want, struct err *e);
/* An ABORT's words as text that may be shown: at most COMM_WORDS_MAX bytes of `words`, what is no printable ASCII as '?'. */
void comm_frame_words(const unsigned char *words, size_t n, char out[COMM_WORDS_MAX + 1]);
