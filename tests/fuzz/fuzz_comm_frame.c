/* SPDX-License-Identifier: Apache-2.0 */
/* USES: workers_gang core_base */
/* fuzz_comm_frame.c - a frame of a peer: its head, which must come back as it was read, and its last words, which are shown. */
#include <stdlib.h>
#include <string.h>

#include "workers/gang/comm_frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned char head[COMM_HEAD], again[COMM_HEAD];
    char words[COMM_WORDS_MAX + 1];
    struct comm_frame f;
    struct err e;
    if (size < COMM_HEAD)
        return 0;
    memcpy(head, data, COMM_HEAD);
    if (comm_frame_read(head, &f, &e) == ERR_OK) {
        comm_frame_write(&f, again);
        if (memcmp(head, again, COMM_HEAD) != 0 || comm_frame_match(&f, &f, &e) != ERR_OK || f.rank >= f.ranks)
            abort();
        if (f.kind == COMM_ABORT && f.bytes > COMM_WORDS_MAX)
            abort();
    }
    comm_frame_words(data + COMM_HEAD, size - COMM_HEAD, words);
    for (const char *p = words; *p; p++)
        if (*p < 0x20 || *p > 0x7e)
            abort();
    return 0;
}
