/* SPDX-License-Identifier: Apache-2.0 */
/* text_out.h - the bytes of tokens as text that may be shown: whole characters only, and nothing of a stop string.
 *
 * What could still become a stop string, or the rest of a character, waits for the next bytes. Bytes that are no UTF-8 become
 * U+FFFD. The text ends before the stop string that ends first. Calling order: text_out_init -> text_out_add* ->
 * text_out_end -> text_out_release. Memory: at most what waits (a stop string) and one token's bytes. */
#pragma once
#include "core/base/str.h"

enum { TEXT_STOPS_MAX = 8, TEXT_STOP_BYTES_MAX = 128 };

struct text_out {
    struct str stops[TEXT_STOPS_MAX];   /* not empty, at most TEXT_STOP_BYTES_MAX; borrowed */
    size_t stop_count;
    bool is_stopped;
    struct buf held;
};

void text_out_init(struct text_out *o, const struct str *stops, size_t n);
/* Appends to ret what may be shown now. False: a stop string came, nothing more is shown. */
bool text_out_add(struct text_out *o, struct str bytes, struct buf *ret);
/* No more bytes come: what waits is shown. */
void text_out_end(struct text_out *o, struct buf *ret);
void text_out_release(struct text_out *o);
